// The tables of a database that is being opened: RocksDB writes tables from its logs before there
// is a DB to ask, but its MANIFEST is on disk.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "table_count.h"

namespace exactbloom::tree {

// Returns the tables by column family. Keys and filter sizes are read from the properties of a
// sample of the tables; those of the others follow from their bytes. Empty if
// the MANIFEST or all of the sample cannot be read, as where the database has an Env of its own.
// Throws std::bad_alloc.
std::map<std::string, std::vector<LiveTable>> ScanManifest(const std::string& database);

}  // namespace exactbloom::tree
