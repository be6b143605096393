// What filter_benchmark runs, writes and refuses; times are not tested.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "run_command.h"

namespace exactbloom {
namespace {

using testing::Outcome;
using testing::RunCommand;

TEST(FilterBenchmarkTest, TimesEveryOperation) {
  const TemporaryDirectory directory;
  const std::string file = directory.path("bench.json");
  const Outcome outcome = RunCommand(
      fmt::format("{} --benchmark_min_time=0.0001 --benchmark_repetitions=2 "
                  "--benchmark_filter='/[^/]*/(1000|500000)$|200.*classic' --benchmark_out={}",
                  FILTER_BENCHMARK, file));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const auto report = nlohmann::json::parse(testing::ReadFile(file));
  std::map<std::string, int> repetitions;
  for (const auto& run : report.at("benchmarks")) {
    const std::string name = run.at("run_name");
    if (run.at("run_type") != "iteration") continue;
    ++repetitions[name];
    EXPECT_GT(run.at("cpu_time"), 0.0) << name;
    if (name.rfind("build", 0) != 0) continue;
    EXPECT_NEAR(run.at("bits_per_key"), 10.0, 0.3) << name;
    EXPECT_LT(run.at("false_positive_rate"), 0.011) << name;
  }
  EXPECT_EQ(repetitions.size(), 5U * 6U + 2U);
  for (const auto& [name, times] : repetitions) EXPECT_EQ(times, 2) << name;
  const Outcome table = RunCommand(FILTER_TIMES " " + file);
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_TRUE(Mentions(table.out, "| `classic_bloom:10` / Bloom | `classic_bloom:10` / Ribbon |"));
  EXPECT_TRUE(Mentions(table.out, "\n| present, batches of 32, 500,000 keys |"));
}

TEST(FilterBenchmarkTest, RefusesBadInput) {
  const std::string program = FILTER_BENCHMARK;
  testing::ExpectRefusal(RunCommand(program + " classic_blom:10"), "did you mean classic_bloom:10");
  testing::ExpectRefusal(RunCommand(program + " none"), "builds no filters");
}

#ifdef PEER_POLICY
TEST(FilterBenchmarkTest, ReportsNothingIfAnAnswerIsWrong) {
  for (const auto& [policy, words] : {std::pair("test_misses", "a present key is denied"),
                                      std::pair("test_differs", "batches answer otherwise"),
                                      std::pair("test_matches", "the exact one 0.00")}) {
    SCOPED_TRACE(policy);
    const Outcome outcome = RunCommand(fmt::format("LD_PRELOAD={} {} --benchmark_filter=1000$ {}",
                                                   PEER_POLICY, FILTER_BENCHMARK, policy));
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(Mentions(outcome.err, words));
  }
}
#endif

}  // namespace
}  // namespace exactbloom
