#include "table_report.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "exactbloom/filter.h"
#include "exactbloom/rocksdb_ribbon_rate.h"
#include "filter_fill.h"
#include "sst/regular_files.h"
#include "support/filter_interfaces.h"

namespace exactbloom::tool {
namespace {

// The keys of each block: from an ExactBloom block itself; otherwise a share of the table's keys in
// proportion to its size.
std::vector<double> KeysOfBlocks(const TableReport& report, const std::vector<BlockFill>& blocks) {
  const bool ours = IsOurs(report.filter.family);
  std::vector<double> keys;
  double sum = 0.0;
  for (const BlockFill& block : blocks) {
    keys.push_back(static_cast<double>(ours ? block.filter.ours.keys : block.bits));
    sum += keys.back();
  }
  if (ours || sum == 0.0) return keys;
  for (double& share : keys) share *= static_cast<double>(report.keys) / sum;
  return keys;
}

void AddFill(const std::vector<BlockFill>& blocks, TableReport* report) {
  std::uint64_t ones = 0;
  bool bloom = !blocks.empty();
  for (const BlockFill& block : blocks) {
    report->bits += block.bits;
    ones += block.ones;
    bloom = bloom && (block.ones != 0 || block.filter.family == FilterFamily::kEmpty);
  }
  if (!bloom || report->bits == 0) return;
  report->fill = static_cast<double>(ones) / static_cast<double>(report->bits);
}

}  // namespace

double TableReport::PassRate() const {
  if (!NeedsFilter()) return 0.0;
  if (!Filters()) return 1.0;
  return fill_rate.value_or(exact_rate.value_or(1.0));
}

std::uint64_t TableReport::BuildBytes() const {
  if (!HasFilter()) return 0;
  return tool::BuildBytes(filter.family, filter.partitioned,
                          keys / std::max<std::uint64_t>(1, filter.blocks), filter.bytes);
}

std::uint64_t BuildBytes(FilterFamily family, bool partitioned, std::uint64_t keys,
                         std::uint64_t bytes) {
  if (family == FilterFamily::kRibbon) {
    return keys * kRocksDBRibbonBuildBytesPerKey + (partitioned ? bytes : 0);
  }
  if (family == FilterFamily::kExactRibbon) {
    FilterOptions options;
    options.kind = FilterKind::kRibbon;
    const auto builder = FilterBuilder::Create(options);
    return keys * FilterBuilder::kBytesPerKey + builder->FinishBytes(builder->Plan(keys)) + bytes;
  }
  const bool has_scratch =
      family == FilterFamily::kExactBloom && !partitioned && bytes > support::kDirectArrayBytes;
  return keys *
             (FilterBuilder::kBytesPerKey + (has_scratch ? FilterBuilder::kFinishBytesPerKey : 0)) +
         bytes;
}

double TableReader::RateOfBuiltIn(const BlockFill& fill, double keys) {
  if (fill.filter.family != FilterFamily::kBloom) return BuiltInRate(fill, keys);
  const std::tuple known{fill.bits, static_cast<std::uint64_t>(std::llround(keys)),
                         fill.filter.probes};
  const auto found = bloom_rates_.find(known);
  if (found != bloom_rates_.end()) return found->second;
  return bloom_rates_[known] = BuiltInRate(fill, keys);
}

TableReport TableReader::Read(const TableLocation& table) {
  TableReport report;
  std::vector<BlockFill> blocks;
  report.status = ReadTableFilter(
      *files::RegularFiles(), table.path, &report.filter,
      [&blocks](const rocksdb::Slice& block) { blocks.push_back(MeasureBlock(block)); });
  report.location = table;
  if (table.column_family.empty()) report.location.column_family = report.filter.column_family;
  if (!report.HasFilter()) return report;

  const bool ours = IsOurs(report.filter.family);
  report.keys = ours ? report.filter.keys : report.filter.filter_keys;
  AddFill(blocks, &report);
  const std::vector<double> keys = KeysOfBlocks(report, blocks);
  double all_keys = 0.0;
  double exact = 0.0;
  double by_fill = 0.0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const BlockFill& fill = blocks[i];
    all_keys += keys[i];
    by_fill += keys[i] * fill.rate;
    // The small partitions of RocksDB's Ribbon filter are Bloom filters, whose ones say more than a
    // share of the keys.
    const bool fell_back = report.filter.family == FilterFamily::kRibbon &&
                           fill.filter.family != FilterFamily::kRibbon;
    const bool is_exact_bloom = fill.filter.family == FilterFamily::kExactBloom;
    exact += keys[i] * (is_exact_bloom      ? rates_.Of(fill.filter.ours).mean
                        : ours || fell_back ? fill.rate
                                            : RateOfBuiltIn(fill, keys[i]));
  }
  if (all_keys == 0.0) return report;
  report.fill_rate = by_fill / all_keys;
  const FilterFamily family = report.filter.family;
  const bool has_model = family == FilterFamily::kRibbon || family == FilterFamily::kBloom;
  const bool has_rate = (ours || has_model) && !std::isnan(exact);  // there are not too many keys
  if (has_rate) report.exact_rate = exact / all_keys;
  return report;
}

}  // namespace exactbloom::tool
