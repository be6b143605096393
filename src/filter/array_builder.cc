#include "array_builder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "block_format.h"
#include "kernels/code_word.h"
#include "kernels/kernel_table.h"
#include "kernels/line_fields.h"

namespace exactbloom::filter {
namespace {

using Memory = std::unique_ptr<std::uint64_t[]>;
constexpr std::size_t kChunkBytes = HashStore::kMostChunkHashes * sizeof(std::uint64_t);

// The entries of ranges, in buckets. They move from the hash store's chunks to chunks of the
// buckets, which reuse the memory that the store has emptied: little more is allocated.
//
// A chunk is an array of std::uint64_t, and an Entry may be smaller, so entries are copied into it
// and out of it byte by byte: std::memcpy, which compiles to one store or load.
template <typename Entry>
class RangeBuckets {
 public:
  // Every bucket has a chunk from the beginning. Throws std::bad_alloc.
  RangeBuckets(std::size_t buckets, std::uint64_t keys)
      : buckets_(buckets), new_chunks_left_(keys * kScratchBytesPerKey / kChunkBytes) {
    for (Bucket& bucket : buckets_) {
      bucket.chunks.push_back(Memory(new std::uint64_t[HashStore::kMostChunkHashes]));
      Begin(bucket);
    }
  }

  // Returns false, and adds nothing, if there is no memory for it.
  __attribute__((always_inline)) bool Add(std::size_t number, Entry entry) {
    Bucket& bucket = buckets_[number];
    if (bucket.end == bucket.limit && !Extend(bucket)) return false;
    std::memcpy(bucket.end, &entry, sizeof entry);
    bucket.end += sizeof entry;
    return true;
  }

  // Takes over memory for hashes.
  void Recycle(Memory memory, std::size_t capacity) {
    if (capacity != HashStore::kMostChunkHashes) return;
    try {
      free_.push_back(std::move(memory));
    } catch (const std::bad_alloc&) {
    }
  }

  // Hands out a bucket's entries as take(chunk, count); then it has none.
  template <typename Take>
  void Consume(std::size_t number, Take take) {
    Bucket& bucket = buckets_[number];
    while (true) {
      const std::uint64_t* chunk = bucket.chunks.back().get();
      const auto bytes = bucket.end - reinterpret_cast<const unsigned char*>(chunk);
      take(chunk, static_cast<std::size_t>(bytes) / sizeof(Entry));
      if (bucket.chunks.size() == 1) break;
      Recycle(std::move(bucket.chunks.back()), HashStore::kMostChunkHashes);
      bucket.chunks.pop_back();
      Begin(bucket);
      bucket.end = bucket.limit;
    }
    Begin(bucket);
  }

 private:
  // The entries are in full chunks but for the last one. There is always one.
  struct Bucket {
    unsigned char* end = nullptr;
    unsigned char* limit = nullptr;
    std::vector<Memory> chunks;
  };

  static void Begin(Bucket& bucket) {
    bucket.end = reinterpret_cast<unsigned char*>(bucket.chunks.back().get());
    bucket.limit = bucket.end + kChunkBytes;
  }

  // Returns false, and changes nothing, if memory is short.
  __attribute__((noinline)) bool Extend(Bucket& bucket) {
    try {
      if (free_.empty()) {
        if (new_chunks_left_ == 0) return false;
        Recycle(Memory(new std::uint64_t[HashStore::kMostChunkHashes]),
                HashStore::kMostChunkHashes);
        --new_chunks_left_;
        if (free_.empty()) return false;
      }
      bucket.chunks.emplace_back();
    } catch (const std::bad_alloc&) {
      return false;
    }
    bucket.chunks.back() = std::move(free_.back());
    free_.pop_back();
    Begin(bucket);
    return true;
  }

  std::vector<Bucket> buckets_;
  std::vector<Memory> free_;
  std::uint64_t new_chunks_left_;
};

// What the two passes of both layouts have in common.
template <typename Entry>
class RangeBuilder {
 public:
  virtual ~RangeBuilder() = default;

  // The first pass over these hashes.
  virtual void Distribute(const std::uint64_t* hashes, std::size_t count) = 0;

  void Recycle(Memory memory, std::size_t capacity) {
    buckets_.Recycle(std::move(memory), capacity);
  }

  // The second pass over what has been distributed so far. The first one also clears the array.
  void Fill() {
    for (std::size_t range = 0; range < range_count_; ++range) FillRange(range);
    is_cleared_ = true;
  }

 protected:
  // Throws std::bad_alloc.
  RangeBuilder(unsigned char* array, const FilterDescription& filter, std::uint64_t keys,
               std::size_t range_count, std::size_t buckets_of_range)
      : array_(array),
        filter_(filter),
        kernel_(KernelFor(filter)),
        range_count_(range_count),
        buckets_(buckets_of_range * range_count, keys) {}

  virtual void FillRange(std::size_t range) = 0;

  // Inlined, so that each place that adds has a load of its own.
  __attribute__((always_inline)) void Add(std::size_t bucket, Entry entry) {
    if (buckets_.Add(bucket, entry)) return;
    Fill();
    buckets_.Add(bucket, entry);
  }

  // To be called before a range is filled. Clears it the first time, and fetches it later.
  void PrepareRange(unsigned char* begin, const unsigned char* end) const {
    if (!is_cleared_) {
      std::memset(begin, 0, static_cast<std::size_t>(end - begin));
      return;
    }
    for (const unsigned char* line = begin; line < end; line += kLineBytes) {
      __builtin_prefetch(line, 1);
    }
  }

  unsigned char* array_;
  const FilterDescription& filter_;
  const Kernel& kernel_;
  std::size_t range_count_;
  RangeBuckets<Entry> buckets_;

 private:
  bool is_cleared_ = false;
};

// lines = 1. A key's hash is its only entry: hardly any more memory is allocated, and each range is
// filled just once.
class LineRanges final : public RangeBuilder<std::uint64_t> {
 public:
  LineRanges(unsigned char* array, const FilterDescription& filter, std::uint64_t keys)
      : RangeBuilder(array, filter, keys,
                     std::max<std::uint64_t>(1, ArrayBytes(filter.bits) >> kRangeBytesLog2), 1) {}

  void Distribute(const std::uint64_t* hashes, std::size_t count) override {
    constexpr int kRangeLinesLog2 = kRangeBytesLog2 - 6;
    static_assert(std::size_t{1} << kRangeLinesLog2 ==
                  (std::size_t{1} << kRangeBytesLog2) / kLineBytes);
    const std::uint64_t line_count = filter_.bits / kLineBits;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t line = LineOf(hashes[i], line_count);
      Add(std::min<std::size_t>(line >> kRangeLinesLog2, range_count_ - 1), hashes[i]);
    }
  }

 private:
  void FillRange(std::size_t range) override {
    unsigned char* begin = array_ + (range << kRangeBytesLog2);
    unsigned char* end = range + 1 == range_count_ ? array_ + ArrayBytes(filter_.bits)
                                                   : begin + (std::size_t{1} << kRangeBytesLog2);
    PrepareRange(begin, end);
    buckets_.Consume(range, [this](const std::uint64_t* hashes, std::size_t count) {
      kernel_.add(array_, filter_, hashes, count);
    });
  }
};

// lines = 0.
using Position32 = std::uint32_t;
constexpr int kEntryBits = 32;

// The buckets of a range take entries in turn. A bucket's end is often loaded just after it was
// stored, and processors then make each load of an end wait for the store before it: with one
// bucket for each range the two passes took 19 to 23 ns per key, with four they take 14 to 20.
constexpr std::size_t kBucketsOfRange = 4;

// Ranges are larger where there are few keys for the array, so that the first chunks of all buckets
// take no more than the scratch.
int RangeBitsLog2(std::uint64_t bits, std::uint64_t keys) {
  const std::uint64_t most_ranges =
      std::max<std::uint64_t>(1, keys * kScratchBytesPerKey / (kBucketsOfRange * kChunkBytes));
  int range_bits_log2 = kRangeBytesLog2 + 3;
  while (range_bits_log2 < kEntryBits && (bits - 1) >> range_bits_log2 >= most_ranges) {
    ++range_bits_log2;
  }
  return range_bits_log2;
}

class DrawRanges final : public RangeBuilder<Position32> {
 public:
  DrawRanges(unsigned char* array, const FilterDescription& filter, std::uint64_t keys)
      : RangeBuilder(array, filter, keys,
                     ((filter.bits - 1) >> RangeBitsLog2(filter.bits, keys)) + 1, kBucketsOfRange),
        range_bits_log2_(RangeBitsLog2(filter.bits, keys)) {}

  void Distribute(const std::uint64_t* hashes, std::size_t count) override {
    for (std::size_t i = 0; i < count; i += kLocateKeys) {
      const std::size_t keys = std::min(count - i, kLocateKeys);
      kernel_.locate(filter_, hashes + i, keys, positions_.data());
      const std::size_t positions = keys * static_cast<std::size_t>(filter_.probes);
      std::size_t p = 0;
      for (; p + kBucketsOfRange <= positions; p += kBucketsOfRange) {
#pragma GCC unroll 4
        for (std::size_t turn = 0; turn < kBucketsOfRange; ++turn) {
          AddPosition(positions_[p + turn], turn);
        }
      }
      for (; p < positions; ++p) AddPosition(positions_[p], 0);
    }
  }

 private:
  std::size_t BucketOf(std::size_t range, std::size_t turn) const {
    return turn * range_count_ + range;
  }

  __attribute__((always_inline)) void AddPosition(std::uint64_t position, std::size_t turn) {
    Add(BucketOf(position >> range_bits_log2_, turn), static_cast<Position32>(position));
  }

  void FillRange(std::size_t range) override {
    const std::uint64_t first = static_cast<std::uint64_t>(range) << range_bits_log2_;
    const std::uint64_t end =
        std::min(first + (std::uint64_t{1} << range_bits_log2_), filter_.bits);
    PrepareRange(array_ + first / 8, array_ + ArrayBytes(end));
    // All positions of the range are the same but for the bits of an entry.
    unsigned char* const begin = array_ + (first >> kEntryBits << kEntryBits) / 8;
    for (std::size_t turn = 0; turn < kBucketsOfRange; ++turn) {
      buckets_.Consume(BucketOf(range, turn),
                       [begin](const std::uint64_t* chunk, std::size_t count) {
                         const auto* bytes = reinterpret_cast<const unsigned char*>(chunk);
                         for (std::size_t i = 0; i < count; ++i) {
                           Position32 position;
                           std::memcpy(&position, bytes + i * sizeof position, sizeof position);
                           SetBit(begin, position);
                         }
                       });
    }
  }

  int range_bits_log2_;
  LocatedPositions positions_;
};

// Returns false, with nothing done, if there is no memory for the first entries.
template <typename Ranges>
bool Build(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  try {
    Ranges ranges(array, filter, hashes.size());
    hashes.Consume(
        [&](const std::uint64_t* chunk, std::size_t count) { ranges.Distribute(chunk, count); },
        [&](Memory chunk, std::size_t capacity) { ranges.Recycle(std::move(chunk), capacity); });
    ranges.Fill();
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // from the constructor only
  }
}

}  // namespace

void BuildArrayDirectly(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  std::memset(array, 0, static_cast<std::size_t>(ArrayBytes(filter.bits)));
  const Kernel& kernel = KernelFor(filter);
  hashes.Consume([&](const std::uint64_t* chunk, std::size_t count) {
    kernel.add(array, filter, chunk, count);
  });
}

void BuildArrayByRange(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  const bool is_built = filter.layout.InLines() ? Build<LineRanges>(array, filter, hashes)
                                                : Build<DrawRanges>(array, filter, hashes);
  if (!is_built) BuildArrayDirectly(array, filter, hashes);
}

void BuildArray(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  if (ArrayBytes(filter.bits) <= DirectArrayBytes(filter.layout)) {
    BuildArrayDirectly(array, filter, hashes);
  } else {
    BuildArrayByRange(array, filter, hashes);
  }
}

}  // namespace exactbloom::filter
