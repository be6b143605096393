// Trees, caches and keys of readamp: the counts by RocksDB, by the file system and from the tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/theory/confidence_interval.h"
#include "readamp/keys/key_set.h"
#include "readamp/keys/synthetic_key.h"
#include "readamp/lookups/workload.h"
#include "readamp/report/rate_prediction.h"
#include "readamp_fixture.h"
#include "support/rate_deviation.h"

namespace exactbloom::readamp {
namespace {

using nlohmann::json;
using testing::ReadampTest;

class OnTree : public ReadampTest, public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Trees, OnTree,
                         ::testing::Values("--tree settled", "--sorted-runs 1",
                                           "--filters partitioned",
                                           "--tree loaded --write-buffer 128kb",
                                           "--tree level0 --level0-files 5",
                                           "--tree universal --write-buffer 128kb"));

// Nothing is cached, so every search of a table is a read.
void ExpectAgreement(const json& result) {
  EXPECT_EQ(result.at("absent_checks"), result.at("derived_absent_checks"));
  EXPECT_EQ(result.at("file_bytes_read"), result.at("bytes_read"));
  EXPECT_EQ(result.at("file_reads"), result.at("data_blocks_read"));
  EXPECT_EQ(result.at("wasted_reads"), result.at("wasted_searches"));
}

TEST_P(OnTree, AllCountsAgree) {
  const std::string tree = GetParam();
  const json report =
      Measure(tree +
              " --synthetic 16000 --lookups 3000 --threads 1 --workloads absent,present,zipf "
              "--policies none,bloomfilter:10,classic_bloom:10");
  ASSERT_EQ(report.at("policies").size(), 3U);
  for (const auto& policy : report.at("policies")) {
    // What RocksDB's own compactions have left at the end depends on how far they were.
    const bool compacts = tree.find("loaded") != tree.npos || tree.find("universal") != tree.npos;
    if (!compacts) {
      EXPECT_EQ(policy.at("sorted_runs") == 1, tree == "--sorted-runs 1");
    }
    EXPECT_GT(policy.at("workloads").at("absent").at("wasted_reads"), 0);
    ASSERT_EQ(policy.at("workloads").size(), 3U);
    for (const auto& [name, result] : policy.at("workloads").items()) {
      SCOPED_TRACE(policy.at("policy").get<std::string>() + ", " + name);
      ExpectAgreement(result);
      // In one sorted run, or two whose ranges do not overlap, only the run of a present key is
      // asked.
      const bool has_rate =
          policy.at("policy") == "classic_bloom:10" && result.at("absent_checks") > 0;
      EXPECT_EQ(result.at("exact_rate").is_null(), !has_rate);
      // By Zipf's law a few keys are most of the lookups: the interval of so few is not exact.
      if (has_rate && name != "zipf") ExpectExactRateInInterval(result);
    }
  }
}

// RocksDB does not compare a key with the ranges of three tables of level 0 alone. A filter that
// lets a key behind the last one pass costs no read.
TEST_F(ReadampTest, FewTablesAreAskedRegardlessOfTheirRanges) {
  const json report = Measure(
      "--synthetic 20000 --lookups 4000 --workloads absent --policies none,bloomfilter:5 "
      "--tree level0 --level0-files 3");
  const auto& bloom = Result(report, 1, "absent");
  EXPECT_EQ(bloom.at("absent_checks"), 3 * 4000);
  EXPECT_EQ(bloom.at("derived_absent_checks"), 3 * 4000);
  EXPECT_LE(bloom.at("wasted_reads"), bloom.at("false_positives"));
}

TEST_F(ReadampTest, ABlockCacheSavesReads) {
  const json report = Measure(
      "--synthetic 20000 --lookups 4000 --block-cache 64MiB --filters partitioned "
      "--workloads absent,present --policies none,classic_bloom:8");
  for (const auto& policy : report.at("policies")) {
    for (const auto& result : policy.at("workloads")) {
      EXPECT_LT(result.at("wasted_reads"), result.at("wasted_searches"));
      EXPECT_GT(result.at("block_cache_hits"), 0);
    }
  }
}

// Counts that must agree: each one that is off by little is an error that names the run.
TEST(CheckAgreement, RefusesCountsThatDiffer) {
  Measurement counts;
  counts.lookups = 100'000;
  counts.true_negatives = 99'000;
  counts.false_positives = counts.filters_passed = 1000;
  counts.data_blocks_read = counts.file_reads = counts.wasted_reads = 1000;
  counts.bytes_read = counts.file_bytes_read = 4'096'000;
  Prediction predicted;
  predicted.absent_checks = 100'000;
  predicted.rate = 0.01;
  predicted.decides = true;
  CheckAgreement(counts, predicted, Tree::kSettled, "run");

  const auto refuses = [&](const auto& change) {
    Measurement changed = counts;
    Prediction other = predicted;
    change(changed, other);
    try {
      CheckAgreement(changed, other, Tree::kSettled, "run");
    } catch (const WrongAnswer& problem) {
      return std::string(problem.what()).rfind("run: ", 0) == 0;
    }
    return false;
  };
  EXPECT_TRUE(refuses([](Measurement& m, Prediction&) { ++m.file_reads; }));
  EXPECT_TRUE(refuses([](Measurement& m, Prediction&) { --m.file_bytes_read; }));
  EXPECT_TRUE(refuses([](Measurement& m, Prediction&) { ++m.true_negatives; }));
  EXPECT_TRUE(refuses([](Measurement& m, Prediction&) { --m.wasted_reads; }));
  // Five deviations of the count are 158.
  EXPECT_FALSE(refuses([](Measurement&, Prediction& p) { p.rate = 0.0087; }));
  EXPECT_TRUE(refuses([](Measurement&, Prediction& p) { p.rate = 0.0083; }));
}

TEST(SyntheticKey, IsDifferentForEachNumberAndTellsIt) {
  std::set<std::string> keys;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::string key = SyntheticKey(i, 7);
    EXPECT_EQ(key.size(), 16U);
    EXPECT_EQ(NumberOfSyntheticKey(key, 7), i);
    keys.insert(key);
  }
  EXPECT_EQ(keys.size(), 1000U);
  EXPECT_NE(SyntheticKey(0, 7), SyntheticKey(0, 8));
  for (const auto* other : {"apple", "0123456789abcdeg", "00123456789abcdef"}) {
    EXPECT_FALSE(NumberOfSyntheticKey(other, 7)) << other;
  }
}

// Keys are ranked by their numbers.
TEST(Zipf, KeysHaveTheirProbabilities) {
  ReadampSettings settings;
  settings.synthetic_keys = 100;
  settings.lookups = 20'000;
  settings.workloads = {"zipf"};
  const KeySet keys = MakeKeySet(settings);
  for (const double exponent : {0.0, 0.5, 1.0, 2.5}) {
    settings.zipf_exponent = exponent;
    const auto weight = [&](std::size_t i) {
      return std::pow(static_cast<double>(i + 1), -exponent);
    };
    double total = 0.0;
    for (std::size_t i = 0; i < keys.size(); ++i) total += weight(i);
    const std::vector<Workload> workloads = MakeWorkloads(keys, settings);
    const auto& order = workloads.front().order;
    ASSERT_EQ(order.size(), settings.lookups);
    for (std::size_t i = 0; i < 10; ++i) {
      const auto count = static_cast<std::uint64_t>(std::count(order.begin(), order.end(), i));
      EXPECT_TRUE(WilsonInterval(count, order.size(), kZ999)->Contains(weight(i) / total))
          << "key " << i << ", exponent " << exponent;
    }
  }
}

// Filters that differ only in their kind.
TEST(ExactRates, KeepKindsApart) {
  support::ExactRates rates;
  FilterDescription filter;
  filter.bits = 8192;
  filter.keys = 800;
  filter.probes = 6;
  for (const FilterKind kind : {FilterKind::kStandardBloom, FilterKind::kClassicBloom}) {
    filter.kind = kind;
    const double exact =
        FalsePositiveRate(ToBloomKind(kind), filter.bits, filter.keys, filter.probes);
    EXPECT_EQ(rates.Of(filter).mean, exact);
    EXPECT_EQ(rates.Of(filter).mean, exact);  // from memory
    EXPECT_GT(rates.Of(filter).relative_deviation, 0.0);
  }
}

}  // namespace
}  // namespace exactbloom::readamp
