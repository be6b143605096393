// RocksDB can be compiled into another namespace (ROCKSDB_NAMESPACE): ExactBloom names it by this
// alias, so the same sources compile in any such tree.
#pragma once

#include <rocksdb/rocksdb_namespace.h>

namespace ROCKSDB_NAMESPACE {}

namespace exactbloom {

namespace rocksdb = ::ROCKSDB_NAMESPACE;

}  // namespace exactbloom
