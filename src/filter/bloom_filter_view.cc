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

// Fetches the memory that the test of a key begins with.
class FirstBytes {
 public:
  FirstBytes(const unsigned char* array, const FilterDescription& filter)
      : array_(array),
        lines_(filter.layout.lines),
        range_(lines_ == 0 ? filter.bits : filter.bits / kLineBits),
        draws_(std::min(filter.probes, filter::kDrawsAtOnce)) {}

  void Prefetch(std::uint64_t hash) const {
    if (lines_ == 0) {
      // The exact range of a classic draw is up to k smaller, which rarely moves the cache line.
      for (int i = 0; i < draws_; ++i) {
        __builtin_prefetch(array_ + filter::Draw(hash, i, range_) / 8);
      }
      return;
    }
    // Lines of an unaligned array lie on two cache lines.
    const unsigned char* line = array_ + filter::FirstLine(hash, range_) * filter::kLineBytes;
    __builtin_prefetch(line);
    __builtin_prefetch(line + filter::kLineBytes - 1);
  }

 private:
  const unsigned char* array_;
  int lines_;
  std::uint64_t range_;
  int draws_;
};

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
  return kernel_->may_contain(array_, description_, filter::HashKey(key, description_.hash_seed));
}

void BloomFilterView::MayContain(const std::string_view* keys, std::size_t count,
                                 bool* results) const {
  if (kernel_ == nullptr) {
    std::fill_n(results, count, true);
    return;
  }
  const FirstBytes first_bytes(array_, description_);
  std::array<std::uint64_t, filter::kBatchKeys> hashes;
  while (count > 0) {
    const std::size_t batch = std::min(count, filter::kBatchKeys);
    for (std::size_t i = 0; i < batch; ++i) {
      hashes[i] = filter::HashKey(keys[i], description_.hash_seed);
      first_bytes.Prefetch(hashes[i]);
    }
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
