// The hashes of the keys added to a filter, in their order, until the filter is built.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace exactbloom::filter {

// What Consume does with the hashes.
enum class Consumed { kFreed, kKept };

// Grows by chunks, each as large as all before it together up to kMostChunkHashes, so that small
// filters take little memory and large ones little more than 8 bytes per key. No hash is ever
// moved.
class HashStore {
 public:
  static constexpr std::size_t kFewestChunkHashes = 512;
  static constexpr std::size_t kMostChunkHashes = 8192;

  explicit HashStore(Consumed consumed = Consumed::kFreed) : consumed_(consumed) {}

  std::uint64_t size() const { return size_of_chunks_ - static_cast<std::uint64_t>(limit_ - end_); }
  bool empty() const { return chunks_.empty(); }

  // The number of pieces in which Consume hands out the hashes.
  std::size_t ChunkCount() const { return chunks_.size(); }
  bool KeepsConsumed() const { return consumed_ == Consumed::kKept; }

  // Throws std::bad_alloc, and is unchanged then.
  void Append(std::uint64_t hash) {
    if (end_ == limit_) AddChunk();
    *end_++ = hash;
  }

  // The same if there is room without more memory; returns whether there is.
  bool AppendInPlace(std::uint64_t hash) {
    if (end_ == limit_) return false;
    *end_++ = hash;
    return true;
  }

  void Clear() { *this = HashStore(consumed_); }

  // Hands out all hashes in order, as take(hashes, count), and afterwards, unless they are to be
  // kept, the memory of each chunk as recycle(chunk, capacity).
  template <typename Take, typename Recycle>
  void Consume(Take take, Recycle recycle) {
    ForEachChunk([&](Chunk& chunk, std::size_t count) {
      take(chunk.hashes.get(), count);
      if (consumed_ == Consumed::kFreed) recycle(std::move(chunk.hashes), chunk.capacity);
    });
    if (consumed_ == Consumed::kFreed) Clear();
  }

  // Hands out all hashes in order, as visit(hashes, count).
  template <typename Visit>
  void ForEach(Visit visit) {
    ForEachChunk([&](Chunk& chunk, std::size_t count) { visit(chunk.hashes.get(), count); });
  }

  // The same, and frees each chunk.
  template <typename Take>
  void Consume(Take take) {
    Consume(take, [](std::unique_ptr<std::uint64_t[]> /*freed*/, std::size_t /*capacity*/) {});
  }

 private:
  struct Chunk {
    std::unique_ptr<std::uint64_t[]> hashes;
    std::size_t capacity = 0;
  };

  template <typename Visit>
  void ForEachChunk(Visit visit) {
    std::uint64_t left = size();
    for (Chunk& chunk : chunks_) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.capacity, left));
      visit(chunk, count);
      left -= count;
    }
  }

  // Out of line, so that appending takes few registers.
  __attribute__((noinline)) void AddChunk() {
    const auto capacity = static_cast<std::size_t>(
        std::clamp<std::uint64_t>(size_of_chunks_, kFewestChunkHashes, kMostChunkHashes));
    Chunk chunk{std::unique_ptr<std::uint64_t[]>(new std::uint64_t[capacity]), capacity};
    std::uint64_t* begin = chunk.hashes.get();
    chunks_.push_back(std::move(chunk));
    end_ = begin;
    limit_ = begin + capacity;
    size_of_chunks_ += capacity;
  }

  std::vector<Chunk> chunks_;
  std::uint64_t* end_ = nullptr;  // of the last chunk's hashes
  std::uint64_t* limit_ = nullptr;
  std::uint64_t size_of_chunks_ = 0;
  Consumed consumed_;
};

}  // namespace exactbloom::filter
