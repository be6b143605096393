// Two passes for lines = 0. An entry is the last 32 bits of a position. A key has several, more
// than fit into the memory of its hash, so the keys are distributed in slices, each followed by a
// second pass.
#include <algorithm>
#include <new>
#include <utility>

#include "array_builder.h"
#include "block_format.h"
#include "kernels/code_word.h"
#include "kernels/kernel_table.h"
#include "range_buckets.h"

namespace exactbloom::filter {
namespace {

using Entry = std::uint32_t;
constexpr int kEntryBits = 32;
using Buckets = RangeBuckets<Entry>;

// They take entries in turn. A bucket's end is often loaded just after it was stored, and
// processors then make each load of an end wait for the store before it: with one bucket for each
// range the two passes took 19 to 23 ns per key, with four they take 14 to 20.
constexpr std::size_t kBucketsOfRange = 4;

// Ranges are larger where there are few keys for the array, so that the first chunks of all buckets
// take no more than the scratch.
int RangeBitsLog2(std::uint64_t bits, std::uint64_t keys) {
  const std::uint64_t most_ranges = std::max<std::uint64_t>(
      1, keys * kScratchBytesPerKey / (kBucketsOfRange * Buckets::kChunkBytes));
  int range_bits_log2 = kRangeBytesLog2 + 3;
  while (range_bits_log2 < kEntryBits && (bits - 1) >> range_bits_log2 >= most_ranges) {
    ++range_bits_log2;
  }
  return range_bits_log2;
}

class DrawRangeBuilder {
 public:
  // Throws std::bad_alloc.
  DrawRangeBuilder(unsigned char* array, const FilterDescription& filter, std::uint64_t keys)
      : array_(array),
        filter_(filter),
        kernel_(KernelFor(filter)),
        range_bits_log2_(RangeBitsLog2(filter.bits, keys)),
        range_count_(((filter.bits - 1) >> range_bits_log2_) + 1),
        buckets_(kBucketsOfRange * range_count_, keys) {}

  void Distribute(const std::uint64_t* hashes, std::size_t count) {
    for (std::size_t i = 0; i < count; i += kLocateKeys) {
      const std::size_t keys = std::min(count - i, kLocateKeys);
      kernel_.locate(filter_, hashes + i, keys, positions_.data());
      const std::size_t positions = keys * static_cast<std::size_t>(filter_.probes);
      std::size_t p = 0;
      for (; p + kBucketsOfRange <= positions; p += kBucketsOfRange) {
#pragma GCC unroll 4
        for (std::size_t turn = 0; turn < kBucketsOfRange; ++turn) Add(positions_[p + turn], turn);
      }
      for (; p < positions; ++p) Add(positions_[p], 0);
    }
  }

  void Recycle(Buckets::Memory memory, std::size_t capacity) {
    buckets_.Recycle(std::move(memory), capacity);
  }

  // The second pass over what has been distributed so far. The first one also clears the array.
  void Fill() {
    for (std::size_t range = 0; range < range_count_; ++range) FillRange(range);
    is_cleared_ = true;
  }

 private:
  std::size_t BucketOf(std::size_t range, std::size_t turn) const {
    return turn * range_count_ + range;
  }

  // Inlined, so that each turn has a load of its own.
  __attribute__((always_inline)) void Add(std::uint64_t position, std::size_t turn) {
    const std::size_t bucket = BucketOf(position >> range_bits_log2_, turn);
    const auto entry = static_cast<Entry>(position);
    if (buckets_.Add(bucket, entry)) return;
    Fill();
    buckets_.Add(bucket, entry);
  }

  void FillRange(std::size_t range) {
    const std::uint64_t first = static_cast<std::uint64_t>(range) << range_bits_log2_;
    const std::uint64_t end =
        std::min(first + (std::uint64_t{1} << range_bits_log2_), filter_.bits);
    PrepareRange(array_ + first / 8, array_ + ArrayBytes(end), is_cleared_);
    // All positions of the range are the same but for the bits of an entry.
    unsigned char* const begin = array_ + (first >> kEntryBits << kEntryBits) / 8;
    for (std::size_t turn = 0; turn < kBucketsOfRange; ++turn) {
      buckets_.Consume(BucketOf(range, turn), [begin](const Entry* entries, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) SetBit(begin, entries[i]);
      });
    }
  }

  unsigned char* array_;
  const FilterDescription& filter_;
  const Kernel& kernel_;
  int range_bits_log2_;
  std::size_t range_count_;
  Buckets buckets_;
  LocatedPositions positions_;
  bool is_cleared_ = false;
};

}  // namespace

bool BuildDrawsByRange(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  try {
    DrawRangeBuilder builder(array, filter, hashes.size());
    hashes.Consume(
        [&](const std::uint64_t* chunk, std::size_t count) { builder.Distribute(chunk, count); },
        [&](Buckets::Memory chunk, std::size_t capacity) {
          builder.Recycle(std::move(chunk), capacity);
        });
    builder.Fill();
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // from the constructor only
  }
}

}  // namespace exactbloom::filter
