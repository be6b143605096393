#include "tree_filters.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/ribbon_rate.h"
#include "filter/block_format.h"
#include "plugin/level_allocation.h"
#include "plugin/ribbon_filters.h"

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
}

void SetOptions(const FamilyOptions& family, Tree* tree) {
  tree->num_levels = family.options.num_levels;
  tree->size_multiplier = family.options.max_bytes_for_level_multiplier;
  tree->compaction_style = family.options.compaction_style;
  tree->deepest_unfiltered = family.options.optimize_filters_for_hits;
  if (family.table != nullptr) tree->table_options = *family.table;
}

void SetLevels(const std::map<int, TreeLevel>& levels, Tree* tree) {
  for (const auto& [number, tables] : levels) {
    TreeLevel& level = tree->levels.emplace_back(tables);
    level.level = number;
    level.runs = number == 0 ? level.tables : 1;
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

rocksdb::FilterBuildingContext ContextOf(const Tree& tree, const TreeLevel& level) {
  rocksdb::FilterBuildingContext context =
      CompactionContext(tree.table_options, tree.num_levels, level.level, level.deepest);
  context.compaction_style = tree.compaction_style;
  context.column_family_name = tree.column_family;
  return context;
}

// How many filters a level's tables have: RocksDB cuts partitions by bytes.
std::uint64_t FilterCountOf(const Tree& tree, const TreeLevel& level,
                            const AllocatedFilter& wanted) {
  const rocksdb::BlockBasedTableOptions& options = tree.table_options;
  if (!options.partition_filters || wanted.fpr > 0.0) return level.tables;
  const double partition = static_cast<double>(options.metadata_block_size) *
                           (1.0 - options.block_size_deviation / 100.0);
  const double bytes = wanted.bits_per_key * static_cast<double>(level.keys) / 8.0;
  return std::max(level.tables, static_cast<std::uint64_t>(std::ceil(bytes / partition)));
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

void SetFilters(CheckedFilter filter, std::uint64_t bytes, double rate, TreeLevel* level) {
  level->filters = {{filter, 1.0}};
  level->filter_bytes = bytes;
  level->wasted_reads = static_cast<double>(level->runs) * rate;
}

void PredictLevel(const Tree& tree, Layout layout, const LevelAllocation& allocation,
                  TreeLevel* level) {
  // Below this number of keys RocksDB's Ribbon policy builds Bloom filters.
  constexpr std::uint64_t kLeastRibbonKeys = 1500;
  const rocksdb::FilterBuildingContext context = ContextOf(tree, *level);
  const AllocatedFilter wanted = allocation.FilterOf(context);
  const bool none = level->keys == 0 || (level->deepest && tree.deepest_unfiltered) ||
                    (wanted.fpr == 0.0 && wanted.bits_per_key < kMinBitsPerKey);
  if (none) return SetFilters(CheckedFilter::kNone, 0, 1.0, level);
  const std::uint64_t count = FilterCountOf(tree, *level, wanted);
  const std::uint64_t keys = std::max<std::uint64_t>(1, (level->keys + count / 2) / count);
  if (wanted.ribbon && keys >= kLeastRibbonKeys) {
    const std::uint64_t bytes = RibbonBytes(wanted.bits_per_key, keys, context);
    const double rate = RibbonFalsePositiveRate(keys, (bytes - kRibbonMetadataBytes) * 8);
    return SetFilters(CheckedFilter::kRibbon, count * bytes, rate, level);
  }
  const FilterSize size = wanted.fpr > 0.0
                              ? SmallestFilter(layout, keys, wanted.fpr).value_or(FilterSize())
                              : SizeAtBitsPerKey(layout, keys, wanted.bits_per_key);
  SetFilters(CheckedFilterOf(layout),
             count * (filter::ArrayBytes(size.bits) + filter::kTrailerBytes),
             size.false_positive_rate, level);
}

}  // namespace

std::uint64_t Tree::Keys() const { return SumOverLevels(*this, &TreeLevel::keys); }

std::uint64_t Tree::Runs() const { return SumOverLevels(*this, &TreeLevel::runs); }

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
