// Parts of readamp, tested separately.
#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "readamp/keys/key_set.h"
#include "readamp/keys/synthetic_key.h"
#include "readamp/lookups/zipf.h"
#include "readamp/time_estimate.h"
#include "readamp/tree/counting_file_system.h"
#include "run_command.h"
#include "support/rate_deviation.h"

namespace exactbloom::readamp {
namespace {

TEST(SyntheticKey, IsDifferentForEachNumberAndTellsIt) {
  std::set<std::string> keys;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const std::string key = SyntheticKey(i, 7);
    EXPECT_EQ(key.size(), 16U);
    EXPECT_EQ(NumberOfSyntheticKey(key, 7), i);
    keys.insert(key);
  }
  EXPECT_EQ(keys.size(), 10000U);
  EXPECT_NE(SyntheticKey(0, 7), SyntheticKey(0, 8));
  EXPECT_FALSE(NumberOfSyntheticKey("apple", 7));
  EXPECT_FALSE(NumberOfSyntheticKey("0123456789abcdeg", 7));
  EXPECT_FALSE(NumberOfSyntheticKey("00123456789abcdef", 7));
}

TEST(KeySet, FindsItsKeysAndNoNearMiss) {
  ReadampSettings settings;
  settings.synthetic_keys = 5000;
  settings.stored_share = 0.3;
  settings.lookups = 4000;
  settings.workloads = {"near"};
  const KeySet keys = MakeKeySet(settings);
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(keys.Find(keys.Key(i)), i);
  ASSERT_EQ(keys.near_misses.size(), 4000U);
  EXPECT_EQ(std::set<std::string>(keys.near_misses.begin(), keys.near_misses.end()).size(), 4000U);
  for (const std::string& key : keys.near_misses) ASSERT_FALSE(keys.Find(key));
}

TEST(KeySet, ItsFirstKeysAreAsInTheWhole) {
  const auto file = exactbloom::testing::MakeTemporaryDirectory() / "keys";
  {
    std::ofstream keys(file);
    for (int i = 0; i < 5000; ++i) keys << "key" << i << "\n";
  }
  ReadampSettings settings;
  settings.stored_share = 0.3;
  settings.key_file = file.string();
  for (const std::uint64_t synthetic : {0, 5000}) {
    settings.synthetic_keys = synthetic;
    const KeySet all = MakeKeySet(settings);
    const KeySet part = FirstKeys(all, 1000, settings);
    ASSERT_EQ(part.size(), 1000U);
    std::size_t stored = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      EXPECT_EQ(part.Key(i), all.Key(i));
      EXPECT_EQ(part.SortedRun(i), all.SortedRun(i));
      EXPECT_EQ(part.Find(part.Key(i)), i);
      stored += part.IsStored(i) ? 1U : 0U;
    }
    EXPECT_EQ(part.stored, stored);
    EXPECT_FALSE(part.Find(all.Key(1000)));
  }
  std::filesystem::remove_all(file.parent_path());
}

// What every part takes counts once, however many keys there are.
TEST(TimeEstimate, FollowsFromTheLargestParts) {
  EXPECT_DOUBLE_EQ(SecondsOf({{100, 2.0}}, 1000), 20.0);
  EXPECT_DOUBLE_EQ(SecondsOf({{100, 2.0}, {200, 3.0}}, 1000), 11.0);
  EXPECT_DOUBLE_EQ(SecondsOf({{50, 9.0}, {100, 2.0}, {200, 3.0}}, 1000), 11.0);
  EXPECT_DOUBLE_EQ(SecondsOf({{100, 2.0}, {200, 1.0}}, 1000), 1.0);
}

TEST(TimeEstimate, APartIsTheRunInProportion) {
  ReadampSettings settings;
  settings.synthetic_keys = 10000;
  const KeySet keys = MakeKeySet(settings);
  settings.lookups = 5000;
  settings.unfiltered_lookups = 2000;
  const ReadampSettings part = SettingsOfPart(settings, keys, 1000);
  EXPECT_EQ(part.lookups, 500U);
  EXPECT_EQ(part.unfiltered_lookups, 200U);
  EXPECT_EQ(part.block_cache_bytes, settings.block_cache_bytes / 10);
  EXPECT_EQ(part.table_bytes, settings.table_bytes / 10);
  settings.block_cache_bytes = 2 * kDefaultBlockCacheBytes;  // which lookups warm
  EXPECT_EQ(SettingsOfPart(settings, keys, 1000).unfiltered_lookups, 0U);
  settings.workloads = {"growth"};
  EXPECT_EQ(SettingsOfPart(settings, keys, 10).lookups, settings.growth_points + 1);
}

// Pearson's statistic of ten ranks has nine degrees of freedom; it exceeds 27.9 once in a thousand.
TEST(ZipfRanks, HaveTheirProbabilities) {
  constexpr std::size_t kRanks = 10;
  constexpr int kDraws = 100'000;
  constexpr double kMost = 27.9;
  for (const double exponent : {0.0, 0.5, 1.0, 2.5}) {
    SCOPED_TRACE(exponent);
    const ZipfRanks ranks(kRanks, exponent);
    std::mt19937_64 random(1);
    std::array<int, kRanks> counts{};
    for (int i = 0; i < kDraws; ++i) ++counts.at(ranks.Draw(random));
    std::array<double, kRanks> weights{};
    double total = 0.0;
    double rank = 0.0;
    for (double& weight : weights) total += weight = std::pow(++rank, -exponent);
    double statistic = 0.0;
    for (std::size_t r = 0; r < kRanks; ++r) {
      const double expected = kDraws * weights.at(r) / total;
      statistic += std::pow(counts.at(r) - expected, 2) / expected;
    }
    EXPECT_LT(statistic, kMost);
  }
}

// Filters that differ only in their layout.
TEST(ExactRates, KeepLayoutsApart) {
  support::ExactRates rates;
  for (const FilterKind kind : {FilterKind::kStandard, FilterKind::kClassic}) {
    for (const int lines : {0, 1, 2}) {
      const FilterDescription filter{Layout(kind, lines), 6, 8192, 800, 0};
      const double exact =
          FalsePositiveRate(filter.layout, filter.bits, filter.keys, filter.probes);
      EXPECT_EQ(rates.Of(filter).mean, exact);
      EXPECT_EQ(rates.MeanOf(filter), exact);  // from memory
      EXPECT_GT(rates.Of(filter).relative_deviation, 0.0);
    }
  }
}

class CountingFileSystemTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = exactbloom::testing::MakeTemporaryDirectory();
    for (const auto* name : {"000007.sst", "000008.sst", "000009.log"}) {
      std::ofstream(directory_ / name) << std::string(4096, 'x');
    }
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<rocksdb::FSRandomAccessFile> Open(const std::string& name,
                                                    std::chrono::nanoseconds latency = {}) {
    CountingFileSystem file_system(rocksdb::FileSystem::Default(), latency);
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    EXPECT_TRUE(
        file_system.NewRandomAccessFile((directory_ / name).string(), {}, &file, nullptr).ok());
    return file;
  }

  static void Read(rocksdb::FSRandomAccessFile& file, std::size_t bytes) {
    std::vector<char> scratch(bytes);
    rocksdb::Slice result;
    EXPECT_TRUE(file.Read(0, bytes, {}, &result, scratch.data(), nullptr).ok());
    EXPECT_EQ(result.size(), bytes);
  }

  static void ReadAtOnce(rocksdb::FSRandomAccessFile& file, std::size_t count) {
    std::vector<char> scratch(count);
    std::vector<rocksdb::FSReadRequest> requests(count);
    for (std::size_t i = 0; i < count; ++i) {
      requests[i].offset = 2 * i;
      requests[i].len = 1;
      requests[i].scratch = &scratch[i];
    }
    EXPECT_TRUE(file.MultiRead(requests.data(), count, {}, nullptr).ok());
    for (const auto& request : requests) EXPECT_TRUE(request.status.ok());
  }

  std::filesystem::path directory_;
};

TEST_F(CountingFileSystemTest, CountsReadsOfTablesByItsThread) {
  const auto seven = Open("000007.sst");
  const auto eight = Open("000008.sst");
  const auto log = Open("000009.log");
  Read(*seven, 100);  // not counted yet
  CountedThread thread;
  Read(*eight, 100);
  Read(*seven, 50);
  Read(*eight, 10);
  Read(*log, 1000);
  ReadAtOnce(*seven, 3);
  std::thread([&] { Read(*seven, 100); }).join();
  EXPECT_EQ(thread.Reads().reads, 3U);
  EXPECT_EQ(thread.Reads().batched_reads, 3U);
  EXPECT_EQ(thread.Reads().Total(), 6U);
  EXPECT_EQ(thread.Reads().bytes, 163U);
  EXPECT_EQ(thread.Reads().tables, (std::vector<std::uint64_t>{8, 7}));
}

TEST_F(CountingFileSystemTest, ReadsTakeTheirLatencyAndABatchTakesItOnce) {
  constexpr auto kLatency = std::chrono::milliseconds(5);
  const auto file = Open("000007.sst", kLatency);
  const CountedThread thread;
  const auto time = [](const auto& call) {
    const auto start = std::chrono::steady_clock::now();
    call();
    return std::chrono::steady_clock::now() - start;
  };
  EXPECT_GE(time([&] { Read(*file, 10); }), kLatency);
  EXPECT_GE(time([&] { ReadAtOnce(*file, 2); }), kLatency);
}

}  // namespace
}  // namespace exactbloom::readamp
