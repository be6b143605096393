// The two interfaces between RocksDB's tables and a filter. RocksDB made them internal in 7.0, and
// this file is the only one that knows where they come from:
//   - inside a RocksDB tree, from its own header, and
//   - against an installed RocksDB, from the declarations below. They repeat the order and the
//     signatures of the virtual functions, which is all that the binary interface consists of.
#pragma once

#include <rocksdb/version.h>

#if __has_include("table/block_based/filter_policy_internal.h")

#include "table/block_based/filter_policy_internal.h"

#else

#include <rocksdb/rocksdb_namespace.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstddef>
#include <memory>

#if ROCKSDB_MAJOR < 7 || ROCKSDB_MAJOR > 9 || (ROCKSDB_MAJOR == 9 && ROCKSDB_MINOR > 5)
#error "ExactBloom knows the filter interfaces of RocksDB 7.0 to 9.5 only"
#endif

namespace ROCKSDB_NAMESPACE {

// One builder serves all partitions of a table: (AddKey* EstimateEntriesAdded? Finish
// MaybePostVerify)*
class FilterBitsBuilder {
 public:
  virtual ~FilterBitsBuilder() = default;
  virtual void AddKey(const Slice& key) = 0;
  virtual size_t EstimateEntriesAdded() = 0;
  virtual Slice Finish(std::unique_ptr<const char[]>* buffer) = 0;
  // `status` may be null; only OK and Corruption are understood.
  virtual Slice Finish(std::unique_ptr<const char[]>* buffer, Status* status) {
    if (status != nullptr) *status = Status::OK();
    return Finish(buffer);
  }
  virtual Status MaybePostVerify(const Slice& /*filter*/) { return Status::OK(); }
  virtual size_t ApproximateNumEntries(size_t bytes) = 0;
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
