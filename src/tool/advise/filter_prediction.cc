#include "filter_prediction.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/ribbon_rate.h"
#include "filter/block_format.h"

namespace exactbloom::tool {
namespace {

// Below this number of keys RocksDB's Ribbon policy builds Bloom filters.
constexpr std::uint64_t kLeastRibbonKeys = 1500;

// How many filters a level's tables have: RocksDB cuts partitions by bytes.
std::uint64_t BlocksOf(const LevelShape& level, const AllocatedFilter& wanted,
                       const rocksdb::BlockBasedTableOptions& table_options) {
  if (!table_options.partition_filters || wanted.fpr > 0.0) return level.tables;
  const double partition = static_cast<double>(table_options.metadata_block_size) *
                           (1.0 - table_options.block_size_deviation / 100.0);
  const double bytes = wanted.bits_per_key * static_cast<double>(level.keys) / 8.0;
  return std::max(level.tables, static_cast<std::uint64_t>(std::ceil(bytes / partition)));
}

}  // namespace

rocksdb::FilterBuildingContext FilterPrediction::ContextOf(const LevelShape& level) const {
  rocksdb::FilterBuildingContext context =
      CompactionContext(tree_.table_options, tree_.num_levels, level.level, level.deepest);
  context.compaction_style = tree_.compaction_style;
  context.column_family_name = tree_.column_family;
  return context;
}

std::uint64_t FilterPrediction::RibbonBytes(double bits_per_key, std::uint64_t keys) {
  const LevelShape any;
  const auto builder = ribbon_filters_.NewBuilder(bits_per_key, ContextOf(any));
  std::size_t low = 1;
  auto high = static_cast<std::size_t>(static_cast<double>(keys) * (bits_per_key + 1.0)) + 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (builder->ApproximateNumEntries(middle) < keys) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

PredictedLevel FilterPrediction::PredictFilter(std::uint64_t keys, Layout layout,
                                               const AllocatedFilter& wanted) {
  PredictedLevel filter;
  if (wanted.fpr == 0.0 && wanted.bits_per_key < kMinBitsPerKey) return filter;
  if (wanted.ribbon && keys >= kLeastRibbonKeys) {
    filter.filter = CheckedFilter::kRibbon;
    filter.bytes = RibbonBytes(wanted.bits_per_key, keys);
    filter.rate = RibbonFalsePositiveRate(keys, (filter.bytes - kRibbonMetadataBytes) * 8);
    return filter;
  }
  const FilterSize size = wanted.fpr > 0.0
                              ? SmallestFilter(layout, keys, wanted.fpr).value_or(FilterSize())
                              : SizeAtBitsPerKey(layout, keys, wanted.bits_per_key);
  filter.filter = CheckedFilterOf(layout);
  filter.bytes = filter::ArrayBytes(size.bits) + filter::kTrailerBytes;
  filter.rate = size.false_positive_rate;
  return filter;
}

PredictedLevel FilterPrediction::PredictLevel(const LevelShape& level, Layout layout,
                                              const AllocatedFilter& wanted) {
  PredictedLevel predicted;
  if (level.keys == 0 || (level.deepest && tree_.deepest_unfiltered)) return predicted;
  const std::uint64_t blocks = BlocksOf(level, wanted, tree_.table_options);
  const std::uint64_t keys = std::max<std::uint64_t>(1, (level.keys + blocks / 2) / blocks);
  const auto [place, is_new] = filters_.try_emplace(
      {keys, layout, wanted.ribbon, wanted.bits_per_key, wanted.fpr}, PredictedLevel());
  if (is_new) place->second = PredictFilter(keys, layout, wanted);
  predicted = place->second;
  predicted.bytes *= blocks;
  return predicted;
}

PredictedFilters FilterPrediction::Predict(const BloomFilterPolicyOptions& options) {
  const Layout layout{FilterKind::kClassic, options.lines};
  const LevelAllocation allocation(layout, options);
  PredictedFilters sum;
  std::vector<PredictedLevel> levels;
  for (const LevelShape& level : tree_.levels) {
    levels.push_back(PredictLevel(level, layout, allocation.FilterOf(ContextOf(level))));
    sum.bytes += levels.back().bytes;
    sum.wasted_reads += static_cast<double>(level.runs) * levels.back().rate;
    sum.worst_rate = std::max(sum.worst_rate, levels.back().rate);
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    sum.nanoseconds +=
        static_cast<double>(tree_.levels[i].runs) * CheckNanoseconds(levels[i].filter, sum.bytes);
  }
  return sum;
}

}  // namespace exactbloom::tool
