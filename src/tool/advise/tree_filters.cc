#include "tree_filters.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/ribbon_rate.h"
#include "filter/block_format.h"
#include "followed_filters.h"
#include "plugin/level_allocation.h"
#include "plugin/ribbon_filters.h"
#include "support/own_policy.h"

namespace exactbloom::tool {
namespace {

void AddTable(const TableReport& table, TreeLevel* level) {
  const TableFilter& filter = table.filter;
  const std::uint64_t keys = table.keys != 0
                                 ? table.keys
                                 : filter.entries - std::min(filter.entries, filter.range_deletes);
  const bool unused = table.use && table.use->use == FilterUse::kUnused;
  level->tables += 1;
  level->keys += keys;
  level->filter_bytes += filter.bytes;
  level->filters[unused ? CheckedFilter::kNone : CheckedFilterOf(filter)] +=
      static_cast<double>(keys);
  level->each.push_back({keys, filter.bytes, table.bottommost});
  if (!table.bottommost) return;
  level->bottommost_tables += 1;
  level->bottommost_keys += keys;
}

void SetOptions(const FamilyOptions& family, Tree* tree) {
  tree->num_levels = family.options.num_levels;
  tree->size_multiplier = family.options.max_bytes_for_level_multiplier;
  tree->compaction_style = family.options.compaction_style;
  tree->deepest_unfiltered = family.options.optimize_filters_for_hits;
  if (family.table == nullptr) return;
  tree->table_options = *family.table;
  const BloomFilterPolicy* policy = support::OwnPolicy(family.table->filter_policy.get());
  tree->is_followed = policy != nullptr && FollowsTree(policy->Options());
}

void SetLevels(const std::map<int, TreeLevel>& levels, Tree* tree) {
  for (const auto& [number, tables] : levels) {
    TreeLevel& level = tree->levels.emplace_back(tables);
    level.level = number;
    level.runs = number == 0 ? level.tables : 1;
    // They come by their numbers.
    if (number == 0) std::reverse(level.each.begin(), level.each.end());
    for (auto& [filter, keys] : level.filters) {
      keys /= std::max(1.0, static_cast<double>(level.keys));
    }
  }
  tree->levels.back().deepest = tree->levels.back().level > 0;
}

std::uint64_t SumOverLevels(const Tree& tree, std::uint64_t TreeLevel::*number) {
  return std::accumulate(
      tree.levels.begin(), tree.levels.end(), std::uint64_t{0},
      [number](std::uint64_t sum, const TreeLevel& level) { return sum + level.*number; });
}

rocksdb::FilterBuildingContext ContextOf(const Tree& tree, const TreeLevel& level,
                                         bool bottommost) {
  rocksdb::FilterBuildingContext context =
      CompactionContext(tree.table_options, tree.num_levels, level.level, bottommost);
  context.compaction_style = tree.compaction_style;
  context.column_family_name = tree.column_family;
  return context;
}

// How many filters a level's tables have: RocksDB cuts partitions by bytes.
std::uint64_t FilterCountOf(const Tree& tree, const RebuiltTables& tables, bool is_sized_by_rate) {
  const rocksdb::BlockBasedTableOptions& options = tree.table_options;
  if (!options.partition_filters || is_sized_by_rate) return tables.tables;
  const double partition = static_cast<double>(options.metadata_block_size) *
                           (1.0 - options.block_size_deviation / 100.0);
  const double bytes = tables.bits_per_key * static_cast<double>(tables.keys) / 8.0;
  return std::max(tables.tables, static_cast<std::uint64_t>(std::ceil(bytes / partition)));
}

std::uint64_t RibbonBytes(double bits_per_key, std::uint64_t keys,
                          const rocksdb::FilterBuildingContext& context) {
  const auto builder = RibbonFilters().NewBuilder(bits_per_key, context);
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

// Some tables' filters.
struct TablesFilters {
  CheckedFilter kind = CheckedFilter::kNone;
  std::uint64_t count = 0;  // of filters
  std::uint64_t keys = 0;   // of each
  std::uint64_t bytes = 0;  // of each; of a Ribbon filter only
};

TablesFilters PlanFilters(const Tree& tree, Layout layout, const TreeLevel& level,
                          const RebuiltTables& tables, const AllocatedFilter& wanted) {
  // Below this number of keys RocksDB's Ribbon policy builds Bloom filters.
  constexpr std::uint64_t kLeastRibbonKeys = 1500;
  const bool none = tables.keys == 0 || (tables.bottommost && tree.deepest_unfiltered) ||
                    (wanted.fpr == 0.0 && tables.bits_per_key < kMinBitsPerKey);
  TablesFilters filters;
  if (none) return filters;
  filters.kind = CheckedFilterOf(layout);
  filters.count = FilterCountOf(tree, tables, wanted.fpr > 0.0);
  filters.keys = std::max<std::uint64_t>(1, (tables.keys + filters.count / 2) / filters.count);
  if (!wanted.ribbon || filters.keys < kLeastRibbonKeys) return filters;
  filters.kind = CheckedFilter::kRibbon;
  filters.bytes =
      RibbonBytes(tables.bits_per_key, filters.keys, ContextOf(tree, level, tables.bottommost));
  return filters;
}

// Bytes and rate of what PlanFilters returned.
std::pair<std::uint64_t, double> SizeOf(const TablesFilters& filters, Layout layout,
                                        double bits_per_key, double wanted_rate) {
  if (filters.kind == CheckedFilter::kNone) return {0, 1.0};
  if (filters.kind == CheckedFilter::kRibbon) {
    return {filters.count * filters.bytes,
            RibbonFalsePositiveRate(filters.keys, (filters.bytes - kRibbonMetadataBytes) * 8)};
  }
  const FilterSize size =
      wanted_rate > 0.0 ? SmallestFilter(layout, filters.keys, wanted_rate).value_or(FilterSize())
                        : SizeAtBitsPerKey(layout, filters.keys, bits_per_key);
  return {filters.count * (filter::ArrayBytes(size.bits) + filter::kTrailerBytes),
          size.false_positive_rate};
}

// The filters of all tables of a level, in some groups.
class PredictedLevel {
 public:
  PredictedLevel(const Tree& tree, Layout layout, TreeLevel* level)
      : tree_(tree), layout_(layout), level_(*level) {
    level_.filters.clear();
    level_.filter_bytes = 0;
    level_.wasted_reads = 0.0;
  }

  void Add(const RebuiltTables& tables, const AllocatedFilter& wanted) {
    const TablesFilters filters = PlanFilters(tree_, layout_, level_, tables, wanted);
    const auto [bytes, rate] = SizeOf(filters, layout_, tables.bits_per_key, wanted.fpr);
    const auto all_runs = static_cast<double>(level_.runs);
    const double runs = level_.level == 0 ? static_cast<double>(tables.tables)
                                          : static_cast<double>(tables.keys) /
                                                std::max(1.0, static_cast<double>(level_.keys));
    level_.filters[filters.kind] += runs / all_runs;
    level_.filter_bytes += bytes;
    level_.wasted_reads += runs * rate;
  }

 private:
  const Tree& tree_;
  Layout layout_;
  TreeLevel& level_;
};

void PredictLevel(const Tree& tree, Layout layout, const LevelAllocation& allocation,
                  TreeLevel* level) {
  PredictedLevel predicted(tree, layout, level);
  for (const bool bottommost : {false, true}) {
    const AllocatedFilter wanted = allocation.FilterOf(ContextOf(tree, *level, bottommost));
    const RebuiltTables tables = PartOf(*level, bottommost, wanted.bits_per_key);
    if (tables.tables != 0) predicted.Add(tables, wanted);
  }
}

void PredictFollowed(const BloomFilterPolicyOptions& options, Layout layout, Tree* tree) {
  const auto wanted_of = [&](const RebuiltTables& tables) {
    const bool ribbon = options.bottommost == BottommostFilter::kRibbon && tables.bottommost;
    return AllocatedFilter{0.0, 0.0, ribbon};
  };
  const auto bytes_of = [&](const TreeLevel& level, const RebuiltTables& tables) {
    const TablesFilters filters = PlanFilters(*tree, layout, level, tables, wanted_of(tables));
    if (filters.kind == CheckedFilter::kNone) return std::uint64_t{0};
    if (filters.kind == CheckedFilter::kRibbon) return filters.count * filters.bytes;
    const double bits = tables.bits_per_key * static_cast<double>(tables.keys);
    return static_cast<std::uint64_t>(bits / 8.0) + filters.count * filter::kTrailerBytes;
  };
  const auto rebuilt = RebuildFollowing(DivisionOptionsOf(layout, options), *tree, bytes_of);
  for (std::size_t i = 0; i < rebuilt.size(); ++i) {
    PredictedLevel predicted(*tree, layout, &tree->levels[i]);
    for (const RebuiltTables& tables : rebuilt[i]) predicted.Add(tables, wanted_of(tables));
  }
}

}  // namespace

std::uint64_t Tree::Keys() const { return SumOverLevels(*this, &TreeLevel::keys); }

std::uint64_t Tree::Runs() const { return SumOverLevels(*this, &TreeLevel::runs); }

std::optional<double> Tree::DeepestRatio() const {
  if (levels.size() < 2 || levels[levels.size() - 2].level == 0) return std::nullopt;
  const auto above = static_cast<double>(levels[levels.size() - 2].keys);
  return static_cast<double>(levels.back().keys) / std::max(1.0, above);
}

std::vector<Tree> TreesOf(const Inspection& inspection) {
  std::map<std::string, std::map<int, TreeLevel>> families;
  for (const TableReport& table : inspection.tables) {
    if (!table.status.ok()) continue;
    AddTable(table, &families[table.filter.column_family][table.filter.level]);
  }
  std::vector<Tree> trees;
  for (const auto& [name, levels] : families) {
    Tree& tree = trees.emplace_back();
    tree.column_family = name;
    if (inspection.options && inspection.options->families.count(name) != 0) {
      SetOptions(inspection.options->families.at(name), &tree);
    }
    SetLevels(levels, &tree);
    for (const FilterSummary& summary : inspection.levels) {
      for (TreeLevel& level : tree.levels) {
        const bool same = summary.column_family == name && summary.level == level.level;
        if (same) level.wasted_reads = summary.WastedReads();
      }
    }
  }
  return trees;
}

Tree WithFiltersOf(const BloomFilterPolicyOptions& options, Tree tree) {
  const Layout layout(FilterKind::kClassic, options.lines);
  if (FollowsTree(options)) {
    PredictFollowed(options, layout, &tree);
    return tree;
  }
  const LevelAllocation allocation(layout, options);
  for (TreeLevel& level : tree.levels) PredictLevel(tree, layout, allocation, &level);
  return tree;
}

TreeFilters FiltersOf(const Tree& tree, const LookupCosts& costs) {
  TreeFilters sum;
  sum.bytes = SumOverLevels(tree, &TreeLevel::filter_bytes);
  for (const TreeLevel& level : tree.levels) {
    const auto runs = static_cast<double>(level.runs);
    sum.wasted_reads += level.wasted_reads;
    sum.worst_rate = std::max(sum.worst_rate, level.wasted_reads / runs);
    for (const auto& [filter, share] : level.filters) {
      const CheckCost& cost = costs.Of(filter);
      sum.check_nanoseconds +=
          runs * share * (sum.bytes <= kCachedFilterBytes ? cost.in_cache : cost.in_memory);
    }
  }
  sum.lookup_nanoseconds = sum.wasted_reads * costs.read_nanoseconds + sum.check_nanoseconds;
  return sum;
}

}  // namespace exactbloom::tool
