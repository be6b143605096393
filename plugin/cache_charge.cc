#include "cache_charge.h"

#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>
#endif
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <array>
#include <cstdint>
#include <new>

namespace exactbloom {
namespace {

using rocksdb::Cache;
using rocksdb::CacheEntryRole;
using rocksdb::Slice;
using rocksdb::Status;

// RocksDB 8.0 moved the class and let an entry say its role.
#if __has_include(<rocksdb/advanced_cache.h>)

Status InsertEntry(Cache& cache, const Slice& key, Cache::Handle** handle) {
  // Never destroyed: caches may outlive it.
  static const auto& helper = *new Cache::CacheItemHelper(CacheEntryRole::kFilterConstruction);
  return cache.Insert(key, nullptr, &helper, CacheCharge::kEntryBytes, handle);
}

#else

void DeleteNothing(const Slice& /*key*/, void* /*value*/) {}

Status InsertEntry(Cache& cache, const Slice& key, Cache::Handle** handle) {
  return cache.Insert(key, nullptr, CacheCharge::kEntryBytes, DeleteNothing, handle);
}

#endif

}  // namespace

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
  // The same keys as for RocksDB's own charges: no block's key starts with zeros, and an id is
  // given once in the life of a cache.
  const std::array<std::uint64_t, 2> key = {0, cache_->NewId() + 1};
  Cache::Handle* handle = nullptr;
  try {
    entries_.reserve(entries_.size() + 1);
    const Slice slice(reinterpret_cast<const char*>(key.data()), sizeof(key));
    if (!InsertEntry(*cache_, slice, &handle).ok()) return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  entries_.push_back(handle);
  return true;
}

}  // namespace exactbloom
