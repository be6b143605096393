#include "table_report.h"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "exactbloom/theory/key_count_estimate.h"
#include "filter_fill.h"

namespace exactbloom::tool {
namespace {

constexpr double kNone = 0.0;

// A block with the number of keys by its fill, and the standard deviation of that number.
struct MeasuredBlock {
  BlockFill fill;
  double estimated_keys = kNone;
  double deviation = 0.0;
};

MeasuredBlock Measure(const rocksdb::Slice& block) {
  MeasuredBlock measured{MeasureBlock(block)};
  const BlockFill& fill = measured.fill;
  if (!fill.IsBloom()) return measured;
  const auto estimate = EstimateKeys(fill.layout, fill.bits, fill.ones, fill.probes, 1.0);
  if (!estimate) return measured;
  measured.estimated_keys = estimate->keys;
  measured.deviation = (estimate->interval.high - estimate->interval.low) / 2.0;
  return measured;
}

// The keys of each block: from an ExactBloom block itself; otherwise the table's keys divided in
// proportion to the estimates, or to the sizes.
std::vector<double> KeysOfBlocks(const TableReport& report,
                                 const std::vector<MeasuredBlock>& blocks) {
  const bool ours = report.filter.family == FilterFamily::kExactBloom;
  std::vector<double> keys;
  double sum = 0.0;
  for (const MeasuredBlock& block : blocks) {
    const bool estimated = std::isfinite(block.estimated_keys) && block.estimated_keys > 0.0;
    keys.push_back(ours        ? static_cast<double>(block.fill.keys)
                   : estimated ? block.estimated_keys
                               : static_cast<double>(block.fill.bits));
    sum += keys.back();
  }
  if (ours || sum == 0.0) return keys;
  for (double& share : keys) share *= static_cast<double>(report.keys) / sum;
  return keys;
}

void AddCounts(const std::vector<MeasuredBlock>& blocks, TableReport* report) {
  std::uint64_t ones = 0;
  double estimated = 0.0;
  double variance = 0.0;
  bool bloom = !blocks.empty();
  for (const MeasuredBlock& block : blocks) {
    report->bits += block.fill.bits;
    ones += block.fill.ones;
    estimated += block.estimated_keys;
    variance += block.deviation * block.deviation;
    bloom = bloom && (block.fill.IsBloom() || block.fill.family == FilterFamily::kEmpty);
  }
  if (!bloom || report->bits == 0) return;
  report->fill = static_cast<double>(ones) / static_cast<double>(report->bits);
  // The older built-in filters repeat their bits, which the estimate does not consider.
  if (report->filter.family == FilterFamily::kLegacyBloom) return;
  report->estimated_keys = estimated;
  report->estimated_keys_deviation = std::sqrt(variance);
  const double gap = std::abs(estimated - static_cast<double>(report->keys));
  const double tolerance = report->filter.family == FilterFamily::kExactBloom ? 0.0 : kWideGapShare;
  report->wide_gap = !(gap <= 1.0 + kWideGapDeviations * report->estimated_keys_deviation) &&
                     !(gap <= tolerance * static_cast<double>(report->keys));
}

}  // namespace

double TableReport::PassRate() const {
  if (!HasFilter() || (use && use->use == FilterUse::kUnused)) return 1.0;
  return fill_rate.value_or(exact_rate.value_or(1.0));
}

TableReport TableReader::Read(const TableLocation& table) {
  TableReport report;
  std::vector<MeasuredBlock> blocks;
  report.status =
      ReadTableFilter(*rocksdb::FileSystem::Default(), table.path, &report.filter,
                      [&blocks](const rocksdb::Slice& block) { blocks.push_back(Measure(block)); });
  report.filter.level = table.level;
  report.filter.number = table.number;
  if (!table.column_family.empty()) report.filter.column_family = table.column_family;
  if (!report.HasFilter()) return report;

  const bool ours = report.filter.family == FilterFamily::kExactBloom;
  report.keys = ours ? report.filter.keys : report.filter.filter_keys;
  AddCounts(blocks, &report);
  const std::vector<double> keys = KeysOfBlocks(report, blocks);
  double all_keys = 0.0;
  double exact = 0.0;
  double by_fill = 0.0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const BlockFill& fill = blocks[i].fill;
    const auto whole = static_cast<std::uint64_t>(std::llround(keys[i]));
    all_keys += keys[i];
    by_fill += keys[i] * fill.rate;
    exact +=
        keys[i] * (fill.IsBloom() ? rates_.MeanOf({fill.layout, fill.probes, fill.bits, whole, 0})
                                  : fill.rate);
  }
  if (all_keys == 0.0) return report;
  report.fill_rate = by_fill / all_keys;
  const FilterFamily family = report.filter.family;
  if (family == FilterFamily::kUnknown || family == FilterFamily::kLegacyBloom) return report;
  report.exact_rate = exact / all_keys;
  report.efficiency = -all_keys * std::log2(*report.exact_rate) / static_cast<double>(report.bits);
  return report;
}

}  // namespace exactbloom::tool
