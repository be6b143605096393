// Following the advice cuts the reads that absent keys waste as it said, in no more memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "tests/allocation/level_tree.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;
using testing::AskToolForJson;

// Reads wasted by a lookup, by RocksDB's counters. The keys lie between stored ones; each is asked
// for once.
double MeasureWastedReads(rocksdb::DB& db, std::uint64_t rounds) {
  TakeCounts(db);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::string suffix = fmt::format("-{}", round);
    for (std::uint64_t i = 0; i < LevelTree::kAllKeys; ++i) {
      std::string value;
      const bool absent = db.Get({}, KeyOf(2 * i) + suffix, &value).IsNotFound();
      if (!absent) ADD_FAILURE() << i;
    }
  }
  const FilterCounts counts = TakeCounts(db);
  EXPECT_EQ(counts.true_positive, 0U);
  EXPECT_GT(counts.positive, 2000U) << "too few for a comparison within a tenth";
  return static_cast<double>(counts.positive) / static_cast<double>(rounds * LevelTree::kAllKeys);
}

void ExpectWithinATenth(double measured, double predicted) {
  EXPECT_NEAR(measured / predicted, 1.0, 0.1);
}

bool Follows(const json& candidate) {
  return candidate.at("policy").get<std::string>().find("exactbloom") != std::string::npos;
}

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
    rocksdb::Options options =
        FollowingOptions(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)), NewTreeListener());
    options.listeners.clear();
    options.compaction_style = GetParam().style;
    options.level0_file_num_compaction_trigger = GetParam().level0_trigger;
    // RocksDB builds Bloom filters instead of Ribbon filters of very few keys.
    options.target_file_size_base = 256 << 10;
    const Database db = Open(options, path_);
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

  json Family(const std::string& path, const std::string& arguments = "") const {
    return AskToolForJson("advise " + arguments + " " + path).at("column_families").at(0);
  }

  // Rebuilds a copy with a candidate, and counts what its filters are then.
  void ExpectTruth(const json& candidate, double reads_tolerance) const {
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
    EXPECT_NEAR(ratio("filter_bytes"), 1.0, 0.2 * reads_tolerance);
    EXPECT_NEAR(ratio("wasted_reads"), 1.0, reads_tolerance);
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
    if (!Follows(candidate)) continue;
    ++followed;
    ExpectTruth(candidate, 0.05);
  }
  EXPECT_EQ(followed, 2);
  const json& advice = family.at("advice");
  EXPECT_EQ(advice.at("options").get<std::string>().find("[DBOptions]\n"
                                                         "  listeners=exactbloom_tree\n"),
            0U);
  EXPECT_TRUE(Mentions(advice.at("code"), "exactbloom::SetFilterPolicy"));
  AskToolForJson("rebuild --bits --policy '" + advice.at("policy").get<std::string>() + "' " +
                 path_);
  EXPECT_TRUE(Family(path_).at("advice").is_null()) << "nothing is better than to follow the tree";
  // The listener is in the options already.
  const json more = Family(path_, "--memory 130K").at("advice");
  EXPECT_EQ(more.at("options").get<std::string>().find("listeners"), std::string::npos);
}

TEST(AdviseEndToEnd, CutsWastedReadsAsPredictedAtEqualMemory) {
  constexpr std::uint64_t kRoundsBefore = 3;
  constexpr std::uint64_t kRoundsAfter = 18;
  const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
  LevelTree tree(OptionsWith(bloom), 3);
  const double before = MeasureWastedReads(tree.db(), kRoundsBefore);

  const json family = AskToolForJson("advise " + tree.path()).at("column_families").at(0);
  const json& now = family.at("now");
  const json& advice = family.at("advice");
  ASSERT_FALSE(advice.is_null()) << family;

  const TemporaryDirectory directory;
  const std::string copy = directory.path("db");
  std::filesystem::copy(tree.path(), copy);
  const json rebuilt = AskToolForJson("rebuild --bits --policy '" +
                                      advice.at("policy").get<std::string>() + "' " + copy);
  EXPECT_EQ(rebuilt.at("rewritten_tables"), LevelTree::kRuns);
  const json followed = AskToolForJson("advise " + copy).at("column_families").at(0);
  // This policy reads what any of ours wrote.
  const Database db = Open(OptionsWith(NewPolicy(FilterKind::kClassic)), copy);
  const double after = MeasureWastedReads(*db, kRoundsAfter);

  const double predicted_before = now.at("wasted_reads");
  const double predicted_after = advice.at("wasted_reads");
  ExpectWithinATenth(before, predicted_before);
  ExpectWithinATenth(after, predicted_after);
  ExpectWithinATenth(before - after, predicted_before - predicted_after);
  ExpectWithinATenth(after / before, predicted_after / predicted_before);
  EXPECT_LT(after, before / 2);
  EXPECT_LE(followed.at("now").at("filter_bytes"), now.at("filter_bytes"));
}

}  // namespace
}  // namespace exactbloom
