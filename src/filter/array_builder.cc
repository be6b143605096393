#include "array_builder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "block_format.h"
#include "kernels/code_word.h"

namespace exactbloom::filter {
namespace {

using Memory = std::unique_ptr<std::uint64_t[]>;
constexpr std::size_t kChunkBytes = HashStore::kMostChunkHashes * sizeof(std::uint64_t);

// The last bits of a position.
using Entry = std::uint32_t;
constexpr int kEntryBits = 32;

// The entries of ranges, in buckets. They move from the hash store's chunks to chunks of the
// buckets, which reuse the memory that the store has emptied: little more is allocated.
//
// A chunk is an array of std::uint64_t, and an Entry is smaller, so entries are copied into it and
// out of it byte by byte: std::memcpy, which compiles to one store or load.
class RangeBuckets {
 public:
  // Every bucket has a chunk from the beginning, and there is room for the numbers of all others.
  // Throws std::bad_alloc; no other function does.
  RangeBuckets(std::size_t buckets, std::uint64_t keys)
      : buckets_(buckets), new_chunks_left_(keys * kScratchBytesPerKey / kChunkBytes) {
    chunks_.reserve(buckets + new_chunks_left_ + keys / HashStore::kMostChunkHashes + 1);
    for (Bucket& bucket : buckets_) {
      bucket.last_chunk = chunks_.size();
      chunks_.push_back({Memory(new std::uint64_t[HashStore::kMostChunkHashes]), kNone});
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
    if (memory == nullptr || capacity != HashStore::kMostChunkHashes) return;
    chunks_.push_back({std::move(memory), free_});
    free_ = chunks_.size() - 1;
  }

  // Hands out a bucket's entries as take(chunk, count); then it has none.
  template <typename Take>
  void Consume(std::size_t number, Take take) {
    Bucket& bucket = buckets_[number];
    while (true) {
      Chunk& chunk = chunks_[bucket.last_chunk];
      const auto bytes = bucket.end - reinterpret_cast<unsigned char*>(chunk.memory.get());
      take(chunk.memory.get(), static_cast<std::size_t>(bytes) / sizeof(Entry));
      if (chunk.before == kNone) break;
      const std::size_t taken = std::exchange(bucket.last_chunk, chunk.before);
      chunk.before = std::exchange(free_, taken);
      Begin(bucket);
      bucket.end = bucket.limit;
    }
    Begin(bucket);
  }

 private:
  static constexpr auto kNone = static_cast<std::size_t>(-1);

  struct Chunk {
    Memory memory;
    std::size_t before;  // the number of the one before it, in its bucket or among the free ones
  };

  // The entries are in full chunks but for the last one. There is always one.
  struct Bucket {
    unsigned char* end = nullptr;
    unsigned char* limit = nullptr;
    std::size_t last_chunk = kNone;
  };

  void Begin(Bucket& bucket) {
    bucket.end = reinterpret_cast<unsigned char*>(chunks_[bucket.last_chunk].memory.get());
    bucket.limit = bucket.end + kChunkBytes;
  }

  // Returns false, and changes nothing, if memory is short.
  __attribute__((noinline)) bool Extend(Bucket& bucket) {
    if (free_ == kNone && new_chunks_left_ > 0) {
      --new_chunks_left_;
      Recycle(Memory(new (std::nothrow) std::uint64_t[HashStore::kMostChunkHashes]),
              HashStore::kMostChunkHashes);
    }
    if (free_ == kNone) return false;
    Chunk& chunk = chunks_[free_];
    const std::size_t taken = std::exchange(free_, chunk.before);
    chunk.before = std::exchange(bucket.last_chunk, taken);
    Begin(bucket);
    return true;
  }

  std::vector<Bucket> buckets_;
  std::vector<Chunk> chunks_;
  std::size_t free_ = kNone;
  std::uint64_t new_chunks_left_;
};

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

class RangeBuilder {
 public:
  // Throws std::bad_alloc.
  RangeBuilder(unsigned char* array, const BloomDescription& filter, std::uint64_t keys)
      : array_(array),
        filter_(filter),
        kernel_(KernelFor(filter)),
        range_bits_log2_(RangeBitsLog2(filter.bits, keys)),
        range_count_(((filter.bits - 1) >> range_bits_log2_) + 1),
        buckets_(kBucketsOfRange * range_count_, keys) {}

  // The first pass over these hashes.
  void Distribute(const std::uint64_t* hashes, std::size_t count) {
    for (std::size_t i = 0; i < count; i += kLocateKeys) {
      const std::size_t keys = std::min(count - i, kLocateKeys);
      kernel_.locate(filter_, hashes + i, keys, positions_.data());
      const std::size_t positions = keys * static_cast<std::size_t>(filter_.probes);
      std::size_t p = 0;
      for (; p + kBucketsOfRange <= positions; p += kBucketsOfRange) {
#pragma GCC unroll 4
        for (std::size_t turn = 0; turn < kBucketsOfRange; ++turn) {
          Add(positions_[p + turn], turn);
        }
      }
      for (; p < positions; ++p) Add(positions_[p], 0);
    }
  }

  void Recycle(Memory memory, std::size_t capacity) {
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

  // Inlined, so that each place that adds has a load of its own.
  __attribute__((always_inline)) void Add(std::uint64_t position, std::size_t turn) {
    const std::size_t bucket = BucketOf(position >> range_bits_log2_, turn);
    if (buckets_.Add(bucket, static_cast<Entry>(position))) return;
    Fill();
    buckets_.Add(bucket, static_cast<Entry>(position));
  }

  // Clears the range the first time, and fetches it later.
  void PrepareRange(unsigned char* begin, const unsigned char* end) const {
    if (!is_cleared_) {
      std::memset(begin, 0, static_cast<std::size_t>(end - begin));
      return;
    }
    constexpr std::size_t kLineBytes = 64;
    for (const unsigned char* line = begin; line < end; line += kLineBytes) {
      __builtin_prefetch(line, 1);
    }
  }

  void FillRange(std::size_t range) {
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
                           Entry entry;
                           std::memcpy(&entry, bytes + i * sizeof entry, sizeof entry);
                           SetBit(begin, entry);
                         }
                       });
    }
  }

  unsigned char* array_;
  const BloomDescription& filter_;
  const Kernel& kernel_;
  int range_bits_log2_;
  std::size_t range_count_;
  RangeBuckets buckets_;
  LocatedPositions positions_;
  bool is_cleared_ = false;
};

}  // namespace

void BuildArrayDirectly(unsigned char* array, const BloomDescription& filter, HashStore& hashes) {
  std::memset(array, 0, static_cast<std::size_t>(ArrayBytes(filter.bits)));
  const Kernel& kernel = KernelFor(filter);
  hashes.Consume([&](const std::uint64_t* chunk, std::size_t count) {
    AddKeys(kernel, array, filter, chunk, count);
  });
}

void BuildArrayByRange(unsigned char* array, const BloomDescription& filter, HashStore& hashes) {
  std::optional<RangeBuilder> ranges;
  try {
    ranges.emplace(array, filter, hashes.size());
  } catch (const std::bad_alloc&) {
    return BuildArrayDirectly(array, filter, hashes);
  }
  hashes.Consume(
      [&](const std::uint64_t* chunk, std::size_t count) { ranges->Distribute(chunk, count); },
      [&](Memory chunk, std::size_t capacity) { ranges->Recycle(std::move(chunk), capacity); });
  ranges->Fill();
}

void BuildArray(unsigned char* array, const BloomDescription& filter, HashStore& hashes) {
  if (ArrayBytes(filter.bits) <= kDirectArrayBytes) {
    BuildArrayDirectly(array, filter, hashes);
  } else {
    BuildArrayByRange(array, filter, hashes);
  }
}

}  // namespace exactbloom::filter
