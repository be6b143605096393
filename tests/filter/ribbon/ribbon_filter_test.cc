// The public behaviour of the builder and the view of Ribbon filters.
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

using Options = FilterOptions;

Options WithBits(double bits_per_key) {
  Options options;
  options.bits_per_key = bits_per_key;
  return options;
}

Options WithRate(double rate) {
  Options options;
  options.false_positive_rate = rate;
  return options;
}

FilterBlock BlockOfNumbers(const Options& options, std::uint64_t first, std::uint64_t count) {
  FilterBuilder builder = *FilterBuilder::Create(options);
  for (std::uint64_t i = 0; i < count; ++i) builder.AddKey(NumberKey(first + i).text());
  return builder.Finish();
}

FilterBlock BlockOfHashes(const Options& options, const std::vector<std::uint64_t>& hashes) {
  FilterBuilder builder = *FilterBuilder::Create(options);
  for (const std::uint64_t hash : hashes) builder.state().Hashes().Append(hash);
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

void ExpectNumbers(std::string_view block, std::uint64_t count) {
  const FilterView view(block);
  ASSERT_EQ(view.Status(), BlockStatus::kUsable);
  EXPECT_EQ(view.Description().keys, count);
  std::vector<NumberKey> numbers;
  std::vector<std::string_view> keys;
  for (std::uint64_t i = 0; i < count; ++i) numbers.emplace_back(i);
  for (const NumberKey& number : numbers) keys.push_back(number.text());
  const std::unique_ptr<bool[]> results(new bool[count]);
  view.MayContain(keys.data(), count, results.get());
  EXPECT_EQ(std::count(results.get(), results.get() + count, true), count);
  EXPECT_TRUE(
      std::all_of(keys.begin(), keys.end(), [&](auto key) { return view.MayContain(key); }));
}

std::vector<std::uint64_t> RandomHashes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> hashes(count);
  for (std::uint64_t& hash : hashes) hash = random();
  return hashes;
}

TEST(RibbonOptions, AreTakenWithinTheirRangesAndRefusalsNameThem) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bits : {kMinRibbonBitsPerKey, kMaxRibbonBitsPerKey}) {
    EXPECT_TRUE(FilterBuilder::Create(WithBits(bits))) << bits;
  }
  for (const double rate : {0.0, kMinTargetRate, kMaxTargetRate}) {
    EXPECT_TRUE(FilterBuilder::Create(WithRate(rate))) << rate;
  }
  Options small;
  small.block_bytes_limit = 99;
  std::vector<std::pair<Options, std::string>> refusals = {
      {WithBits(31), "bits_per_key is 31, but must be from 1.1 to 30"},
      {WithRate(0.75), "false_positive_rate is 0.75, but must be from 1e-09 to 0.5"},
      {small, "block_bytes_limit is 99, but must be from 100 to 4294967232"}};
  for (const double bits : {0.0, 1.0, nan}) refusals.push_back({WithBits(bits), "bits_per_key"});
  for (const double rate : {-0.01, 1.0, nan}) {
    refusals.push_back({WithRate(rate), "false_positive_rate"});
  }
  for (const auto& [options, message] : refusals) {
    std::string error;
    EXPECT_FALSE(FilterBuilder::Create(options, &error)) << message;
    EXPECT_EQ(error.substr(0, message.size()), message);
  }
}

// A trailer has some 20 bytes; a filter of fewer lets all keys pass.
void ExpectNoKeyDeniedWithin(double bits_per_key, std::uint64_t keys) {
  const FilterBlock block = BlockOfNumbers(WithBits(bits_per_key), 0, keys);
  ASSERT_NO_FATAL_FAILURE(ExpectNumbers(block.bytes(), keys)) << keys;
  const double most_bytes = std::max(24.0, bits_per_key * static_cast<double>(keys) / 8);
  ASSERT_LE(static_cast<double>(block.size), most_bytes) << keys;
}

TEST(RibbonFilter, DeniesNoKeyForEveryNumberOfKeysAndIsNeverLargerThanAskedFor) {
  for (std::uint64_t keys = 0; keys <= 3000; ++keys) {
    const double bits = std::vector<double>{10, 1.1, 6.3, 16.5, 30}[keys % 5];
    ASSERT_NO_FATAL_FAILURE(ExpectNoKeyDeniedWithin(bits, keys));
    if (keys < 200) {
      ASSERT_NO_FATAL_FAILURE(ExpectNoKeyDeniedWithin(10, keys));
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
      ASSERT_NO_FATAL_FAILURE(ExpectNoKeyDeniedWithin(near % 2 == 0 ? 9.7 : 5.2, near));
    }
  }
}

TEST(RibbonFilter, WithoutKeysContainsNothing) {
  for (const Options& options : {WithBits(10), WithRate(0.01)}) {
    const FilterBlock block = BlockOfNumbers(options, 0, 0);
    const FilterView view(block.bytes());
    ASSERT_EQ(view.Status(), BlockStatus::kUsable);
    EXPECT_GT(block.size, 5U) << "stock readers would deny every key";
    EXPECT_FALSE(view.MayContain("key"));
    EXPECT_EQ(view.FalsePositiveRate(), 0.0);
    bool results[2] = {true, true};
    const std::string_view keys[2] = {"key", ""};
    view.MayContain(keys, 2, results);
    EXPECT_FALSE(results[0] || results[1]);
  }
}

TEST(RibbonFilter, BytesDependNeitherOnTheOrderOfKeysNorOnTheInstructionSet) {
  for (const std::size_t count : {1U, 63U, 64U, 500U, 9000U, 20000U, 70000U, 970000U}) {
    std::vector<std::uint64_t> hashes = RandomHashes(count, count);
    for (const double bits : {3.3, 10.0, 25.4}) {
      if (count > 100000 && bits != 10.0) continue;
      const std::string first(BlockOfHashes(WithBits(bits), hashes).bytes());
      EXPECT_EQ(Denied(first, hashes), 0U);
      for (const filter::InstructionSet& set : filter::AvailableInstructionSets()) {
        filter::UseInstructionSet(set);
        std::sort(hashes.begin(), hashes.end());
        EXPECT_EQ(BlockOfHashes(WithBits(bits), hashes).bytes(), first) << set.name << count;
        std::reverse(hashes.begin(), hashes.end());
        EXPECT_EQ(BlockOfHashes(WithBits(bits), hashes).bytes(), first) << set.name << count;
      }
      filter::UseInstructionSet(filter::AvailableInstructionSets().front());
    }
  }
}

TEST(RibbonFilter, TakesFewBitsMoreThanTheBound) {
  const auto over_bound = [](std::uint64_t keys, int filters) {
    double most = 0.0;
    for (int i = 0; i < filters; ++i) {
      const FilterBlock block = BlockOfHashes(WithBits(10), RandomHashes(keys, keys + i));
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
  const FilterBlock some = BlockOfHashes(WithBits(10), hashes);
  EXPECT_EQ(Denied(some.bytes(), hashes), 0U);
  EXPECT_LT(FilterView(some.bytes()).FalsePositiveRate(), 0.0012);

  hashes.resize(30000);
  hashes.insert(hashes.end(), 200000, hashes[7]);
  const FilterBlock mass = BlockOfHashes(WithBits(10), hashes);
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
    const FilterBlock block = BlockOfHashes(WithBits(20), hashes);
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
  const FilterBlock block = BlockOfHashes(WithBits(10), hashes);
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
    EXPECT_EQ(Denied(BlockOfHashes(WithBits(10), hashes).bytes(), hashes), 0U) << keys;
  }
}

TEST(RibbonFilter, HashesWithoutEntropyAreNotDenied) {
  for (const int shift : {0, 20, 40, 58}) {
    std::vector<std::uint64_t> hashes(50000);
    std::iota(hashes.begin(), hashes.end(), 0);
    for (std::uint64_t& hash : hashes) hash <<= shift;
    EXPECT_EQ(Denied(BlockOfHashes(WithBits(10), hashes).bytes(), hashes), 0U) << shift;
  }
}

TEST(RibbonFilter, ASeedChangesTheHashOfKeys) {
  Options options;
  const FilterBlock plain = BlockOfNumbers(options, 0, 1000);
  options.hash_seed = 0x5eed;
  const FilterBlock salted = BlockOfNumbers(options, 0, 1000);
  ASSERT_NO_FATAL_FAILURE(ExpectNumbers(salted.bytes(), 1000));
  EXPECT_EQ(FilterView(salted.bytes()).Description().hash_seed, 0x5eedU);
  EXPECT_NE(plain.bytes().substr(0, 500), salted.bytes().substr(0, 500));
}

TEST(RibbonFilter, KeysOfAllLengthsAreHeld) {
  Options options;
  options.hash_seed = 0x5eed;  // which short, middle and long keys take in different ways
  FilterBuilder builder = *FilterBuilder::Create(options);
  std::vector<std::string> keys;
  for (std::size_t size = 0; size < 300; ++size) keys.emplace_back(size, 'k');
  for (const std::string& key : keys) builder.AddKey(key);
  builder.AddKeyAndAlternate("prefix and key", "prefix");
  const FilterBlock block = builder.Finish();
  EXPECT_EQ(builder.KeyCount(), 0U);
  const FilterView view(block.bytes());
  EXPECT_EQ(view.Description().keys, keys.size() + 2);
  for (const std::string& key : keys) EXPECT_TRUE(view.MayContain(key)) << key.size();
  EXPECT_TRUE(view.MayContain("prefix") && view.MayContain("prefix and key"));
}

TEST(FilterPlan, TellsTheBlockAndItsExpectedRate) {
  for (const std::uint64_t keys : {700U, 1000U, 3000U, 20000U, 60000U}) {
    for (const double bits : {4.7, 10.0, 13.4}) {
      const FilterBuilder builder = *FilterBuilder::Create(WithBits(bits));
      const FilterPlan plan = builder.Plan(keys);
      EXPECT_EQ(plan.BlockBytes(), builder.BlockBytes(keys));
      EXPECT_FALSE(plan.IsCut());
      const int filters = keys < 5000 ? 100 : 20;
      double mean = 0.0;
      for (int i = 0; i < filters; ++i) {
        const FilterBlock block = BlockOfHashes(WithBits(bits), RandomHashes(keys, keys + i));
        EXPECT_EQ(block.size, plan.BlockBytes());
        const FilterView view(block.bytes());
        mean += view.FalsePositiveRate() / filters;
        EXPECT_EQ(view.Description().wide_slots, plan.Description().wide_slots);
        EXPECT_EQ(view.Description().columns, plan.Description().columns);
      }
      EXPECT_NEAR(plan.FalsePositiveRate() / mean, 1.0, 0.005) << keys << " " << bits;
    }
  }
}

TEST(FilterPlan, OfOtherBytesIsTheMostThatTheyHold) {
  const FilterBuilder builder = *FilterBuilder::Create({});
  EXPECT_FALSE(builder.PlanWithin(1000, 20));
  double last_rate = 1.0;
  for (std::uint64_t bytes = 21; bytes < 4000; ++bytes) {
    const FilterPlan plan = *builder.PlanWithin(1000, bytes);
    EXPECT_LE(plan.BlockBytes(), bytes);
    EXPECT_LE(plan.FalsePositiveRate(), last_rate);
    last_rate = plan.FalsePositiveRate();
  }
  EXPECT_LT(last_rate, 1e-8);
}

TEST(FilterPlan, FinishedWithOtherKeysHasThemAllAndNoMoreBytes) {
  FilterBuilder builder = *FilterBuilder::Create({});
  const FilterPlan plan = builder.Plan(2000);
  for (const std::uint64_t keys : {0U, 10U, 1999U, 2001U, 5000U, 40000U}) {
    for (std::uint64_t i = 0; i < keys; ++i) builder.AddKey(NumberKey(i).text());
    const FilterBlock block = builder.Finish(plan);
    EXPECT_LE(block.size, plan.BlockBytes());
    ASSERT_NO_FATAL_FAILURE(ExpectNumbers(block.bytes(), keys));
  }
}

TEST(FilterPlan, KeysThatFitIsTheMostThatFit) {
  for (const Options& options : {WithBits(10), WithBits(1.1), WithBits(30), WithRate(0.01)}) {
    const FilterBuilder builder = *FilterBuilder::Create(options);
    EXPECT_EQ(builder.KeysThatFit(10), 0U);
    for (const std::uint64_t bytes : {19U, 20U, 64U, 500U, 4096U, 17700U, 200000U}) {
      const std::uint64_t most = builder.KeysThatFit(bytes);
      if (most != 0) {
        EXPECT_LE(builder.BlockBytes(most), bytes);
      }
      for (std::uint64_t more = most + 1; more < most + 300; ++more) {
        ASSERT_GT(builder.BlockBytes(more), bytes) << most;
      }
    }
  }
}

TEST(FilterPlan, KeysThatFitIsTheMostAroundEachChangeOfShards) {
  const FilterBuilder builder = *FilterBuilder::Create(WithRate(0.01));
  for (const std::uint64_t shards : {97U, 98U, 500U, 1000U, 100000U}) {
    const std::uint64_t change = shards * filter::kMostMeanShardKeys;
    EXPECT_LE(builder.BlockBytes(change - 1), builder.BlockBytes(change) + 8);
    EXPECT_LE(builder.BlockBytes(change), builder.BlockBytes(change + 1) + 8);
  }
}

TEST(FilterPlan, MoreKeysThanAnyFilterHoldsDoNotFit) {
  for (const double bits : {1.1, 5.0}) {
    const FilterBuilder builder = *FilterBuilder::Create(WithBits(bits));
    EXPECT_TRUE(builder.Plan(4'280'000'000).IsCut());
    EXPECT_LT(builder.KeysThatFit(kBlockBytesLimit), 4'280'000'000U);
  }
}

TEST(FilterPlan, ALimitOfBlocksCutsTheBitsOfManyKeys) {
  Options options;
  options.block_bytes_limit = 4096;
  FilterBuilder builder = *FilterBuilder::Create(options);
  EXPECT_FALSE(builder.Plan(3000).IsCut());
  EXPECT_TRUE(builder.Plan(4000).IsCut());
  for (const std::uint64_t keys : {4000ULL, 30000ULL, 1ULL << 33, 1ULL << 53}) {
    const FilterPlan plan = builder.Plan(keys);
    EXPECT_LT(plan.BlockBytes(), 4096U);
    EXPECT_EQ(plan.FalsePositiveRate() < 1.0, keys < 30001);
  }
  const FilterBuilder unlimited = *FilterBuilder::Create({});
  EXPECT_LT(unlimited.BlockBytes(std::uint64_t{1} << 53), kBlockBytesLimit);
  EXPECT_LT(unlimited.Plan(4'000'000'000).FalsePositiveRate(), 0.01);
}

// The fewest bytes of the plan, and blocks that keep the rate whatever their keys.
TEST(RibbonRate, OfATargetIsKeptByEachBlock) {
  for (const double target : {0.3, 0.01, 0.0007, 1e-6}) {
    const FilterBuilder builder = *FilterBuilder::Create(WithRate(target));
    for (const std::uint64_t keys : {1U, 30U, 100U, 1000U, 3000U, 20000U, 50000U}) {
      const FilterPlan plan = builder.Plan(keys);
      EXPECT_LE(plan.FalsePositiveRate(), target);
      const auto smaller = builder.PlanWithin(keys, plan.BlockBytes() - 1);
      if (smaller) {
        EXPECT_GT(smaller->FalsePositiveRate(), target);
      }
      for (int i = 0; i < 10; ++i) {
        const std::vector<std::uint64_t> hashes = RandomHashes(keys, keys + i);
        const FilterBlock block = BlockOfHashes(WithRate(target), hashes);
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
  const std::uint64_t wanted = FilterBuilder::Create(WithRate(0.01))->Plan(kKeys).BlockBytes();
  for (const std::uint64_t most : {wanted - 500, wanted, wanted + 8}) {
    FilterBuilder builder = *FilterBuilder::Create(WithRate(0.01));
    for (std::uint64_t salt = 0; salt < 20; ++salt) {
      for (const std::uint64_t hash : RandomHashes(kKeys, salt)) {
        builder.state().Hashes().Append(hash);
      }
      EXPECT_LE(builder.Finish(*builder.PlanWithin(kKeys, most)).size, most);
      for (const std::uint64_t hash : RandomHashes(kKeys + 1, salt)) {
        builder.state().Hashes().Append(hash);
      }
      EXPECT_LE(builder.Finish(builder.Plan(kKeys)).size, wanted);
    }
  }
}

TEST(RibbonRate, OfATargetIsKeptWithinTheLimitOfBlocks) {
  constexpr std::uint64_t kKeys = 3000;
  Options options = WithRate(0.01);
  // Room for half of one more column.
  options.block_bytes_limit = FilterBuilder::Create(options)->Plan(kKeys).BlockBytes() + kKeys / 16;
  for (std::uint64_t salt = 0; salt < 20; ++salt) {
    const FilterBlock block = BlockOfHashes(options, RandomHashes(kKeys, salt));
    EXPECT_LT(block.size, options.block_bytes_limit);
    EXPECT_LE(FilterView(block.bytes()).FalsePositiveRate(), 0.01);
  }
}

TEST(RibbonFaults, AreFound) {
  for (const std::uint64_t keys : {0U, 5U, 3000U, 40000U}) {
    Options options;
    options.detect_faults = true;
    FilterBuilder builder = *FilterBuilder::Create(options);
    const auto add = [&] {
      for (std::uint64_t i = 0; i < keys; ++i) builder.AddKey(NumberKey(i).text());
    };
    add();
    EXPECT_EQ(builder.CheckHashes(), ConstructionFault::kNone);
    FilterBlock block = builder.Finish();
    EXPECT_EQ(builder.CheckBlock(block.bytes()), ConstructionFault::kNone);
    EXPECT_EQ(block.bytes(), BlockOfNumbers({}, 0, keys).bytes());
    add();
    block = builder.Finish();
    block.data[block.size / 2] ^= 1;
    EXPECT_EQ(builder.CheckBlock(block.bytes()), ConstructionFault::kBlock);
    if (keys == 0) continue;
    add();
    builder.state().Hashes().ForEach(
        [](std::uint64_t* hashes, std::size_t /*count*/) { hashes[0] ^= 1; });
    EXPECT_EQ(builder.CheckHashes(), ConstructionFault::kHashes);
    block = builder.Finish();
    EXPECT_EQ(builder.CheckBlock(block.bytes()), ConstructionFault::kHashes);
  }
}

// Keys that are added to one are in both, and the one that finishes them takes them from both.
TEST(RibbonBesideBloom, SharesTheKeys) {
  constexpr std::uint64_t kKeys = 3000;
  FilterOptions of_bloom;
  of_bloom.hash_seed = 7;
  Options of_ribbon;
  of_ribbon.hash_seed = 8;  // which does not count
  for (const bool detects : {false, true}) {
    of_bloom.detect_faults = detects;
    std::optional<FilterBuilder> bloom = FilterBuilder::Create(of_bloom);
    FilterBuilder ribbon = *FilterBuilder::CreateBeside(*bloom, of_ribbon);
    EXPECT_EQ(ribbon.options().hash_seed, 7U);
    EXPECT_EQ(ribbon.options().detect_faults, detects);
    Options alone;
    alone.hash_seed = 7;
    const FilterBlock expected = BlockOfNumbers(alone, 0, kKeys);
    const auto add = [&] {
      for (std::uint64_t i = 0; i < kKeys; ++i) {
        i % 2 == 0 ? bloom->AddKey(NumberKey(i).text()) : ribbon.AddKey(NumberKey(i).text());
      }
      EXPECT_EQ(bloom->KeyCount(), kKeys);
      EXPECT_EQ(ribbon.KeyCount(), kKeys);
    };
    add();
    const FilterBlock block = ribbon.Finish();
    EXPECT_EQ(block.bytes(), expected.bytes());
    EXPECT_EQ(bloom->KeyCount(), 0U);
    EXPECT_EQ(bloom->CheckBlock(detects ? block.bytes() : "another"), ConstructionFault::kNone);
    add();
    const FilterBlock of_both = bloom->Finish();
    EXPECT_EQ(FilterView(of_both.bytes()).Description().keys, kKeys);
    EXPECT_EQ(ribbon.KeyCount(), 0U);
    add();
    ribbon.Clear();
    EXPECT_EQ(bloom->KeyCount(), 0U);
    // What they share lives as long as one of them.
    add();
    bloom.reset();
    EXPECT_EQ(ribbon.Finish().bytes(), expected.bytes());
  }
}

TEST(RibbonBesideBloom, RefusesWhatCreateRefuses) {
  const FilterBuilder bloom = *FilterBuilder::Create({});
  std::string error;
  std::string expected;
  EXPECT_FALSE(FilterBuilder::CreateBeside(bloom, WithBits(31.0), &error));
  EXPECT_FALSE(FilterBuilder::Create(WithBits(31.0), &expected));
  EXPECT_EQ(error, expected);
  EXPECT_FALSE(FilterBuilder::CreateBeside(bloom, WithRate(0.6)));
}

}  // namespace
}  // namespace exactbloom
