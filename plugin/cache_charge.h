// Memory that filter construction takes, charged to the block cache: cache_usage_options with
// CacheEntryRole::kFilterConstruction.
//
// A charge is made of entries without a value, which take room in the cache until they are
// released. RocksDB makes its own charges in the same way.
#pragma once

#include <rocksdb/table.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "rocksdb_compat.h"

namespace exactbloom {

// Returns the cache that these options charge filter construction to, or null.
std::shared_ptr<rocksdb::Cache> CacheToCharge(const rocksdb::BlockBasedTableOptions& options);

// The charge of one builder. Builders in other threads may charge the same cache.
class CacheCharge {
 public:
  // Memory is charged in entries of this many bytes.
  static constexpr std::size_t kEntryBytes = std::size_t{256} << 10;

  // `cache` may be null: nothing is charged then.
  explicit CacheCharge(std::shared_ptr<rocksdb::Cache> cache) : cache_(std::move(cache)) {}
  ~CacheCharge() { Set(0); }
  CacheCharge(const CacheCharge&) = delete;
  CacheCharge& operator=(const CacheCharge&) = delete;

  // Charges `bytes`, rounded up to whole entries, instead of what was charged before. A cache with
  // strict_capacity_limit may refuse: the filter is built all the same, as RocksDB's are, and the
  // rest is charged when a later call finds room for it.
  void Set(std::size_t bytes);

  // What is charged now.
  std::size_t ChargedBytes() const { return entries_.size() * kEntryBytes; }

 private:
  bool AddEntry();

  std::shared_ptr<rocksdb::Cache> cache_;
  std::vector<rocksdb::Cache::Handle*> entries_;
};

}  // namespace exactbloom
