// What the filters of a setting would take and let through in a tree, before any is built.
//
// The plugin itself says which filter a level's tables get. Their rates are exact for the level's
// mean number of keys a filter; of Ribbon filters they are those of ribbon_rate.h, at the bytes
// that RocksDB's builder takes. A table counts as bottommost where its level is the deepest.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "exactbloom/filter_policy.h"
#include "plugin/level_allocation.h"
#include "plugin/ribbon_filters.h"
#include "tree_shape.h"

namespace exactbloom::tool {

struct PredictedFilters {
  std::uint64_t bytes = 0;
  double wasted_reads = 0.0;  // of a lookup of an absent key
  double worst_rate = 0.0;    // of a level's tables
  double nanoseconds = 0.0;   // of processor time for the checks of a lookup
};

// The filters of one level.
struct PredictedLevel {
  std::uint64_t bytes = 0;
  double rate = 1.0;
  CheckedFilter filter = CheckedFilter::kNone;
};

class FilterPrediction {
 public:
  // The tree must outlive this object.
  explicit FilterPrediction(const TreeShape& tree) : tree_(tree) {}

  // What the classic policy of these options, which must be valid, would do.
  PredictedFilters Predict(const BloomFilterPolicyOptions& options);

  // `layout` is that of our own filters.
  PredictedLevel PredictLevel(const LevelShape& level, Layout layout,
                              const AllocatedFilter& wanted);

  const TreeShape& tree() const { return tree_; }

 private:
  rocksdb::FilterBuildingContext ContextOf(const LevelShape& level) const;
  // Of one filter.
  std::uint64_t RibbonBytes(double bits_per_key, std::uint64_t keys);
  PredictedLevel PredictFilter(std::uint64_t keys, Layout layout, const AllocatedFilter& wanted);

  const TreeShape& tree_;
  RibbonFilters ribbon_filters_;
  std::map<std::tuple<std::uint64_t, Layout, bool, double, double>, PredictedLevel> filters_;
};

}  // namespace exactbloom::tool
