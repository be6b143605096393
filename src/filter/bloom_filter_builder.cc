#include <algorithm>

#include "array_builder.h"
#include "block_format.h"
#include "construction_check.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "filter_sizing.h"
#include "hash_store.h"
#include "kernels/key_hash.h"

namespace exactbloom {

std::optional<BloomFilterBuilder> BloomFilterBuilder::Create(const Options& options) {
  // Written so that NaN is refused.
  const bool bits_in_range =
      options.bits_per_key >= kMinBitsPerKey && options.bits_per_key <= kMaxBitsPerKey;
  const bool rate_in_range =
      options.false_positive_rate == 0.0 || (options.false_positive_rate >= kMinTargetRate &&
                                             options.false_positive_rate <= kMaxTargetRate);
  if (!bits_in_range || !rate_in_range || !options.layout.IsValid()) return std::nullopt;
  const bool limit_in_range =
      options.block_bytes_limit <= kBlockBytesLimit &&
      options.block_bytes_limit > kLineBits / 8 * kMaxLines + filter::kTrailerBytes;
  if (!limit_in_range) return std::nullopt;
  return BloomFilterBuilder(options);
}

BloomFilterBuilder::BloomFilterBuilder(const Options& options)
    : options_(options),
      hashes_(std::make_unique<filter::HashStore>(
          options.detect_faults ? filter::Consumed::kKept : filter::Consumed::kFreed)),
      check_(options.detect_faults ? std::make_unique<filter::ConstructionCheck>() : nullptr) {}

BloomFilterBuilder::BloomFilterBuilder(BloomFilterBuilder&&) noexcept = default;
BloomFilterBuilder& BloomFilterBuilder::operator=(BloomFilterBuilder&&) noexcept = default;
BloomFilterBuilder::~BloomFilterBuilder() = default;

void BloomFilterBuilder::AddHash(std::uint64_t hash) {
  // Hardly ever equal, so the second comparison is hardly ever made.
  if (hash == last_hash_ && !hashes_->empty()) return;
  hashes_->Append(hash);
  last_hash_ = hash;
  if (check_ != nullptr) check_->Note(hash);
}

__attribute__((flatten)) void BloomFilterBuilder::AddKey(std::string_view key) {
  AddHash(filter::HashMostlyShortKey(key, options_.hash_seed));
}

void BloomFilterBuilder::AddKeyAndAlternate(std::string_view key, std::string_view alternate) {
  const std::optional<std::uint64_t> previous = last_alternate_hash_;
  last_alternate_hash_ = filter::HashMostlyShortKey(alternate, options_.hash_seed);
  if (last_alternate_hash_ != previous) AddHash(*last_alternate_hash_);
  const std::uint64_t hash = filter::HashMostlyShortKey(key, options_.hash_seed);
  if (hash != previous) AddHash(hash);
}

std::uint64_t BloomFilterBuilder::KeyCount() const { return hashes_->size(); }

void BloomFilterBuilder::Clear() {
  last_alternate_hash_.reset();
  hashes_->Clear();
  if (check_ != nullptr) check_->Clear();
}

FilterDescription BloomFilterBuilder::DescribeBits(std::uint64_t bits) const {
  FilterDescription description;
  description.layout = options_.layout;
  description.keys = KeyCount();
  description.hash_seed = options_.hash_seed;
  description.bits = bits;
  description.probes =
      filter::RememberedOptimalProbes(options_.layout, description.bits, description.keys);
  return description;
}

FilterDescription BloomFilterBuilder::Describe(std::size_t block_bytes) const {
  return DescribeBits(BitsThatFit(block_bytes));
}

FilterBlock BloomFilterBuilder::Finish() {
  return Build(DescribeBits(filter::BitsOf(options_, KeyCount())));
}

FilterBlock BloomFilterBuilder::Finish(std::size_t block_bytes) {
  return Build(Describe(block_bytes));
}

FilterBlock BloomFilterBuilder::Build(const FilterDescription& description) {
  last_alternate_hash_.reset();
  FilterBlock block;
  const auto array_bytes = static_cast<std::size_t>(filter::ArrayBytes(description.bits));
  block.size = array_bytes + filter::kTrailerBytes;
  block.data.reset(new char[block.size]);
  auto* array = reinterpret_cast<unsigned char*>(block.data.get());
  filter::BuildArray(array, description, *hashes_);
  filter::EncodeTrailer(description, array + array_bytes);
  if (check_ != nullptr) check_->Keep(*hashes_, block.bytes());
  return block;
}

ConstructionFault BloomFilterBuilder::CheckHashes() const {
  const bool is_intact = check_ == nullptr || check_->Fits(*hashes_);
  return is_intact ? ConstructionFault::kNone : ConstructionFault::kHashes;
}

ConstructionFault BloomFilterBuilder::CheckBlock(std::string_view block) {
  return check_ == nullptr ? ConstructionFault::kNone : check_->CheckBlock(block);
}

std::uint64_t BloomFilterBuilder::BitsThatFit(std::uint64_t block_bytes) const {
  if (block_bytes <= filter::kTrailerBytes) return 0;
  const std::uint64_t granularity = options_.layout.Granularity();
  const std::uint64_t bits =
      (std::min(block_bytes, options_.block_bytes_limit - 1) - filter::kTrailerBytes) * 8 /
      granularity * granularity;
  return bits < filter::ArrayBytes(options_.layout.LeastBits()) * 8 ? 0 : bits;
}

std::uint64_t BloomFilterBuilder::KeysThatFit(std::uint64_t block_bytes) const {
  const std::uint64_t bits = BitsThatFit(block_bytes);
  if (bits == 0) return 0;
  if (options_.false_positive_rate > 0.0) {
    return MostKeys(options_.layout, bits, options_.false_positive_rate).value_or(0);
  }
  return static_cast<std::uint64_t>(static_cast<double>(bits) / options_.bits_per_key);
}

std::uint64_t BloomFilterBuilder::BlockBytes(std::uint64_t keys) const {
  return filter::ArrayBytes(filter::BitsOf(options_, keys)) + filter::kTrailerBytes;
}

double BloomFilterBuilder::FalsePositiveRateOfBlock(std::uint64_t keys,
                                                    std::uint64_t block_bytes) const {
  const std::uint64_t bits = BitsThatFit(block_bytes);
  if (bits == 0) return 1.0;
  return FalsePositiveRate(options_.layout, bits, keys,
                           filter::RememberedOptimalProbes(options_.layout, bits, keys));
}

bool BloomFilterBuilder::ExceedsBlockLimit() const {
  return filter::ExceedsBlockLimit(options_, KeyCount());
}

}  // namespace exactbloom
