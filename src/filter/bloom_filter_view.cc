#include <bitset>

#include "block_format.h"
#include "code_word.h"
#include "exactbloom/bloom_filter.h"
#include "key_hash.h"

namespace exactbloom {
namespace {

using filter::Draw;
using filter::TestBit;

bool ContainsStandard(const unsigned char* array, std::uint64_t hash, std::uint64_t bits,
                      int probes) {
  for (int i = 0; i < probes; ++i) {
    if (!TestBit(array, Draw(hash, i, bits))) return false;
  }
  return true;
}

// Most absent keys are refused by their first draws, without the code word being made.
bool ContainsClassic(const unsigned char* array, std::uint64_t hash, std::uint64_t bits,
                     int probes) {
  const std::uint64_t first_range = bits - static_cast<std::uint64_t>(probes) + 1;
  for (int i = 0; i < probes; ++i) {
    if (!TestBit(array, Draw(hash, i, first_range + static_cast<std::uint64_t>(i)))) return false;
  }
  const filter::CodeWord word = filter::MakeCodeWord(FilterKind::kClassic, hash, bits, probes);
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
  return description_.kind == FilterKind::kClassic
             ? ContainsClassic(array_, hash, description_.bits, description_.probes)
             : ContainsStandard(array_, hash, description_.bits, description_.probes);
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
