// Following the advice cuts the reads that absent keys waste, in no more memory.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "../tool_command.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "plugin/c_binding/forwarding_policy.h"
#include "plugin/filter_bits_interface.h"
#include "tool/database/tree_filters.h"

namespace exactbloom {
namespace {

using nlohmann::json;
using testing::AskToolForJson;

// A tree of RocksDB's own making, with RocksDB's Bloom filters.
struct GrownTree {
  const char* name;
  rocksdb::CompactionStyle style;
  int level0_trigger;
};

class AdviseFollowing : public ::testing::TestWithParam<GrownTree> {
 protected:
  static constexpr std::uint64_t kKeys = 60'000;

  AdviseFollowing() { Grow(path_, PolicyPointer(rocksdb::NewBloomFilterPolicy(10)), nullptr); }

  // Without a listener if it is null.
  static Database OpenAt(const std::string& path, const PolicyPointer& policy,
                         const ListenerPointer& listener, bool compacts = true) {
    rocksdb::Options options = FollowingOptions(policy, listener);
    if (listener == nullptr) options.listeners.clear();
    options.disable_auto_compactions = !compacts;
    options.compaction_style = GetParam().style;
    options.level0_file_num_compaction_trigger = GetParam().level0_trigger;
    // RocksDB builds Bloom filters instead of Ribbon filters of very few keys.
    options.target_file_size_base = 256 << 10;
    return Open(options, path);
  }

  // A flush at a time, each over the whole range, so that the tree does not depend on how jobs
  // overlap.
  static void Grow(const std::string& path, const PolicyPointer& policy,
                   const ListenerPointer& listener) {
    constexpr std::uint64_t kFlushes = 53;
    const Database db = OpenAt(path, policy, listener);
    for (std::uint64_t flush = 0; flush < kFlushes; ++flush) {
      for (std::uint64_t key = flush; key < kKeys; key += kFlushes) {
        EXPECT_TRUE(db->Put({}, KeyOf(2 * key), "value").ok());
      }
      EXPECT_TRUE(db->Flush({}).ok());
      AwaitQuiet(*db);
    }
  }

  // Expects a lookup to waste as many reads as advise says, by RocksDB's counters. The keys lie
  // between stored ones; each is asked for once.
  static void ExpectWastedReads(const std::string& path, double predicted) {
    constexpr std::uint64_t kRounds = 3;
    const Database db = OpenAt(path, NewPolicy(BloomKind::kClassic), nullptr, /*compacts=*/false);
    TakeCounts(*db);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      for (std::uint64_t i = 0; i < kKeys; ++i) {
        std::string value;
        ASSERT_TRUE(db->Get({}, KeyOf(2 * i) + fmt::format("-{}", round), &value).IsNotFound());
      }
    }
    const FilterCounts counts = TakeCounts(*db);
    EXPECT_EQ(counts.true_positive, 0U);
    EXPECT_GT(counts.positive, 1000U) << "too few for a comparison within a tenth";
    const auto measured =
        static_cast<double>(counts.positive) / static_cast<double>(kRounds * kKeys);
    EXPECT_NEAR(measured / predicted, 1.0, 0.1);
  }

  static json Family(const std::string& path, const std::string& arguments = "") {
    return AskToolForJson("advise " + arguments + " " + path).at("column_families").at(0);
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
};

INSTANTIATE_TEST_SUITE_P(
    Trees, AdviseFollowing,
    ::testing::Values(GrownTree{"Level", rocksdb::kCompactionStyleLevel, 3},
                      GrownTree{"Universal", rocksdb::kCompactionStyleUniversal, 4},
                      GrownTree{"MuchInLevel0", rocksdb::kCompactionStyleLevel, 12}),
    [](const auto& test) { return std::string(test.param.name); });

// The same tree is grown with the advised policy.
TEST_P(AdviseFollowing, CutsTheReadsInNoMoreMemory) {
  const json family = Family(path_);
  const json& now = family.at("now");
  const json& advice = family.at("advice");
  const double wasted_now = now.at("wasted_reads");
  ExpectWastedReads(path_, wasted_now);
  EXPECT_LT(advice.at("wasted_reads"), wasted_now / 2);

  const std::string followed = directory_.path("followed");
  PolicyPointer policy;
  RegisterFilterPolicies();
  ASSERT_TRUE(
      rocksdb::FilterPolicy::CreateFromString({}, advice.at("policy").get<std::string>(), &policy)
          .ok());
  Grow(followed, policy, NewTreeListener());
  // The listener is in the options already.
  const json more = Family(followed, "--memory 130K").at("advice");
  EXPECT_EQ(more.at("options").get<std::string>().find("listeners"), std::string::npos);
  // The advice is for tables that are all written at once; those of a tree were written one after
  // another.
  const json then = Family(followed).at("now");
  EXPECT_LE(then.at("filter_bytes"), 1.06 * now.at("filter_bytes").get<double>());
  EXPECT_LE(then.at("wasted_reads"), 0.3 * wasted_now);
  EXPECT_TRUE(Family(followed).at("advice").is_null());
}

// What the present setting is predicted to give is what it has given: each table of a level from 1
// on was written by a compaction, and that of level 0 by a flush.
TEST(AdvisePresent, IsPredictedAsItIsWritten) {
  RegisterFilterPolicies();
  for (const char* policy :
       {"bloomfilter:10", "bloomfilter:6.5", "bloomfilter:0.2", "ribbonfilter:10",
        "ribbonfilter:10:-1", "ribbonfilter:12:2", "rocksdb.BuiltinBloomFilter", "classic_bloom:10",
        "standard_bloom:9", "rocksdb_bloom:10", "{id=classic_bloom;fpr=0.003}", "exact_ribbon:10",
        "{id=exact_ribbon;fpr=0.01}", "nullptr"}) {
    SCOPED_TRACE(policy);
    // Partitions end with a data block, which the prediction leaves out: Ribbon filters are up to
    // 11% larger.
    const bool is_ribbon = std::string(policy).rfind("ribbon", 0) == 0;
    for (const bool partitioned : {false, true}) {
      if (partitioned && is_ribbon) continue;
      const TemporaryDirectory directory;
      rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
      ASSERT_TRUE(
          rocksdb::FilterPolicy::CreateFromString({}, policy, &table_options.filter_policy).ok());
      if (partitioned) PartitionFilters(1024, &table_options);
      {
        const Database db = Open(OptionsWith(table_options), directory.path());
        PutAndFlush(*db, 20'000);
        MoveDown(*db, 2);
        PutAndFlush(*db, 3500);
        MoveDown(*db, 1);
        PutAndFlush(*db, 900);
      }
      const json family =
          AskToolForJson("advise --memory 1M " + directory.path()).at("column_families").at(0);
      const double now = family.at("now").at("filter_bytes");
      const json& rewritten = family.at("rewritten");
      EXPECT_NEAR(rewritten.at("filter_bytes"), now, (partitioned ? 0.06 : 0.0) * now);
      const double wasted = family.at("now").at("wasted_reads");
      EXPECT_NEAR(rewritten.at("wasted_reads"), wasted, (partitioned ? 0.3 : 0.12) * wasted);
    }
  }
}

// Gives the tables of each level the filters of a policy.
class PolicyByLevel : public SharedPolicy<rocksdb::FilterPolicy> {
 public:
  explicit PolicyByLevel(const std::map<int, PolicyPointer>& policies)
      : SharedPolicy(policies.begin()->second), policies_(policies) {}
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return policies_.at(context.level_at_creation)->GetBuilderWithContext(context);
  }

 private:
  std::map<int, PolicyPointer> policies_;
};

// The tables of a copy get the bits per key that are predicted for a policy without Ribbon filters.
TEST_P(AdviseFollowing, PredictsWhatRewrittenTablesGet) {
  if (GetParam().style != rocksdb::kCompactionStyleLevel) {
    GTEST_SKIP() << "tables of one level have different bits per key";
  }
  const tool::Tree tree = TreesOf(tool::Inspect({path_}, {})).at(0);
  PolicyOptions followed(PolicyKind::kExactBloom);
  followed.ribbon = false;
  const tool::TreePlan predicted = PlanOf(followed, tree);
  std::map<int, std::pair<double, double>> bits_and_keys;  // by level
  for (const tool::PlannedGroup& group : predicted.tables) {
    auto& [bits, keys] = bits_and_keys[group.level];
    bits += 8.0 * static_cast<double>(group.then.bytes);
    keys += static_cast<double>(group.keys);
  }
  std::map<int, PolicyPointer> policies;
  for (const auto& [level, sums] : bits_and_keys) {
    policies[level] = NewFilterPolicy(ClassicBloomOptions{sums.first / sums.second});
  }
  const PolicyPointer policy = std::make_shared<PolicyByLevel>(policies);
  ASSERT_TRUE(RewriteTables(*OpenAt(path_, policy, nullptr, /*compacts=*/false)).ok());
  const json now = Family(path_).at("now");
  const auto bytes = static_cast<double>(predicted.filters.bytes);
  EXPECT_NEAR(now.at("filter_bytes").get<double>() / bytes, 1.0, 0.01);
  EXPECT_NEAR(now.at("wasted_reads").get<double>() / predicted.filters.wasted_reads, 1.0, 0.05);
}

}  // namespace
}  // namespace exactbloom
