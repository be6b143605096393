// Runs readamp as a user does and reads its report.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "readamp_fixture.h"

namespace {

namespace fs = std::filesystem;
using exactbloom::Mentions;
using exactbloom::testing::ExpectRefusal;
using exactbloom::testing::Outcome;
using exactbloom::testing::ReadampTest;
using nlohmann::json;

TEST_F(ReadampTest, ReportsEveryPolicyAndWorkload) {
  const json report = Measure("--synthetic 30000 --lookups 8000 --details");
  EXPECT_EQ(report.at("keys"), 30000);
  EXPECT_EQ(report.at("workload_source"), "synthetic, 30000 keys");
  ASSERT_EQ(report.at("policies").size(), 6U);
  for (const auto& policy : report.at("policies")) {
    const std::string name = policy.at("policy");
    EXPECT_EQ(name.find("{equal_bytes}"), std::string::npos) << name;
    EXPECT_TRUE(Mentions(out_, name));
    EXPECT_GT(policy.at("load_cpu_us_per_key"), 0.0);
    ASSERT_EQ(policy.at("workloads").size(), 2U);
    for (const auto* workload : {"absent", "present"}) {
      SCOPED_TRACE(fmt::format("{}, {}", name, workload));
      const auto& result = policy.at("workloads").at(workload);
      EXPECT_EQ(result.at("lookups"), 8000);
      EXPECT_GT(result.at("cpu_us"), 0.0);
      EXPECT_EQ(result.at("wasted_reads"), result.at("wasted_searches"));
      if (name == "none") {
        EXPECT_EQ(policy.at("filter_bytes"), 0);
        EXPECT_EQ(result.at("filter_checks"), 0);
        EXPECT_TRUE(result.at("measured_rate").is_null());
        continue;
      }
      EXPECT_NEAR(policy.at("bits_per_key"), 10.0, 0.7);
      EXPECT_LT(result.at("interval").at(0), result.at("measured_rate"));
      EXPECT_GT(result.at("interval").at(1), result.at("measured_rate"));
      const bool ours =
          name == "classic_bloom:10" || name == "exact_ribbon:10" || name == "exactbloom:10";
      ASSERT_EQ(result.at("exact_rate").is_null(), !ours);
      if (ours) ExpectExactRateInInterval(result);
    }
  }
  // A search of a table that no filter answers costs a block, and now and then a second one: an
  // index entry may lie beyond the last key of its block.
  const json& none = Result(report, 0, "absent");
  EXPECT_GE(none.at("data_blocks_read"), none.at("wasted_reads"));
  EXPECT_LE(none.at("data_blocks_read"), none.at("wasted_reads").get<double>() * 1.05);

  for (const std::string text :
       {"99.9% interval", " the fewest:\n", "█", " times fewer than bloomfilter:10 in "}) {
    EXPECT_TRUE(Mentions(out_, text));
    EXPECT_LT(out_.find(" the fewest:"), out_.find("█")) << "the conclusion comes first";
  }
}

// Two equal policies differ by chance at most, and the summary claims nothing.
TEST_F(ReadampTest, ClaimsNoDifferenceThatMayBeChance) {
  Measure(
      "--synthetic 20000 --lookups 2000 --workloads absent --policies "
      "classic_bloom:10,standard_bloom:10");
  EXPECT_TRUE(Mentions(out_, "differ by no more than chance"));
  EXPECT_EQ(out_.find("times fewer"), std::string::npos) << out_;
  EXPECT_EQ(out_.find("99.9% interval"), std::string::npos) << "details, unasked: " << out_;
}

TEST_F(ReadampTest, ReadsKeysFromAFile) {
  std::ofstream file(directory_.path("keys"));
  for (int i = 0; i < 5000; ++i) file << "key-" << i * 7919 << "\r\n\n";
  for (int i = 0; i < 5000; ++i) file << "key-" << i * 7919 << "\n";  // again
  file.close();
  const std::string keys = "--keys " + directory_.path("keys");
  const json report =
      Measure("--policies standard_bloom:12,none --unfiltered-lookups 100 --stored 0.1 " + keys);
  EXPECT_EQ(report.at("keys"), 5000);
  EXPECT_EQ(report.at("keys_stored"), 500);
  EXPECT_EQ(Result(report, 0, "absent").at("lookups"), 4500);
  EXPECT_EQ(Result(report, 1, "absent").at("lookups"), 100);
}

// A tenth of the words need the disk; the filter saves the reads for the others but for an error P.
// For 4,920 words stored, each halving takes 14 lines of 512 bits.
TEST_F(ReadampTest, ReproducesBloomsTableOfHyphenation) {
  std::ofstream words(directory_.path("words"));
  for (int i = 0; i < 49200; ++i) words << "word" << i << "\n";
  words.close();
  const json report = Measure("--keys " + directory_.path("words") +
                              " --stored 0.1 --workloads hyphenation --lookups 1000 --details "
                              "--policies classic_bloom:10 --bloom-table");
  EXPECT_EQ(Result(report, 0, "hyphenation").at("lookups"), 49200);
  EXPECT_TRUE(Mentions(out_, "hyphenation: every key once, in the store or not\n"));
  EXPECT_TRUE(Mentions(out_, "* a misprint: 6 halvings of 72800 bits each are 436800"));
  const json& rows = report.at("bloom_table_1");
  ASSERT_EQ(rows.size(), 6U);
  for (const json& row : rows) {
    const double error = row.at("allowed_error");
    SCOPED_TRACE(error);
    EXPECT_NEAR(row.at("printed_percent"), 90.0 * (1.0 - error), 0.16);  // Bloom's own formula
    EXPECT_NEAR(row.at("measured_percent"), row.at("printed_percent"), 1.0);
    EXPECT_NEAR(row.at("predicted_percent"), row.at("printed_percent"), 0.5);
    EXPECT_EQ(row.at("misprint"), row.at("printed_bits") == 509800);
  }
  EXPECT_TRUE(Measure("--synthetic 1000 --policies none").at("bloom_table_1").empty());
}

TEST_F(ReadampTest, LeavesNothingWhenInterrupted) {
  const Outcome outcome =
      Run("--synthetic 1000000 --json " + Json(), "timeout --preserve-status -s INT 0.5");
  EXPECT_EQ(outcome.status, 130);
  EXPECT_FALSE(fs::exists(Json()));
}

#ifdef PEER_POLICY
// Policies that readamp knows nothing of.
TEST_F(ReadampTest, MeasuresAPreloadedPolicy) {
  const json report = Measure(
      "--synthetic 20000 --lookups 4000 --sorted-runs 3 --size-ratio 4 --workloads absent "
      "--policies test_peer,classic_bloom:6",
      "LD_PRELOAD=" PEER_POLICY);
  EXPECT_EQ(report.at("policies").at(0).at("policy"), "test_peer");
  EXPECT_NEAR(report.at("policies").at(0).at("bits_per_key"), 6.0, 0.5);
  const json& absent = Result(report, 0, "absent");
  EXPECT_TRUE(absent.at("exact_rate").is_null());
  EXPECT_EQ(absent.at("absent_checks"), absent.at("derived_absent_checks"));
  EXPECT_EQ(absent.at("wasted_reads"), absent.at("false_positives"));
  // The exact rate of a classic filter of 6 bits per key is 5.6%, and RocksDB's is a little above.
  EXPECT_GT(absent.at("measured_rate"), 0.045);
  EXPECT_LT(absent.at("measured_rate"), 0.07);
}

TEST_F(ReadampTest, ReportsNothingIfAFilterMissesAKey) {
  const Outcome outcome =
      Run("--synthetic 2000 --workloads present --policies test_misses --json " + Json(),
          "LD_PRELOAD=" PEER_POLICY);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(Mentions(outcome.err, "was missed"));
  EXPECT_FALSE(fs::exists(Json()));
}
#endif

}  // namespace
