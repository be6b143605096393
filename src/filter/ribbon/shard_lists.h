// The hashes of a filter, shard by shard.
//
// A store's hashes are distributed into a list for each shard. The lists take the memory of the
// hashes that have been distributed, and little more: a chunk of kChunkHashes for each list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../hash_store.h"

namespace exactbloom::filter {

class ShardLists {
 public:
  static constexpr std::size_t kChunkHashes = 256;

  // The memory that lists of `keys` hashes take beside a store that does this with them.
  static std::uint64_t Bytes(std::uint64_t keys, std::uint32_t shards, Consumed consumed);

  // Prepares lists for the hashes of the store. With one shard they stay where they are. Throws
  // std::bad_alloc; no other function does.
  ShardLists(HashStore& store, std::uint32_t shards);

  // Consumes the hashes of the store, unless there is one shard or it keeps them.
  void Distribute();

  std::uint64_t CountOf(std::uint32_t shard) const;

  // Hands out the hashes of a shard, as visit(hashes, count), in any order.
  template <typename Visit>
  void ForEach(std::uint32_t shard, Visit visit) {
    if (lists_.empty()) return store_.ForEach(visit);
    const List& list = lists_[shard];
    auto count = static_cast<std::size_t>(list.end - chunks_[list.last_chunk].hashes);
    for (std::uint32_t chunk = list.last_chunk; chunk != kNone; chunk = chunks_[chunk].before) {
      visit(static_cast<const std::uint64_t*>(chunks_[chunk].hashes), count);
      count = kChunkHashes;
    }
  }

 private:
  static constexpr auto kNone = static_cast<std::uint32_t>(-1);

  struct Chunk {
    std::uint64_t* hashes;
    std::uint32_t before;  // the number of the one before it, in its list or among the free ones
  };

  // The hashes are in full chunks but for the last one. There is always one.
  struct List {
    std::uint64_t* end;
    std::uint64_t* limit;
    std::uint32_t last_chunk;
    std::uint32_t full_chunks;
  };

  // A chunk more than lists, since a chunk is free again when all of its hashes are in lists.
  static std::uint64_t FirstChunks(std::uint32_t shards) { return std::uint64_t{shards} + 1; }
  static std::uint64_t LaterChunks(std::uint64_t keys);

  void Free(std::uint64_t* hashes);
  void BeginChunk(List& list);
  void Append(const std::uint64_t* hashes, std::size_t count);

  HashStore& store_;
  std::vector<List> lists_;
  std::vector<Chunk> chunks_;
  std::vector<std::unique_ptr<std::uint64_t[]>> memory_;
  std::uint32_t free_ = kNone;
};

}  // namespace exactbloom::filter
