#include "level_allocation.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "exactbloom/levels.h"

namespace exactbloom {
namespace {

using rocksdb::FilterBuildingContext;

bool IsBottommost(const FilterBuildingContext& context) {
  return context.is_bottommost ||
         (context.num_levels > 1 && context.level_at_creation == context.num_levels - 1);
}

// How many levels above the bottommost one the table is, if its level says so: not for
// SstFileWriter and repairs, where the level is unknown, nor for universal and FIFO compaction,
// where levels say little or nothing about sizes.
std::optional<std::size_t> DistanceFromBottom(const FilterBuildingContext& context) {
  const bool known = context.level_at_creation >= 0 && context.num_levels > 1 &&
                     context.reason != rocksdb::TableFileCreationReason::kMisc &&
                     context.compaction_style == rocksdb::kCompactionStyleLevel;
  if (!known) return std::nullopt;
  if (IsBottommost(context)) return 0;
  return static_cast<std::size_t>(context.num_levels - 1 - context.level_at_creation);
}

}  // namespace

FilterBuildingContext CompactionContext(const rocksdb::BlockBasedTableOptions& table_options,
                                        int num_levels, int level, bool bottommost) {
  FilterBuildingContext context(table_options);
  context.num_levels = num_levels;
  context.level_at_creation = level;
  context.is_bottommost = bottommost;
  context.reason = rocksdb::TableFileCreationReason::kCompaction;
  return context;
}

const std::vector<double>& LevelAllocation::BitsByDistance() const {
  std::call_once(planned_, [this] {
    bits_by_distance_ = GeometricLevelBits(layout_, options_.size_ratio, options_.bits_per_key,
                                           options_.bottommost);
  });
  return bits_by_distance_;
}

double LevelAllocation::BitsPerKeyOf(const FilterBuildingContext& context) const {
  const auto at_most_last = [](const std::vector<double>& bits, std::size_t index) {
    return bits[std::min(index, bits.size() - 1)];
  };
  if (!options_.level_bits.empty()) {
    if (context.level_at_creation < 0) return options_.level_bits.back();
    return at_most_last(options_.level_bits, static_cast<std::size_t>(context.level_at_creation));
  }
  if (options_.size_ratio == 0.0 || FollowsTree(options_)) return options_.bits_per_key;
  const auto distance = DistanceFromBottom(context);
  return distance ? at_most_last(BitsByDistance(), *distance) : options_.bits_per_key;
}

AllocatedFilter LevelAllocation::FilterOf(const FilterBuildingContext& context) const {
  if (options_.fpr > 0.0) return {options_.bits_per_key, options_.fpr, false};
  const bool ribbon = options_.bottommost == BottommostFilter::kRibbon && IsBottommost(context);
  return {BitsPerKeyOf(context), 0.0, ribbon};
}

}  // namespace exactbloom
