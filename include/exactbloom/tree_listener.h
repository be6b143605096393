// Lets the filter policies of a database know its tree: size_ratio=auto and memory_budget need it.
//
//   options.listeners.push_back(exactbloom::NewTreeListener());
//
// or, in the DBOptions of an OPTIONS file, once the policies are registered,
//
//   listeners=exactbloom_tree
//
// RocksDB tells a filter policy about one table; it tells listeners about flushes and compactions.
// The listener keeps, for every column family, how many keys and filter bytes each level has. The
// policy reads it when a table is made (docs/configuration.md says what the table gets).
#pragma once

#include <rocksdb/listener.h>

#include <memory>

namespace exactbloom {

// Returns a new listener. Several databases may share one, and it may be made before or after the
// policy and destroyed in any order. At the first event of an opened database it lists all tables,
// and with memory_budget reads their properties; later events cost some microseconds. Throws
// std::bad_alloc when memory is short; the listener itself never throws.
std::shared_ptr<rocksdb::EventListener> NewTreeListener();

}  // namespace exactbloom
