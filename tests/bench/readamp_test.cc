// Runs readamp as a user does and reads its report.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "readamp_fixture.h"

namespace {

namespace fs = std::filesystem;
using exactbloom::testing::Outcome;
using exactbloom::testing::ReadampTest;
using nlohmann::json;

TEST_F(ReadampTest, ReportsEveryPolicyAndWorkload) {
  const json report =
      Measure("--synthetic 60000 --stored 0.1 --sorted-runs 3 --size-ratio 4 --details");
  EXPECT_EQ(report.at("keys"), 60000);
  EXPECT_EQ(report.at("workload_source"), "synthetic, 60000 keys");
  ASSERT_EQ(report.at("policies").size(), 5U);
  for (const auto& policy : report.at("policies")) {
    const std::string name = policy.at("policy");
    EXPECT_EQ(name.find("{equal_bytes}"), std::string::npos) << name;
    if (name != "none") {
      EXPECT_NEAR(policy.at("bits_per_key"), 10.0, 0.7) << name;
    }
    EXPECT_NE(out_.find(name), std::string::npos);
    ASSERT_EQ(policy.at("workloads").size(), 2U);
    for (const auto* workload : {"absent", "present"}) {
      SCOPED_TRACE(fmt::format("{}, {}", name, workload));
      const auto& result = policy.at("workloads").at(workload);
      EXPECT_GT(result.at("lookups"), 0);
      EXPECT_GE(result.at("p99_us"), result.at("p50_us"));
      if (name == "none") {
        EXPECT_EQ(policy.at("filter_bytes"), 0);
        EXPECT_EQ(result.at("filter_checks"), 0);
        EXPECT_TRUE(result.at("measured_rate").is_null());
        EXPECT_EQ(result.at("reads_avoided"), 0);
        continue;
      }
      EXPECT_LT(result.at("interval").at(0), result.at("measured_rate"));
      EXPECT_GT(result.at("interval").at(1), result.at("measured_rate"));
      const bool ours = name.find("_bloom") != std::string::npos;
      ASSERT_EQ(result.at("exact_rate").is_null(), !ours);
      if (ours) ExpectExactRateInInterval(result);
      EXPECT_LE(result.at("false_positives"), result.at("absent_checks"));
    }
  }
}

TEST_F(ReadampTest, SaysAtTheStartHowLongItTakes) {
  const json report = Measure("--synthetic 20000 --workloads absent,near --lookups 4000");
  const std::string line = "readamp: this takes about ";
  EXPECT_EQ(err_.compare(0, line.size(), line), 0) << err_;
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
  EXPECT_GT(report.at("estimated_seconds"), 0.0);
  EXPECT_GT(report.at("seconds"), 0.0);
}

// Three sorted runs without filters cost an absent key nearly three blocks, and a filter saves
// nearly all of them.
TEST_F(ReadampTest, CountsTheReadsThatAFilterAvoids) {
  const json report = Measure(
      "--synthetic 60000 --no-bloom-table --block-cache 1b --threads 1 --workloads absent "
      "--lookups 30000 --unfiltered-lookups 0 --policies none,classic_bloom:10");
  const json& none = Result(report, 0, "absent");
  const json& classic = Result(report, 1, "absent");
  // Without a block cache every check of an absent key that no filter answers costs a block, and
  // now and then a second one: an index entry may lie beyond the last key of its block, and a key
  // between the two is looked for in the next block as well.
  const auto expect_blocks = [](const json& blocks, const json& unanswered) {
    EXPECT_GE(blocks.get<double>(), unanswered.get<double>());
    EXPECT_LE(blocks.get<double>(), unanswered.get<double>() * 1.05);
  };
  expect_blocks(none.at("data_blocks_read"), classic.at("absent_checks"));
  expect_blocks(classic.at("data_blocks_read"), classic.at("false_positives"));
  EXPECT_EQ(classic.at("reads_avoided").get<std::int64_t>(),
            none.at("data_blocks_read").get<std::int64_t>() -
                classic.at("data_blocks_read").get<std::int64_t>());
  EXPECT_GT(classic.at("reads_avoided_percent"), 98.9);
}

TEST_F(ReadampTest, MakesFewerLookupsWithoutFilter) {
  const json report =
      Measure(MakeDictionary(60000) +
              " --no-bloom-table --unfiltered-lookups 10000 --policies none,classic_bloom:10 "
              "--workloads hyphenation --details");
  EXPECT_NE(out_.find("hyphenation: 60000 lookups, every key once, in the store or not\n"
                      "without a filter the first 10000 of them;"),
            std::string::npos)
      << out_;
  const json& none = Result(report, 0, "hyphenation");
  const json& classic = Result(report, 1, "hyphenation");
  EXPECT_EQ(none.at("lookups"), 10000);
  EXPECT_EQ(classic.at("lookups"), 60000);
  EXPECT_NEAR(classic.at("reads_avoided").get<double>(),
              6.0 * none.at("data_blocks_read").get<double>() -
                  classic.at("data_blocks_read").get<double>(),
              0.5);
}

// What the default tells: bars, who wastes the fewest reads, and the same on a page.
TEST_F(ReadampTest, EndsInASummary) {
  const fs::path page = directory_ / "page.html";
  const json report = Measure(
      "--synthetic 200000 --lookups 50000 --workloads absent --policies none,bloomfilter:10,"
      "'{id=classic_bloom;size_ratio=auto;bottommost=ribbon}' --html " +
      page.string());
  const json& best = report.at("policies").at(2);
  const std::string conclusion = best.at("policy").get<std::string>() + " wastes the fewest:\n";
  EXPECT_NE(out_.find(conclusion), std::string::npos) << out_;
  const std::string claim = " times fewer than bloomfilter:10 in ";
  EXPECT_NE(out_.find(claim), std::string::npos) << out_;
  EXPECT_EQ(out_.find(claim), out_.rfind(claim)) << "twice: " << out_;
  EXPECT_EQ(out_.find("absent checks"), std::string::npos) << "details, unasked: " << out_;
  EXPECT_NE(out_.find("█"), std::string::npos) << out_;
  const std::string html = exactbloom::testing::ReadFile(page);
  for (const json& policy : report.at("policies")) {
    const std::string name = policy.at("policy");
    const bool is_bar = html.find("<dt>" + name + "</dt>") != std::string::npos;
    EXPECT_EQ(is_bar, name != "none") << name;
  }
  EXPECT_NE(html.find(conclusion), std::string::npos) << html;
  const double wasted = best.at("workloads").at("absent").at("wasted_reads").get<double>() / 50.0;
  EXPECT_NE(html.find(fmt::format(" {:.2f} in ", wasted)), std::string::npos) << wasted << html;
}

TEST_F(ReadampTest, WritesNoEmptyPage) {
  const fs::path page = directory_ / "page.html";
  Measure("--synthetic 20000 --lookups 2000 --workloads absent --policies none --html " +
          page.string());
  EXPECT_FALSE(fs::exists(page));
  EXPECT_NE(err_.find(page.string() + " is not written: "), std::string::npos) << err_;
}

// Two equal policies differ by chance at most, and the summary claims nothing.
TEST_F(ReadampTest, ClaimsNoDifferenceThatMayBeChance) {
  Measure(
      "--synthetic 20000 --lookups 2000 --workloads absent --policies "
      "classic_bloom:10,standard_bloom:10");
  EXPECT_NE(out_.find("differ by no more than chance"), std::string::npos) << out_;
  EXPECT_EQ(out_.find("times fewer"), std::string::npos) << out_;
}

// By level, sized by a rate, and with Ribbon at the bottom: predictions hold, and the allocation
// wastes fewer reads in the same memory.
TEST_F(ReadampTest, TakesEveryOptionOfOurPolicies) {
  const json report = Measure(
      "--synthetic 60000 --stored 0.5 --sorted-runs 4 --size-ratio 10 --block-cache 64MB "
      "--no-bloom-table --workloads absent --policies "
      "'classic_bloom:10,{id=classic_bloom;size_ratio=10},"
      "{id=classic_bloom;size_ratio=10;bottommost=ribbon},{id=standard_bloom;fpr=0.02},"
      "{id=classic_bloom;lines=1;level_bits=20:20:17:13:9}'");
  const json& policies = report.at("policies");
  ASSERT_EQ(policies.size(), 5U);
  std::vector<double> false_positives;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    SCOPED_TRACE(policies.at(i).at("policy"));
    const json& absent = Result(report, i, "absent");
    ExpectExactRateInInterval(absent);
    EXPECT_GT(policies.at(i).at("load_cpu_us_per_key"), 0.0);
    EXPECT_GT(absent.at("cpu_us"), 0.0);
    false_positives.push_back(absent.at("false_positives"));
  }
  for (const std::size_t allocated : {1, 2}) {
    EXPECT_NEAR(policies.at(allocated).at("bits_per_key").get<double>(),
                policies.at(0).at("bits_per_key").get<double>(), 0.3);
  }
  EXPECT_LT(false_positives[1], 0.45 * false_positives[0]);
  EXPECT_LT(false_positives[2], 0.15 * false_positives[0]);
  EXPECT_LE(Result(report, 3, "absent").at("exact_rate"), 0.02);
}

TEST_F(ReadampTest, ReproducesBloomsTable) {
  const json report =
      Measure(MakeDictionary(100000) + " --workloads absent --policies classic_bloom:10");
  ASSERT_EQ(report.at("bloom_table_1").size(), 6U);
  for (const auto& row : report.at("bloom_table_1")) {
    const double error = row.at("allowed_error");
    SCOPED_TRACE(error);
    EXPECT_NEAR(row.at("printed_percent"), 90.0 * (1.0 - error), 0.16);  // Bloom's own formula
    EXPECT_NEAR(row.at("measured_percent"), row.at("printed_percent"), 1.0);
    EXPECT_NEAR(row.at("predicted_percent"), row.at("printed_percent"), 0.5);
    EXPECT_EQ(row.at("misprint"), row.at("printed_bits") == 509800);
  }
  // Without the policy `none` in the list nothing can be said of reads avoided.
  EXPECT_TRUE(Result(report, 0, "absent").at("reads_avoided").is_null());
}

TEST_F(ReadampTest, ReadsKeysFromAFile) {
  std::ofstream file(directory_ / "keys");
  for (int i = 0; i < 5000; ++i) file << "key-" << i * 7919 << "\r\n\n";
  for (int i = 0; i < 5000; ++i) file << "key-" << i * 7919 << "\n";  // again
  file.close();
  const json report =
      Measure("--policies standard_bloom:12 --stored 0.5 --keys " + (directory_ / "keys").string());
  EXPECT_EQ(report.at("keys"), 5000);
  EXPECT_EQ(report.at("keys_stored"), 2500);
  EXPECT_EQ(Result(report, 0, "absent").at("lookups"), 2500);
}

// Only words of a dictionary are hyphenated: not the keys of another file, nor synthetic ones.
TEST_F(ReadampTest, HyphenatesADictionaryAlone) {
  fs::create_directory(directory_ / "words");
  const std::string dictionary = MakeDictionary(3000);
  fs::rename(directory_ / "dict" / "words", directory_ / "words" / "dict");
  const std::string no_dictionary = "--keys " + (directory_ / "words" / "dict").string();
  for (const std::string& keys : {std::string("--synthetic 3000"), no_dictionary}) {
    const json report = Measure(keys + " --policies classic_bloom:10");
    EXPECT_EQ(report.at("policies").at(0).at("workloads").count("hyphenation"), 0U);
    EXPECT_TRUE(report.at("bloom_table_1").empty());
    EXPECT_EQ(out_.find("Bloom 1970"), std::string::npos) << out_;
    ExpectRefusal(keys + " --workloads hyphenation", "the workload hyphenation needs words");
  }
  fs::rename(directory_ / "words" / "dict", directory_ / "dict" / "words");
  const json report = Measure(dictionary + " --policies classic_bloom:10");
  EXPECT_EQ(report.at("policies").at(0).at("workloads").count("hyphenation"), 0U);
  const json tenth = Measure(dictionary + " --stored 0.1 --policies classic_bloom:10");
  EXPECT_EQ(Result(tenth, 0, "hyphenation").at("lookups"), 3000);
  EXPECT_EQ(report.at("bloom_table_1").size(), 6U);
}

TEST_F(ReadampTest, RefusesBadInputWithOneLine) {
  // tests/tool/wrong_inputs_test.cc has those that need no more than a command line.
  for (const auto& [arguments, words] : std::vector<std::pair<std::string, std::string>>{
           {"--policies test_peer", "test_peer"},
           {"--keys " + directory_.string(), directory_.string()},
           {"--json " + directory_.string(), directory_.string()},
           {"--from-db " + directory_.string() + " --synthetic 1000", "--from-db"}}) {
    ExpectRefusal(arguments, words);
  }
  const Outcome outcome = exactbloom::testing::RunCommand(
      READAMP " --synthetic 1000 --directory /nonexistent", directory_);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("/nonexistent"), std::string::npos) << outcome.err;
}

TEST_F(ReadampTest, LeavesNothingWhenInterrupted) {
  const Outcome outcome =
      Run("--synthetic 5000000 --json " + Json().string(), "timeout --preserve-status -s INT 1");
  EXPECT_EQ(outcome.status, 130);
  EXPECT_FALSE(fs::exists(Json()));
}

#ifdef PEER_POLICY
// Policies that readamp knows nothing of.
TEST_F(ReadampTest, MeasuresAPreloadedPolicy) {
  const json report = Measure(
      "--synthetic 20000 --stored 0.5 --lookups 4000 --block-cache 0 --reads buffered --threads 1 "
      "--sorted-runs 3 --size-ratio 4 --workloads absent --policies test_peer,classic_bloom:6",
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
#endif

}  // namespace
