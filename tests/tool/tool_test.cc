// Runs the tool and compares its answers with the library.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/efficiency.h"
#include "exactbloom/theory/key_count_estimate.h"
#include "exactbloom/theory/occupancy.h"
#include "plugin/policy_options.h"
#include "src/filter/block_format.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;

json AskJson(const std::string& arguments) { return testing::AskToolForJson(arguments); }

TEST(Rate, AnswersWithTheLibrarysNumbers) {
  const json answer = AskJson("rate --kind standard --m 64 --n 4 --k 10");
  EXPECT_DOUBLE_EQ(answer.at("exact"), FalsePositiveRate(BloomKind::kStandard, 64, 4, 10));
  EXPECT_NEAR(answer.at("exact"), 6.154e-4, 5e-8);  // theory's reference number
  EXPECT_DOUBLE_EQ(answer.at("asymptotic"), AsymptoticFalsePositiveRate(64, 4, 10));
  const Interval bounds = *FalsePositiveRateBounds(BloomKind::kStandard, 64, 4, 10);
  EXPECT_DOUBLE_EQ(answer.at("lower"), bounds.low);
  EXPECT_DOUBLE_EQ(answer.at("upper"), bounds.high);
  EXPECT_EQ(answer.at("optimal_k"), 10);
  EXPECT_DOUBLE_EQ(answer.at("rate_at_optimal_k"), answer.at("exact"));
  EXPECT_DOUBLE_EQ(answer.at("efficiency"), Efficiency(BloomKind::kStandard, 64, 4, 10));
}

TEST(Rate, KnowsEmptyFilters) {
  const json empty = AskJson("rate --m 100 --n 0 --k 3");
  EXPECT_EQ(empty.at("exact"), 0.0);
  EXPECT_TRUE(empty.at("efficiency").is_null());
}

// Burns 2019, Section 5: the usual k is 142.
TEST(Rate, IsKnownForMoreProbesThanFiltersHave) {
  const json at_most = AskJson("rate --m 1024 --n 5 --k 72");
  EXPECT_EQ(at_most.at("optimal_k"), 124);
  const json usual = AskJson("rate --m 1024 --n 5 --k 142");
  const double missed = usual.at("exact").get<double>() / usual["rate_at_optimal_k"].get<double>();
  EXPECT_NEAR(missed, 2.06864, 5e-6);
  EXPECT_TRUE(Mentions(testing::AskTool("rate --m 1024 --n 5 --k 142").out,
                       "filters of ExactBloom have at most 72 probes, which give "));
}

TEST(Rate, HasALineForEachNumberOfProbes) {
  const json answer = AskJson("rate --m 64 --n 4");
  EXPECT_EQ(answer.at("optimal_k"), 9);
  ASSERT_EQ(answer.at("rates").size(), 18U);
  for (int k = 1; k <= 18; ++k) {
    const json& row = answer["rates"][static_cast<std::size_t>(k) - 1];
    EXPECT_EQ(row.at("k"), k);
    EXPECT_DOUBLE_EQ(row.at("exact"), FalsePositiveRate(BloomKind::kClassic, 64, 4, k));
    EXPECT_GE(row["exact"], answer.at("rate_at_optimal_k"));
    EXPECT_DOUBLE_EQ(row.at("efficiency"), Efficiency(BloomKind::kClassic, 64, 4, k));
  }
  const json large = AskJson("rate --m 1024 --n 5").at("rates");
  EXPECT_LE(large.size(), 25U);
  EXPECT_EQ(
      std::count_if(large.begin(), large.end(), [](const json& row) { return row.at("k") == 124; }),
      1);
  EXPECT_TRUE(Mentions(testing::AskTool("rate --m 64 --n 4").out, "\n* 9 "));
}

// The reference numbers of a filter of ten million bits and a million keys.
TEST(Rate, OfAFillTellsTheKeys) {
  const json answer = AskJson("rate --m 1e7 --k 7 --ones 5034145 --kind standard");
  EXPECT_NEAR(answer.at("keys"), 999'999.0, 1.0);
  EXPECT_NEAR(answer.at("high").get<double>() / answer["keys"].get<double>(), 1.00083, 1e-5);
  EXPECT_NEAR(answer.at("most_likely"), 999'999.0, 2.0);
  EXPECT_DOUBLE_EQ(answer.at("rate_given_fill"),
                   FalsePositiveRateGivenFill(BloomKind::kStandard, 10'000'000, 5'034'145, 7));
  const json full = AskJson("rate --m 10 --k 3 --ones 10");
  EXPECT_TRUE(full.at("keys").is_null());
  EXPECT_EQ(full.at("rate_given_fill"), 1.0);
  EXPECT_EQ(full.at("entropy_bits"), 0.0);
}

TEST(Rate, AnswersWhatTheTheoryKnows) {
  const json answer = AskJson("rate --m 256 --n 100 --k 1 --kind standard");
  EXPECT_EQ(answer.at("valley_keys"), 123);
  const auto ones = MomentsOfOnes(BloomKind::kStandard, 256, 100, 1);
  EXPECT_DOUBLE_EQ(answer.at("expected_ones"), ones->mean);
  EXPECT_DOUBLE_EQ(answer.at("deviation_of_ones"), std::sqrt(ones->variance));
  EXPECT_NEAR(AskJson("rate --m 1e7 --n 1e6 --k 7 --kind standard").at("overflow"), 8.22533e-17,
              1e-21);
  // The worked example: 120 P(5) is 63.
  EXPECT_NEAR(AskJson("rate --m 10 --n 2 --k 3 --ones 5").at("probability_of_ones"), 63.0 / 120.0,
              1e-14);
  EXPECT_TRUE(AskJson("rate --m 10 --k 3 --ones 5").at("probability_of_ones").is_null());
  EXPECT_TRUE(AskJson("rate --m 1e7 --n 1e6 --k 7 --ones 5e6").at("probability_of_ones").is_null())
      << "it would take minutes";
  const json shared = AskJson("rate --m 4096 --k 5 --ones 1250 --other-ones 880 --union-ones 1500")
                          .at("shared_keys");
  const auto expected = EstimateSharedKeys(BloomKind::kClassic, 4096, 1250, 880, 1500, 5, kZ999);
  EXPECT_DOUBLE_EQ(shared.at("keys"), expected->keys);
  EXPECT_DOUBLE_EQ(shared.at("low"), expected->interval.low);
  EXPECT_DOUBLE_EQ(shared.at("high"), expected->interval.high);
  EXPECT_TRUE(Mentions(
      testing::AskTool("rate --m 10 --n 2 --k 3 --ones 5 --other-ones 5 --union-ones 7").out,
      "shared keys"));
}

// One of a billion bits is zero: far too many keys to try them one by one.
TEST(Rate, OfANearlyFullFilterTellsTheKeys) {
  const json answer = AskJson("rate --m 1000000000 --k 7 --ones 999999999");
  EXPECT_EQ(answer.at("most_likely"), 2'960'466'538);
  EXPECT_NEAR(answer.at("keys"), 2960466537.774, 5e-4);
}

// Where all keys pass.
TEST(Rate, OfAUselessFilterIsNotBelowZero) {
  EXPECT_FALSE(Mentions(testing::AskTool("rate --m 5 --n 3 --k 5").out, "-0.0"));
  EXPECT_FALSE(Mentions(testing::AskTool("rate --m 5 --n 3 --k 5 --json").out, "-0.0"));
}

TEST(Rate, OfARibbonFilterIsThatOfItsPlan) {
  const auto plan = FilterBuilder::Create({})->PlanWithin(20'000, 25'000);
  ASSERT_TRUE(plan.has_value());
  const std::string question = "rate --kind exact_ribbon --m 2e5 --n 2e4";
  const json answer = AskJson(question);
  EXPECT_DOUBLE_EQ(answer.at("expected"), plan->FalsePositiveRate());
  EXPECT_EQ(answer.at("bytes"), plan->BlockBytes());
  EXPECT_DOUBLE_EQ(answer.at("efficiency"), -std::log2(plan->FalsePositiveRate()) * 2e4 / 8.0 /
                                                static_cast<double>(plan->BlockBytes()));
  EXPECT_TRUE(Mentions(testing::AskTool(question).out, "\nefficiency 0.9"));
}

TEST(Rate, ItsHelpDoesNotTakeProbesForBitsPerKey) {
  EXPECT_TRUE(Mentions(testing::AskTool("rate --help").out, " Probes of a key"));
}

TEST(Plan, TheSmallestFilterForARate) {
  const json plan = AskJson("plan --keys 1e6 --fpr 0.01");
  const auto size = SmallestFilter(BloomKind::kClassic, 1'000'000, 0.01);
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(plan.at("m"), size->bits);
  EXPECT_EQ(plan.at("k"), size->probes);
  EXPECT_LE(plan.at("rate"), 0.01);
  EXPECT_EQ(plan.at("memory_bytes"), (size->bits + 7) / 8 + filter::TrailerBytes(1'000'000, 0));
  EXPECT_EQ(plan.at("policy"), "classic_bloom:9.593");
}

TEST(Plan, BitsPerKeyAndMemoryAgree) {
  const json by_bits = AskJson("plan --keys 1000 --bits-per-key 10 --kind standard");
  EXPECT_EQ(by_bits.at("m"), 20 * 512);  // whole lines
  EXPECT_EQ(by_bits.at("policy"), "standard_bloom:10");
  json by_memory = AskJson(fmt::format("plan --keys 1000 --memory {} --kind standard",
                                       by_bits.at("memory_bytes").get<int>()));
  EXPECT_EQ(by_memory.at("policy"), "standard_bloom:10.24");
  by_memory["policy"] = by_bits.at("policy");
  EXPECT_EQ(by_memory, by_bits);
}

// RocksDB's filters are whole cache lines of 64 bytes.
TEST(Plan, OfBloomfilterHasCacheLines) {
  const json plan = AskJson("plan --keys 1e7 --bits-per-key 10 --kind bloomfilter");
  EXPECT_EQ(plan.at("m"), 195'313 * 512);
  EXPECT_EQ(plan.at("k"), 6);
  EXPECT_EQ(plan.at("memory_bytes"), 195'313 * 64 + 5);
  EXPECT_EQ(plan.at("policy"), "bloomfilter:10");
  EXPECT_DOUBLE_EQ(plan.at("rate"), CacheLineFalsePositiveRate(195'313, 10'000'000, 6));
  const json by_memory = AskJson(fmt::format("plan --keys 1e7 --memory {} --kind bloomfilter",
                                             plan.at("memory_bytes").get<int>()));
  EXPECT_EQ(by_memory.at("m"), plan.at("m"));
  const json by_rate = AskJson("plan --keys 1e6 --fpr 0.01 --kind bloomfilter");
  EXPECT_LE(by_rate.at("rate"), 0.01);
  EXPECT_NEAR(by_rate.at("bits_per_key"), 9.91, 0.02);
  EXPECT_TRUE(Mentions(testing::AskTool("plan --keys 1e6 --fpr 0.01 --kind bloomfilter").out,
                       "RocksDB's Bloom filter of "));
  EXPECT_EQ(testing::AskTool("plan --keys 1e6 --fpr 1e-25 --kind bloomfilter").status, 2);
}

TEST(Plan, OfBloomfilterHasTheFewestBitsOfARate) {
  const json plan = AskJson("plan --keys 1e6 --fpr 3.42e-5 --kind bloomfilter");
  EXPECT_EQ(plan.at("policy"), "bloomfilter:25.479");
  EXPECT_LE(plan.at("rate"), 3.42e-5);
  EXPECT_LE(AskJson("plan --keys 1e6 --fpr 3e-5 --kind bloomfilter").at("rate"), 3e-5);
}

// RocksDB makes no filters below 0.5 bits per key, and of 1 bit per key below 1.
TEST(Plan, OfBloomfilterHasOneBitPerKeyAtLeast) {
  for (const char* asked : {"--bits-per-key 0.5", "--bits-per-key 0.7", "--fpr 0.9"}) {
    const json plan = AskJson(fmt::format("plan --keys 1e6 {} --kind bloomfilter", asked));
    EXPECT_EQ(plan.at("policy"), "bloomfilter:1") << asked;
    EXPECT_EQ(plan.at("m"), 1954 * 512) << asked;
  }
  for (const char* asked : {"--bits-per-key 0.4", "--memory 100K"}) {
    const auto refused =
        testing::AskTool(fmt::format("plan --keys 1e6 {} --kind bloomfilter", asked));
    EXPECT_EQ(refused.status, 2) << asked;
    EXPECT_TRUE(Mentions(refused.err, "no filter")) << refused.err;
  }
}

// The plan is what exact_ribbon builds.
TEST(Plan, OfExactRibbonIsWhatThePolicyBuilds) {
  const json plan = AskJson("plan --keys 3000 --bits-per-key 9 --kind exact_ribbon");
  EXPECT_EQ(plan.at("policy"), "exact_ribbon:9");
  EXPECT_EQ(plan.at("k"), 0);
  FilterOptions options;
  options.bits_per_key = 9.0;
  const FilterPlan expected = FilterBuilder::Create(options)->Plan(3000);
  EXPECT_EQ(plan.at("memory_bytes"), expected.BlockBytes());
  EXPECT_DOUBLE_EQ(plan.at("rate"), expected.FalsePositiveRate());
  const json by_memory = AskJson(
      fmt::format("plan --keys 3000 --memory {} --kind exact_ribbon", expected.BlockBytes()));
  EXPECT_EQ(by_memory.at("m"), plan.at("m"));
  EXPECT_EQ(by_memory.at("rate"), plan.at("rate"));
  const json by_rate = AskJson("plan --keys 3000 --fpr 0.01 --kind exact_ribbon");
  EXPECT_LE(by_rate.at("rate"), 0.01);
  EXPECT_LT(by_rate.at("bits_per_key"), 7.5);
  for (const char* size : {"--memory 5000000000", "--bits-per-key 20"}) {
    const testing::Outcome large =
        testing::AskTool(fmt::format("plan --keys 2e9 {} --kind exact_ribbon", size));
    EXPECT_EQ(large.status, 2) << size;
    EXPECT_TRUE(Mentions(large.err, "cannot hold a filter of 2000000000 keys")) << large.err;
  }
  // Of few keys a Bloom filter.
  EXPECT_EQ(AskJson("plan --keys 50 --bits-per-key 10 --kind exact_ribbon").at("k"), 7);
}

}  // namespace
}  // namespace exactbloom
