// The search for the best setting.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../tool_command.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "plugin/policy_options.h"
#include "sample_database.h"
#include "tool/advise/advise.h"

namespace exactbloom {
namespace {

using tool::Choose;
using tool::Tree;
using tool::TreePlan;

Tree TreeOf(const std::vector<std::uint64_t>& keys) {
  Tree tree;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    tree.levels[static_cast<int>(i) + 1] = {
        {1, keys[i], i + 1 == keys.size(), 1.0, {}, {}, keys[i]}};
  }
  return tree;
}

std::uint64_t BytesAt(const Tree& tree, double bits_per_key) {
  return static_cast<std::uint64_t>(static_cast<double>(tree.Keys()) * bits_per_key / 8.0);
}

std::vector<TreePlan> CandidatesFor(const Tree& tree, double bits_per_key,
                                    const PolicyOptions& base = {}) {
  return tool::FindCandidates({tree}, base, BytesAt(tree, bits_per_key));
}

TEST(SettingSearch, UsesTheMemoryAndNoMore) {
  const Tree tree = TreeOf({1000, 10'000, 100'000});
  const std::vector<TreePlan> candidates = CandidatesFor(tree, 10);
  ASSERT_EQ(candidates.size(), 5U);
  for (const TreePlan& candidate : candidates) {
    SCOPED_TRACE(candidate.policy);
    const tool::FilterSums again = PlanOf(candidate.options, tree, candidate.ribbonfilter).filters;
    EXPECT_EQ(again.bytes, candidate.filters.bytes);
    EXPECT_EQ(again.wasted_reads, candidate.filters.wasted_reads);
    EXPECT_LE(candidate.filters.bytes, BytesAt(tree, 10));
    const double share =
        static_cast<double>(candidate.filters.bytes) / static_cast<double>(BytesAt(tree, 10));
    // A policy that follows the tree leaves room for runs that come and go.
    EXPECT_GT(share, FollowsTree(candidate.options) ? 0.8 : 0.99);
  }
  EXPECT_EQ(candidates.front().policy.find("exactbloom:"), 0U);
  EXPECT_EQ(candidates.back().policy.find("classic_bloom:"), 0U);
  EXPECT_EQ(Choose(candidates), 0U);
}

TEST(SettingSearch, OffersWhatTheTreeAllows) {
  for (const TreePlan& candidate : CandidatesFor(TreeOf({5000}), 10)) {
    EXPECT_FALSE(FollowsTree(candidate.options)) << "one run has nothing to divide";
  }
  Tree unfiltered = TreeOf({1000, 10'000});
  unfiltered.optimizes_for_hits = true;
  const std::vector<TreePlan> candidates = CandidatesFor(unfiltered, 1.5);
  EXPECT_EQ(candidates.size(), 5U);
  for (const TreePlan& candidate : candidates) {
    EXPECT_GE(candidate.filters.wasted_reads, 1.0) << "of the deepest level";
  }
  EXPECT_TRUE(tool::FindCandidates({TreeOf({1000, 10'000})}, {}, 10).empty());
  Tree with_prefixes_only = TreeOf({1000, 10'000});
  with_prefixes_only.table_options.partition_filters = true;
  with_prefixes_only.table_options.whole_key_filtering = false;
  for (const TreePlan& candidate : CandidatesFor(with_prefixes_only, 10)) {
    EXPECT_FALSE(candidate.ribbonfilter) << "MultiGet fails at its partitions without keys";
  }
}

TEST(SettingSearch, FindsTheSettingsOfOneRunWithBudgetAndSeed) {
  PolicyOptions base(PolicyKind::kExactBloom);
  base.ribbon = false;
  base.memory_budget = 64 << 10;
  base.hash_seed = 9;
  const std::vector<TreePlan> candidates = CandidatesFor(TreeOf({100'000}), 3.15, base);
  ASSERT_EQ(candidates.size(), 2U);
  for (const TreePlan& candidate : candidates) {
    EXPECT_TRUE(Mentions(candidate.policy, "exactbloom;bits_per_key=3.1;"));
  }
}

TEST(SettingSearch, SaysWhyThereIsNoSetting) {
  const Tree tree = TreeOf({1000, 10'000});
  EXPECT_TRUE(Mentions(WhyNoCandidates(tree, {}, 10), "the memory is too small"));
  PolicyOptions bounded(PolicyKind::kExactBloom);
  bounded.memory_budget = 100;
  EXPECT_TRUE(Mentions(WhyNoCandidates(tree, bounded, 20'000), "memory budget"));
  Tree for_hits = TreeOf({1000});
  for_hits.optimizes_for_hits = true;
  EXPECT_TRUE(Mentions(WhyNoCandidates(for_hits, {}, 20'000), "optimize_filters_for_hits"));
  Tree not_asked = TreeOf({1000});
  not_asked.levels[1][0].asked = 0.0;
  EXPECT_TRUE(Mentions(WhyNoCandidates(not_asked, {}, 20'000), "no lookup asks a table"));
}

TEST(SettingSearch, TakesNoMoreThanTheMemoryWhereLookupsFindKeys) {
  const Tree tree = TreeOf({1000, 10'000});
  EXPECT_TRUE(tool::FindCandidates({tree}, {}, 10, 0.5).empty());
  for (const std::uint64_t memory : {200, 1000, 5000}) {
    for (const TreePlan& candidate : tool::FindCandidates({tree}, {}, memory, 0.5)) {
      EXPECT_LE(candidate.filters.bytes, memory) << candidate.policy;
    }
  }
}

// Lookups of keys in the only run ask the table of the next flush before it.
TEST(SettingSearch, LeavesATreeOfOneRunTheBitsThatItsNextFlushNeeds) {
  constexpr double kPresent = 0.9997;
  Tree one = TreeOf({100'000});
  one.levels[1][0].asked = 1.0 - kPresent;
  Tree flushed = one;
  flushed.levels[0] = {{1, 2000, false, 1.0, {}, {}, 2000}};
  Tree small = TreeOf({100, 1000});  // beside which the other has the most keys
  for (const std::vector<Tree>& trees : {std::vector<Tree>{one}, {one, small}}) {
    const std::vector<TreePlan> candidates =
        tool::FindCandidates(trees, {}, BytesAt(one, 10), kPresent);
    EXPECT_GE(candidates.size(), 3U);
    for (const TreePlan& candidate : candidates) {
      const double wasted =
          PlanOf(candidate.options, flushed, candidate.ribbonfilter).filters.wasted_reads;
      EXPECT_LT(wasted, 0.02) << candidate.policy;
    }
  }
}

TEST(SettingSearch, KeepsBudgetAndSeed) {
  PolicyOptions plain;
  plain.hash_seed = 7;
  plain.fpr = 0.01;
  const Tree tree = TreeOf({2000, 20'000});
  for (const TreePlan& candidate : CandidatesFor(tree, 10, plain)) {
    EXPECT_EQ(candidate.options.hash_seed, 7U) << candidate.policy;
  }
  PolicyOptions base(PolicyKind::kExactBloom);
  base.ribbon = false;
  base.memory_budget = 20'000;
  base.hash_seed = 7;
  const std::vector<TreePlan> candidates = CandidatesFor(tree, 10, base);
  ASSERT_EQ(candidates.size(), 2U) << "RocksDB's filters take no seed, plain policies no budget";
  for (const TreePlan& candidate : candidates) {
    EXPECT_EQ(candidate.options.memory_budget, 20'000U);
    EXPECT_EQ(candidate.options.hash_seed, 7U);
    EXPECT_TRUE(ValidatePolicyOptions(candidate.options).ok()) << candidate.policy;
    EXPECT_LE(candidate.filters.bytes, 20'000U);
  }
}

TEST(SettingSearch, PrefersTheSimplerWithinTheWorthwhileGain) {
  const auto candidate = [](double reads, int complexity) {
    TreePlan made;
    made.filters.wasted_reads = reads;
    if (complexity >= 1) made.options.kind = PolicyKind::kExactBloom;
    if (complexity >= 2) made.options.ribbon = false;
    return made;
  };
  const double within = 1.0 + tool::kWorthwhileGain * 0.999;
  const double beyond = 1.0 + tool::kWorthwhileGain * 1.001;
  EXPECT_EQ(Choose({candidate(1.0, 2), candidate(within, 0)}), 1U);
  EXPECT_EQ(Choose({candidate(1.0, 2), candidate(beyond, 0)}), 0U);
  EXPECT_EQ(Choose({candidate(1.0, 1), candidate(1.01, 1)}), 0U);
  EXPECT_EQ(Choose({candidate(1.0, 2), candidate(1.005, 1), candidate(1.01, 0)}), 2U);
  TreePlan ribbon = candidate(within, 0);
  ribbon.options.kind = PolicyKind::kExactRibbon;
  EXPECT_EQ(Choose({candidate(1.0, 1), ribbon}), 1U) << "it needs no listener";
  TreePlan built_in = candidate(1.049, 0);
  built_in.ribbonfilter = true;
  EXPECT_EQ(Choose({candidate(1.0, 1), candidate(1.01, 0), built_in}), 2U);
  built_in.filters.wasted_reads = 1.051;
  EXPECT_EQ(Choose({candidate(1.0, 1), candidate(1.01, 0), built_in}), 1U);
}

TEST(SettingSearch, RoundsAndPlansNoMoreBitsThanHelp) {
  EXPECT_EQ(CandidatesFor(TreeOf({100'000}), 10.006).back().policy, "classic_bloom:10");
  for (const TreePlan& candidate : tool::FindCandidates({TreeOf({1000, 10'000})}, {}, 64 << 20)) {
    EXPECT_LE(candidate.filters.bytes, BytesAt(TreeOf({11'000}), 25)) << candidate.policy;
  }
}

// Free chunks of every other size let glibc round half of the allocations up.
TEST(TreePlan, DoesNotDependOnTheAllocator) {
  std::vector<std::unique_ptr<char[]>> chunks;
  std::vector<std::unique_ptr<char[]>> used;
  for (std::size_t bytes = 1200; bytes < 4000; bytes += 32) {
    chunks.push_back(std::make_unique<char[]>(bytes));
    used.push_back(std::make_unique<char[]>(16));
  }
  chunks.clear();
  for (std::uint64_t keys = 1000; keys < 2000; keys += 50) {
    Tree tree = TreeOf({keys});
    const auto bytes = [&tree](bool optimized) {
      tree.table_options.optimize_filters_for_memory = optimized;
      return PlanOf({}, tree, /*ribbonfilter=*/true).filters.bytes;
    };
    EXPECT_EQ(bytes(true), bytes(false)) << keys;
  }
}

// A builder of partitions holds the keys of one, and the filters of all.
TEST(TreePlan, HasTheMemoryThatBuildingTakes) {
  const auto build_bytes = [](bool ribbon, bool partitioned) {
    PolicyOptions options(PolicyKind::kExactBloom);
    options.ribbon = ribbon;
    Tree tree = TreeOf({1'000'000, 20'000'000});
    tree.table_options.partition_filters = partitioned;
    return static_cast<double>(PlanOf(options, tree).filters.build_bytes) / 20e6;
  };
  EXPECT_NEAR(build_bytes(true, false), 8.0 + 9.8 / 8.0 + 0.24, 0.05);
  EXPECT_NEAR(build_bytes(false, false), 8.0 + 9.8 / 8.0, 0.05);
  EXPECT_NEAR(build_bytes(true, true), 9.8 / 8.0, 0.1);
  EXPECT_NEAR(build_bytes(false, true), 9.8 / 8.0, 0.1);
}

// RocksDB's Ribbon builder makes Bloom filters of whole cache lines in such tables.
TEST(SettingSearch, KeepsTheLimitInTablesOfFewKeys) {
  const TemporaryDirectory directory;
  const auto tree_of = [&](const std::string& policy) {
    rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
    RegisterFilterPolicies();
    EXPECT_TRUE(
        rocksdb::FilterPolicy::CreateFromString({}, policy, &table_options.filter_policy).ok());
    rocksdb::Options options = OptionsWith(table_options);
    options.listeners = {NewTreeListener()};
    const Database db = Open(options, directory.path());
    for (std::uint64_t size = 10; TableFilesIn(directory.path()).size() < 25; size += 7) {
      PutAndFlush(*db, size, "value", 1000 * size);
      MoveDown(*db, 3);
    }
    EXPECT_TRUE(RewriteTables(*db).ok());
    return TreesOf(tool::Inspect({directory.path()}, {})).at(0);
  };
  const Tree tree = tree_of("classic_bloom:10");
  for (const double bits_per_key : {10.0, 12.0}) {
    for (const TreePlan& candidate : CandidatesFor(tree, bits_per_key)) {
      SCOPED_TRACE(candidate.policy);
      const tool::FilterSums made = tree_of(candidate.policy).Now();
      EXPECT_LE(made.bytes, BytesAt(tree, bits_per_key));
      EXPECT_EQ(made.bytes, candidate.filters.bytes);
    }
  }
}

}  // namespace
}  // namespace exactbloom
