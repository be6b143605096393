// RocksDB's own Bloom filters beside the exact rate of cache lines.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "exactbloom/false_positive_rate.h"
#include "plugin/filter_bits_interface.h"
#include "sst/block_description.h"
#include "tool/rate/built_in_bloom.h"

namespace exactbloom {
namespace {

using rocksdb::Slice;

// Key `number` of the filter of a seed; numbers from kAbsent on are in no filter.
constexpr std::uint64_t kAbsent = std::uint64_t{1} << 40;

struct Key {
  char bytes[16];

  Key(std::uint64_t seed, std::uint64_t number) {
    std::memcpy(bytes, &seed, sizeof(seed));
    std::memcpy(bytes + sizeof(seed), &number, sizeof(number));
  }
  Slice slice() const { return {bytes, sizeof(bytes)}; }
};

class BuiltIn {
 public:
  explicit BuiltIn(double bits_per_key) : policy_(rocksdb::NewBloomFilterPolicy(bits_per_key)) {
    options_.format_version = 5;
    options_.optimize_filters_for_memory = false;  // from 9.2 on it is set
  }

  Slice Build(std::uint64_t seed, std::uint64_t keys) {
    const rocksdb::FilterBuildingContext context(options_);
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy_->GetBuilderWithContext(context));
    for (std::uint64_t i = 0; i < keys; ++i) builder->AddKey(Key(seed, i).slice());
    return builder->Finish(&buffer_);
  }

  // How many of the absent keys pass, in `filters` filters.
  std::uint64_t Passed(std::uint64_t keys, std::uint64_t filters, std::uint64_t asked) {
    std::uint64_t passed = 0;
    for (std::uint64_t seed = 0; seed < filters; ++seed) {
      const std::unique_ptr<rocksdb::FilterBitsReader> reader(
          policy_->GetFilterBitsReader(Build(seed, keys)));
      for (std::uint64_t i = 0; i < asked; ++i) {
        if (reader->MayMatch(Key(seed, kAbsent + i).slice())) ++passed;
      }
    }
    return passed;
  }

 private:
  rocksdb::BlockBasedTableOptions options_;
  std::unique_ptr<const rocksdb::FilterPolicy> policy_;
  std::unique_ptr<const char[]> buffer_;
};

TEST(BuiltInBloom, HasTheLinesAndTheProbesOfRocksDB) {
  for (const std::uint64_t keys : {1, 17, 100, 2048, 30'000}) {
    for (int tenths = 10; tenths <= 1000; tenths += 7) {
      const tool::BuiltInBloom planned =
          tool::BuiltInBloomOf(keys, static_cast<std::uint64_t>(tenths) * 100);
      BuiltIn filter(tenths / 10.0);
      const Slice block = filter.Build(1, keys);
      EXPECT_EQ(planned.BlockBytes(), block.size()) << keys << " " << tenths;
      EXPECT_EQ(planned.probes, DescribeFilterBlock(block).probes) << keys << " " << tenths;
    }
  }
}

// Of one millibit more than whole lines hold.
TEST(BuiltInBloom, HasALineMoreForLessThanABit) {
  for (const auto& [keys, millibits] :
       {std::pair{25, 20'500}, {41, 12'500}, {491, 7'300}, {1997, 9'999}}) {
    BuiltIn filter(millibits / 1000.0);
    EXPECT_EQ(tool::BuiltInBloomOf(static_cast<std::uint64_t>(keys),
                                   static_cast<std::uint64_t>(millibits))
                  .BlockBytes(),
              filter.Build(1, static_cast<std::uint64_t>(keys)).size())
        << keys << " " << millibits;
  }
}

// The seeds are fixed, so the outcome is always the same. 0.4% is two deviations of the measurement
// with the fewest false positives.
TEST(BuiltInBloom, HasTheExactRateOfItsLines) {
  struct Measurement {
    std::uint64_t keys, filters, asked;
  };
  for (const double bits_per_key : {5.0, 10.0, 16.0}) {
    for (const auto& [keys, filters, asked] : {Measurement{100, 4000, 2000},
                                               {1000, 1000, 8000},
                                               {100'000, 10, 800'000},
                                               {10'000'000, 1, 1'000'000}}) {
      if (keys > 1'000'000 && bits_per_key != 10.0) continue;
      const double exact =
          tool::BuiltInBloomOf(keys, static_cast<std::uint64_t>(bits_per_key * 1000)).rate;
      const double all = static_cast<double>(filters) * static_cast<double>(asked);
      const auto passed = static_cast<double>(BuiltIn(bits_per_key).Passed(keys, filters, asked));
      const double noise = 3.0 / std::sqrt(passed);
      EXPECT_NEAR(passed / all / exact, 1.0, 0.01 + (bits_per_key > 10.0 ? noise : 0.0))
          << keys << " keys, " << bits_per_key << ": " << passed / all << " and " << exact;
    }
  }
}

}  // namespace
}  // namespace exactbloom
