#include <algorithm>

#include "array_builder.h"
#include "block_format.h"
#include "exactbloom/bloom_filter.h"
#include "filter_sizing.h"
#include "hash_store.h"
#include "key_hash.h"

namespace exactbloom {

std::optional<BloomFilterBuilder> BloomFilterBuilder::Create(const Options& options) {
  // Written so that NaN is refused.
  const bool bits_in_range =
      options.bits_per_key >= kMinBitsPerKey && options.bits_per_key <= kMaxBitsPerKey;
  const bool rate_in_range =
      options.false_positive_rate == 0.0 || (options.false_positive_rate >= kMinTargetRate &&
                                             options.false_positive_rate <= kMaxTargetRate);
  const bool lines_in_range = options.layout.lines >= 0 && options.layout.lines <= kMaxLines;
  if (!bits_in_range || !rate_in_range || !lines_in_range) return std::nullopt;
  const bool limit_in_range =
      options.block_bytes_limit <= kBlockBytesLimit &&
      options.block_bytes_limit > kLineBits / 8 * kMaxLines + filter::kTrailerBytes;
  if (!limit_in_range) return std::nullopt;
  return BloomFilterBuilder(options);
}

BloomFilterBuilder::BloomFilterBuilder(const Options& options)
    : options_(options), hashes_(std::make_unique<filter::HashStore>()) {}

BloomFilterBuilder::BloomFilterBuilder(BloomFilterBuilder&&) noexcept = default;
BloomFilterBuilder& BloomFilterBuilder::operator=(BloomFilterBuilder&&) noexcept = default;
BloomFilterBuilder::~BloomFilterBuilder() = default;

void BloomFilterBuilder::AddKey(std::string_view key) {
  const std::uint64_t hash = filter::HashKey(key, options_.hash_seed);
  if (hashes_->empty() || hashes_->back() != hash) hashes_->Append(hash);
}

std::uint64_t BloomFilterBuilder::KeyCount() const { return hashes_->size(); }

void BloomFilterBuilder::Clear() { hashes_->Clear(); }

FilterBlock BloomFilterBuilder::Finish() {
  FilterDescription description;
  description.layout = options_.layout;
  description.keys = KeyCount();
  description.hash_seed = options_.hash_seed;
  description.bits = filter::BitsOf(options_, description.keys);
  description.probes =
      filter::RememberedOptimalProbes(options_.layout, description.bits, description.keys);

  FilterBlock block;
  const auto array_bytes = static_cast<std::size_t>(filter::ArrayBytes(description.bits));
  block.size = array_bytes + filter::kTrailerBytes;
  block.data.reset(new char[block.size]);
  auto* array = reinterpret_cast<unsigned char*>(block.data.get());
  filter::BuildArray(array, description, *hashes_);
  filter::EncodeTrailer(description, array + array_bytes);
  return block;
}

std::uint64_t BloomFilterBuilder::KeysThatFit(std::uint64_t block_bytes) const {
  if (block_bytes <= filter::kTrailerBytes) return 0;
  const std::uint64_t granularity = BitGranularity(options_.layout);
  const std::uint64_t array_bits =
      (std::min(block_bytes, options_.block_bytes_limit - 1) - filter::kTrailerBytes) * 8 /
      granularity * granularity;
  if (array_bits < filter::FewestArrayBytes(options_.layout) * 8) return 0;
  if (options_.false_positive_rate > 0.0) {
    return MostKeys(options_.layout, array_bits, options_.false_positive_rate).value_or(0);
  }
  return static_cast<std::uint64_t>(static_cast<double>(array_bits) / options_.bits_per_key);
}

bool BloomFilterBuilder::ExceedsBlockLimit() const {
  return filter::ExceedsBlockLimit(options_, KeyCount());
}

}  // namespace exactbloom
