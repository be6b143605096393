// Differences between versions of RocksDB, except those of the filter interfaces
// (filter_bits_interface.h).
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>
#include <rocksdb/version.h>
// Defines class Cache from RocksDB 8.0 on. Not tested by version, because tests compile with
// another version.h than that of the installed RocksDB.
#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>
#define EXACTBLOOM_HAS_ADVANCED_CACHE 1
#endif

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "exactbloom/rocksdb_namespace.h"

#define EXACTBLOOM_ROCKSDB_SINCE(major, minor) \
  (ROCKSDB_MAJOR > (major) || (ROCKSDB_MAJOR == (major) && ROCKSDB_MINOR >= (minor)))

namespace exactbloom {

// Inserts an entry without a value that charges `bytes` of filter construction; from 8.0 on with
// its role.
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

// Returns null if this RocksDB reads such tables, and otherwise the versions that do.
//   keys_apart  whether data blocks separate keys from values (separate_key_value_in_data_block)
inline const char* RocksDBNeededFor(std::uint32_t format_version, bool keys_apart) {
  if (keys_apart && !EXACTBLOOM_ROCKSDB_SINCE(11, 0)) return "11.0 or later";
  if (format_version >= 7 && !EXACTBLOOM_ROCKSDB_SINCE(10, 4)) return "10.4 or later";
  if (format_version >= 6 && !EXACTBLOOM_ROCKSDB_SINCE(8, 6)) return "8.6 or later";
  if (format_version < 2 && EXACTBLOOM_ROCKSDB_SINCE(11, 0)) return "before 11.0";
  return nullptr;
}

template <typename Out>
auto OpensInto(int)
    -> decltype(static_cast<rocksdb::Status (*)(const rocksdb::Options&, const std::string&, Out)>(
                    &rocksdb::DB::Open),
                std::true_type());
template <typename Out>
std::false_type OpensInto(...);

// The type of the last argument of DB::Open in the library. 10.x keeps the form with a plain
// pointer as an inline function only.
using OpenedDatabase =
    std::conditional_t<decltype(OpensInto<std::unique_ptr<rocksdb::DB>*>(0))::value,
                       std::unique_ptr<rocksdb::DB>*, rocksdb::DB**>;

// Pointers to const in some versions.
using MadeBloomPolicy = decltype(rocksdb::NewBloomFilterPolicy(0.0, false));
using MadeRibbonPolicy = decltype(rocksdb::NewRibbonFilterPolicy(0.0, 0));

#if EXACTBLOOM_ROCKSDB_SINCE(11, 0)

// DB::Open(options, path, Receive(&db)) puts the database into `db`.
inline std::unique_ptr<rocksdb::DB>* Receive(std::unique_ptr<rocksdb::DB>* db) { return db; }

#else

// Before 11.0, DB::Open and its like return the database by a plain pointer. This object receives
// it, and passes it to its owner at the end of the full expression.
class Receive {
 public:
  explicit Receive(std::unique_ptr<rocksdb::DB>* owner) : owner_(owner) {}
  ~Receive() { owner_->reset(opened_); }
  Receive(const Receive&) = delete;
  Receive& operator=(const Receive&) = delete;

  operator rocksdb::DB**() { return &opened_; }  // NOLINT(google-explicit-constructor): its purpose

 private:
  std::unique_ptr<rocksdb::DB>* owner_;
  rocksdb::DB* opened_ = nullptr;
};

#endif

}  // namespace exactbloom
