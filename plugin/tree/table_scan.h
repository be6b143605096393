// A scan of all live tables of a database.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/table_properties.h>

#include <map>
#include <string>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"
#include "lsm_shape.h"

namespace exactbloom::tree {

TableCount CountOf(const rocksdb::TableProperties& properties);

// Returns the live tables by column family. Files of tables whose count `known` has are not read.
std::map<std::string, std::vector<LiveTable>> ScanTables(rocksdb::DB& db, const LsmShape& known);

// While one exists, scans read the filter size of every table, as a memory budget needs it.
// Otherwise they read a sample of each level.
class FilterSizeDemand {
 public:
  FilterSizeDemand();
  ~FilterSizeDemand();
  FilterSizeDemand(const FilterSizeDemand&) = delete;
  FilterSizeDemand& operator=(const FilterSizeDemand&) = delete;
};

}  // namespace exactbloom::tree
