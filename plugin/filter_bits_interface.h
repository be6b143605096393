// The two interfaces between RocksDB's tables and a filter. They are internal to RocksDB from 7.0
// on, and differ between versions. Only this file knows how:
//   - inside a RocksDB tree, whose build defines EXACTBLOOM_IN_ROCKSDB (exactbloom.mk,
//     cmake/rocksdb_plugin.cmake), they come from RocksDB's internal header;
//   - for an installed RocksDB they are declared below, with the order and signatures of the
//   virtual
//     functions that make up the binary interface. A RocksDB source tree on the include path is not
//     used: its version may differ from the library's.
//
//   7.0    AddKey, EstimateEntriesAdded, Finish, Finish with a status, MaybePostVerify,
//          ApproximateNumEntries
//   9.6    AddKeyAndAlt after AddKey
//   10.9   CalculateSpace and EstimatedFpRate at the end
#pragma once

#include <rocksdb/rocksdb_namespace.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstddef>
#include <memory>

#include "exactbloom/rocksdb_namespace.h"
#include "rocksdb_compat.h"

// A wrong declaration would crash at the first table, so versions that were not compared do not
// compile.
#if !EXACTBLOOM_ROCKSDB_SINCE(7, 0) || EXACTBLOOM_ROCKSDB_SINCE(11, 9)
#error "ExactBloom knows the filter interfaces of RocksDB 7.0 to 11.8; see docs/install.md"
#endif

#ifdef EXACTBLOOM_IN_ROCKSDB

#include "table/block_based/filter_policy_internal.h"

#else

namespace ROCKSDB_NAMESPACE {

// One builder serves all partitions of a table: ((AddKey | AddKeyAndAlt)* EstimateEntriesAdded?
// Finish MaybePostVerify)*
class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() = default;
  virtual void AddKey(const Slice& key) = 0;
#if EXACTBLOOM_ROCKSDB_SINCE(9, 6)
  virtual void AddKeyAndAlt(const Slice& key, const Slice& alt) = 0;
#endif
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buffer) = 0;
  // `status` may be null; only OK and Corruption are understood.
  virtual Slice Finish(std::unique_ptr<const char[]>* buffer, Status* status) {
    if (status != nullptr) *status = Status::OK();
    return Finish(buffer);
  }
  virtual Status MaybePostVerify(const Slice& /*filter*/) { return Status::OK(); }
  virtual size_t ApproximateNumEntries(size_t bytes) = 0;
#if EXACTBLOOM_ROCKSDB_SINCE(10, 9)
  virtual size_t CalculateSpace(size_t num_entries) = 0;
  virtual double EstimatedFpRate(size_t num_entries, size_t bytes) = 0;
#endif
};

// Shared by all readers of a table.
class FilterBitsReader {
 public:
  virtual ~FilterBitsReader() = default;
  virtual bool MayMatch(const Slice& key) = 0;
  virtual void MayMatch(int count, Slice** keys, bool* may_match) {
    for (int i = 0; i < count; ++i) may_match[i] = MayMatch(*keys[i]);
  }
};

}  // namespace ROCKSDB_NAMESPACE

#endif

namespace exactbloom {

// The builder's interface in the newest version. Functions that this RocksDB lacks are appended,
// where it never calls them, so that BitsBuilder is the same for all versions.
class NewestFilterBitsBuilder : public rocksdb::FilterBitsBuilder {
 public:
#if !EXACTBLOOM_ROCKSDB_SINCE(9, 6)
  // Adds a key and its prefix. Successive keys may share prefixes, and a key may be its own prefix;
  // entries that are already in the filter are not counted again.
  virtual void AddKeyAndAlt(const rocksdb::Slice& key, const rocksdb::Slice& alt) = 0;
#endif
#if !EXACTBLOOM_ROCKSDB_SINCE(10, 9)
  // Returns the bytes of a filter of `num_entries` keys.
  virtual std::size_t CalculateSpace(std::size_t num_entries) = 0;
  // Returns the false-positive rate of a filter of that many keys in that many bytes.
  virtual double EstimatedFpRate(std::size_t num_entries, std::size_t bytes) = 0;
#endif
};

}  // namespace exactbloom
