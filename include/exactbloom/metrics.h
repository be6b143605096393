// The filters of an open database as metrics, for Prometheus and what reads its text format.
//
//   response.body = exactbloom::GetMetrics(*db);  // of GET /metrics
//
// By column family and level: tables, bits per key, bytes of filters, and the wasted reads that are
// predicted. What RocksDB counted, of the database's Statistics object, which other databases may
// share. The memory budgets that are named. docs/operations.md lists the names.
#pragma once

#include <rocksdb/db.h>

#include <string>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// The most series that GetMetrics returns.
inline constexpr int kMostSeries = 1000;

// Returns the metrics of a followed database (tree_listener.h) in version 0.0.4 of the text format,
// without asking RocksDB for its tables. At most kMostSeries of them: column families beyond that,
// by their names, are summed under the name `(others)`, and a comment says how many they are.
//   budgets   the names of memory budgets (memory_budget.h), "" for the one without a name. They
//   are
//             the process's, and told without the label `database`: name them for one database only
// Throws std::bad_alloc.
std::string GetMetrics(const rocksdb::DB& db, const std::vector<std::string>& budgets = {});

}  // namespace exactbloom
