// readamp compares filter policies that it does not know.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "readamp_fixture.h"

namespace {

using exactbloom::testing::ReadampTest;

TEST_F(ReadampTest, MeasuresAPreloadedPolicy) {
  const nlohmann::json report = Measure(
      "--synthetic 20000 --stored 0.5 --lookups 4000 --block-cache 0 --reads buffered --threads 1 "
      "--policies test_peer,classic_bloom:6",
      "LD_PRELOAD=" PEER_POLICY);
  const auto& peer = report.at("policies").at(0);
  EXPECT_EQ(peer.at("policy"), "test_peer");
  EXPECT_NEAR(peer.at("bits_per_key"), 6.0, 0.5);
  const auto& absent = peer.at("workloads").at("absent");
  EXPECT_TRUE(absent.at("exact_rate").is_null());
  EXPECT_EQ(absent.at("absent_checks"), absent.at("derived_absent_checks"));
  EXPECT_EQ(absent.at("wasted_reads"), absent.at("false_positives"));
  // The exact rate of a classic filter of 6 bits per key is 5.6%, and RocksDB's is a little above.
  EXPECT_GT(absent.at("measured_rate"), 0.045);
  EXPECT_LT(absent.at("measured_rate"), 0.07);
}

TEST_F(ReadampTest, KnowsNoPeerThatIsNotPreloaded) {
  ExpectRefusal("--synthetic 1000 --policies test_peer", "test_peer");
}

}  // namespace
