// The table that a thread is making, as the events of its database tell.
//
// RocksDB tells listeners in the thread that makes a table, right before it asks the filter policy
// for a builder. So policy and listener need not know each other, nor in which order they were
// made, and several databases may share either.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>

#include <memory>
#include <string>

#include "tree_census.h"

namespace exactbloom::tree {

inline constexpr char kTreeListenerName[] = "exactbloom_tree";

struct TableInMaking {
  std::shared_ptr<TreeCensus> census;
  std::string family;
  TreeCensus::JobId job = 0;
  bool has_owner = false;  // a policy that follows trees made its filter's builder
  int level = 0;           // known with the owner
};

std::unique_ptr<rocksdb::EventListener> MakeTreeListener();

// Null: the listener, one that MakeTreeListener made, knows no such database.
std::shared_ptr<TreeCensus> CensusOf(rocksdb::EventListener& listener, const std::string& path);

// Shows a database to its tree listeners before CompactFiles is called, of which no event tells.
void LookAt(rocksdb::DB& db);

// Null: this thread makes no table of a database with a tree listener. Valid until the table is
// finished.
TableInMaking* CurrentTable(const rocksdb::FilterBuildingContext& context);

// Policies with a memory budget need to know the filters' sizes of all tables.
class NeedOfFilterSizes {
 public:
  NeedOfFilterSizes();
  ~NeedOfFilterSizes();
  NeedOfFilterSizes(const NeedOfFilterSizes&) = delete;
  NeedOfFilterSizes& operator=(const NeedOfFilterSizes&) = delete;
};

}  // namespace exactbloom::tree
