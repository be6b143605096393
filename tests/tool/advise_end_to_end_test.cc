// Following the advice cuts the reads that absent keys waste, in no more memory.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "tool/database/tree_filters.h"
#include "tool_command.h"

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
  static void ExpectWastedReads(const std::string& path, double predicted, std::uint64_t rounds) {
    // This policy reads what RocksDB's and any of ours wrote.
    const Database db = OpenAt(path, NewPolicy(FilterKind::kClassic), nullptr, /*compacts=*/false);
    TakeCounts(*db);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (std::uint64_t i = 0; i < kKeys; ++i) {
        std::string value;
        ASSERT_TRUE(db->Get({}, KeyOf(2 * i) + fmt::format("-{}", round), &value).IsNotFound());
      }
    }
    const FilterCounts counts = TakeCounts(*db);
    EXPECT_EQ(counts.true_positive, 0U);
    EXPECT_GT(counts.positive, 2000U) << "too few for a comparison within a tenth";
    const auto measured =
        static_cast<double>(counts.positive) / static_cast<double>(rounds * kKeys);
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
  ExpectWastedReads(path_, wasted_now, 3);
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
  ExpectWastedReads(followed, then.at("wasted_reads"), 25);
}

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
  BloomFilterPolicyOptions options;
  for (int level = 0; level <= bits_and_keys.rbegin()->first; ++level) {
    const auto& [bits, keys] = bits_and_keys[level];
    options.level_bits.push_back(keys == 0.0 ? 10.0 : bits / keys);
  }
  const PolicyPointer policy(NewClassicBloomFilterPolicy(options));
  ASSERT_TRUE(RewriteTables(*OpenAt(path_, policy, nullptr, /*compacts=*/false)).ok());
  const json now = Family(path_).at("now");
  const auto bytes = static_cast<double>(predicted.filters.bytes);
  EXPECT_NEAR(now.at("filter_bytes").get<double>() / bytes, 1.0, 0.01);
  EXPECT_NEAR(now.at("wasted_reads").get<double>() / predicted.filters.wasted_reads, 1.0, 0.05);
}

}  // namespace
}  // namespace exactbloom
