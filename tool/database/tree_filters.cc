#include "tree_filters.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/sizing.h"
#include "plugin/allocation/allocation.h"
#include "plugin/block_description.h"
#include "plugin/ribbon_filters.h"
#include "src/filter/block_format.h"

namespace exactbloom::tool {
namespace {

// Filters of the same size, one for each of some tables or partitions.
struct FilterGroup : TableGroup {
  double bits_per_key = 0.0;
  bool ribbon = false;
};

class Prediction {
 public:
  Prediction(const PolicyOptions& options, const Tree& tree)
      : options_(options), layout_(LayoutOf(options)), tree_(tree) {}

  LevelFilters Run() const {
    std::optional<FollowedTree> followed;
    if (FollowsTree(options_)) {
      followed.emplace(options_, tree_.table_options, tree_.levels);
    }
    const bool may_be_ribbon = HasRibbon(options_, tree_.table_options);
    LevelFilters filters;
    for (const auto& [level, groups] : tree_.levels) {
      for (const TableGroup& group : groups) {
        const auto [bits_per_key, ribbon] =
            followed
                ? followed->FilterOf(level, group)
                : FollowedTree::Filter{options_.bits_per_key, may_be_ribbon && group.bottommost};
        Add({group, bits_per_key, ribbon}, &filters[level]);
      }
    }
    return filters;
  }

 private:
  void Add(const FilterGroup& group, FilterSums* level) const {
    for (const FilterGroup& part : PartitionsOf(group)) {
      if (!HasFilter(part)) {
        level->wasted_reads += part.asked;
      } else if (IsRibbon(part)) {
        const std::uint64_t bytes = RibbonBytes(part);
        level->bytes += part.tables * bytes;
        level->wasted_reads += part.asked * RibbonRate(KeysPerFilter(part), bytes);
      } else {
        const FilterSize size = SizeAtBitsPerKey(layout_, KeysPerFilter(part), part.bits_per_key);
        level->bytes +=
            part.tables * (filter::ArrayBytes(size.bits) +
                           filter::TrailerBytes(KeysPerFilter(part), options_.hash_seed));
        level->wasted_reads += part.asked * size.false_positive_rate;
      }
    }
  }

  bool HasFilter(const FilterGroup& group) const {
    return group.keys != 0 && group.bits_per_key >= kMinBitsPerKey &&
           !(group.bottommost && tree_.optimizes_for_hits);
  }

  bool IsRibbon(const FilterGroup& group) const {
    // RocksDB's Ribbon builder makes Bloom filters of fewer keys where they are smaller.
    constexpr std::uint64_t kSurelyRibbon = 2048;
    const std::uint64_t keys = KeysPerFilter(group);
    return group.ribbon && (keys >= kSurelyRibbon || RibbonSlots(keys) != 0);
  }

  static std::uint64_t KeysPerFilter(const FilterGroup& group) {
    return std::max<std::uint64_t>(1, (group.keys + group.tables / 2) / group.tables);
  }

  // RocksDB begins a new partition when as many keys as fit have been added. So a table has full
  // partitions and one with the rest of its keys; each is taken for a table here.
  std::vector<FilterGroup> PartitionsOf(const FilterGroup& group) const {
    const rocksdb::BlockBasedTableOptions& options = tree_.table_options;
    const bool has_partitions =
        options.partition_filters && group.bits_per_key >= kMinBitsPerKey && group.keys != 0;
    if (!has_partitions) return {group};
    const std::uint64_t size = options.metadata_block_size *
                               (100 - static_cast<std::uint64_t>(options.block_size_deviation)) /
                               100;
    const std::uint64_t most_keys =
        group.ribbon ? RibbonBuilder(group.bits_per_key)->ApproximateNumEntries(size)
                     : BloomFilterBuilder::Create({layout_, group.bits_per_key, /*hash_seed=*/0})
                           ->KeysThatFit(size);
    const std::uint64_t full = group.keys / group.tables / std::max<std::uint64_t>(1, most_keys);
    const std::uint64_t keys_in_full = group.tables * full * most_keys;
    std::vector<FilterGroup> parts;
    for (const auto& [count, keys] : {std::pair(group.tables * full, keys_in_full),
                                      std::pair(group.tables, group.keys - keys_in_full)}) {
      if (keys == 0) continue;
      FilterGroup& part = parts.emplace_back(group);
      part.tables = count;
      part.keys = keys;
      part.asked *= static_cast<double>(keys) / static_cast<double>(group.keys);
    }
    return parts;
  }

  std::unique_ptr<rocksdb::FilterBitsBuilder> RibbonBuilder(double bits_per_key) const {
    return ribbon_filters_.NewBuilder(bits_per_key,
                                      rocksdb::FilterBuildingContext(tree_.table_options));
  }

  // Of each filter: the fewest bytes that hold its keys.
  std::uint64_t RibbonBytes(const FilterGroup& group) const {
    const auto builder = RibbonBuilder(group.bits_per_key);
    const std::uint64_t keys = KeysPerFilter(group);
    std::size_t low = 1;
    auto high =
        static_cast<std::size_t>(static_cast<double>(keys) * (group.bits_per_key + 1.0)) + 1;
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

  // RocksDB rounds the slots of a filter up to whole blocks, which the formula by keys leaves out.
  // It matters in a small filter, so one is built.
  double RibbonRate(std::uint64_t keys, std::uint64_t bytes) const {
    constexpr std::uint64_t kSmall = 50'000;
    const std::uint64_t bits = 8 * (bytes - kRibbonMetadataBytes);
    const std::uint64_t slots = keys <= kSmall ? RibbonSlots(keys) : 0;
    return slots == 0 ? RibbonFalsePositiveRate(keys, bits)
                      : RibbonFalsePositiveRateOfSlots(slots, bits);
  }

  // 0 for a Bloom filter.
  std::uint64_t RibbonSlots(std::uint64_t keys) const {
    constexpr double kAnyBitsPerKey = 8.0;
    static auto& known = *new std::map<std::uint64_t, std::uint64_t>();
    const auto [place, is_new] = known.try_emplace(keys, 0);
    std::uint64_t& slots = place->second;
    if (!is_new) return slots;
    const auto builder = RibbonBuilder(kAnyBitsPerKey);
    for (std::uint64_t i = 0; i < keys; ++i) builder->AddKey(std::to_string(i));
    std::unique_ptr<const char[]> buffer;
    slots = DescribeFilterBlock(builder->Finish(&buffer)).ribbon_slots;
    return slots;
  }

  const PolicyOptions& options_;
  const Layout layout_;
  const Tree& tree_;
  const RibbonFilters ribbon_filters_;
};

}  // namespace

FilterSums SumOf(const LevelFilters& levels) {
  FilterSums sum;
  for (const auto& [level, filters] : levels) {
    sum.bytes += filters.bytes;
    sum.wasted_reads += filters.wasted_reads;
  }
  return sum;
}

TableGroup SumOf(const std::vector<TableGroup>& groups) {
  TableGroup sum;
  for (const TableGroup& group : groups) sum.Add(group);
  return sum;
}

std::uint64_t Tree::Keys() const {
  std::uint64_t keys = 0;
  for (const auto& [level, groups] : levels) keys += SumOf(groups).keys;
  return keys;
}

std::uint64_t Tree::Runs() const {
  std::uint64_t runs = 0;
  for (const auto& [level, groups] : levels) runs += level == 0 ? SumOf(groups).tables : 1;
  return runs;
}

bool Tree::FiltersDeepest() const { return levels.rbegin()->first > 0 && !optimizes_for_hits; }

std::vector<Tree> TreesOf(const Inspection& inspection) {
  std::map<std::string, Tree> trees;
  // By column family, level, whether they are bottommost, and in level 0, where each table is a
  // sorted run, by size: keys within a fifth.
  std::map<std::tuple<std::string, int, bool, int>, TableGroup> groups;
  constexpr double kSizesPerDoubling = 4.0;
  for (const TableReport& table : inspection.tables) {
    if (!table.status.ok()) continue;
    const TableFilter& filter = table.filter;
    const std::uint64_t keys =
        table.keys != 0 ? table.keys
                        : filter.entries - std::min(filter.entries, filter.range_deletes);
    const double size = filter.level == 0 ? std::log2(static_cast<double>(keys) + 1.0) : 0.0;
    groups[{filter.column_family, filter.level, table.bottommost,
            static_cast<int>(kSizesPerDoubling * size)}]
        .Add({1, keys, table.bottommost, table.asked});
    FilterSums& level = trees[filter.column_family].filters[filter.level];
    level.bytes += filter.bytes;
    level.wasted_reads += table.asked * table.PassRate();
  }
  for (const auto& [place, group] : groups) {
    trees[std::get<0>(place)].levels[std::get<1>(place)].push_back(group);
  }
  std::vector<Tree> with_keys;
  for (auto& [name, tree] : trees) {
    if (tree.Keys() == 0) continue;
    tree.column_family = name;
    if (const FamilyOptions* options = inspection.OptionsOf(name)) {
      tree.optimizes_for_hits = options->options.optimize_filters_for_hits;
      if (options->table != nullptr) tree.table_options = *options->table;
    }
    with_keys.push_back(std::move(tree));
  }
  return with_keys;
}

LevelFilters PredictFilters(const PolicyOptions& options, const Tree& tree) {
  return Prediction(options, tree).Run();
}

}  // namespace exactbloom::tool
