// MeasureBloomTable: Bloom's Table I of 1970, as printed and as measured.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>

#include "policy_measurement.h"

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

BloomTableRow MeasureRow(const PrintedRow& printed, const ReadampSettings& settings,
                         const KeySet& keys, const Workload& all, Progress& progress) {
  const std::uint64_t area = kPrinted.front().bits * static_cast<std::uint64_t>(printed.halvings);
  BloomTableRow row;
  row.allowed_error = std::ldexp(1.0, -printed.halvings);
  row.printed_bits = printed.bits;
  row.misprint = printed.bits != area;
  row.printed_percent = printed.percent;
  row.policy = fmt::format("classic_bloom:{:.6g}", static_cast<double>(area) / kBloomStoredKeys);

  progress.Begin("Bloom's Table I, loading " + row.policy, 0);
  const Database database(settings, keys, MakePolicy(row.policy));
  const WorkloadResult result =
      MeasureWorkload(all, database, "Bloom's Table I, " + row.policy, progress);
  row.filter_bytes = database.Tables().Sum(&Table::filter_bytes);
  const double lookups = static_cast<double>(result.measured.lookups) / 100.0;
  row.measured_percent = static_cast<double>(result.measured.true_negatives) / lookups;
  row.predicted_percent = static_cast<double>(result.predicted.absent_checks) *
                          (1.0 - result.predicted.rate.value_or(0.0)) / lookups;
  return row;
}

}  // namespace

std::vector<BloomTableRow> MeasureBloomTable(ReadampSettings settings, Progress& progress) {
  // All keys are in one table, whose filter is as large as Bloom's for all words.
  settings.stored_share = kBloomsShare;
  settings.sorted_runs = 1;
  settings.tree = Tree::kSettled;
  settings.table_bytes = std::size_t{1} << 30;
  settings.block_cache_bytes = kWholeDatabase;
  settings.partitioned_filters = false;
  settings.workloads = {"hyphenation"};
  const KeySet keys = MakeKeySet(settings);
  const Workload all = MakeWorkloads(keys, settings).front();
  std::vector<BloomTableRow> rows;
  rows.reserve(std::size(kPrinted));
  for (const PrintedRow& printed : kPrinted) {
    rows.push_back(MeasureRow(printed, settings, keys, all, progress));
  }
  return rows;
}

}  // namespace exactbloom::readamp
