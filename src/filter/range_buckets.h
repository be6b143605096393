// What the ranges of an array are to be filled with (array_builder.h), in buckets. The entries move
// from the hash store's chunks to chunks of the buckets, which reuse the memory that the store has
// emptied: little more is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "array_builder.h"
#include "hash_store.h"

namespace exactbloom::filter {

// Entry is a type that hashes' memory can hold, std::uint32_t or std::uint64_t.
template <typename Entry>
class RangeBuckets {
 public:
  using Memory = std::unique_ptr<std::uint64_t[]>;
  static constexpr std::size_t kChunkBytes = HashStore::kMostChunkHashes * sizeof(std::uint64_t);

  // Every bucket has a chunk from the beginning. Throws std::bad_alloc.
  RangeBuckets(std::size_t buckets, std::uint64_t keys)
      : buckets_(buckets), new_chunks_left_(keys * kScratchBytesPerKey / kChunkBytes) {
    for (Bucket& bucket : buckets_) {
      bucket.chunks.push_back(Memory(new std::uint64_t[HashStore::kMostChunkHashes]));
      Begin(bucket);
    }
  }

  // Returns false, and adds nothing, if there is no memory for it.
  bool Add(std::size_t number, Entry entry) {
    Bucket& bucket = buckets_[number];
    if (bucket.end == bucket.limit && !Extend(bucket)) return false;
    *bucket.end++ = entry;
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

  // Hands out a bucket's entries as take(entries, count); then it has none.
  template <typename Take>
  void Consume(std::size_t number, Take take) {
    Bucket& bucket = buckets_[number];
    while (true) {
      const Entry* begin = EntriesOf(bucket.chunks.back());
      take(begin, static_cast<std::size_t>(bucket.end - begin));
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
    Entry* end = nullptr;
    Entry* limit = nullptr;
    std::vector<Memory> chunks;
  };

  static Entry* EntriesOf(const Memory& chunk) { return reinterpret_cast<Entry*>(chunk.get()); }

  static void Begin(Bucket& bucket) {
    bucket.end = EntriesOf(bucket.chunks.back());
    bucket.limit = bucket.end + kChunkBytes / sizeof(Entry);
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

}  // namespace exactbloom::filter
