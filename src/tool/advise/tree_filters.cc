#include "tree_filters.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/ribbon_rate.h"
#include "filter/block_format.h"
#include "followed_filters.h"
#include "plugin/block_description.h"
#include "plugin/level_allocation.h"
#include "plugin/ribbon_filters.h"
#include "support/own_policy.h"

namespace exactbloom::tool {
namespace {

double PartOf(double part, double all) { return all == 0.0 ? 0.0 : part / all; }

void AddTable(const TableReport& table, TreeLevel* level) {
  const TableFilter& filter = table.filter;
  const std::uint64_t keys = table.keys != 0
                                 ? table.keys
                                 : filter.entries - std::min(filter.entries, filter.range_deletes);
  const bool unused = table.use && table.use->use == FilterUse::kUnused;
  level->Add({keys, filter.bytes, table.bottommost, table.asked});
  level->wasted_reads += table.asked * table.PassRate();
  level->filters[unused ? CheckedFilter::kNone : CheckedFilterOf(filter)] += table.asked;
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
    for (auto& [filter, asked] : level.filters) asked = PartOf(asked, level.asked);
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

// RocksDB cuts the filter of a table when a partition has as many keys as fit. So each table has
// full ones, and one with the rest of its keys; they are taken for tables here.
std::vector<RebuiltTables> PartitionsOf(const Tree& tree, Layout layout, const TreeLevel& level,
                                        const RebuiltTables& tables,
                                        const AllocatedFilter& wanted) {
  const rocksdb::BlockBasedTableOptions& options = tree.table_options;
  const bool is_whole = !options.partition_filters || wanted.fpr > 0.0 ||
                        tables.bits_per_key < kMinBitsPerKey || tables.keys == 0;
  if (is_whole) return {tables};
  const std::uint64_t partition = options.metadata_block_size *
                                  (100 - static_cast<std::uint64_t>(options.block_size_deviation)) /
                                  100;
  const std::uint64_t most_keys =
      wanted.ribbon
          ? RibbonFilters()
                .NewBuilder(tables.bits_per_key, ContextOf(tree, level, tables.bottommost))
                ->ApproximateNumEntries(partition)
          : BloomFilterBuilder::Create({layout, tables.bits_per_key, /*hash_seed=*/0})
                ->KeysThatFit(partition);
  const std::uint64_t keys_of_table = tables.keys / tables.tables;
  const std::uint64_t full = keys_of_table / std::max<std::uint64_t>(1, most_keys);
  const auto part = [&](std::uint64_t count, std::uint64_t keys) {
    RebuiltTables some = tables;
    some.tables = count;
    some.keys = keys;
    some.asked *= static_cast<double>(keys) / static_cast<double>(tables.keys);
    return some;
  };
  const std::uint64_t in_full = tables.tables * full * most_keys;
  std::vector<RebuiltTables> parts;
  if (in_full != 0) parts.push_back(part(tables.tables * full, in_full));
  if (in_full < tables.keys) parts.push_back(part(tables.tables, tables.keys - in_full));
  return parts;
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

// RocksDB rounds the slots of a filter up to whole blocks, which the formula by keys leaves out. In
// a small filter that shows in the rate, so one is built.
double RibbonRate(std::uint64_t keys, std::uint64_t bytes,
                  const rocksdb::FilterBuildingContext& context) {
  constexpr std::uint64_t kSmall = 50'000;
  constexpr double kAnyBitsPerKey = 8.0;
  const std::uint64_t bits = 8 * (bytes - kRibbonMetadataBytes);
  if (keys > kSmall) return RibbonFalsePositiveRate(keys, bits);
  static auto& slots_by_keys = *new std::map<std::uint64_t, std::uint64_t>();
  std::uint64_t& slots = slots_by_keys[keys];
  if (slots == 0) {
    const auto builder = RibbonFilters().NewBuilder(kAnyBitsPerKey, context);
    for (std::uint64_t i = 0; i < keys; ++i) builder->AddKey(std::to_string(i));
    std::unique_ptr<const char[]> buffer;
    slots = DescribeFilterBlock(builder->Finish(&buffer)).ribbon_slots;
  }
  return slots == 0 ? RibbonFalsePositiveRate(keys, bits)
                    : RibbonFalsePositiveRateOfSlots(slots, bits);
}

// Some tables' filters.
struct TablesFilters {
  CheckedFilter kind = CheckedFilter::kNone;
  std::uint64_t count = 0;  // of filters
  std::uint64_t keys = 0;   // of each
  // Of a Ribbon filter only.
  std::uint64_t bytes = 0;
  double rate = 1.0;
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
  filters.count = tables.tables;
  filters.keys = std::max<std::uint64_t>(1, (tables.keys + filters.count / 2) / filters.count);
  if (!wanted.ribbon || filters.keys < kLeastRibbonKeys) return filters;
  const auto context = ContextOf(tree, level, tables.bottommost);
  filters.kind = CheckedFilter::kRibbon;
  filters.bytes = RibbonBytes(tables.bits_per_key, filters.keys, context);
  filters.rate = RibbonRate(filters.keys, filters.bytes, context);
  return filters;
}

// Of each of these Bloom filters. Settings that are compared have no hash seed.
std::uint64_t TrailerBytesOf(const TablesFilters& filters) {
  return filter::TrailerBytes(filters.keys, /*hash_seed=*/0);
}

// Bytes and rate of what PlanFilters returned.
std::pair<std::uint64_t, double> SizeOf(const TablesFilters& filters, Layout layout,
                                        double bits_per_key, double wanted_rate) {
  if (filters.kind == CheckedFilter::kNone) return {0, 1.0};
  if (filters.kind == CheckedFilter::kRibbon) {
    return {filters.count * filters.bytes, filters.rate};
  }
  const FilterSize size =
      wanted_rate > 0.0 ? SmallestFilter(layout, filters.keys, wanted_rate).value_or(FilterSize())
                        : SizeAtBitsPerKey(layout, filters.keys, bits_per_key);
  return {filters.count * (filter::ArrayBytes(size.bits) + TrailerBytesOf(filters)),
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
    for (const RebuiltTables& part : PartitionsOf(tree_, layout_, level_, tables, wanted)) {
      AddFilters(part, wanted);
    }
  }

 private:
  void AddFilters(const RebuiltTables& tables, const AllocatedFilter& wanted) {
    const TablesFilters filters = PlanFilters(tree_, layout_, level_, tables, wanted);
    const auto [bytes, rate] = SizeOf(filters, layout_, tables.bits_per_key, wanted.fpr);
    level_.filters[filters.kind] += PartOf(tables.asked, level_.asked);
    level_.filter_bytes += bytes;
    level_.wasted_reads += tables.asked * rate;
  }

  const Tree& tree_;
  Layout layout_;
  TreeLevel& level_;
};

void PredictLevel(const Tree& tree, Layout layout, const LevelAllocation& allocation,
                  TreeLevel* level) {
  PredictedLevel predicted(tree, layout, level);
  for (RebuiltTables tables : AlikeTables(*level)) {
    const AllocatedFilter wanted = allocation.FilterOf(ContextOf(tree, *level, tables.bottommost));
    tables.bits_per_key = wanted.bits_per_key;
    predicted.Add(tables, wanted);
  }
}

void PredictFollowed(const BloomFilterPolicyOptions& options, Layout layout, Tree* tree) {
  const auto wanted_of = [&](const RebuiltTables& tables) {
    const bool ribbon = options.bottommost == BottommostFilter::kRibbon && tables.bottommost;
    return AllocatedFilter{0.0, 0.0, ribbon};
  };
  const auto bytes_of_part = [&](const TreeLevel& level, const RebuiltTables& tables) {
    const TablesFilters filters = PlanFilters(*tree, layout, level, tables, wanted_of(tables));
    if (filters.kind == CheckedFilter::kNone) return std::uint64_t{0};
    if (filters.kind == CheckedFilter::kRibbon) return filters.count * filters.bytes;
    const double bits = tables.bits_per_key * static_cast<double>(tables.keys);
    return static_cast<std::uint64_t>(bits / 8.0) + filters.count * TrailerBytesOf(filters);
  };
  const auto bytes_of = [&](const TreeLevel& level, const RebuiltTables& tables) {
    std::uint64_t bytes = 0;
    for (const RebuiltTables& part :
         PartitionsOf(*tree, layout, level, tables, wanted_of(tables))) {
      bytes += bytes_of_part(level, part);
    }
    return bytes;
  };
  const auto rebuilt = RebuildFollowing(DivisionOptionsOf(layout, options), *tree, bytes_of);
  for (std::size_t i = 0; i < rebuilt.size(); ++i) {
    PredictedLevel predicted(*tree, layout, &tree->levels[i]);
    for (const RebuiltTables& tables : rebuilt[i]) predicted.Add(tables, wanted_of(tables));
  }
}

}  // namespace

std::uint64_t Tree::Keys() const { return SumOverLevels(*this, &TreeLevel::keys); }

std::uint64_t Tree::Runs() const {
  return std::accumulate(
      levels.begin(), levels.end(), std::uint64_t{0},
      [](std::uint64_t sum, const TreeLevel& level) { return sum + level.Runs(); });
}

double Tree::Asked() const {
  return std::accumulate(levels.begin(), levels.end(), 0.0,
                         [](double sum, const TreeLevel& level) { return sum + level.asked; });
}

void TreeLevel::Add(const TableOfLevel& table) {
  tables.push_back(table);
  keys += table.keys;
  filter_bytes += table.filter_bytes;
  asked += table.asked;
}

std::vector<support::LevelKeys> Tree::KeysOfLevels() const {
  std::vector<support::LevelKeys> keys_of_levels;
  for (const TreeLevel& level : levels) keys_of_levels.push_back({level.level, level.keys});
  return keys_of_levels;
}

std::vector<Tree> TreesOf(const Inspection& inspection) {
  std::vector<const TableReport*> tables;
  for (const TableReport& table : inspection.tables) {
    if (table.status.ok()) tables.push_back(&table);
  }
  std::sort(tables.begin(), tables.end(),
            [](const auto* one, const auto* other) { return one->place < other->place; });
  std::map<std::string, std::map<int, TreeLevel>> families;
  for (const TableReport* table : tables) {
    AddTable(*table, &families[table->filter.column_family][table->filter.level]);
  }
  std::vector<Tree> trees;
  for (const auto& [name, levels] : families) {
    Tree& tree = trees.emplace_back();
    tree.column_family = name;
    if (inspection.options && inspection.options->families.count(name) != 0) {
      SetOptions(inspection.options->families.at(name), &tree);
    }
    SetLevels(levels, &tree);
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
    sum.wasted_reads += level.wasted_reads;
    sum.worst_rate = std::max(sum.worst_rate, PartOf(level.wasted_reads, level.asked));
    for (const auto& [filter, share] : level.filters) {
      const CheckCost& cost = costs.Of(filter);
      sum.check_nanoseconds +=
          level.asked * share * (sum.bytes <= kCachedFilterBytes ? cost.in_cache : cost.in_memory);
    }
  }
  sum.lookup_nanoseconds = sum.wasted_reads * costs.read_nanoseconds + sum.check_nanoseconds;
  return sum;
}

}  // namespace exactbloom::tool
