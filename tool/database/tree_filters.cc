#include "tree_filters.h"

#include <fmt/format.h>
#include <rocksdb/version.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/rocksdb_ribbon_rate.h"
#include "src/model/sorted_runs.h"
#include "support/filter_interfaces.h"
#include "support/text_table.h"
#include "tool/database/filter_fill.h"
#include "tool/database/filter_keys.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

// RocksDB fills partitions of an index as if it had sequence numbers, which it then leaves out.
constexpr std::uint64_t kIndexSequenceBytes = 8;

// bloom_before_level of ribbonfilter, by which flushes get Ribbon filters, too.
constexpr int kInAllLevels = -1;

// Whether the tables get no filter by the present options, whatever the policy is.
bool IsUnfiltered(const Tree& tree, const TableGroup& group) {
  return tree.filters_nothing || group.without_prefix ||
         (group.bottommost && tree.optimizes_for_hits);
}

// The sorted runs of a tree among which a policy divides bits: each table of level 0 is one, and a
// deeper level is one. Tables that get no filter have no part in it.
struct DividedRuns {
  std::vector<analysis::EqualRuns> runs;
  std::vector<std::optional<std::size_t>> run_of;  // by group, in the order of levels
};

DividedRuns RunsOf(const Tree& tree, const PolicyOptions& options) {
  DividedRuns divided;
  std::optional<int> last;  // the level of the last run
  for (const auto& [level, groups] : tree.levels) {
    for (const TableGroup& group : groups) {
      std::optional<std::size_t>& run = divided.run_of.emplace_back();
      if (IsUnfiltered(tree, group)) continue;
      if (level == 0 || last != level) {
        const double count = level == 0 ? static_cast<double>(group.tables) : 1.0;
        divided.runs.push_back({0.0, count, HasRibbon(options)});
        last = level;
      }
      run = divided.runs.size() - 1;
      divided.runs.back().keys += static_cast<double>(group.keys) / divided.runs.back().count;
    }
  }
  return divided;
}

// Bits per key of the groups of a tree, in the order of levels.
using Shares = std::vector<double>;

Shares SharesOf(const DividedRuns& divided, const double* shares) {
  Shares of_groups;
  for (const std::optional<std::size_t>& run : divided.run_of) {
    of_groups.push_back(run ? shares[*run] : 0.0);
  }
  return of_groups;
}

// The column families that share a budget with these trees, but are none of them.
std::vector<BudgetMember> MembersBeside(const PolicyOptions& options,
                                        const std::vector<const Tree*>& trees) {
  std::vector<BudgetMember> beside;
  if (trees.front()->budgets == nullptr) return beside;
  for (const BudgetMember& member : *trees.front()->budgets) {
    const bool is_planned = std::any_of(trees.begin(), trees.end(), [&](const Tree* tree) {
      return tree->column_family == member.column_family;
    });
    if (!is_planned && member.options.budget == options.budget) beside.push_back(member);
  }
  return beside;
}

// The bytes that a budget has for filters, nothing without a bound. A policy that names the budget
// alone has the size that another one gives it.
std::optional<double> BytesForFilters(PolicyOptions options, const std::vector<const Tree*>& trees,
                                      const std::vector<BudgetMember>& beside) {
  for (auto member = beside.begin(); BytesOfBudget(options) == 0; ++member) {
    if (member == beside.end()) return std::nullopt;
    options = member->options;
  }
  auto bytes = static_cast<double>(BytesOfBudget(options));
  if (options.covers == BudgetCovers::kFilters) return bytes;
  for (const Tree* tree : trees) bytes -= static_cast<double>(tree->IndexBytes());
  for (const BudgetMember& member : beside) bytes -= static_cast<double>(member.index_bytes);
  return std::max(0.0, bytes);
}

// What the tables of the trees would get if all were written now: the share of their sorted run
// among those of their column family, or of all that share the budget.
std::vector<Shares> Divide(const PolicyOptions& options, const std::vector<const Tree*>& trees) {
  std::vector<Shares> shares;
  std::vector<DividedRuns> divided;
  divided.reserve(trees.size());
  for (const Tree* tree : trees) divided.push_back(RunsOf(*tree, options));
  if (!HasBudget(options)) {
    for (const DividedRuns& of_tree : divided) {
      const auto planned = model::PlanRuns(options.bits_per_key, of_tree.runs, std::nullopt);
      shares.push_back(SharesOf(of_tree, planned.data()));
    }
    return shares;
  }
  std::vector<analysis::EqualRuns> all;
  for (const DividedRuns& of_tree : divided) {
    all.insert(all.end(), of_tree.runs.begin(), of_tree.runs.end());
  }
  const std::vector<BudgetMember> beside = MembersBeside(options, trees);
  for (const BudgetMember& member : beside) {
    all.insert(all.end(), member.runs.begin(), member.runs.end());
  }
  const std::vector<double> planned =
      model::PlanRuns(options.bits_per_key, all, BytesForFilters(options, trees, beside));
  const double* next = planned.data();
  for (const DividedRuns& of_tree : divided) {
    shares.push_back(SharesOf(of_tree, next));
    next += of_tree.runs.size();
  }
  return shares;
}

// Whether a partition ends as soon as it is full: without regard to data blocks and the index, and
// the entries that count are those of the filter.
bool CutsWhereFull(const rocksdb::BlockBasedTableOptions& options) {
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 906
  return options.decouple_partitioned_filters;
#else
  static_cast<void>(options);
  return false;
#endif
}

class Prediction {
 public:
  //   built_in   the policy of RocksDB that it is, so that the options do not count, or null
  //   shares     the bits per key of each group, or null: those of the options
  Prediction(const PolicyOptions& options, const Tree& tree, const rocksdb::FilterPolicy* built_in,
             const Shares* shares)
      : options_(options), tree_(tree), built_in_(built_in), shares_(shares) {}

  std::vector<PlannedGroup> Run() const {
    std::vector<PlannedGroup> groups;
    for (const auto& [level, tables] : tree_.levels) {
      for (const TableGroup& group : tables)
        groups.push_back({group, level, options_.bits_per_key});
    }
    if (built_in_ != nullptr) {
      for (PlannedGroup& group : groups) AskBuiltIn(&group);
    } else if (shares_ != nullptr) {
      for (std::size_t i = 0; i < groups.size(); ++i) groups[i].bits_per_key = (*shares_)[i];
    }
    for (PlannedGroup& group : groups) {
      for (const model::EqualFilters& filters : FiltersOf(group)) AddFilters(filters, &group);
      NameFilter(&group);
    }
    return groups;
  }

 private:
  // The bits per key of RocksDB's filters, by those of many keys: its option is not that number.
  void AskBuiltIn(PlannedGroup* group) const {
    constexpr std::uint64_t kKeys = 2048;
    const auto builder = BuiltInBuilderOf(*group);
    group->bits_per_key = 0.0;
    if (builder == nullptr) return;
    group->bits_per_key = static_cast<double>(BuildBlock(*builder, kKeys).bits) / kKeys;
  }

  static BlockFill BuildBlock(rocksdb::FilterBitsBuilder& builder, std::uint64_t keys) {
    for (std::uint64_t i = 0; i < keys; ++i) builder.AddKey(std::to_string(i));
    std::unique_ptr<const char[]> buffer;
    return MeasureBlock(builder.Finish(&buffer));
  }

  // A filter's size and its rate.
  struct Filter {
    std::uint64_t bytes = 0;
    double rate = 1.0;
  };

  void AddFilters(const model::EqualFilters& filters, PlannedGroup* group) const {
    Filter filter;
    if (HasFilter(*group) && built_in_ != nullptr) {
      filter = BuildBuiltIn(*group, filters.keys);
    } else if (HasFilter(*group)) {
      const FilterPlan plan = BuilderOf(*group).Plan(filters.keys);
      filter = {plan.BlockBytes(), plan.FalsePositiveRate()};
    }
    group->then.Add({static_cast<std::uint64_t>(
                         std::llround(filters.count * static_cast<double>(filter.bytes))),
                     filters.share * group->asked * filter.rate});
  }

  // RocksDB rounds filters up, and makes Bloom filters of few keys instead of Ribbon filters. Of a
  // larger filter the rate is by a formula.
  Filter BuildBuiltIn(const PlannedGroup& group, std::uint64_t keys) const {
    constexpr std::uint64_t kMostBuilt = 32'768;
    const std::uint64_t built_keys = std::min(keys, kMostBuilt);
    const auto builder = BuiltInBuilderOf(group);
    const BlockFill built = BuildBlock(*builder, built_keys);
    if (keys == built_keys) {
      return {built.bits / 8 + kRocksDBRibbonMetadataBytes,
              BuiltInRate(built, static_cast<double>(built_keys))};
    }
    const std::uint64_t bytes = BytesOf(*builder, keys, group.bits_per_key);
    const std::uint64_t bits = 8 * (bytes - kRocksDBRibbonMetadataBytes);
    return {bytes,
            built.filter.family == FilterFamily::kRibbon
                ? RocksDBRibbonFalsePositiveRate(keys, bits)
                : CacheLineFalsePositiveRate(bits / kCacheLineBits, keys, built.filter.probes)};
  }

  // The kind of most of its filters, and the memory that its largest takes while it is built.
  void NameFilter(PlannedGroup* group) const {
    if (group->without_prefix) {
      group->bits_per_key = 0.0;
      group->filter = NameOf(FilterFamily::kNone);
      return;
    }
    if (group->then.bytes == 0) {
      group->filter = NameOf(FilterFamily::kNone);
      return;
    }
    const auto bytes = static_cast<double>(group->then.bytes);
    const bool partitioned = tree_.table_options.partition_filters;
    const std::uint64_t keys_of_filter = PartitionsOf(*group, *group).front().keys;
    FilterFamily family = FilterFamily::kExactBloom;
    if (built_in_ != nullptr) {
      constexpr std::uint64_t kKeys = 2048;
      family = BuildBlock(*BuiltInBuilderOf(*group), std::min(keys_of_filter, kKeys)).filter.family;
      group->bits_per_key = 8.0 * bytes / static_cast<double>(group->keys);
    } else if (BuilderOf(*group).Plan(keys_of_filter).Kind() == FilterKind::kRibbon) {
      family = FilterFamily::kExactRibbon;
    }
    group->filter = family == FilterFamily::kExactBloom
                        ? PolicyName(PlainPolicy(BloomKindOf(options_)).kind)
                        : NameOf(family);
    const double share = static_cast<double>(group->most_keys) / static_cast<double>(group->keys);
    group->then.build_bytes =
        BuildBytes(family, partitioned, partitioned ? keys_of_filter : group->most_keys,
                   static_cast<std::uint64_t>(bytes * share));
  }

  // A division, and RocksDB, leave tables of very few bits without a filter.
  bool HasBits(const PlannedGroup& group) const {
    const bool has_least = FollowsTree(options_) || built_in_ != nullptr;
    return has_least ? group.bits_per_key >= kMinBitsPerKey : group.bits_per_key > 0.0;
  }

  bool HasFilter(const PlannedGroup& group) const {
    return HasBits(group) && !IsUnfiltered(tree_, group);
  }

  // The filters of a group, each with its share of the group's lookups.
  std::vector<model::EqualFilters> FiltersOf(const PlannedGroup& group) const {
    if (group.sizes.empty()) return PartitionsOf(group, group);
    std::vector<model::EqualFilters> all;
    for (const TableGroup& size : group.sizes) {
      for (model::EqualFilters filters : PartitionsOf(size, group)) {
        if (group.asked > 0.0) filters.share *= size.asked / group.asked;
        all.push_back(filters);
      }
    }
    return all;
  }

  std::vector<model::EqualFilters> PartitionsOf(const TableGroup& tables,
                                                const PlannedGroup& group) const {
    const rocksdb::BlockBasedTableOptions& options = tree_.table_options;
    if (!options.partition_filters || !HasBits(group)) {
      return {{static_cast<double>(tables.tables),
               std::max<std::uint64_t>(1, (tables.keys + tables.tables / 2) / tables.tables), 1.0}};
    }
    const std::uint64_t size = options.metadata_block_size *
                               (100 - static_cast<std::uint64_t>(options.block_size_deviation)) /
                               100;
    const std::uint64_t keys_that_fit = built_in_ != nullptr
                                            ? BuiltInBuilderOf(group)->ApproximateNumEntries(size)
                                            : BuilderOf(group).KeysThatFit(size);
    const auto keys = static_cast<double>(tables.keys);
    model::PartitionedTables partitioned{static_cast<double>(tables.tables), keys, keys};
    if (CutsWhereFull(options)) {
      partitioned.shares_keys = !options.whole_key_filtering;
      const bool has_next = partitioned.shares_keys && keys_that_fit > 1;  // the prefix behind it
      return model::PartitionsOf(partitioned, keys_that_fit - (has_next ? 1 : 0), 0);
    }
    if (tables.data_blocks != 0) {
      partitioned.entries = static_cast<double>(tables.entries);
      partitioned.data_blocks = static_cast<double>(tables.data_blocks);
      partitioned.index_bytes = static_cast<double>(tables.index_bytes);
      partitioned.shares_keys = !options.whole_key_filtering;
    }
    return model::PartitionsOf(partitioned, keys_that_fit, options.metadata_block_size);
  }

  // Of filters of ExactBloom with the group's bits per key.
  FilterBuilder BuilderOf(const PlannedGroup& group) const {
    FilterOptions options = ToFilterOptions(options_);
    options.bits_per_key = group.bits_per_key;
    return *FilterBuilder::Create(options);
  }

  std::unique_ptr<rocksdb::FilterBitsBuilder> BuiltInBuilderOf(const PlannedGroup& group) const {
    // Allocations rounded by optimize_filters_for_memory depend on what the allocator has free.
    // Their mean is the size that is meant, which is predicted.
    rocksdb::BlockBasedTableOptions table_options = tree_.table_options;
    table_options.optimize_filters_for_memory = false;
    rocksdb::FilterBuildingContext context(table_options);
    // ribbonfilter tells tables by these: those of level 0 come from flushes.
    context.compaction_style = tree_.compaction_style;
    context.level_at_creation = group.level;
    context.reason = group.level == 0 ? rocksdb::TableFileCreationReason::kFlush
                                      : rocksdb::TableFileCreationReason::kCompaction;
    return std::unique_ptr<rocksdb::FilterBitsBuilder>(built_in_->GetBuilderWithContext(context));
  }

  // Of a filter: the fewest bytes that hold its keys.
  static std::uint64_t BytesOf(rocksdb::FilterBitsBuilder& builder, std::uint64_t keys,
                               double bits_per_key) {
    std::size_t low = 1;
    auto high = static_cast<std::size_t>(static_cast<double>(keys) * (bits_per_key + 1.0)) + 1;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (builder.ApproximateNumEntries(middle) < keys) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  const PolicyOptions& options_;
  const Tree& tree_;
  const rocksdb::FilterPolicy* const built_in_;
  const Shares* const shares_;
};

TreePlan Plan(const PolicyOptions& options, const Tree& tree, std::string policy,
              const rocksdb::FilterPolicy* built_in, const Shares* shares = nullptr) {
  TreePlan plan{
      options, false, std::move(policy), Prediction(options, tree, built_in, shares).Run(), {}};
  for (const PlannedGroup& group : plan.tables) plan.filters.Add(group.then);
  return plan;
}

}  // namespace

std::uint64_t Tree::Keys() const {
  std::uint64_t keys = 0;
  for (const auto& [level, groups] : levels) {
    for (const TableGroup& group : groups) keys += group.keys;
  }
  return keys;
}

std::uint64_t Tree::FilteredKeys() const {
  std::uint64_t keys = 0;
  for (const auto& [level, groups] : levels) {
    for (const TableGroup& group : groups) keys += IsUnfiltered(*this, group) ? 0 : group.keys;
  }
  return keys;
}

std::uint64_t Tree::IndexBytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [level, groups] : levels) {
    for (const TableGroup& group : groups) {
      bytes += group.index_bytes - kIndexSequenceBytes * group.data_blocks;
    }
  }
  return bytes;
}

std::uint64_t Tree::Runs() const {
  std::uint64_t runs = levels.size() - levels.count(0);
  if (levels.count(0) == 0) return runs;
  for (const TableGroup& group : levels.at(0)) runs += group.tables;
  return runs;
}

bool Tree::FiltersNoKey() const {
  if (filters_nothing) return true;
  for (const auto& [level, groups] : levels) {
    const bool is_filtered = std::any_of(groups.begin(), groups.end(), [](const TableGroup& group) {
      return !group.without_prefix;
    });
    if (is_filtered) return false;
  }
  return true;
}

FilterSums Tree::Now() const {
  FilterSums sums;
  for (const auto& [level, groups] : levels) {
    for (const TableGroup& group : groups) sums.Add(group.now);
  }
  return sums;
}

namespace {

// The column families of these tables.
std::vector<Tree> TreesOf(const std::vector<TableReport>& tables, const Inspection& inspection) {
  std::map<std::string, Tree> trees;
  // By column family, level, whether they are bottommost or without prefix, and in level 0, where
  // each table is a sorted run, by size: keys within a tenth.
  std::map<std::tuple<std::string, int, bool, bool, int>, TableGroup> groups;
  std::map<decltype(groups)::key_type, std::map<std::uint64_t, TableGroup>> sizes;
  FilterKeys filter_keys(tables, inspection);
  for (const TableReport& table : tables) {
    if (!table.status.ok()) continue;
    const TableFilter& filter = table.filter;
    if (table.keys == 0 && filter.PointEntries() == 0) continue;
    const FilterKeys::Count count = filter_keys.Of(table);
    const bool without_prefix = count.keys == 0;
    const std::uint64_t keys = without_prefix ? filter.PointEntries() : count.keys;
    if (!count.unknown.empty()) trees[table.location.column_family].unknown_keys = count.unknown;
    const int size = model::SizeClass(table.location.level, static_cast<double>(keys));
    const std::tuple place(table.location.column_family, table.location.level, table.bottommost,
                           without_prefix, size);
    constexpr std::uint64_t kMany = 2048;  // from there on rounding makes no difference
    for (TableGroup* group : {&groups[place], &sizes[place][std::min(keys, kMany)]}) {
      group->tables += 1;
      group->keys += keys;
      group->most_keys = std::max(group->most_keys, keys);
      group->entries += filter.PointEntries();
      group->data_blocks += filter.data_blocks;
      group->index_bytes += filter.index_bytes + kIndexSequenceBytes * filter.data_blocks;
      group->bottommost = table.bottommost;
      group->without_prefix = without_prefix;
      group->asked += table.asked;
      group->now.Add({filter.bytes, table.WastedReads(), table.BuildBytes()});
    }
  }
  for (auto& [place, group] : groups) {
    for (const auto& [keys, size] : sizes[place]) group.sizes.push_back(size);
    trees[std::get<0>(place)].levels[std::get<1>(place)].push_back(group);
  }
  std::vector<Tree> result;
  for (auto& [name, tree] : trees) {
    tree.column_family = name;
    if (const FamilyOptions* options = inspection.OptionsOf(name)) {
      tree.optimizes_for_hits = options->options.optimize_filters_for_hits;
      tree.filters_nothing = options->FiltersNothing();
      tree.compaction_style = options->options.compaction_style;
      if (options->table != nullptr) tree.table_options = *options->table;
    }
    result.push_back(std::move(tree));
  }
  return result;
}

// The policy of a column family, if it has a memory budget.
std::optional<PolicyOptions> BudgetPolicyOf(const std::string& column_family,
                                            const Inspection& inspection) {
  const FamilyOptions* options = inspection.OptionsOf(column_family);
  const auto policy = options == nullptr ? std::nullopt : options->Ours();
  return policy && HasBudget(*policy) ? policy : std::nullopt;
}

// What each of these takes of a memory budget, but for those that have none.
std::vector<BudgetMember> MembersOf(const std::vector<Tree>& trees, const Inspection& inspection) {
  std::vector<BudgetMember> members;
  for (const Tree& tree : trees) {
    const auto policy = BudgetPolicyOf(tree.column_family, inspection);
    if (!policy) continue;
    members.push_back({tree.column_family, *policy, RunsOf(tree, *policy).runs, tree.IndexBytes(),
                       tree.unknown_keys});
  }
  return members;
}

}  // namespace

std::vector<Tree> TreesOf(const Inspection& inspection) {
  std::vector<Tree> trees = TreesOf(inspection.tables, inspection);
  std::vector<BudgetMember> members = MembersOf(trees, inspection);
  std::vector<TableReport> others;
  for (const TableReport& table : inspection.left_out) {
    if (BudgetPolicyOf(table.location.column_family, inspection)) others.push_back(table);
  }
  for (const BudgetMember& other : MembersOf(TreesOf(others, inspection), inspection)) {
    members.push_back(other);
  }
  if (members.empty()) return trees;
  const auto budgets = std::make_shared<const std::vector<BudgetMember>>(std::move(members));
  for (Tree& tree : trees) {
    tree.budgets = budgets;
    const auto policy = BudgetPolicyOf(tree.column_family, inspection);
    if (!policy) continue;
    for (const BudgetMember& member : *budgets) {
      const bool is_shared = member.options.budget == policy->budget;
      if (is_shared && tree.unknown_keys.empty()) tree.unknown_keys = member.unknown_keys;
    }
  }
  return trees;
}

TreePlan PlanOf(const PolicyOptions& options, const Tree& tree, bool ribbonfilter) {
  if (!HasOwnFilters(options)) {
    const std::unique_ptr<const rocksdb::FilterPolicy> policy(
        rocksdb::NewBloomFilterPolicy(options.bits_per_key));
    return PlanOf(*policy, FormatPolicy(options), tree);
  }
  if (ribbonfilter) {
    const std::unique_ptr<const rocksdb::FilterPolicy> policy(
        rocksdb::NewRibbonFilterPolicy(options.bits_per_key, kInAllLevels));
    TreePlan plan =
        Plan(options, tree, fmt::format("ribbonfilter:{:g}:{}", options.bits_per_key, kInAllLevels),
             policy.get());
    plan.ribbonfilter = true;
    return plan;
  }
  if (!FollowsTree(options)) return Plan(options, tree, FormatPolicy(options), nullptr);
  const Shares shares = Divide(options, {&tree}).front();
  return Plan(options, tree, FormatPolicy(options), nullptr, &shares);
}

TreePlan PlanOf(const PolicyOptions& options, const std::vector<Tree>& trees, bool ribbonfilter) {
  std::vector<TreePlan> plans;
  if (FollowsTree(options) && !ribbonfilter) {
    std::vector<const Tree*> all;
    all.reserve(trees.size());
    for (const Tree& tree : trees) all.push_back(&tree);
    const std::vector<Shares> shares = Divide(options, all);
    for (std::size_t i = 0; i < trees.size(); ++i) {
      plans.push_back(Plan(options, trees[i], FormatPolicy(options), nullptr, &shares[i]));
    }
  } else {
    for (const Tree& tree : trees) plans.push_back(PlanOf(options, tree, ribbonfilter));
  }
  TreePlan all = std::move(plans.front());
  for (std::size_t i = 1; i < plans.size(); ++i) {
    all.tables.insert(all.tables.end(), plans[i].tables.begin(), plans[i].tables.end());
    all.filters.Add(plans[i].filters);
  }
  return all;
}

TreePlan PlanOf(const rocksdb::FilterPolicy& built_in, const std::string& policy,
                const Tree& tree) {
  return Plan(PolicyOptions(), tree, policy, &built_in);
}

std::string FormatPlan(const TreePlan& plan) {
  support::TextTable table({"level", "tables", "keys", "asked", "size now", "then",
                            "wasted per 1,000: now", "then", "bits/key", "filter"},
                           {0, 4, 3, 5, 2, 1, 0, 0, 0, 0});
  for (const PlannedGroup& group : plan.tables) {
    table.AddRow({group.level, group.tables, group.keys, fmt::format("{:.2f}", group.asked),
                  FormatBytes(group.now.bytes), FormatBytes(group.then.bytes),
                  PerThousand(group.now.wasted_reads), PerThousand(group.then.wasted_reads),
                  fmt::format("{:.2f}", group.bits_per_key),
                  group.filter + (group.without_prefix ? ": no key has a prefix" : "")});
  }
  return table.Format(support::Columns());
}

nlohmann::json ToJson(const TreePlan& plan) {
  nlohmann::json tables = nlohmann::json::array();
  for (const PlannedGroup& group : plan.tables) {
    tables.push_back({{"level", group.level},
                      {"tables", group.tables},
                      {"keys", group.keys},
                      {"asked", group.asked},
                      {"filter_bytes_now", group.now.bytes},
                      {"filter_bytes", group.then.bytes},
                      {"wasted_reads_now", group.now.wasted_reads},
                      {"wasted_reads", group.then.wasted_reads},
                      {"bits_per_key", group.bits_per_key},
                      {"filter", group.filter}});
  }
  return {{"policy", plan.policy},
          {"filter_bytes", plan.filters.bytes},
          {"wasted_reads", plan.filters.wasted_reads},
          {"build_bytes", plan.filters.build_bytes},
          {"tables", tables}};
}

}  // namespace exactbloom::tool
