// What only Ribbon filters do: solving, shards, exact rates of blocks and of targets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exactbloom/filter.h"
#include "sample_filters.h"
#include "src/filter/builder_state.h"
#include "src/filter/kernels/kernel.h"
#include "src/filter/ribbon/ribbon_shape.h"

namespace exactbloom {
namespace {

FilterBuilder BuilderOf(double bits_per_key, double rate = 0.0) {
  return *FilterBuilder::Create({FilterKind::kRibbon, bits_per_key, rate});
}

void AddHashes(FilterBuilder& builder, const std::vector<std::uint64_t>& hashes) {
  for (const std::uint64_t hash : hashes) {
    filter::BuilderAccess::StateOf(builder).Hashes().Append(hash);
  }
}

FilterBlock BlockOfHashes(FilterBuilder builder, const std::vector<std::uint64_t>& hashes) {
  AddHashes(builder, hashes);
  return builder.Finish();
}

std::uint64_t Denied(std::string_view block, const std::vector<std::uint64_t>& hashes) {
  const filter::DecodedRibbon decoded = filter::DecodeRibbon(block);
  EXPECT_EQ(decoded.status, BlockStatus::kUsable);
  if (decoded.shape.shards == 0) {
    return decoded.shape.columns == filter::kAllPassColumns ? 0 : hashes.size();
  }
  const filter::PreparedRibbon filter = filter::PrepareRibbon(decoded, block);
  std::uint64_t denied = 0;
  for (const std::uint64_t hash : hashes) {
    bool contained = false;
    filter::RibbonKernelInUse().may_contain_batch(filter, &hash, 1, &contained);
    denied += contained ? 0 : 1;
  }
  return denied;
}

std::uint32_t PassingShards(std::string_view block) {
  const filter::RibbonShape shape = filter::DecodeRibbon(block).shape;
  std::uint32_t passing = 0;
  for (std::uint32_t shard = 0; shard < shape.shards; ++shard) {
    const std::size_t record =
        static_cast<std::size_t>(shape.ColumnBytes()) + shard * filter::RecordBytes(shape.buckets);
    const char seed = block.at(record + filter::kShardSeedOffset);
    passing += static_cast<unsigned char>(seed) == filter::kPassingShard ? 1 : 0;
  }
  return passing;
}

std::vector<std::uint64_t> RandomHashes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> hashes(count);
  for (std::uint64_t& hash : hashes) hash = random();
  return hashes;
}

void ExpectNoKeyDenied(double bits_per_key, std::uint64_t keys) {
  FilterBuilder builder = BuilderOf(bits_per_key);
  AddNumbers(builder, keys);
  const FilterBlock block = builder.Finish();
  const FilterView view(block.bytes());
  ASSERT_EQ(view.Status(), BlockStatus::kUsable);
  ASSERT_EQ(view.Description().keys, keys);
  ASSERT_EQ(CountPassing(view, keys), keys);
  ASSERT_EQ(block.size, builder.BlockBytes(keys));
}

TEST(RibbonFilter, DeniesNoKeyForEveryNumberOfKeys) {
  for (std::uint64_t keys = 0; keys <= 3000; ++keys) {
    const double bits = std::vector<double>{10, 1.1, 6.3, 16.5, 30}[keys % 5];
    ASSERT_NO_FATAL_FAILURE(ExpectNoKeyDenied(bits, keys));
    if (keys < 200) {
      ASSERT_NO_FATAL_FAILURE(ExpectNoKeyDenied(10, keys));
    }
  }
}

TEST(RibbonFilter, DeniesNoKeyAroundEachChangeOfShards) {
  std::vector<std::uint64_t> changes = {250'000};
  for (const std::uint64_t shards : {1, 2, 3, 7, 15, 24, 64, 100}) {
    changes.push_back(shards * filter::kMostMeanShardKeys + 1);
  }
  for (const std::uint64_t keys : changes) {
    EXPECT_GT(filter::ShapeOfKeys(keys).shards, filter::ShapeOfKeys(keys - 1).shards);
    for (const std::uint64_t near : {keys - 1, keys, keys + 1}) {
      ASSERT_NO_FATAL_FAILURE(ExpectNoKeyDenied(near % 2 == 0 ? 9.7 : 5.2, near));
    }
  }
}

TEST(RibbonFilter, BytesDependNeitherOnTheOrderOfKeysNorOnTheInstructionSet) {
  for (const std::size_t count : {1U, 63U, 64U, 500U, 9000U, 20000U, 70000U, 970000U}) {
    std::vector<std::uint64_t> hashes = RandomHashes(count, count);
    for (const double bits : {3.3, 10.0, 25.4}) {
      if (count > 100000 && bits != 10.0) continue;
      const std::string first(BlockOfHashes(BuilderOf(bits), hashes).bytes());
      EXPECT_EQ(Denied(first, hashes), 0U);
      for (const filter::InstructionSet& set : filter::AvailableInstructionSets()) {
        filter::UseInstructionSet(set);
        std::sort(hashes.begin(), hashes.end());
        EXPECT_EQ(BlockOfHashes(BuilderOf(bits), hashes).bytes(), first) << set.name << count;
        std::reverse(hashes.begin(), hashes.end());
        EXPECT_EQ(BlockOfHashes(BuilderOf(bits), hashes).bytes(), first) << set.name << count;
      }
      filter::UseInstructionSet(filter::AvailableInstructionSets().front());
    }
  }
}

TEST(RibbonFilter, TakesFewBitsMoreThanTheBound) {
  const auto over_bound = [](std::uint64_t keys, int filters) {
    double most = 0.0;
    for (int i = 0; i < filters; ++i) {
      const FilterBlock block = BlockOfHashes(BuilderOf(10), RandomHashes(keys, keys + i));
      const double bits = -std::log2(FilterView(block.bytes()).FalsePositiveRate());
      most = std::max(most,
                      8.0 * static_cast<double>(block.size) / static_cast<double>(keys) / bits - 1);
    }
    return most;
  };
  for (std::uint64_t keys = 1000; keys < 1500; keys += 7) EXPECT_LT(over_bound(keys, 3), 0.12);
  for (std::uint64_t keys = 5000; keys < 14200; keys += 301) EXPECT_LT(over_bound(keys, 2), 0.036);
  for (std::uint64_t keys = 20000; keys < 1000000; keys += keys / 3) {
    EXPECT_LT(over_bound(keys, 1), 0.019);
    EXPECT_LT(over_bound(filter::kMostMeanShardKeys * 4 + 7, 1), 0.019);
  }
}

TEST(RibbonFilter, DuplicatesAndEqualHashesAreSolved) {
  std::vector<std::uint64_t> hashes = RandomHashes(30000, 1);
  hashes.insert(hashes.end(), hashes.begin(), hashes.begin() + 10000);
  const FilterBlock some = BlockOfHashes(BuilderOf(10), hashes);
  EXPECT_EQ(Denied(some.bytes(), hashes), 0U);
  EXPECT_LT(FilterView(some.bytes()).FalsePositiveRate(), 0.0012);

  hashes.resize(30000);
  hashes.insert(hashes.end(), 200000, hashes[7]);
  const FilterBlock mass = BlockOfHashes(BuilderOf(10), hashes);
  EXPECT_EQ(Denied(mass.bytes(), hashes), 0U);
  EXPECT_EQ(PassingShards(mass.bytes()), 0U);
}

// Two hashes of equal coefficients in a filter of one start slot, after which the first comes
// again.
TEST(RibbonFilter, AContradictionCountsThoughADuplicateFollows) {
  constexpr std::uint64_t kInverse = 0xf1de83e19937733dU;
  static_assert(kInverse * filter::kCoefficientMultiplier == 1);
  for (std::uint64_t coefficients = 2; coefficients < 20; coefficients += 2) {
    std::vector<std::uint64_t> hashes = RandomHashes(23, coefficients);
    hashes[0] = hashes[2] = kInverse * coefficients;
    hashes[1] = kInverse * (coefficients + 1);
    const FilterBlock block = BlockOfHashes(BuilderOf(20), hashes);
    ASSERT_EQ(filter::DecodeRibbon(block.bytes()).shape.slots, filter::kRowBits);
    EXPECT_EQ(Denied(block.bytes(), hashes), 0U) << coefficients;
  }
}

// The keys of a shard are binomially distributed, here by the normal approximation.
TEST(RibbonFilter, HashesGiveNoShardMoreKeysThanAreSolved) {
  for (const std::uint64_t keys : {20'000, 249'999, 250'000, 1'000'000, 100'000'000}) {
    const auto shards = static_cast<double>(filter::ShapeOfKeys(keys).shards);
    const double mean = static_cast<double>(keys) / shards;
    const double deviation = std::sqrt(mean * (1.0 - 1.0 / shards));
    const double most = static_cast<double>(filter::MostShardKeys(keys));
    const double above = std::erfc((most + 0.5 - mean) / deviation / std::sqrt(2.0)) / 2.0;
    EXPECT_LT(shards * above, 1e-9) << keys;
  }
}

// So many that their shard cannot be solved.
TEST(RibbonFilter, HashesOfOneShardPassAndTheExactRateSaysSo) {
  std::vector<std::uint64_t> hashes = RandomHashes(600000, 2);
  for (std::uint64_t& hash : hashes) hash >>= 6;
  const FilterBlock block = BlockOfHashes(BuilderOf(10), hashes);
  EXPECT_EQ(Denied(block.bytes(), hashes), 0U);
  const FilterView view(block.bytes());
  const double rate = view.FalsePositiveRate();
  EXPECT_EQ(PassingShards(block.bytes()), 1U);
  // The other shards are empty, and begin with the first slots.
  EXPECT_NEAR(rate, 1.0 / static_cast<double>(view.Description().shards) + 0x1p-9, 1e-4);
  const std::vector<std::uint64_t> absent = RandomHashes(200000, 3);
  const double passed = static_cast<double>(absent.size() - Denied(block.bytes(), absent));
  const double expected = rate * static_cast<double>(absent.size());
  EXPECT_NEAR(passed, expected, 5 * std::sqrt(expected));
}

// The last bucket then needs no slot of its own. There are from two buckets to many.
TEST(RibbonFilter, KeysOfALastBucketThatIsAlmostEmptyAreNotDenied) {
  for (std::uint64_t keys = 240; keys < 15000; keys += keys / 100) {
    std::vector<std::uint64_t> hashes = RandomHashes(keys, keys);
    const std::uint32_t buckets = filter::ShapeOfKeys(keys).buckets;
    for (std::uint64_t& hash : hashes) hash -= hash / buckets;
    hashes.back() = ~std::uint64_t{0};
    EXPECT_EQ(Denied(BlockOfHashes(BuilderOf(10), hashes).bytes(), hashes), 0U) << keys;
  }
}

TEST(RibbonFilter, HashesWithoutEntropyAreNotDenied) {
  for (const int shift : {0, 20, 40, 58}) {
    std::vector<std::uint64_t> hashes(50000);
    std::iota(hashes.begin(), hashes.end(), 0);
    for (std::uint64_t& hash : hashes) hash <<= shift;
    EXPECT_EQ(Denied(BlockOfHashes(BuilderOf(10), hashes).bytes(), hashes), 0U) << shift;
  }
}

TEST(RibbonRate, IsTheMeanOfThatOfThePlan) {
  for (const std::uint64_t keys : {700U, 1000U, 3000U, 20000U, 60000U}) {
    for (const double bits : {4.7, 10.0, 13.4}) {
      const FilterPlan plan = BuilderOf(bits).Plan(keys);
      const int filters = keys < 5000 ? 100 : 20;
      double mean = 0.0;
      for (int i = 0; i < filters; ++i) {
        const FilterBlock block = BlockOfHashes(BuilderOf(bits), RandomHashes(keys, keys + i));
        const FilterView view(block.bytes());
        mean += view.FalsePositiveRate() / filters;
        ExpectEqual(view.Description(), plan.Description());
      }
      EXPECT_NEAR(plan.FalsePositiveRate() / mean, 1.0, 0.005) << keys << " " << bits;
    }
  }
}

// By which KeysThatFit finds the most keys.
TEST(RibbonRate, OfATargetTakesHardlyLessBytesForAKeyMore) {
  const FilterBuilder builder = BuilderOf(10, 0.01);
  for (const std::uint64_t shards : {97U, 98U, 500U, 1000U, 100000U}) {
    const std::uint64_t change = shards * filter::kMostMeanShardKeys;
    EXPECT_LE(builder.BlockBytes(change - 1), builder.BlockBytes(change) + 8);
    EXPECT_LE(builder.BlockBytes(change), builder.BlockBytes(change + 1) + 8);
  }
}

// The fewest bytes of the plan, and blocks that keep the rate whatever their keys.
TEST(RibbonRate, OfATargetIsKeptByEachBlock) {
  for (const double target : {0.3, 0.01, 0.0007, 1e-6}) {
    const FilterBuilder builder = BuilderOf(10, target);
    for (const std::uint64_t keys : {1U, 30U, 100U, 1000U, 3000U, 20000U, 50000U}) {
      const FilterPlan plan = builder.Plan(keys);
      EXPECT_LE(plan.FalsePositiveRate(), target);
      const auto smaller = builder.PlanWithin(keys, plan.BlockBytes() - 1);
      if (smaller) {
        EXPECT_GT(smaller->FalsePositiveRate(), target);
      }
      for (int i = 0; i < 10; ++i) {
        const std::vector<std::uint64_t> hashes = RandomHashes(keys, keys + i);
        const FilterBlock block = BlockOfHashes(BuilderOf(10, target), hashes);
        EXPECT_LE(FilterView(block.bytes()).FalsePositiveRate(), target);
        EXPECT_EQ(Denied(block.bytes(), hashes), 0U);
        if (keys >= 1000) {
          EXPECT_LE(block.size, 1.01 * static_cast<double>(plan.BlockBytes()) + 8);
        }
      }
    }
  }
}

// Only a block of the builder's own plan is made larger to keep the rate.
TEST(RibbonRate, OfATargetDoesNotMakeABlockLargerThanAskedFor) {
  constexpr std::uint64_t kKeys = 3000;
  const std::uint64_t wanted = BuilderOf(10, 0.01).Plan(kKeys).BlockBytes();
  for (const std::uint64_t most : {wanted - 500, wanted, wanted + 8}) {
    FilterBuilder builder = BuilderOf(10, 0.01);
    for (std::uint64_t salt = 0; salt < 20; ++salt) {
      AddHashes(builder, RandomHashes(kKeys, salt));
      EXPECT_LE(builder.Finish(*builder.PlanWithin(kKeys, most)).size, most);
      AddHashes(builder, RandomHashes(kKeys + 1, salt));
      EXPECT_LE(builder.Finish(builder.Plan(kKeys)).size, wanted);
    }
  }
}

TEST(RibbonRate, OfATargetIsKeptWithinTheLimitOfBlocks) {
  constexpr std::uint64_t kKeys = 3000;
  FilterOptions options{FilterKind::kRibbon, 10, 0.01};
  // Room for half of one more column.
  options.block_bytes_limit = FilterBuilder::Create(options)->Plan(kKeys).BlockBytes() + kKeys / 16;
  for (std::uint64_t salt = 0; salt < 20; ++salt) {
    const FilterBlock block =
        BlockOfHashes(*FilterBuilder::Create(options), RandomHashes(kKeys, salt));
    EXPECT_LT(block.size, options.block_bytes_limit);
    EXPECT_LE(FilterView(block.bytes()).FalsePositiveRate(), 0.01);
  }
}

}  // namespace
}  // namespace exactbloom
