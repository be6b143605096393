// The differences between versions of RocksDB, except the filter interfaces, which are in
// filter_bits_interface.h.
#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
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
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

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

// Returns which versions of RocksDB read tables of this kind if this one does not, and null
// otherwise.
//   keys_apart  whether data blocks hold keys and values apart (separate_key_value_in_data_block)
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

// Where RocksDB's own DB::Open puts the database. In 10.x the form with a plain pointer was kept as
// an inline function, which calls the other.
using OpenedDatabase =
    std::conditional_t<decltype(OpensInto<std::unique_ptr<rocksdb::DB>*>(0))::value,
                       std::unique_ptr<rocksdb::DB>*, rocksdb::DB**>;

// Pointers to const or not.
using MadeBloomPolicy = decltype(rocksdb::NewBloomFilterPolicy(0.0, false));
using MadeRibbonPolicy = decltype(rocksdb::NewRibbonFilterPolicy(0.0, 0));

// Whether SstFileReader gives keys timestamps whose tables were written without them.
inline constexpr bool kReadsKeysWithoutTimestamps = EXACTBLOOM_ROCKSDB_SINCE(9, 0);

#if EXACTBLOOM_ROCKSDB_SINCE(11, 0)

// DB::Open(options, path, Receive(&db)) puts the database into `db`.
inline std::unique_ptr<rocksdb::DB>* Receive(std::unique_ptr<rocksdb::DB>* db) { return db; }

#else

// Receives the database that DB::Open and its kin hand out by a plain pointer, as they did before
// 11.0, and gives it to its owner when the call is over.
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
