// Charges the memory of filter construction to the block cache (cache_usage_options with
// CacheEntryRole::kFilterConstruction), as RocksDB does: by entries without a value, which occupy
// capacity until they are released.
#pragma once

#include <rocksdb/table.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"
#include "rocksdb_compat.h"

namespace exactbloom {

// Returns the cache that filter construction is charged to, or null.
std::shared_ptr<rocksdb::Cache> CacheToCharge(const rocksdb::BlockBasedTableOptions& options);

// The charge of one builder. Builders in other threads may charge the same cache.
class CacheCharge {
 public:
  // Bytes of an entry.
  static constexpr std::size_t kEntryBytes = std::size_t{256} << 10;

  // A null `cache` is never charged.
  explicit CacheCharge(std::shared_ptr<rocksdb::Cache> cache) : cache_(std::move(cache)) {}
  ~CacheCharge() { Set(0); }
  CacheCharge(const CacheCharge&) = delete;
  CacheCharge& operator=(const CacheCharge&) = delete;

  // Sets the charge to `bytes`, rounded up to whole entries. A cache with strict_capacity_limit may
  // refuse entries: the filter is built nevertheless, as RocksDB's are, and a later call tries
  // again to charge the rest.
  void Set(std::size_t bytes);

 private:
  bool AddEntry();

  std::shared_ptr<rocksdb::Cache> cache_;
  std::vector<rocksdb::Cache::Handle*> entries_;
};

}  // namespace exactbloom
