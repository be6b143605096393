// Two passes for lines = 1 and 2. All lines of a key lie within one range, so its hash is its only
// entry. The hashes move from the store's chunks to chunks of their ranges, which reuse the memory
// that the store has emptied: hardly any more is allocated, and each range is filled just once.
#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "array_builder.h"
#include "block_format.h"
#include "kernels/code_word.h"
#include "kernels/kernel_table.h"
#include "kernels/line_fields.h"

namespace exactbloom::filter {
namespace {

using Hashes = std::unique_ptr<std::uint64_t[]>;

constexpr std::size_t kChunkHashes = HashStore::kMostChunkHashes;

// The hashes of a range, in full chunks but for the last one. There is always one.
struct Bucket {
  std::vector<Hashes> chunks;
  std::uint64_t* end = nullptr;
  std::uint64_t* limit = nullptr;

  void Begin() {
    end = chunks.back().get();
    limit = end + kChunkHashes;
  }
};

class LineRanges {
 public:
  // Throws std::bad_alloc.
  LineRanges(unsigned char* array, const FilterDescription& filter, std::uint64_t keys)
      : array_(array),
        filter_(filter),
        kernel_(KernelFor(filter)),
        line_count_(filter.bits / kLineBits),
        buckets_(std::max<std::uint64_t>(1, ArrayBytes(filter.bits) >> kRangeBytesLog2)),
        new_chunks_left_(keys * kScratchBytesPerKey / (kChunkHashes * sizeof(std::uint64_t))) {
    for (Bucket& bucket : buckets_) {
      bucket.chunks.push_back(Hashes(new std::uint64_t[kChunkHashes]));
      bucket.Begin();
    }
  }

  void Distribute(const std::uint64_t* hashes, std::size_t count) {
    constexpr int kRangeLinesLog2 = kRangeBytesLog2 - 6;
    static_assert(std::size_t{1} << kRangeLinesLog2 ==
                  (std::size_t{1} << kRangeBytesLog2) / kLineBytes);
    const std::size_t last = buckets_.size() - 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t line = FirstLine(hashes[i], line_count_);
      Bucket& bucket = buckets_[std::min<std::size_t>(line >> kRangeLinesLog2, last)];
      if (bucket.end == bucket.limit) Extend(bucket);
      *bucket.end++ = hashes[i];
    }
  }

  // Takes over memory for hashes.
  void Recycle(Hashes hashes, std::size_t capacity) {
    if (capacity != kChunkHashes) return;
    try {
      free_.push_back(std::move(hashes));
    } catch (const std::bad_alloc&) {
    }
  }

  // The second pass over what has been distributed so far. The first one also clears the array.
  void Fill() {
    for (std::size_t range = 0; range < buckets_.size(); ++range) FillRange(range);
    is_cleared_ = true;
  }

 private:
  void Extend(Bucket& bucket) {
    if (!AddChunk(bucket)) Fill();
  }

  // Returns false, and changes nothing, if memory is short.
  bool AddChunk(Bucket& bucket) {
    try {
      if (free_.empty()) {
        if (new_chunks_left_ == 0) return false;
        Recycle(Hashes(new std::uint64_t[kChunkHashes]), kChunkHashes);
        --new_chunks_left_;
        if (free_.empty()) return false;
      }
      bucket.chunks.emplace_back();
    } catch (const std::bad_alloc&) {
      return false;
    }
    bucket.chunks.back() = std::move(free_.back());
    free_.pop_back();
    bucket.Begin();
    return true;
  }

  void FillRange(std::size_t range) {
    Bucket& bucket = buckets_[range];
    unsigned char* begin = array_ + (range << kRangeBytesLog2);
    unsigned char* end = range + 1 == buckets_.size() ? array_ + ArrayBytes(filter_.bits)
                                                      : begin + (std::size_t{1} << kRangeBytesLog2);
    PrepareRange(begin, end, is_cleared_);
    const std::size_t in_last = static_cast<std::size_t>(bucket.end - bucket.chunks.back().get());
    for (std::size_t i = 0; i < bucket.chunks.size(); ++i) {
      const bool is_last = i + 1 == bucket.chunks.size();
      kernel_.add(array_, filter_, bucket.chunks[i].get(), is_last ? in_last : kChunkHashes);
      if (i != 0) Recycle(std::move(bucket.chunks[i]), kChunkHashes);
    }
    bucket.chunks.resize(1);
    bucket.Begin();
  }

  unsigned char* array_;
  const FilterDescription& filter_;
  const Kernel& kernel_;
  std::uint64_t line_count_;
  std::vector<Bucket> buckets_;
  std::vector<Hashes> free_;
  std::uint64_t new_chunks_left_;
  bool is_cleared_ = false;
};

}  // namespace

bool BuildLinesByRange(unsigned char* array, const FilterDescription& filter, HashStore& hashes) {
  try {
    LineRanges ranges(array, filter, hashes.size());
    hashes.Consume(
        [&](const std::uint64_t* chunk, std::size_t count) { ranges.Distribute(chunk, count); },
        [&](Hashes chunk, std::size_t capacity) { ranges.Recycle(std::move(chunk), capacity); });
    ranges.Fill();
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // from the constructor only
  }
}

}  // namespace exactbloom::filter
