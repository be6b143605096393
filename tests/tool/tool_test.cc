// Runs the tool and compares its answers with the library.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/levels.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/efficiency.h"
#include "src/filter/block_format.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;

json AskJson(const std::string& arguments) { return testing::AskToolForJson(arguments); }

TEST(Rate, AnswersWithTheLibrarysNumbers) {
  const json answer = AskJson("rate --kind standard --m 64 --n 4 --k 10");
  EXPECT_DOUBLE_EQ(answer.at("exact"), FalsePositiveRate(FilterKind::kStandard, 64, 4, 10));
  EXPECT_NEAR(answer.at("exact"), 6.154e-4, 5e-8);  // theory's reference number
  EXPECT_DOUBLE_EQ(answer.at("asymptotic"), AsymptoticFalsePositiveRate(64, 4, 10));
  const RateBounds bounds = FalsePositiveRateBounds(FilterKind::kStandard, 64, 4, 10);
  EXPECT_DOUBLE_EQ(answer.at("lower"), bounds.lower);
  EXPECT_DOUBLE_EQ(answer.at("upper"), bounds.upper);
  EXPECT_EQ(answer.at("optimal_k"), 10);
  EXPECT_DOUBLE_EQ(answer.at("rate_at_optimal_k"), answer.at("exact"));
  EXPECT_DOUBLE_EQ(answer.at("efficiency"), Efficiency({FilterKind::kStandard, 0}, 64, 4, 10));
}

TEST(Rate, KnowsTheCacheLineLayouts) {
  const json answer = AskJson("rate --lines 1 --m 512000 --n 51200 --k 6");
  EXPECT_DOUBLE_EQ(answer.at("exact"),
                   FalsePositiveRate({FilterKind::kClassic, 1}, 512000, 51200, 6));
  EXPECT_NEAR(answer.at("exact"), 0.00955, 2e-5);
  EXPECT_TRUE(answer.at("lower").is_null());
}

TEST(Rate, AnEmptyFilterLetsNothingThrough) {
  const json answer = AskJson("rate --m 100 --n 0 --k 3");
  EXPECT_EQ(answer.at("exact"), 0.0);
  EXPECT_TRUE(answer.at("efficiency").is_null());
}

TEST(Plan, TheSmallestFilterForARate) {
  const json plan = AskJson("plan --keys 1e6 --fpr 0.01");
  const auto size = SmallestFilter(FilterKind::kClassic, 1'000'000, 0.01);
  ASSERT_TRUE(size.has_value());
  EXPECT_EQ(plan.at("m"), size->bits);
  EXPECT_EQ(plan.at("k"), size->probes);
  EXPECT_LE(plan.at("exact"), 0.01);
  EXPECT_EQ(plan.at("memory_bytes"), (size->bits + 7) / 8 + filter::TrailerBytes(1'000'000, 0));
  EXPECT_EQ(plan.at("policy"), "classic_bloom:9.593");
}

TEST(Plan, BitsPerKeyAndMemoryAgree) {
  const json by_bits = AskJson("plan --keys 1000 --bits-per-key 10 --kind standard");
  EXPECT_EQ(by_bits.at("m"), 10000);
  EXPECT_EQ(by_bits.at("policy"), "standard_bloom:10");
  const json by_memory = AskJson(fmt::format("plan --keys 1000 --memory {} --kind standard",
                                             by_bits.at("memory_bytes").get<int>()));
  EXPECT_EQ(by_memory, by_bits);
}

TEST(Plan, LevelsAreThoseOfTheLibrary) {
  const json plan = AskJson("plan --levels 1e4,1e5,1e6 --bits-per-key 10");
  const auto expected = PlanLevels(FilterKind::kClassic, {10'000, 100'000, 1'000'000}, 11'100'000);
  ASSERT_TRUE(expected.has_value());
  ASSERT_EQ(plan.at("levels").size(), 3U);
  EXPECT_DOUBLE_EQ(plan.at("wasted_reads"), expected->wasted_reads);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(plan["levels"][i].at("m"), expected->filters[i].bits);
    EXPECT_EQ(plan["levels"][i].at("k"), expected->filters[i].probes);
    EXPECT_DOUBLE_EQ(plan["levels"][i].at("exact"), expected->filters[i].false_positive_rate);
  }
}

TEST(Plan, LevelsHaveTheNumbersAndThePolicyOfATreeThatEndsAtTheLast) {
  const std::string question = "plan --levels 1e4,1e5,1e6 --mean-fpr 1%";
  const json answer = AskJson(question);
  EXPECT_LE(answer.at("mean_fpr").get<double>(), 0.01);
  EXPECT_GT(answer.at("mean_fpr").get<double>(), 0.0099);
  EXPECT_DOUBLE_EQ(answer.at("wasted_reads").get<double>(), 3 * answer["mean_fpr"].get<double>());
  std::vector<std::string> bits;
  for (const json& level : answer.at("levels")) {
    const double exact = level.at("bits_per_key");
    bits.push_back(fmt::format("{:g}", std::ceil(exact * 1000 - 1e-9) / 1000));
  }
  for (const int last : {2, 3, 6}) {
    const json deep = AskJson(fmt::format("{} --last-level {}", question, last));
    EXPECT_EQ(deep.at("levels").at(0).at("level"), last - 2);
    std::string above;
    for (int level = 0; level < last - 2; ++level) above += bits[0] + ":";
    EXPECT_EQ(deep.at("policy"),
              fmt::format("{{id=classic_bloom;level_bits={}{}}}", above, fmt::join(bits, ":")));
    if (last == 3) {
      EXPECT_EQ(deep, answer);
    }
  }
}

TEST(Plan, LevelsKnowARibbonAtTheBottom) {
  const std::string question = "plan --levels 1e4,1e5,1e6 --bits-per-key 10 --lines 1";
  const json bloom = AskJson(question);
  const json ribbon = AskJson(question + " --bottommost ribbon");
  EXPECT_LT(ribbon.at("wasted_reads").get<double>(), 0.3 * bloom.at("wasted_reads").get<double>());
  const json& last = ribbon.at("levels").at(2);
  EXPECT_EQ(last.at("k"), 0);
  EXPECT_DOUBLE_EQ(last.at("exact"), RibbonFalsePositiveRate(1'000'000, last.at("m")));
  const std::string policy = ribbon.at("policy");
  EXPECT_EQ(policy.rfind("{id=classic_bloom;lines=1;level_bits=", 0), 0U) << policy;
  EXPECT_NE(policy.find(";bottommost=ribbon}"), std::string::npos) << policy;
}

TEST(Table, HoldsTheLibrarysRates) {
  const json rows = AskJson("table --keys 1000 --from 8 --to 10 --step 0.5 --least-k 5 --most-k 7");
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_DOUBLE_EQ(rows[4].at("rates").at("7"),
                   FalsePositiveRate(FilterKind::kClassic, 10000, 1000, 7));
  EXPECT_EQ(rows[4].at("optimal_k"), 7);
}

}  // namespace
}  // namespace exactbloom
