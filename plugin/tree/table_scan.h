// A scan of all live tables of a database.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"
#include "lsm_shape.h"

namespace exactbloom::tree {

TableCount CountOf(const rocksdb::TableProperties& properties);

// Of the tables of a level whose filter sizes are not known up to 64 are read, and the rest gets
// their bits per key.
enum class Sample : std::uint8_t {
  kMean,
  kSafe,  // and two standard errors more, since a memory budget must not be exceeded
};

// Returns the live tables by column family. The counts that `known` has are taken from there.
std::map<std::string, std::vector<LiveTable>> ScanTables(rocksdb::DB& db, const LsmShape& known,
                                                         Sample sample);

}  // namespace exactbloom::tree
