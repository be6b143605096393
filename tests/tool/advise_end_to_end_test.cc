// Following the advice cuts the reads that absent keys waste as it said, in no more memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "exactbloom/tree_listener.h"
#include "followed_database.h"
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

  AdviseFollowing() {
    const Database db = OpenWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)));
    // A flush at a time, each over the whole range, so that the tree does not depend on how jobs
    // overlap.
    constexpr std::uint64_t kFlushes = 53;
    for (std::uint64_t flush = 0; flush < kFlushes; ++flush) {
      for (std::uint64_t key = flush; key < kKeys; key += kFlushes) {
        EXPECT_TRUE(db->Put({}, KeyOf(2 * key), "value").ok());
      }
      EXPECT_TRUE(db->Flush({}).ok());
      AwaitQuiet(*db);
    }
    // As the OPTIONS file will have it, so that a rebuild leaves the tree as it is.
    EXPECT_TRUE(db->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  }

  Database OpenWith(const PolicyPointer& policy, bool compacts = true) const {
    rocksdb::Options options = FollowingOptions(policy, NewTreeListener());
    options.listeners.clear();
    options.disable_auto_compactions = !compacts;
    options.compaction_style = GetParam().style;
    options.level0_file_num_compaction_trigger = GetParam().level0_trigger;
    // RocksDB builds Bloom filters instead of Ribbon filters of very few keys.
    options.target_file_size_base = 256 << 10;
    return Open(options, path_);
  }

  // Expects a lookup to waste as many reads as advise says, by RocksDB's counters. The keys lie
  // between stored ones; each is asked for once.
  void ExpectWastedReads(double predicted, std::uint64_t rounds) const {
    // This policy reads what RocksDB's and any of ours wrote.
    const Database db = OpenWith(NewPolicy(FilterKind::kClassic), /*compacts=*/false);
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

  json Family(const std::string& path, const std::string& arguments = "") const {
    return AskToolForJson("advise " + arguments + " " + path).at("column_families").at(0);
  }

  // Rebuilds a copy with a candidate, and counts what its filters are then.
  void ExpectTruth(const json& candidate) const {
    SCOPED_TRACE(candidate.dump());
    const TemporaryDirectory directory;
    const std::string copy = directory.path("db");
    std::filesystem::copy(path_, copy);
    AskToolForJson("rebuild --bits --policy '" + candidate.at("policy").get<std::string>() + "' " +
                   copy);
    const json after = Family(copy).at("now");
    const auto ratio = [&](const char* what) {
      return after.at(what).get<double>() / candidate.at(what).get<double>();
    };
    EXPECT_NEAR(ratio("filter_bytes"), 1.0, 0.01);
    EXPECT_NEAR(ratio("wasted_reads"), 1.0, 0.05);
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

TEST_P(AdviseFollowing, PredictsWhatARebuildGivesAndThenKeepsIt) {
  int followed = 0;
  const json family = Family(path_);
  for (const json& candidate : family.at("candidates")) {
    if (candidate.at("policy").get<std::string>().find("exactbloom") == std::string::npos) continue;
    ++followed;
    ExpectTruth(candidate);
  }
  EXPECT_EQ(followed, 2);
  const json& now = family.at("now");
  const json& advice = family.at("advice");
  ExpectWastedReads(now.at("wasted_reads"), 3);
  AskToolForJson("rebuild --bits --policy '" + advice.at("policy").get<std::string>() + "' " +
                 path_);
  const json after = Family(path_);
  EXPECT_TRUE(after.at("advice").is_null()) << "nothing is better than to follow the tree";
  EXPECT_LT(advice.at("wasted_reads"), now.at("wasted_reads").get<double>() / 2);
  EXPECT_LE(after.at("now").at("filter_bytes"), now.at("filter_bytes"));
  // The listener is in the options already.
  const json more = Family(path_, "--memory 130K").at("advice");
  EXPECT_EQ(more.at("options").get<std::string>().find("listeners"), std::string::npos);
  ExpectWastedReads(advice.at("wasted_reads"), 18);
}

}  // namespace
}  // namespace exactbloom
