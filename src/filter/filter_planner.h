// Which kind of filter a number of keys gets by a builder's options, and of which size.
#pragma once

#include <cstdint>
#include <optional>

#include "exactbloom/filter.h"
#include "ribbon/ribbon_shape.h"

namespace exactbloom::filter {

// Where the kind is chosen and the Bloom filter has at most so many lines, a Ribbon filter competes
// in the block that the Bloom filter would take, and beyond in its own bits. No filter of 1 to
// 1,000 keys then has a higher rate than RocksDB's Bloom filter, whose array is whole lines, too:
// computed for 1 to 28 bits per key. With four lines six sizes are worse, by 1%, and with three up
// to 38%.
inline constexpr std::uint64_t kLinesOfEitherKind = 5;

// The functions are FilterBuilder's.
struct Planner {
  const FilterOptions& options;

  FilterPlan Plan(std::uint64_t keys) const;
  std::optional<FilterPlan> PlanWithin(std::uint64_t keys, std::uint64_t block_bytes) const;
  std::uint64_t BlockBytes(std::uint64_t keys) const;
  std::uint64_t KeysThatFit(std::uint64_t block_bytes) const;

 private:
  bool IsSizedByRate() const { return options.false_positive_rate > 0.0; }
  bool IsRibbon(std::uint64_t keys) const;     // as the kind is set, and it holds so many
  bool MayBeRibbon(std::uint64_t keys) const;  // as no kind is set
  bool MayBeBloom() const { return options.kind != FilterKind::kRibbon; }

  // The kind of its Bloom filters.
  FilterKind Bloom() const;
  // The bits of the largest array in a block of at most `block_bytes`; 0 if there is none.
  std::uint64_t BloomBitsWithin(std::uint64_t keys, std::uint64_t block_bytes) const;
  // The bits that the options ask for; a real number, since it may exceed all limits.
  double WantedBloomBits(std::uint64_t keys) const;
  // A Bloom filter without its probes. Where filters are sized by their rate, finding it takes most
  // of a plan's time.
  struct BloomSize {
    std::uint64_t bits = 0;
    std::uint64_t block_bytes = 0;
    bool is_cut = false;  // the limit of blocks leaves fewer bits than the options ask for
  };
  BloomSize SizeBloom(std::uint64_t keys) const;
  FilterPlan DescribeBloom(std::uint64_t keys, std::uint64_t bits) const;
  std::optional<FilterPlan> PlanBloomWithin(std::uint64_t keys, std::uint64_t block_bytes) const;

  FilterPlan DescribeRibbon(std::uint64_t keys, const RibbonShape& shape) const;
  FilterPlan PlanRibbon(std::uint64_t keys) const;
  FilterPlan PlanRibbonOfRate(std::uint64_t keys) const;
  std::optional<FilterPlan> PlanRibbonWithin(std::uint64_t keys, std::uint64_t block_bytes) const;

  // The plan of a Ribbon filter where no kind is set and it is better than the Bloom filter.
  std::optional<FilterPlan> ChooseRibbon(std::uint64_t keys, const BloomSize& bloom) const;
  bool IsBetter(const FilterPlan& ribbon, std::uint64_t bloom_block_bytes) const;

  // The block of Plan(keys), without looking for the probes of a Bloom filter.
  struct Size {
    std::uint64_t bytes = 0;
    bool is_cut = false;
  };
  Size SizeBlock(std::uint64_t keys) const;

  std::uint64_t BloomKeysOfRate(std::uint64_t block_bytes) const;
  std::uint64_t KeysOfRate(std::uint64_t block_bytes) const;
};

}  // namespace exactbloom::filter
