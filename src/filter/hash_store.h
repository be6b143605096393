// The hashes of a filter's keys, in the order in which they came, until the filter is made of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace exactbloom::filter {

// What Consume does with the hashes.
enum class Consumed { kFreed, kKept };

// Grows by chunks, each twice as large as the one before up to kMostChunkHashes, so that small
// filters take little and large ones little more than 8 bytes a key; no hash is ever moved.
class HashStore {
 public:
  static constexpr std::size_t kFewestChunkHashes = 512;
  static constexpr std::size_t kMostChunkHashes = 8192;

  explicit HashStore(Consumed consumed = Consumed::kFreed) : consumed_(consumed) {}

  std::uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The hash that was appended last; there must be one.
  std::uint64_t back() const { return end_[-1]; }

  // Throws std::bad_alloc, and is as it was before.
  void Append(std::uint64_t hash) {
    if (end_ == limit_) AddChunk();
    *end_++ = hash;
    ++size_;
  }

  void Clear() { *this = HashStore(consumed_); }

  // Hands out all hashes in order, as take(hashes, count), and frees each chunk behind that unless
  // they are to be kept.
  template <typename Take>
  void Consume(Take take) {
    ForEachChunk([&](Chunk& chunk, std::size_t count) {
      take(chunk.hashes.get(), count);
      if (consumed_ == Consumed::kFreed) chunk.hashes.reset();
    });
    if (consumed_ == Consumed::kFreed) Clear();
  }

  // Hands out all hashes in order, as visit(hashes, count).
  template <typename Visit>
  void ForEach(Visit visit) {
    ForEachChunk([&](Chunk& chunk, std::size_t count) { visit(chunk.hashes.get(), count); });
  }

 private:
  struct Chunk {
    std::unique_ptr<std::uint64_t[]> hashes;
    std::size_t capacity = 0;
  };

  template <typename Visit>
  void ForEachChunk(Visit visit) {
    std::uint64_t left = size_;
    for (Chunk& chunk : chunks_) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.capacity, left));
      visit(chunk, count);
      left -= count;
    }
  }

  void AddChunk() {
    const std::size_t capacity = chunks_.empty()
                                     ? kFewestChunkHashes
                                     : std::min(2 * chunks_.back().capacity, kMostChunkHashes);
    Chunk chunk{std::unique_ptr<std::uint64_t[]>(new std::uint64_t[capacity]), capacity};
    std::uint64_t* begin = chunk.hashes.get();
    chunks_.push_back(std::move(chunk));
    end_ = begin;
    limit_ = begin + capacity;
  }

  std::vector<Chunk> chunks_;
  std::uint64_t* end_ = nullptr;  // of the last chunk's hashes
  std::uint64_t* limit_ = nullptr;
  std::uint64_t size_ = 0;
  Consumed consumed_;
};

}  // namespace exactbloom::filter
