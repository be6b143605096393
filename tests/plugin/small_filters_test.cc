// Tables of few keys: no policy has a higher rate than RocksDB's Bloom filter, which has whole
// cache lines, and in blocks as large as those of RocksDB's Ribbon filters the mean rate is lower.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/peer_filters.h"
#include "exactbloom/filter.h"
#include "plugin/policy_options.h"
#include "sample_filters.h"

namespace exactbloom {
namespace {

using rocksdb::FilterPolicy;

constexpr std::uint64_t kMostKeys = 1000;
constexpr double kSettings[] = {4.0, 10.0, 16.0};

class SmallFilters : public testing::TestWithParam<PolicyKind> {
 protected:
  static FilterBuilder NewBuilder(double bits_per_key) {
    PolicyOptions policy(GetParam());
    policy.bits_per_key = bits_per_key;
    return *FilterBuilder::Create(ToFilterOptions(policy));
  }
};

INSTANTIATE_TEST_SUITE_P(Policies, SmallFilters,
                         testing::Values(PolicyKind::kExactRibbon, PolicyKind::kClassicBloom,
                                         PolicyKind::kStandardBloom),
                         [](const auto& policy) { return PolicyName(policy.param); });

TEST_P(SmallFilters, HaveAtMostTheRateOfRocksDBsBloomFilter) {
  for (const double bits_per_key : kSettings) {
    const FilterBuilder builder = NewBuilder(bits_per_key);
    const std::unique_ptr<const FilterPolicy> bloom(rocksdb::NewBloomFilterPolicy(bits_per_key));
    for (std::uint64_t keys = 1; keys <= kMostKeys; ++keys) {
      EXPECT_LE(builder.Plan(keys).FalsePositiveRate(), RateOfPeer(BuildPeer(*bloom, keys), keys))
          << keys << " keys, bits " << bits_per_key;
    }
  }
}

// Queries of filters of both, by the same keys.
TEST_P(SmallFilters, HaveAtMostThatRateWhereItIsMeasured) {
  constexpr std::uint64_t kFilters = 200;
  constexpr std::uint64_t kAbsentKeys = 2000;
  for (std::uint64_t keys = 20; keys <= 400; keys += 20) {
    FilterBuilder builder = NewBuilder(10.0);
    const std::unique_ptr<const FilterPolicy> bloom(rocksdb::NewBloomFilterPolicy(10.0));
    const double peer_rate = RateOfPeer(BuildPeer(*bloom, keys), keys);
    std::uint64_t passed = 0;
    for (std::uint64_t i = 0; i < kFilters; ++i) {
      for (std::uint64_t j = 0; j < keys; ++j) builder.AddKey(NumberKey(i << 32 | j).text());
      const FilterBlock block = builder.Finish();
      const FilterView view(block.bytes());
      for (std::uint64_t j = 0; j < kAbsentKeys; ++j) {
        passed += view.MayContain(NumberKey(i << 32 | 1 << 20 | j).text()) ? 1 : 0;
      }
    }
    const double queries = kFilters * kAbsentKeys;
    const double deviation = std::sqrt(peer_rate / queries);
    EXPECT_LE(static_cast<double>(passed) / queries, peer_rate + 4 * deviation) << keys;
  }
}

// In as many bytes, with the trailers of both. RocksDB's trailer has 5 bytes, ours 22 and more,
// which at 4 bits per key costs 7%.
TEST(SmallRibbonFilters, HaveALowerMeanRateThanThoseOfRocksDB) {
  constexpr std::uint64_t kFewestKeys = 17;
  const double most_means[] = {1.08, 0.80, 0.50};
  for (int i = 0; i < 3; ++i) {
    const FilterBuilder builder = *FilterBuilder::Create({});
    const std::unique_ptr<const FilterPolicy> ribbon(
        rocksdb::NewRibbonFilterPolicy(kSettings[i], -1));
    double log_ratios = 0.0;
    for (std::uint64_t keys = kFewestKeys; keys <= kMostKeys; ++keys) {
      const std::string peer = BuildPeer(*ribbon, keys);
      const auto plan = builder.PlanWithin(keys, peer.size());
      ASSERT_TRUE(plan);
      log_ratios += std::log(plan->FalsePositiveRate() / RateOfPeer(peer, keys));
    }
    const double mean = std::exp(log_ratios / (kMostKeys - kFewestKeys + 1));
    EXPECT_LE(mean, most_means[i]) << kSettings[i];
    EXPECT_GE(mean, 0.95 * most_means[i]) << "the bound is not the figure";
  }
}

}  // namespace
}  // namespace exactbloom
