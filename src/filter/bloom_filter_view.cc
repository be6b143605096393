#include <bitset>

#include "block_format.h"
#include "code_word.h"
#include "exactbloom/bloom_filter.h"
#include "key_hash.h"

namespace exactbloom {
namespace {

using filter::TestBit;

bool ContainsWord(const unsigned char* array, const filter::CodeWord& word) {
  for (int i = 0; i < word.size; ++i) {
    if (!TestBit(array, word.positions[static_cast<std::size_t>(i)])) return false;
  }
  return true;
}

}  // namespace

BloomFilterView::BloomFilterView(std::string_view block) {
  const filter::DecodedBlock decoded = filter::DecodeBlock(block);
  status_ = decoded.status;
  description_ = decoded.description;
  array_ = decoded.array;
}

bool BloomFilterView::MayContain(std::string_view key) const {
  if (status_ != BlockStatus::kUsable) return true;
  const std::uint64_t hash = filter::HashKey(key, description_.hash_seed);
  return ContainsWord(array_, filter::MakeCodeWord(description_.layout, hash, description_.bits,
                                                   description_.probes));
}

std::uint64_t BloomFilterView::CountOnes() const {
  if (status_ != BlockStatus::kUsable) return 0;
  const std::uint64_t whole_bytes = description_.bits / 8;
  std::uint64_t ones = 0;
  for (std::uint64_t i = 0; i < whole_bytes; ++i) ones += std::bitset<8>(array_[i]).count();
  // The bits behind the last position are none of the filter's.
  for (std::uint64_t p = whole_bytes * 8; p < description_.bits; ++p) ones += TestBit(array_, p);
  return ones;
}

}  // namespace exactbloom
