#include "cache_charge.h"

#include <rocksdb/slice.h>

#include <array>
#include <cstdint>

#include "exception_barrier.h"

namespace exactbloom {

using rocksdb::Cache;
using rocksdb::CacheEntryRole;

std::shared_ptr<Cache> CacheToCharge(const rocksdb::BlockBasedTableOptions& options) {
  using Decision = rocksdb::CacheEntryRoleOptions::Decision;
  const rocksdb::CacheUsageOptions& usage = options.cache_usage_options;
  const auto found = usage.options_overrides.find(CacheEntryRole::kFilterConstruction);
  Decision decision = usage.options.charged;
  if (found != usage.options_overrides.end() && found->second.charged != Decision::kFallback) {
    decision = found->second.charged;
  }
  return decision == Decision::kEnabled ? options.block_cache : nullptr;
}

void CacheCharge::Set(std::size_t bytes) {
  if (cache_ == nullptr) return;
  const std::size_t entries = (bytes + kEntryBytes - 1) / kEntryBytes;
  while (entries_.size() < entries && AddEntry()) {
  }
  while (entries_.size() > entries) {
    cache_->Release(entries_.back(), /*erase_if_last_ref=*/true);
    entries_.pop_back();
  }
}

bool CacheCharge::AddEntry() {
  // Keys like those of RocksDB's own charges: no block's key starts with zeros, and a cache returns
  // each id once.
  const std::array<std::uint64_t, 2> key = {0, cache_->NewId() + 1};
  Cache::Handle* handle = nullptr;
  return ResultOr(false, [&] {
    // Room comes first, so that no entry of the cache is lost, and doubles, so that the entries are
    // copied once on average.
    if (entries_.size() == entries_.capacity()) entries_.reserve(2 * entries_.size() + 1);
    const rocksdb::Slice slice(reinterpret_cast<const char*>(key.data()), sizeof(key));
    const bool is_added = InsertCharge(*cache_, slice, kEntryBytes, &handle).ok();
    if (is_added) entries_.push_back(handle);
    return is_added;
  });
}

}  // namespace exactbloom
