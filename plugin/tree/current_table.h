// The table that a thread is writing, by the events of its database.
//
// RocksDB fires OnTableFileCreationStarted in the thread that writes the table, right before it
// asks the filter policy for a builder. So policy and listener need not know each other, and
// several databases may share either.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>

#include <cstdint>
#include <memory>
#include <string>

#include "exactbloom/rocksdb_namespace.h"
#include "filter_budget.h"
#include "lsm_shape.h"
#include "table_scan.h"

namespace exactbloom::tree {

inline constexpr char kTreeListenerName[] = "exactbloom_tree";

struct TableInProgress {
  std::string path;
  std::string opening;              // the database's path while it is being opened, else empty
  std::shared_ptr<LsmShape> shape;  // null: the tree is not known, or CurrentTable is to look
  std::string family;
  LsmShape::JobId job = 0;
  // Set when a policy that follows trees makes the builder of the table's filter.
  bool has_policy = false;
  int level = 0;
  bool is_planned = false;  // written while a PlannedTables lives
  std::uint64_t keys = 0;   // of a planned table that is rewritten; 0: they are not known yet
  bool is_trial = false;    // it will not be written
};

std::unique_ptr<rocksdb::EventListener> MakeTreeListener();

// Returns null if the listener, one of MakeTreeListener's, has had no event of the open database at
// this path.
std::shared_ptr<LsmShape> ShapeOf(rocksdb::EventListener& listener, const std::string& path);

// Shows a database to its tree listeners. Call it before CompactFiles(), which fires no begin
// event.
void RefreshShape(rocksdb::DB& db);

// This thread opens a database with tables that share a budget. There is no event of that, but the
// listener hears when the thread reads the MANIFEST: from then on the database counts, by its
// MANIFEST until its first job.
void ExpectOpening(FilterBudget& budget);

// While it lives, tables that this thread writes get the bits of the plan of their tree, even if
// other tables have more than theirs: all of them are being rebuilt.
class PlannedTables {
 public:
  //   keys   of the filter of the table that is rewritten alone; 0: there are more
  explicit PlannedTables(std::uint64_t keys);
  ~PlannedTables();
  PlannedTables(const PlannedTables&) = delete;
  PlannedTables& operator=(const PlannedTables&) = delete;
};

// While it lives, CurrentTable() is a table that this thread might write by CompactFiles() while a
// PlannedTables lives, so that a policy can be asked for its filter. Has no effect if the database
// has no tree listener.
class TrialTable {
 public:
  //   keys   of the table's filter, at least one
  TrialTable(rocksdb::DB& db, const std::string& family, std::uint64_t keys);
  ~TrialTable();
  TrialTable(const TrialTable&) = delete;
  TrialTable& operator=(const TrialTable&) = delete;

 private:
  bool is_started_ = false;
};

// Returns the table that this thread started last, or null if that is not a table of a database
// with a tree listener. Call it while the builder of the table's filter is made; the result is
// valid until the thread starts or finishes a table. Of a database that is being opened it reads
// the MANIFEST, which tables of other policies need not. Throws std::bad_alloc.
TableInProgress* CurrentTable(const rocksdb::FilterBuildingContext& context);

}  // namespace exactbloom::tree
