// The differences between versions of RocksDB, except the filter interfaces, which are in
// filter_bits_interface.h.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/version.h>
// RocksDB 8.0 moved class Cache there. The test is for the file, not for the version, because tests
// put another version.h before the installed one.
#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>
#define EXACTBLOOM_HAS_ADVANCED_CACHE 1
#endif

#include <cstddef>

#define EXACTBLOOM_ROCKSDB_SINCE(major, minor) \
  (ROCKSDB_MAJOR > (major) || (ROCKSDB_MAJOR == (major) && ROCKSDB_MINOR >= (minor)))

namespace exactbloom {

// Inserts an entry without a value, which stands for `bytes` of filter construction. From 8.0 on,
// an entry has a role.
inline rocksdb::Status InsertCharge(rocksdb::Cache& cache, const rocksdb::Slice& key,
                                    std::size_t bytes, rocksdb::Cache::Handle** handle) {
#ifdef EXACTBLOOM_HAS_ADVANCED_CACHE
  // Never destroyed: caches may outlive it.
  static const auto& helper =
      *new rocksdb::Cache::CacheItemHelper(rocksdb::CacheEntryRole::kFilterConstruction);
  return cache.Insert(key, nullptr, &helper, bytes, handle);
#else
  constexpr auto kDeleteNothing = [](const rocksdb::Slice& /*key*/, void* /*value*/) {};
  return cache.Insert(key, nullptr, bytes, kDeleteNothing, handle);
#endif
}

}  // namespace exactbloom
