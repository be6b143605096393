// Gives the filter policies of a database the shape of its LSM tree, as the policy exactbloom
// needs it. SetFilterPolicy (filter_policy.h) adds one; elsewhere
//
//   options.listeners.push_back(exactbloom::NewTreeListener());
//
// or, in the DBOptions of an OPTIONS file, once the policies are registered,
//
//   listeners=exactbloom_tree
//
// A filter policy sees one table; listeners get the events of all flushes and compactions. The
// listener keeps the keys and filter bytes of each level of every column family. The policy reads
// them when a table is written (docs/configuration.md says what the table gets).
#pragma once

#include <rocksdb/listener.h>

#include <memory>

#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// Returns a new listener. Several databases may share one, and it may be made before or after the
// policy and destroyed in any order. At the first event of an opened database it lists all tables,
// and reads the properties of a sample, with a memory budget after the first job; later events cost
// some microseconds. What it knows of a database is freed when that is closed. Throws
// std::bad_alloc when memory is short; the listener itself never throws.
std::shared_ptr<rocksdb::EventListener> NewTreeListener();

}  // namespace exactbloom
