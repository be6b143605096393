// Listings of an open database's tables.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/table_properties.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"
#include "registry.h"

namespace exactbloom::tree {

// Returns what the properties say of a table.
TableFacts ReadFacts(const rocksdb::TableProperties& properties);

// Returns the number in `.../000123.sst`.
std::uint64_t ParseNumber(const std::string& path);

using Families = std::map<std::string, rocksdb::ColumnFamilyMetaData>;  // by name

// Lists the database's tables if that is wanted, at most 5 ms of every second, or 1 ms if there are
// so many that a listing takes 50; the first time at once. Returns what it has listed.
//   is_asked   whether it is wanted at once
// It is called neither under a lock nor under RocksDB's mutex. Throws std::bad_alloc.
Families ListIfWanted(rocksdb::DB& root, Database& database, bool is_asked = false);

// Reads the properties of tables of these families that are not known yet, from which the others
// follow: those of level 0, and at most 64 of each level below, fewer if there are more than 64
// families. A file is opened for each. Returns whether all could be read. Throws std::bad_alloc.
//   listed   that ListIfWanted() has returned; if it is empty they are listed anew
bool ReadProperties(rocksdb::DB& root, Database& database,
                    const std::vector<rocksdb::ColumnFamilyHandle*>& families, Families listed);

}  // namespace exactbloom::tree
