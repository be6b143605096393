// The workload growth of readamp: lookups while the tree grows, and the best division of its bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/sizing.h"
#include "readamp/lookups/growth.h"
#include "readamp/tree/database.h"
#include "readamp_fixture.h"
#include "src/analysis/run_division.h"

namespace exactbloom::readamp {
namespace {

using nlohmann::json;

constexpr std::uint64_t kStored = 10000;
constexpr std::uint64_t kPoints = 5;
constexpr std::uint64_t kLookups = 900;  // of each point

void ExpectSums(const json& point) {
  for (const auto* field : {"tables", "filter_bytes"}) {
    std::uint64_t sum = 0;
    for (const json& run : point.at("sorted_runs")) sum += run.at(field).get<std::uint64_t>();
    EXPECT_EQ(point.at(field), sum) << field;
  }
  double asked = 0.0;
  for (const json& run : point.at("sorted_runs")) asked += run.at("asked").get<double>();
  EXPECT_DOUBLE_EQ(point.at("runs_asked"), asked);
  EXPECT_EQ(point.at("lookups"), kLookups);
  EXPECT_LE(point.at("keys_in_tables"), point.at("keys_written"));
  EXPECT_LE(point.at("false_positives"), point.at("wasted_reads"));
}

using testing::ReadampTest;

class GrowthOnTree : public ReadampTest, public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(
    Trees, GrowthOnTree,
    ::testing::Values("--tree loaded", "--tree universal",
                      "--tree loaded --level0-trigger 12 --filters partitioned"));

TEST_P(GrowthOnTree, IsMeasuredAtEveryPoint) {
  const json report =
      Measure(std::string(GetParam()) +
              " --synthetic 20000 --lookups 5400 --points 5 --write-buffer 128kb --workloads "
              "growth,present "
              "--policies 'none,bloomfilter:10,{id=exactbloom;ribbon=false}'");
  ASSERT_EQ(report.at("policies").size(), 3U);
  for (const json& policy : report.at("policies")) {
    SCOPED_TRACE(policy.at("policy"));
    const json& growth = Result(report, &policy - &report.at("policies").front(), "growth");
    const json& points = growth.at("points");
    ASSERT_EQ(points.size(), kPoints);
    double wasted = 0.0;
    for (std::uint64_t i = 0; i < kPoints; ++i) {
      ExpectSums(points.at(i));
      EXPECT_EQ(points.at(i).at("keys_written"), kStored / kPoints * (i + 1));
      wasted += points.at(i).at("wasted_reads").get<double>();
    }
    EXPECT_DOUBLE_EQ(growth.at("loading").at("wasted_reads_per_lookup"),
                     wasted / static_cast<double>(kPoints * kLookups));
    const json& rest = growth.at("at_rest");
    ExpectSums(rest);
    EXPECT_EQ(rest.at("keys_in_tables"), kStored);
    EXPECT_EQ(rest.at("filter_bytes"), policy.at("filter_bytes"));
    EXPECT_EQ(rest.at("sorted_runs").size(), policy.at("sorted_runs"));

    // The tree at rest is the one that was listed, so every asked table without filter is read.
    if (policy.at("policy") == "none") {
      EXPECT_EQ(rest.at("false_positives"), 0);
      EXPECT_NEAR(rest.at("wasted_reads"), rest.at("runs_asked").get<double>() * kLookups, 1e-6);
      EXPECT_NEAR(rest.at("over_present_optimum"), 1.0, 1e-9);
      continue;
    }
    EXPECT_EQ(rest.at("false_positives"), rest.at("wasted_reads"));
    EXPECT_LT(rest.at("wasted_reads_per_lookup"), 0.1);
    EXPECT_GT(growth.at("loading").at("over_present_optimum"), 0.5);
    EXPECT_GT(growth.at("loading").at("bits_per_key"), 8.0);
    EXPECT_GE(growth.at("most_bits_per_key"), rest.at("bits_per_key"));
  }
  const auto loading = out_.find("while loading");
  EXPECT_LT(loading, out_.find("bloomfilter:10", loading)) << out_;
  EXPECT_LT(loading, out_.find("at rest", loading)) << out_;
}

// The wasted reads of the best of all divisions of the bits between two runs, with Ribbon filters
// so large that their size does not matter, or with Bloom filters.
double BestOfTwo(const std::vector<GrowthRun>& runs, std::uint64_t bits, bool ribbon) {
  const auto wasted = [ribbon](const GrowthRun& run, std::uint64_t of_run) {
    if (of_run == 0) return run.asked;
    if (ribbon) {
      const double per_key = static_cast<double>(of_run) / static_cast<double>(run.keys);
      return run.asked * analysis::LargeRibbonRate(per_key);
    }
    const int probes = OptimalProbes(BloomKind::kClassic, of_run, run.keys);
    return run.asked * FalsePositiveRate(BloomKind::kClassic, of_run, run.keys, probes);
  };
  constexpr std::uint64_t kSteps = 500;
  double best = runs[0].asked + runs[1].asked;
  for (std::uint64_t step = 0; step <= kSteps; ++step) {
    const std::uint64_t first = bits * step / kSteps;
    best = std::min(best, wasted(runs[0], first) + wasted(runs[1], bits - first));
  }
  return best;
}

// A run that covers a part of the key space is asked by a part of the lookups.
TEST(LeastWastedReads, IsTheBestOfAllDivisions) {
  const auto best_of = [](const std::string& options, const std::vector<GrowthRun>& runs) {
    std::shared_ptr<const rocksdb::FilterPolicy> policy = MakePolicy(options);
    return LeastWastedReads(policy.get(), runs);
  };
  RegisterFilterPolicies();
  for (const double asked : {1.0, 0.5, 0.02}) {
    SCOPED_TRACE(asked);
    const std::vector<GrowthRun> runs = {{0, 1, 1000, 2000, asked}, {2, 1, 9000, 10500, 1.0}};
    const std::uint64_t bits = 8 * 12500;
    const double best = BestOfTwo(runs, bits, false);
    EXPECT_NEAR(best_of("classic_bloom:7", runs), best, 0.01 * best);
    EXPECT_NEAR(best_of("bloomfilter:7", runs), best, 0.01 * best);
    const double with_ribbon = BestOfTwo(runs, bits, true);
    EXPECT_NEAR(best_of("exactbloom", runs), with_ribbon, 0.02 * with_ribbon);
  }
  EXPECT_EQ(LeastWastedReads(nullptr, {}), 0.0);  // no tables
}

}  // namespace
}  // namespace exactbloom::readamp
