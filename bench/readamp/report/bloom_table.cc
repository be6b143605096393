#include "bloom_table.h"

#include <fmt/format.h>

#include <array>

namespace exactbloom::readamp {
namespace {

// Bloom's dictionary: 500,000 words, a tenth of which need the disk.
constexpr double kBloomStoredKeys = 50'000;

struct PrintedRow {
  int halvings;
  std::uint64_t bits;
  double percent;
};

// As printed. The last area is a misprint: the others are multiples of the first.
constexpr std::array<PrintedRow, 6> kPrinted = {{{1, 72'800, 45.0},
                                                 {2, 145'600, 67.5},
                                                 {3, 218'400, 78.7},
                                                 {4, 291'200, 84.4},
                                                 {5, 364'000, 87.2},
                                                 {6, 509'800, 88.5}}};

// All keys are in one table, whose filter is as large as Bloom's for all words.
constexpr std::size_t kTableBytes = std::size_t{1} << 30;

BloomTableRow MeasureRow(const PrintedRow& printed, const Settings& settings, const KeySet& keys,
                         const Workload& all, Progress& progress) {
  const std::uint64_t area = kPrinted.front().bits * static_cast<std::uint64_t>(printed.halvings);
  BloomTableRow row;
  row.halvings = printed.halvings;
  row.printed_bits = printed.bits;
  row.misprint = printed.bits != area;
  row.printed_percent = printed.percent;
  row.policy = fmt::format("classic_bloom:{:.6g}", static_cast<double>(area) / kBloomStoredKeys);

  const auto policy = MakePolicy(row.policy);
  progress.Begin("Bloom's Table I, loading " + row.policy, 0);
  const Database database(settings, keys, policy);
  Workload workload = all;
  workload.name = "Bloom's Table I, " + row.policy;
  const Measurement measured = Run(workload, keys, database, settings, progress);
  const Prediction prediction = Predict(database.Tables(), keys, workload, settings, policy.get());

  for (const Table& table : database.Tables()) row.filter_bytes += table.filter_bytes;
  const double lookups = static_cast<double>(measured.lookups) / 100.0;
  row.measured_percent = static_cast<double>(measured.true_negatives) / lookups;
  row.predicted_percent = static_cast<double>(prediction.absent_checks.value_or(0)) *
                          (1.0 - prediction.rate.value_or(0.0)) / lookups;
  return row;
}

}  // namespace

std::vector<BloomTableRow> MeasureBloomTable(const Settings& settings, const KeySet& keys,
                                             Progress& progress) {
  Settings one_run = settings;
  one_run.sorted_runs = 1;
  one_run.tree = Tree::kSettled;
  one_run.table_bytes = kTableBytes;
  one_run.block_cache_bytes = kWholeDatabase;
  one_run.partitioned_filters = false;
  one_run.prefix_bytes = 0;
  one_run.read_latency = {};
  one_run.workloads = {"hyphenation"};
  KeySet in_one_run = keys;
  for (std::int8_t& run : in_one_run.sorted_run) {
    if (run != kAbsent) run = 0;
  }
  const Workload all = MakeWorkloads(in_one_run, one_run).front();
  std::vector<BloomTableRow> rows;
  rows.reserve(kPrinted.size());
  for (const PrintedRow& printed : kPrinted) {
    rows.push_back(MeasureRow(printed, one_run, in_one_run, all, progress));
  }
  return rows;
}

}  // namespace exactbloom::readamp
