#include "shard_lists.h"

#include <algorithm>
#include <utility>

#include "../kernels/ribbon_equation.h"

namespace exactbloom::filter {

static_assert(HashStore::kFewestChunkHashes % ShardLists::kChunkHashes == 0);

std::uint64_t ShardLists::LaterChunks(std::uint64_t keys) {
  return (keys + HashStore::kMostChunkHashes) / kChunkHashes;
}

std::uint64_t ShardLists::Bytes(std::uint64_t keys, std::uint32_t shards, Consumed consumed) {
  if (shards <= 1) return 0;
  const std::uint64_t first_chunks = FirstChunks(shards);
  const std::uint64_t later_chunks = LaterChunks(keys);
  const std::uint64_t new_chunks = first_chunks + (consumed == Consumed::kKept ? later_chunks : 0);
  return new_chunks * kChunkHashes * sizeof(std::uint64_t) +
         (first_chunks + later_chunks) * sizeof(Chunk) + shards * sizeof(List) +
         keys / HashStore::kFewestChunkHashes * sizeof(memory_[0]);
}

ShardLists::ShardLists(HashStore& store, std::uint32_t shards) : store_(store) {
  if (shards <= 1) return;
  const std::uint64_t keys = store.size();
  const std::uint64_t new_chunks =
      FirstChunks(shards) + (store.KeepsConsumed() ? LaterChunks(keys) : 0);
  chunks_.reserve(FirstChunks(shards) + LaterChunks(keys));
  memory_.reserve(1 + store.ChunkCount());
  memory_.emplace_back(new std::uint64_t[new_chunks * kChunkHashes]);
  for (std::uint64_t i = 0; i < new_chunks; ++i) Free(memory_[0].get() + i * kChunkHashes);
  lists_.resize(shards);
  for (List& list : lists_) {
    list.last_chunk = kNone;
    BeginChunk(list);
    list.full_chunks = 0;
  }
}

void ShardLists::Distribute() {
  if (lists_.empty()) return;
  const bool reuses = !store_.KeepsConsumed();
  store_.Consume(
      [&](std::uint64_t* hashes, std::size_t count) {
        for (std::size_t i = 0; i < count; i += kChunkHashes) {
          Append(hashes + i, std::min(kChunkHashes, count - i));
          if (reuses) Free(hashes + i);
        }
      },
      [&](std::unique_ptr<std::uint64_t[]> memory, std::size_t /*capacity*/) {
        memory_.push_back(std::move(memory));
      });
}

std::uint64_t ShardLists::CountOf(std::uint32_t shard) const {
  if (lists_.empty()) return store_.size();
  const List& list = lists_[shard];
  return list.full_chunks * kChunkHashes +
         static_cast<std::uint64_t>(list.end - chunks_[list.last_chunk].hashes);
}

void ShardLists::Free(std::uint64_t* hashes) {
  chunks_.push_back({hashes, free_});
  free_ = static_cast<std::uint32_t>(chunks_.size() - 1);
}

void ShardLists::BeginChunk(List& list) {
  Chunk& chunk = chunks_[free_];
  const std::uint32_t taken = std::exchange(free_, chunk.before);
  chunk.before = std::exchange(list.last_chunk, taken);
  list.end = chunk.hashes;
  list.limit = chunk.hashes + kChunkHashes;
  ++list.full_chunks;
}

void ShardLists::Append(const std::uint64_t* hashes, std::size_t count) {
  const std::uint64_t shards = lists_.size();
  for (std::size_t i = 0; i < count; ++i) {
    List& list = lists_[FindShard(hashes[i], shards).shard];
    if (__builtin_expect(list.end == list.limit, 0)) BeginChunk(list);
    *list.end++ = hashes[i];
  }
}

}  // namespace exactbloom::filter
