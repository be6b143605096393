#include "entry_block.h"

#include <cstdint>

#include "coding.h"

namespace exactbloom::files {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

Status Damaged(const char* what) {
  return Status::Corruption("a block of the table is damaged", what);
}

// Reduces `block` to its entries.
bool RemoveRestarts(Slice* block) {
  constexpr std::uint64_t kRestartBytes = sizeof(std::uint32_t);
  if (block->size() < kRestartBytes) return false;
  const std::uint32_t restarts = DecodeFixed32(block->data() + block->size() - kRestartBytes);
  const std::uint64_t bytes = (restarts + std::uint64_t{1}) * kRestartBytes;
  if (bytes > block->size()) return false;  // also where a bit marks the hash index of a data block
  *block = Slice(block->data(), static_cast<std::size_t>(block->size() - bytes));
  return true;
}

bool TakeBytes(Slice* input, std::uint64_t count, Slice* bytes) {
  if (count > input->size()) return false;
  *bytes = Slice(input->data(), static_cast<std::size_t>(count));
  input->remove_prefix(static_cast<std::size_t>(count));
  return true;
}

// Advances `handle` to the next block, whose size is given as a difference.
bool TakeNextHandle(Slice* input, BlockHandle* handle) {
  std::int64_t growth = 0;
  if (!TakeSignedVarint(input, &growth)) return false;
  handle->offset += handle->size + kBlockTrailerBytes;
  handle->size += static_cast<std::uint64_t>(growth);
  return true;
}

// Takes an entry's lengths and key. `key` holds the previous entry's key before the call; `shared`
// is the number of bytes that both keys have in common. `value_bytes` is set if the block stores
// value lengths.
bool TakeKey(Slice* input, bool has_value_bytes, std::string* key, std::uint64_t* shared,
             std::uint64_t* value_bytes) {
  std::uint64_t unshared = 0;
  Slice suffix;
  if (!TakeVarint(input, shared) || !TakeVarint(input, &unshared) ||
      (has_value_bytes && !TakeVarint(input, value_bytes)) || *shared > key->size() ||
      !TakeBytes(input, unshared, &suffix)) {
    return false;
  }
  key->resize(static_cast<std::size_t>(*shared));
  key->append(suffix.data(), suffix.size());
  return true;
}

}  // namespace

Status VisitEntries(const Slice& block,
                    const std::function<void(const Slice& key, const Slice& value)>& visit) {
  Slice rest = block;
  if (!RemoveRestarts(&rest)) return Damaged("restarts");
  constexpr std::uint64_t kMostShared = std::uint64_t{1} << 20;
  std::uint64_t all_shared = 0;
  std::string key;
  while (!rest.empty()) {
    std::uint64_t shared = 0;
    std::uint64_t value_bytes = 0;
    Slice value;
    if (!TakeKey(&rest, true, &key, &shared, &value_bytes) ||
        !TakeBytes(&rest, value_bytes, &value)) {
      return Damaged("an entry");
    }
    all_shared += shared;
    if (all_shared > kMostShared) return Damaged("the names in it are too long");
    visit(key, value);
  }
  return Status::OK();
}

Status IndexReader::Open(const Slice& block, bool delta_encoded) {
  rest_ = block;
  delta_encoded_ = delta_encoded;
  return RemoveRestarts(&rest_) ? Status::OK() : Damaged("restarts");
}

Status IndexReader::Next(IndexEntry* entry) {
  std::uint64_t shared = 0;
  std::uint64_t value_bytes = 0;
  Slice value;
  if (!TakeKey(&rest_, !delta_encoded_, &key_, &shared, &value_bytes)) return Damaged("an entry");
  const bool whole =
      delta_encoded_
          ? (shared == 0 ? TakeHandle(&rest_, &handle_) : TakeNextHandle(&rest_, &handle_))
          : TakeBytes(&rest_, value_bytes, &value) && TakeHandle(&value, &handle_);
  if (!whole) return Damaged("a handle");
  *entry = {key_, handle_};
  return Status::OK();
}

}  // namespace exactbloom::files
