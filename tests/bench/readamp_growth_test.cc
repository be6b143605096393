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

}  // namespace
}  // namespace exactbloom::readamp
