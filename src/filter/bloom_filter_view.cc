#include <algorithm>
#include <array>
#include <bitset>

#include "block_format.h"
#include "code_word.h"
#include "draw_kernel.h"
#include "exactbloom/bloom_filter.h"
#include "kernel_table.h"
#include "key_hash.h"
#include "line_fields.h"

namespace exactbloom {
namespace {

// Hashes keys, and fetches the memory that the test of each begins with.
void HashAndFetchLines(const unsigned char* array, const FilterDescription& filter,
                       const std::string_view* keys, std::size_t count, std::uint64_t* hashes) {
  const std::uint64_t seed = filter.hash_seed;
  const std::uint64_t line_count = filter.bits / kLineBits;
  for (std::size_t i = 0; i < count; ++i) {
    hashes[i] = filter::HashKey(keys[i], seed);
    const unsigned char* line =
        array + filter::FirstLine(hashes[i], line_count) * filter::kLineBytes;
    // A line of an unaligned array lies on two cache lines.
    __builtin_prefetch(line);
    __builtin_prefetch(line + filter::kLineBytes - 1);
  }
}

void HashAndFetchDraws(const unsigned char* array, const FilterDescription& filter,
                       const std::string_view* keys, std::size_t count, std::uint64_t* hashes) {
  const std::uint64_t seed = filter.hash_seed;
  const int draws = std::min(filter.probes, filter::kDrawsAtOnce);
  for (std::size_t i = 0; i < count; ++i) {
    hashes[i] = filter::HashKey(keys[i], seed);
    // The exact range of a classic draw is up to k smaller, which rarely moves the cache line.
    for (int draw = 0; draw < draws; ++draw) {
      __builtin_prefetch(array + filter::Draw(hashes[i], draw, filter.bits) / 8);
    }
  }
}

}  // namespace

BloomFilterView::BloomFilterView(std::string_view block) {
  const filter::DecodedBlock decoded = filter::DecodeBlock(block);
  status_ = decoded.status;
  description_ = decoded.description;
  array_ = decoded.array;
  if (status_ == BlockStatus::kUsable) kernel_ = &filter::KernelFor(description_);
}

bool BloomFilterView::MayContain(std::string_view key) const {
  if (kernel_ == nullptr) return true;
  return kernel_->may_contain(array_, description_, key);
}

void BloomFilterView::MayContain(const std::string_view* keys, std::size_t count,
                                 bool* results) const {
  if (kernel_ == nullptr) {
    std::fill_n(results, count, true);
    return;
  }
  const auto hash_and_fetch =
      description_.layout.lines == 0 ? HashAndFetchDraws : HashAndFetchLines;
  std::array<std::uint64_t, filter::kBatchKeys> hashes;
  while (count > 0) {
    const std::size_t batch = std::min(count, filter::kBatchKeys);
    hash_and_fetch(array_, description_, keys, batch, hashes.data());
    kernel_->may_contain_batch(array_, description_, hashes.data(), batch, results);
    keys += batch;
    results += batch;
    count -= batch;
  }
}

std::uint64_t BloomFilterView::CountOnes() const {
  if (status_ != BlockStatus::kUsable) return 0;
  const std::uint64_t whole_bytes = description_.bits / 8;
  std::uint64_t ones = 0;
  for (std::uint64_t i = 0; i < whole_bytes; ++i) ones += std::bitset<8>(array_[i]).count();
  // The bits behind the last position are none of the filter's.
  for (std::uint64_t p = whole_bytes * 8; p < description_.bits; ++p) {
    ones += filter::TestBit(array_, p);
  }
  return ones;
}

}  // namespace exactbloom
