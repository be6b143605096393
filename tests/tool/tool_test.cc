// The exactbloom tool: its answers are the library's, and bad input is refused in one line.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "exactbloom/efficiency.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/levels.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/sizing.h"

namespace exactbloom {
namespace {

struct Outcome {
  int status = -1;
  std::string output;  // both streams
};

Outcome RunTool(const std::string& arguments) {
  Outcome outcome;
  FILE* pipe = popen((std::string(TOOL " ") + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer{};
  std::size_t read = 0;
  while ((read = fread(buffer.data(), 1, buffer.size(), pipe)) > 0) {
    outcome.output.append(buffer.data(), read);
  }
  outcome.status = WEXITSTATUS(pclose(pipe));
  return outcome;
}

nlohmann::json Json(const std::string& arguments) {
  const Outcome outcome = RunTool(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  return nlohmann::json::parse(outcome.output);
}

TEST(Rate, PrintsTheLibrarysAnswers) {
  const auto json = Json("rate --kind standard --m 64 --n 4 --k 11 --json");
  EXPECT_EQ(json.at("exact"), FalsePositiveRate(FilterKind::kStandard, 64, 4, 11));
  EXPECT_EQ(json.at("asymptotic"), AsymptoticFalsePositiveRate(64, 4, 11));
  const RateBounds bounds = FalsePositiveRateBounds(FilterKind::kStandard, 64, 4, 11);
  EXPECT_EQ(json.at("lower"), bounds.lower);
  EXPECT_EQ(json.at("upper"), bounds.upper);
  EXPECT_EQ(json.at("optimal_k"), 10);
  EXPECT_EQ(json.at("rate_at_optimal_k"), FalsePositiveRate(FilterKind::kStandard, 64, 4, 10));
  EXPECT_EQ(json.at("efficiency"), Efficiency(FilterKind::kStandard, 64, 4, 11));
}

TEST(Rate, KnowsTheLineLayouts) {
  const auto json = Json("rate --m 10240000 --n 1000000 --k 6 --lines 2 --json");
  EXPECT_EQ(json.at("exact"),
            FalsePositiveRate({FilterKind::kClassic, 2}, 10'240'000, 1'000'000, 6));
  EXPECT_TRUE(json.at("lower").is_null());
}

TEST(Rate, PrintsText) {
  const Outcome outcome = RunTool("rate --m 64 --n 4 --k 11");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("exact rate          0.000485096665"), std::string::npos);
  EXPECT_NE(outcome.output.find("best k              9"), std::string::npos);
}

TEST(Plan, SizesByEachOfThreeWays) {
  const auto by_bits = Json("plan --keys 1000 --bits-per-key 9.9 --json");
  EXPECT_EQ(by_bits.at("m"), 9904);  // whole bytes
  EXPECT_EQ(by_bits.at("k"), OptimalProbes(FilterKind::kClassic, 9904, 1000));
  EXPECT_EQ(by_bits.at("memory_bytes"), 1238);
  EXPECT_EQ(by_bits.at("policy"), "classic_bloom:9.9");
  const auto by_rate = Json("plan --keys 1000 --fpr 0.01 --kind standard --json");
  const auto smallest = SmallestFilter(FilterKind::kStandard, 1000, 0.01);
  EXPECT_EQ(by_rate.at("m"), smallest->bits);
  EXPECT_EQ(by_rate.at("exact"), smallest->false_positive_rate);
  EXPECT_EQ(by_rate.at("policy"), "{id=standard_bloom;fpr=0.01}");
  const auto by_memory = Json("plan --keys 1000 --memory 1300 --lines 1 --json");
  EXPECT_EQ(by_memory.at("m"), 10240);  // whole lines
  EXPECT_EQ(by_memory.at("policy"), "{id=classic_bloom;bits_per_key=10.24;lines=1}");
}

TEST(Plan, DividesMemoryAmongLevels) {
  const auto json = Json("plan --levels 1000,10000,100000 --bits-per-key 10 --json");
  const auto plan = PlanLevels(FilterKind::kClassic, {1000, 10'000, 100'000}, 1'110'000);
  EXPECT_EQ(json.at("expected_wasted_reads"), plan->wasted_reads);
  ASSERT_EQ(json.at("levels").size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(json.at("levels")[i].at("m"), plan->filters[i].bits);
    EXPECT_EQ(json.at("levels")[i].at("k"), plan->filters[i].probes);
  }
  const std::string policy = json.at("policy");
  EXPECT_EQ(policy.rfind("{id=classic_bloom;level_bits=18.", 0), 0U) << policy;
  EXPECT_EQ(Json("plan --keys 111000 --levels 1000,10000,100000 --fpr 0.05 --json").count("levels"),
            1U);
}

TEST(Plan, ShowsABitMoreAndLessAndTheUsualFormula) {
  const std::string text = RunTool("plan --keys 1000000 --bits-per-key 10").output;
  for (const char* part :
       {"one bit less", "one bit more", "the usual formula: k = 7", "policy: "}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(Table, PrintsEveryFormat) {
  const std::string range = "table --keys 1000 --bits-per-key 9,10,0.5 --k 6,8";
  EXPECT_NE(RunTool(range).output.find("0.0082*"), std::string::npos);
  const auto json = Json(range + " --format json");
  ASSERT_EQ(json.size(), 9U);
  EXPECT_EQ(json[7].at("exact"), FalsePositiveRate(FilterKind::kClassic, 10'000, 1000, 7));
  const std::string csv = RunTool(range + " --format csv").output;
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 10);
}

TEST(Tool, RefusesBadInputInOneLine) {
  const char* const cases[][2] = {
      {"", "subcommand"},
      {"rate --m 0 --n 1 --k 1", "--m 0"},
      {"rate --m 10 --n 0 --k 1", "--n 0"},
      {"rate --m 10 --n 1 --k 11", "--k 11"},
      {"rate --m 1000 --n 1 --k 73", "--k 73"},
      {"rate --m -5 --n 1 --k 1", "--m"},
      {"rate --m x --n 1 --k 1", "x"},
      {"rate --m 10 --n 1", "--k"},
      {"rate --m 10 --n 1 --k 1 --kind round", "round"},
      {"rate --m 1000 --n 1 --k 1 --lines 1", "--m 1000"},
      {"rate --m 1024 --n 1 --k 3 --lines 2", "--k 3"},
      {"rate --m 1024 --n 1 --k 3 --lines 3", "--lines 3"},
      {"plan --keys 10", "one of"},
      {"plan --keys 10 --fpr 0.1 --memory 5", "one of"},
      {"plan --fpr 0.1", "--keys"},
      {"plan --keys 0 --fpr 0.1", "--keys 0"},
      {"plan --keys 10 --fpr 1", "--fpr 1"},
      {"plan --keys 10 --fpr nan", "--fpr nan"},
      {"plan --keys 1000000000000 --fpr 1e-300", "--fpr"},
      {"plan --keys 10 --bits-per-key 101", "101"},
      {"plan --keys 10 --bits-per-key nan", "nan"},
      {"plan --keys 10 --memory 0", "--memory 0"},
      {"plan --keys 10 --levels 1,2 --memory 100", "--keys 10"},
      {"plan --levels 1,0 --memory 100", "--levels 0"},
      {"table --k 5,3", "--k 5,3"},
      {"table --bits-per-key 5,3,1", "--bits-per-key 5,3,1"},
      {"table --bits-per-key 1,3,0", "--bits-per-key"},
      {"table --format yaml", "yaml"},
      {"table --keys 0", "--keys 0"},
  };
  for (const auto& [arguments, named] : cases) {
    const Outcome outcome = RunTool(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
    EXPECT_NE(outcome.output.find(named), std::string::npos) << arguments << ": " << outcome.output;
  }
  EXPECT_EQ(RunTool("rate --m 64 --n 4 --k 2 > /dev/full").status, 2);
}

TEST(Tool, Helps) {
  for (const char* arguments :
       {"--help", "rate --help", "plan --help", "table --help", "--version"}) {
    const Outcome outcome = RunTool(arguments);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_FALSE(outcome.output.empty());
  }
}

}  // namespace
}  // namespace exactbloom
