// Collects the keys of a filter, and builds the kind of it that has the lower exact rate.
//
// A Ribbon filter takes 1.44 times fewer bits than a Bloom filter for the same rate, but its slots
// are whole rows: at 10 bits per key it is worse below some 130 keys, at 2 below some 500. The kind
// is chosen when the keys are known, at equal bytes, or at equal rates by the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/ribbon_filter.h"

namespace exactbloom {

// The filter that a builder makes for a number of keys.
class FilterPlan {
 public:
  std::size_t BlockBytes() const;
  std::uint64_t Keys() const;
  bool IsRibbon() const { return std::holds_alternative<RibbonPlan>(plan_); }
  // Whether the keys need a larger block than RocksDB can read.
  bool IsCut() const;
  // Exact, as its kind's plan tells it; that takes up to some milliseconds.
  double FalsePositiveRate() const;
  // In a microsecond: of Bloom filters by equation (58), whose error hardly depends on the size.
  double RoughRate() const;

 private:
  friend class FilterBuilder;
  explicit FilterPlan(const std::variant<BlockPlan, RibbonPlan>& plan) : plan_(plan) {}

  std::variant<BlockPlan, RibbonPlan> plan_;
};

// As its two builders (bloom_filter.h, ribbon_filter.h), which share their keys.
class FilterBuilder {
 public:
  struct Options {
    BloomKind kind = BloomKind::kClassic;  // of Bloom filters
    bool ribbon = false;                   // whether Ribbon filters are built, too
    double bits_per_key = 10.0;            // kMinBitsPerKey .. kMaxBitsPerKey
    double false_positive_rate = 0.0;      // unless zero, instead of bits_per_key
    std::uint64_t hash_seed = 0;
    std::uint64_t block_bytes_limit = kBlockBytesLimit;
    bool detect_faults = false;
  };

  // Memory per key, in bytes, that is kept for the keys added.
  static constexpr std::uint64_t kBytesPerKey = BloomFilterBuilder::kBytesPerKey;

  // Returns nothing if an option is outside its range. Throws std::bad_alloc, as AddKey,
  // AddKeyAndAlternate and Finish.
  static std::optional<FilterBuilder> Create(const Options& options);

  void AddKey(std::string_view key) { bloom_.AddKey(key); }
  void AddKeyAndAlternate(std::string_view key, std::string_view alternate) {
    bloom_.AddKeyAndAlternate(key, alternate);
  }
  filter::BuilderState& state() { return bloom_.state(); }
  std::uint64_t KeyCount() const { return bloom_.KeyCount(); }
  void Clear() { bloom_.Clear(); }
  ConstructionFault CheckHashes() const { return bloom_.CheckHashes(); }
  ConstructionFault CheckBlock(std::string_view block) { return bloom_.CheckBlock(block); }
  bool DetectsFaults() const { return bloom_.options().detect_faults; }
  bool IsSizedByRate() const { return bloom_.options().false_positive_rate > 0.0; }

  // Changes what the next filters get. Ribbon filters are built from kMinRibbonBitsPerKey on.
  void SetBitsPerKey(double bits_per_key);

  FilterPlan Plan(std::uint64_t keys) const;
  // Returns nothing if no block is that small.
  std::optional<FilterPlan> PlanWithin(std::uint64_t keys, std::uint64_t block_bytes) const;
  // Of Plan(keys), in some microseconds unless filters are sized by their rate.
  std::uint64_t BlockBytes(std::uint64_t keys) const;
  // At the bits per key or rate; 0 if not even one key fits.
  std::uint64_t KeysThatFit(std::uint64_t block_bytes) const;
  // The most memory that Finish takes besides the block.
  std::uint64_t FinishBytes(const FilterPlan& plan) const;
  FilterBlock Finish(const FilterPlan& plan);

 private:
  FilterBuilder(BloomFilterBuilder bloom, std::optional<RibbonFilterBuilder> ribbon)
      : bloom_(std::move(bloom)), ribbon_(std::move(ribbon)) {}

  // Whether a Bloom filter in as many bytes has a higher rate.
  bool IsBest(const RibbonPlan& plan) const;
  // The plan of a Ribbon filter if that is the better one.
  std::optional<RibbonPlan> PlanRibbon(std::uint64_t keys) const;

  BloomFilterBuilder bloom_;
  std::optional<RibbonFilterBuilder> ribbon_;
  bool may_be_ribbon_ = false;  // at these bits per key
};

}  // namespace exactbloom
