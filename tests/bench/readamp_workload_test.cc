// Workloads and trees of readamp: their counts by RocksDB, the file system and the tree.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "readamp_fixture.h"

namespace {

using exactbloom::testing::ReadampTest;

class OnTree : public ReadampTest, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Trees, OnTree,
                         testing::Values("--tree settled", "--sorted-runs 1",
                                         "--filters partitioned",
                                         "--tree loaded --write-buffer 128kb",
                                         "--tree level0 --level0-files 5",
                                         "--tree universal --write-buffer 128kb"));

// The waste of all levels is that of the workload. Where RocksDB counts by level, the file system
// sees as many reads of each level's tables.
void ExpectSumsOfLevels(const nlohmann::json& result, const std::string& workload, bool filtered) {
  std::uint64_t wasted_reads = 0;
  std::uint64_t false_positives = 0;
  for (const nlohmann::json& level : result.at("by_level")) {
    SCOPED_TRACE(level.at("level"));
    if (workload != "multiget") wasted_reads += level.at("wasted_reads").get<std::uint64_t>();
    if (workload != "prefix") false_positives += level.at("false_positives").get<std::uint64_t>();
    if (workload != "multiget" && workload != "prefix" && filtered) {
      EXPECT_EQ(level.at("wasted_reads"), level.at("false_positives"));
    }
  }
  if (workload != "multiget") {
    EXPECT_EQ(result.at("wasted_reads"), wasted_reads);
  }
  if (workload != "prefix") {
    EXPECT_EQ(result.at("false_positives"), false_positives);
  }
}

// Nothing is cached, so every search of a table is a read.
TEST_P(OnTree, AllCountsAgree) {
  const std::string tree = GetParam();
  const nlohmann::json report =
      Measure(tree +
              " --no-bloom-table --synthetic 20000 --stored 0.5 --lookups 4000 --block-cache 0 "
              "--reads buffered --threads 1 "
              "--prefix-bytes 4 --workloads absent,near,present,mix,zipf,multiget,prefix "
              "--policies none,bloomfilter:10,classic_bloom:10");
  ASSERT_EQ(report.at("policies").size(), 3U);
  for (const auto& policy : report.at("policies")) {
    // What RocksDB's own compactions have left at the end depends on how far they were.
    const bool compacts = tree.find("loaded") != tree.npos || tree.find("universal") != tree.npos;
    if (!compacts) {
      EXPECT_EQ(policy.at("sorted_runs") == 1, tree == "--sorted-runs 1");
    }
    const bool ours = policy.at("policy") == "classic_bloom:10";
    ASSERT_EQ(policy.at("workloads").size(), 7U);
    EXPECT_GT(policy.at("workloads").at("absent").at("wasted_reads"), 0);
    for (const auto& [name, result] : policy.at("workloads").items()) {
      SCOPED_TRACE(policy.at("policy").get<std::string>() + ", " + name);
      EXPECT_EQ(result.at("absent_checks"), result.at("derived_absent_checks"));
      EXPECT_EQ(result.at("file_bytes_read"), result.at("bytes_read"));
      ExpectSumsOfLevels(result, name, policy.at("policy") != "none");
      const double searches = result.at("wasted_searches");
      if (name == "multiget") {
        EXPECT_TRUE(result.at("wasted_reads").is_null());
        EXPECT_LT(result.at("file_reads"), result.at("data_blocks_read"));  // neighbours are merged
      } else {
        EXPECT_EQ(result.at("file_reads"), result.at("data_blocks_read"));
        // A scan to the end of a table reads the next one as well, and one beyond it reads nothing.
        EXPECT_NEAR(result.at("wasted_reads"), searches,
                    name == "prefix" ? 0.02 * searches + 10.0 : 0.0);
      }
      // In one sorted run, or two whose ranges do not meet, present keys are asked for where they
      // are.
      const bool has_rate = ours && result.at("absent_checks") > 0;
      EXPECT_EQ(result.at("exact_rate").is_null(), !has_rate);
      // By Zipf's law a few keys are most of the lookups: the interval of so few is not exact.
      if (has_rate && name != "zipf") ExpectExactRateInInterval(result);
    }
  }
}

// Without filters every sorted run whose range holds an absent key is searched for it.
TEST_F(ReadampTest, NearMissesAreAbsent) {
  const nlohmann::json report = Measure(
      "--no-bloom-table --synthetic 20000 --stored 0.5 --lookups 4000 --block-cache 0 --reads "
      "buffered --threads 1 "
      "--sorted-runs 3 --size-ratio 4 --workloads near,absent --policies none,standard_bloom:10");
  const auto& none = report.at("policies").at(0).at("workloads");
  const auto& standard = report.at("policies").at(1).at("workloads");
  for (const auto* workload : {"near", "absent"}) {
    SCOPED_TRACE(workload);
    EXPECT_EQ(none.at(workload).at("lookups"), 4000);
    // The smallest of three sorted runs has some hundred keys and does not span the whole range.
    EXPECT_GT(none.at(workload).at("wasted_reads"), 3 * 4000 - 200);
    EXPECT_LE(none.at(workload).at("wasted_reads"), 3 * 4000);
    EXPECT_EQ(standard.at(workload).at("absent_checks"), none.at(workload).at("wasted_reads"));
    EXPECT_EQ(none.at(workload).at("predicted_wasted_reads"), none.at(workload).at("wasted_reads"));
  }
}

// RocksDB does not compare a key with the ranges of three tables of level 0 alone. A filter that
// lets a key behind the last one pass costs no read.
TEST_F(ReadampTest, FewTablesAreAskedRegardlessOfTheirRanges) {
  const nlohmann::json report = Measure(
      "--synthetic 20000 --lookups 4000 --workloads absent --policies none,bloomfilter:5 "
      "--tree level0 --level0-files 3");
  const auto& bloom = Result(report, 1, "absent");
  EXPECT_EQ(bloom.at("absent_checks"), 3 * 4000);
  EXPECT_EQ(bloom.at("derived_absent_checks"), 3 * 4000);
  EXPECT_LE(bloom.at("wasted_reads"), bloom.at("false_positives"));
}

TEST_F(ReadampTest, AReadTakesAtLeastItsLatency) {
  constexpr double kMicroseconds = 200.0;
  const nlohmann::json report = Measure(
      "--no-bloom-table --synthetic 20000 --stored 0.5 --lookups 200 --block-cache 0 --reads "
      "buffered "
      "--sorted-runs 3 --size-ratio 4 --read-latency 200us --workloads absent,multiget "
      "--policies none");
  EXPECT_EQ(report.at("settings").at("read_latency_us"), kMicroseconds);
  const auto& workloads = report.at("policies").at(0).at("workloads");
  const auto& absent = workloads.at("absent");
  EXPECT_EQ(absent.at("p50_file_reads"), 3);
  EXPECT_GE(absent.at("p50_us"), 3 * kMicroseconds);
  EXPECT_GE(absent.at("p99_us"), absent.at("p99_file_reads").get<double>() * kMicroseconds);
  // A batch asks each of the sorted runs for all of its blocks at once.
  EXPECT_GT(workloads.at("multiget").at("p50_file_reads"), 3);
  EXPECT_GE(workloads.at("multiget").at("p50_us"), 3 * kMicroseconds);
}

TEST_F(ReadampTest, ABlockCacheOfAllLeavesNothingToRead) {
  const nlohmann::json report = Measure(
      "--no-bloom-table --synthetic 20000 --stored 0.5 --lookups 4000 --block-cache all --filters "
      "partitioned "
      "--workloads absent,present --policies none,classic_bloom:8");
  for (const auto& policy : report.at("policies")) {
    for (const auto& result : policy.at("workloads")) {
      EXPECT_EQ(result.at("file_reads"), 0);
      EXPECT_EQ(result.at("wasted_reads"), 0);
      EXPECT_GT(result.at("wasted_searches"), 0);
      EXPECT_GE(result.at("block_cache_hits"), result.at("wasted_searches"));
    }
  }
}

TEST_F(ReadampTest, FollowsATreeThatChanges) {
  const nlohmann::json report = Measure(
      "--no-bloom-table --synthetic 20000 --stored 0.5 --lookups 4000 --block-cache 0 --reads "
      "buffered "
      "--read-latency 100us --write-buffer 128kb --workloads during-writes,absent "
      "--policies none,classic_bloom:10");
  for (const auto& policy : report.at("policies")) {
    const auto& result = policy.at("workloads").at("during-writes");
    const auto& absent = policy.at("workloads").at("absent");
    EXPECT_TRUE(result.at("derived_absent_checks").is_null());
    EXPECT_TRUE(result.at("exact_rate").is_null());
    EXPECT_TRUE(result.at("by_level").is_null());
    EXPECT_LE(result.at("over_time").size(), 20U);
    std::uint64_t lookups = 0;
    std::uint64_t wasted_reads = 0;
    for (const auto& sample : result.at("over_time")) {
      lookups += sample.at("lookups").get<std::uint64_t>();
      wasted_reads += sample.at("wasted_reads").get<std::uint64_t>();
    }
    EXPECT_EQ(lookups, 4000U);
    EXPECT_EQ(result.at("wasted_reads"), wasted_reads);
    // The writes go to a copy.
    EXPECT_EQ(absent.at("absent_checks"), absent.at("derived_absent_checks"));
    EXPECT_TRUE(absent.at("over_time").is_null());
  }
}

// Three levels without filters: nearly every absent key costs a read in each of them.
TEST_F(ReadampTest, SaysWhichLevelsWaste) {
  const nlohmann::json report = Measure(
      "--synthetic 20000 --stored 0.5 --lookups 4000 --block-cache 0 --reads buffered "
      "--workloads absent,multiget --policies 'none,{id=classic_bloom;level_bits=20:20:20:20:4}' "
      "--size-ratio 4 --details");
  EXPECT_NE(out_.find("wasted reads per lookup, by level\n"), std::string::npos) << out_;
  const auto& none = Result(report, 0, "absent").at("by_level");
  const auto& uneven = Result(report, 1, "absent").at("by_level");
  ASSERT_EQ(none.size(), 4U);
  for (std::size_t i = 0; i < none.size(); ++i) {
    EXPECT_EQ(none.at(i).at("level"), i + 1);
    EXPECT_GT(none.at(i).at("wasted_reads"), 3500);
    EXPECT_EQ(uneven.at(i).at("wasted_reads") > 100, i == 3) << uneven;
  }
  EXPECT_TRUE(Result(report, 0, "multiget").at("by_level").at(0).at("wasted_reads").is_null());
}

TEST_F(ReadampTest, WarnsOfASizeRatioThatIsNotTheTrees) {
  const nlohmann::json report = Measure(
      "--synthetic 20000 --stored 0.5 --lookups 100 --sorted-runs 3 --size-ratio 4 --workloads "
      "absent "
      "--policies 'classic_bloom:10,{id=classic_bloom;size_ratio=10},{id=classic_bloom;size_ratio="
      "5},{id=classic_bloom;size_ratio=auto}'");
  const std::string warning =
      "size_ratio is 10, but level 3 has 4 times the keys of level 2: the filters take more or "
      "less memory than bits_per_key says";
  for (const auto& policy : report.at("policies")) {
    const bool misfits = policy.at("policy") == "{id=classic_bloom;size_ratio=10}";
    EXPECT_EQ(policy.at("warnings"), misfits ? nlohmann::json{warning} : nlohmann::json::array());
  }
  EXPECT_NE(err_.find("readamp: warning: {id=classic_bloom;size_ratio=10}: " + warning + "\n"),
            std::string::npos)
      << err_;
  EXPECT_EQ(err_.find("warning"), err_.rfind("warning")) << err_;
}

}  // namespace
