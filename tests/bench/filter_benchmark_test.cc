// The filter benchmark's report and its verdict; times are not tested.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "filter_benchmark/comparison.h"
#include "filter_benchmark/fast_local_bloom.h"
#include "filter_benchmark/loaded_filter.h"
#include "run_command.h"
#include "tool/support/errors.h"

namespace exactbloom::filter_benchmark {
namespace {

using testing::Outcome;

Outcome RunBenchmark(const std::string& arguments) {
  return testing::RunCommand(
      fmt::format("{} --repetitions 3 --absent-queries 20000 {}", FILTER_BENCHMARK, arguments));
}

TEST(FilterBenchmarkTest, ReportsEveryComparison) {
  const TemporaryDirectory directory;
  const std::string json = directory.path("bench.json");
  const Outcome outcome = RunBenchmark("--keys 500,3000 --bits-per-key 10,20 --json " + json);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");

  std::map<std::string, std::set<std::string>> values;
  std::set<std::string> comparisons;
  for (auto result : nlohmann::json::parse(testing::ReadFile(json))) {
    SCOPED_TRACE(result.dump());
    ASSERT_EQ(result.size(), 13U);
    EXPECT_GT(result.at("ratio_low"), 0.0);
    EXPECT_LE(result.at("ratio_low"), result.at("ratio_median"));
    EXPECT_LE(result.at("ratio_median"), result.at("ratio_high"));
    EXPECT_LE(result.at("rate_measured"), 0.02);
    const double exact = result.at("rate_exact");
    EXPECT_GT(exact, result.at("bits_per_key") == 10 ? 5e-3 : 4e-5);
    EXPECT_LT(exact, result.at("bits_per_key") == 10 ? 1e-2 : 2e-4);
    for (const auto* name : {"layout", "operation", "peer", "keys", "bits_per_key"}) {
      values[name].insert(result.at(name).dump());
    }
    for (const auto* measured : {"ratio_median", "ratio_low", "ratio_high", "peer_nanoseconds"})
      result.erase(measured);
    EXPECT_TRUE(comparisons.insert(result.dump()).second);
  }
  EXPECT_EQ(values["layout"], (std::set<std::string>{"\"classic\"", "\"standard\""}));
  EXPECT_EQ(values["keys"], (std::set<std::string>{"500", "3000"}));
  EXPECT_EQ(values["bits_per_key"], (std::set<std::string>{"10.0", "20.0"}));
  EXPECT_EQ(values["operation"].size(), kOperations.size());
  std::string reason;
  const bool has_avx2_peer = NewFastLocalBloomAvx2(10.0, &reason) != nullptr;
  EXPECT_EQ(values["peer"].size(), has_avx2_peer ? 3U : 2U);
  EXPECT_EQ(comparisons.size(), 4 * 2 * kOperations.size() * values["peer"].size());
  for (const auto* peer : {"bloomfilter", "ribbonfilter"}) {
    EXPECT_TRUE(Mentions(outcome.out, fmt::format("Ratio of time to {}: ", peer)));
  }
  EXPECT_EQ(outcome.out.find("AVX2 is not compared: " + reason) == std::string::npos,
            has_avx2_peer);
}

TEST(FilterBenchmarkTest, RefusesBadInput) {
  for (const auto& [arguments, words] :
       {std::pair("--keys 1e3,5", "'5' is not a whole number from 100"),
        std::pair("--bits-per-key 101", "'101'"),
        std::pair("--repetitions 0", "--repetitions: '0'"),
        std::pair("--block-offset 64", "--block-offset: '64'"),
        std::pair("--key 1000", "did you mean --keys?"),
        std::pair("--json /nonexistent/bench.json", "/nonexistent/bench.json")}) {
    SCOPED_TRACE(arguments);
    testing::ExpectRefusal(RunBenchmark(arguments), words);
  }
}

TEST(ObjectionTest, IsToAMissedKeyAndToARateOutsideItsInterval) {
  EXPECT_EQ(Objection({0, 1000, 10, std::nullopt}), std::nullopt);
  EXPECT_NE(Objection({1, 1000, 10, std::nullopt}), std::nullopt);
  EXPECT_NE(Objection({1, 1'000'000, 10'000, ExactRate{0.01, 0.0}}), std::nullopt);
  // One deviation of the count is 99.5, and the interval has 3.29 of them on either side.
  EXPECT_EQ(Objection({0, 1'000'000, 10'300, ExactRate{0.01, 0.0}}), std::nullopt);
  EXPECT_NE(Objection({0, 1'000'000, 10'360, ExactRate{0.01, 0.0}}), std::nullopt);
  EXPECT_NE(Objection({0, 1'000'000, 9'640, ExactRate{0.01, 0.0}}), std::nullopt);
  // A filter whose own rate has a deviation of 1% doubles the variance.
  EXPECT_EQ(Objection({0, 1'000'000, 10'360, ExactRate{0.01, 0.01}}), std::nullopt);
  EXPECT_NE(Objection({0, 1'000'000, 10'520, ExactRate{0.01, 0.01}}), std::nullopt);
}

// Answers "absent" for every 5000th key, or for the last key of a batch, or lets every key through.
class WrongReader : public rocksdb::FilterBitsReader {
 public:
  enum class Fault { kMissesKeys, kMissesInBatches, kMatchesAlways };
  explicit WrongReader(Fault fault) : fault_(fault) {}

  bool MayMatch(const rocksdb::Slice& /*key*/) override {
    return fault_ != Fault::kMissesKeys || ++asked_ % 5000 != 0;
  }
  void MayMatch(int count, rocksdb::Slice** keys, bool* may_match) override {
    rocksdb::FilterBitsReader::MayMatch(count, keys, may_match);
    if (fault_ == Fault::kMissesInBatches) may_match[count - 1] = false;
  }

 private:
  Fault fault_;
  int asked_ = 0;
};

TEST(MeasureRateTest, RefusesAWrongReader) {
  for (const auto fault : {WrongReader::Fault::kMissesKeys, WrongReader::Fault::kMissesInBatches}) {
    WrongReader reader(fault);
    EXPECT_THROW(MeasureRate("wrong", reader, 20'000, 10'000, std::nullopt), support::WrongAnswer);
  }
  WrongReader reader(WrongReader::Fault::kMatchesAlways);
  EXPECT_THROW(MeasureRate("wrong", reader, 20'000, 10'000, ExactRate{0.01, 0.01}),
               support::WrongAnswer);
  EXPECT_EQ(MeasureRate("no theory", reader, 20'000, 10'000, std::nullopt).Rate(), 1.0);
}

TEST(ComparisonTest, TakesMedianAndQuartilesOfTheRatios) {
  const Comparison comparison = Summarize({{2, 1}, {3, 4}, {1, 2}, {9, 3}, {5, 5}});
  EXPECT_DOUBLE_EQ(comparison.ratio_median, 1.0);
  EXPECT_DOUBLE_EQ(comparison.ratio_low, 0.75);
  EXPECT_DOUBLE_EQ(comparison.ratio_high, 2.0);
  EXPECT_DOUBLE_EQ(comparison.peer_nanoseconds, 3.0);
}

// The peer is the same filter as RocksDB's own, only compiled for AVX2.
TEST(FastLocalBloomTest, BuildsTheBlocksOfTheBuiltInFilter) {
  for (const double bits_per_key : {10.0, 13.7, 20.0}) {
    std::string reason;
    const Policy peer = NewFastLocalBloomAvx2(bits_per_key, &reason);
    if (!peer) GTEST_SKIP() << reason;
    const Policy built_in(rocksdb::NewBloomFilterPolicy(bits_per_key));
    for (const std::uint64_t keys : {1, 7, 8, 9, 10'000}) {
      SCOPED_TRACE(fmt::format("{} keys, {} bits per key", keys, bits_per_key));
      std::string block;
      BuildFilter(*peer, keys, [&](const rocksdb::Slice& built) { block = built.ToString(); });
      BuildFilter(*built_in, keys,
                  [&](const rocksdb::Slice& built) { EXPECT_EQ(block, built.ToString()); });
    }
  }
}

}  // namespace
}  // namespace exactbloom::filter_benchmark
