#include "bloom_table.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "policy_measurement.h"
#include "support/text_table.h"

namespace exactbloom::readamp {
namespace {

// Bloom's dictionary: 500,000 words, a tenth of which need the disk.
constexpr double kBloomsShare = 0.1;
constexpr double kBloomsStoredKeys = 50'000;

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

std::uint64_t AreaWithoutMisprint(const PrintedRow& printed) {
  return kPrinted.front().bits * static_cast<std::uint64_t>(printed.halvings);
}

BloomTableRow MeasureRow(const PrintedRow& printed, const ReadampSettings& settings,
                         const KeySet& keys, const std::vector<Workload>& workloads,
                         Progress& progress) {
  const std::uint64_t area = AreaWithoutMisprint(printed);
  const std::string policy =
      fmt::format("classic_bloom:{:.6g}", static_cast<double>(area) / kBloomsStoredKeys);
  const PolicyResult result = MeasurePolicy(policy, keys, workloads, settings, progress);
  const WorkloadResult& all = result.workloads.front();
  const double lookups = static_cast<double>(all.measured.lookups) / 100.0;
  BloomTableRow row;
  row.allowed_error = std::ldexp(1.0, -printed.halvings);
  row.printed_bits = printed.bits;
  row.misprint = printed.bits != area;
  row.printed_percent = printed.percent;
  row.policy = policy;
  row.filter_bytes = result.filter_bytes;
  row.measured_percent = static_cast<double>(all.measured.true_negatives) / lookups;
  row.predicted_percent = static_cast<double>(all.predicted.absent_checks) *
                          (1.0 - all.predicted.rate.value_or(0.0)) / lookups;
  return row;
}

}  // namespace

std::vector<BloomTableRow> MeasureBloomTable(ReadampSettings settings, Progress& progress) {
  // All keys are in one table, whose filter is as large as Bloom's for all words.
  settings.stored_share = kBloomsShare;
  settings.sorted_runs = 1;
  settings.tree = Tree::kSettled;
  settings.table_bytes = std::size_t{1} << 30;
  settings.partitioned_filters = false;
  settings.workloads = {"hyphenation"};
  const KeySet keys = MakeKeySet(settings);
  const std::vector<Workload> workloads = MakeWorkloads(keys, settings);
  std::vector<BloomTableRow> rows;
  rows.reserve(kPrinted.size());
  for (const PrintedRow& printed : kPrinted) {
    rows.push_back(MeasureRow(printed, settings, keys, workloads, progress));
  }
  return rows;
}

std::string BloomTableText(const std::vector<BloomTableRow>& rows) {
  std::string misprints;
  support::TextTable table({"allowed error", "bits printed", "bits per key", "filter bytes",
                            "% saved: printed", "exact", "measured"});
  for (const BloomTableRow& row : rows) {
    table.AddRow({fmt::format("1/{:.0f}", 1.0 / row.allowed_error),
                  fmt::format("{}{}", row.printed_bits, row.misprint ? "*" : ""),
                  row.policy.substr(row.policy.find(':') + 1), row.filter_bytes,
                  fmt::format("{:.1f}", row.printed_percent),
                  fmt::format("{:.2f}", row.predicted_percent),
                  fmt::format("{:.2f}", row.measured_percent)});
    if (!row.misprint) continue;
    const double halvings = -std::log2(row.allowed_error);
    const std::uint64_t bits = rows.front().printed_bits;
    misprints += fmt::format(
        "* a misprint: {:.0f} halvings of {} bits each are {:.0f}, which is measured here\n",
        halvings, bits, static_cast<double>(bits) * halvings);
  }
  return "\nBloom 1970, Table I: disk reads saved in hyphenating a dictionary, then and now\n" +
         table.Format() + misprints;
}

}  // namespace exactbloom::readamp
