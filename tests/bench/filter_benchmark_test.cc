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
  EXPECT_EQ(report.at("view"), "bench");
  std::map<std::string, std::size_t> benchmarks;  // by operation
  for (const auto& row : report.at("rows")) {
    const std::string operation = row.at("operation");
    SCOPED_TRACE(row.dump());
    ++benchmarks[operation];
    EXPECT_EQ(row.at("ns").size(), 2U);
    for (const double time : row.at("ns")) EXPECT_GT(time, 0.0);
    if (operation != "build") continue;
    EXPECT_NEAR(row.at("bits_per_key"), 10.0, 0.4);  // with lines and trailers of 1,000 keys
    EXPECT_LT(row.at("false_positive_rate"), 0.011);
  }
  const std::map<std::string, std::size_t> expected = {{"build", 10},
                                                       {"absent", 5},
                                                       {"absent_batch", 5},
                                                       {"present", 5},
                                                       {"present_batch", 5},
                                                       {"absent_200_filters", 1},
                                                       {"absent_200_filters_batch", 1}};
  EXPECT_EQ(benchmarks, expected);
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
