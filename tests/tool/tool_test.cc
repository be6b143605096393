// Runs the tool and compares its answers with the library.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/efficiency.h"
#include "filter/block_format.h"
#include "plugin/tree/tree_division.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;

using testing::Outcome;

Outcome Ask(const std::string& arguments) { return testing::AskTool(arguments); }

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

TEST(Plan, LevelsBeatEqualBitsPerKey) {
  const json levels = AskJson("plan --levels 1e4,1e5,1e6 --bits-per-key 10").at("levels");
  ASSERT_EQ(levels.size(), 3U);
  double wasted_reads = 0.0;
  std::uint64_t bits = 0;
  for (const json& level : levels) {
    wasted_reads += level.at("exact").get<double>();
    bits += level.at("m").get<std::uint64_t>();
    EXPECT_DOUBLE_EQ(level.at("exact"), FalsePositiveRate(FilterKind::kClassic, level.at("m"),
                                                          level.at("keys"), level.at("k")));
  }
  EXPECT_LE(bits, 11'100'000U);
  EXPECT_GT(bits, 11'099'000U);
  // Each level has ln 10 / (ln 2)^2 = 4.79 bits per key more than the next (Monkey).
  const double step =
      levels[1].at("bits_per_key").get<double>() - levels[2].at("bits_per_key").get<double>();
  EXPECT_NEAR(step, 4.79, 0.15);
  EXPECT_LT(wasted_reads, 0.5 * 3 * 0.00819);
}

TEST(Plan, LevelsEndInALineToPaste) {
  const std::string question = "plan --levels 1e4,1e5,1e6 --bits-per-key 10";
  const json answer = AskJson(question);
  const std::string policy = answer.at("policy");
  EXPECT_NE(Ask(question).out.find("\nfilter_policy=" + policy + "\n"), std::string::npos);
  const auto bits = [&](std::size_t level) {
    const double exact = answer.at("levels").at(level).at("bits_per_key");
    return fmt::format("{:g}", std::ceil(exact * 1000 - 1e-9) / 1000);
  };
  EXPECT_EQ(policy, fmt::format("{{id=classic_bloom;level_bits={}:{}:{}:{}}}", bits(0), bits(0),
                                bits(1), bits(2)));
  EXPECT_EQ(AskJson(question + " --last-level 6").at("policy"),
            fmt::format("{{id=classic_bloom;level_bits={0}:{0}:{0}:{0}:{0}:{1}:{2}}}", bits(0),
                        bits(1), bits(2)));
  EXPECT_EQ(AskJson(question + " --last-level 2").at("policy"),
            fmt::format("{{id=classic_bloom;level_bits={}:{}:{}}}", bits(0), bits(1), bits(2)));
}

TEST(Plan, LevelsHaveTheirNumbersAndAnAverageRate) {
  const std::string question = "plan --levels 1e4,1e5,1e6 --mean-fpr 1%";
  const json answer = AskJson(question);
  EXPECT_LE(answer.at("mean_fpr").get<double>(), 0.01);
  EXPECT_GT(answer.at("mean_fpr").get<double>(), 0.0099);
  EXPECT_DOUBLE_EQ(answer.at("wasted_reads").get<double>(), 3 * answer["mean_fpr"].get<double>());
  EXPECT_EQ(answer.at("levels").at(0).at("level"), 1);
  const json deep = AskJson(question + " --last-level 6");
  EXPECT_EQ(deep.at("levels").at(0).at("level"), 4);
  EXPECT_EQ(deep["levels"].at(2).at("level"), 6);
  const std::string text = Ask(question + " --last-level 6").out;
  EXPECT_NE(text.find("\n6 "), std::string::npos) << text;
  EXPECT_EQ(text.find("\n1 "), std::string::npos) << text;
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

// What size_ratio=auto gives the runs of a tree, of level 0 each table.
TEST(Plan, LevelsAreTheDivisionOfAFollowedTree) {
  struct Case {
    std::vector<std::uint64_t> keys;
    int lines;
    BottommostFilter bottommost;
    double bits_per_key;
  };
  for (const Case& tree : {Case{{10'000, 100'000, 1'000'000}, 0, BottommostFilter::kBloom, 10.0},
                           Case{{9'000, 10'000, 11'000, 40'000}, 0, BottommostFilter::kBloom, 8.0},
                           Case{{20'000, 300'000}, 1, BottommostFilter::kBloom, 14.0},
                           Case{{20'000, 90'000, 500'000}, 0, BottommostFilter::kRibbon, 10.0}}) {
    const bool ribbon = tree.bottommost == BottommostFilter::kRibbon;
    const json plan = AskJson(fmt::format("plan --levels {} --bits-per-key {} --lines {}{}",
                                          fmt::join(tree.keys, ","), tree.bits_per_key, tree.lines,
                                          ribbon ? " --bottommost ribbon" : ""));
    const Layout layout(FilterKind::kClassic, tree.lines);
    std::vector<tree::RunsOfSize> runs;
    for (const std::uint64_t keys : tree.keys) runs.push_back({static_cast<double>(keys)});
    const std::vector<double> bits =
        tree::TreeDivision({layout, tree.bits_per_key, 0, tree.bottommost}).Plan(runs);
    double wasted_reads = 0.0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      SCOPED_TRACE(plan.at("levels").at(i).dump());
      EXPECT_NEAR(plan["levels"][i].at("bits_per_key"), bits[i], 0.25);
      wasted_reads += ribbon && i + 1 == runs.size()
                          ? RibbonFalsePositiveRate(
                                tree.keys[i], static_cast<std::uint64_t>(bits[i] * runs[i].keys))
                          : SizeAtBitsPerKey(layout, tree.keys[i], bits[i]).false_positive_rate;
    }
    // The precision of run_division.h.
    EXPECT_NEAR(wasted_reads / plan.at("wasted_reads").get<double>(), 1.0, ribbon ? 0.02 : 0.01);
  }
  EXPECT_NE(Ask("plan --levels 1e4,1e5 --bits-per-key 10").out.find("size_ratio=auto"),
            std::string::npos);
}

TEST(Table, TextCsvAndJsonHoldTheSameRates) {
  const std::string question =
      "table --keys 1000 --from 8 --to 10 --step 0.5 --least-k 5 --most-k 7";
  const json rows = AskJson(question);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_DOUBLE_EQ(rows[4].at("rates").at("7"),
                   FalsePositiveRate(FilterKind::kClassic, 10000, 1000, 7));
  EXPECT_EQ(rows[4].at("optimal_k"), 7);

  std::istringstream csv(Ask(question + " --csv").out);
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "bits_per_key,m,n,k,rate,optimal_k");
  std::size_t lines = 0;
  while (std::getline(csv, line)) ++lines;
  EXPECT_EQ(lines, 15U);
  EXPECT_NE(Ask(question).out.find("8.196e-03"), std::string::npos);
}

}  // namespace
}  // namespace exactbloom
