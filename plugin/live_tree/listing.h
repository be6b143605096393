// Listings of an open database's tables.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/table_properties.h>

#include <string>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"
#include "registry.h"

namespace exactbloom::tree {

// Returns what the properties say of a table.
TableFacts ReadFacts(const rocksdb::TableProperties& properties);

// Returns the number in `.../000123.sst`.
std::uint64_t ParseNumber(const std::string& path);

// These are called neither under a lock nor under RocksDB's mutex, and throw std::bad_alloc.

// Lists the tables if that is wanted, at most 5 ms of every second, or 1 ms if there are so many
// that a listing takes 50; the first time at once, and then reads the default family.
void ListIfWanted(rocksdb::DB& root, Database& database);

// Lists the tables at the first table of a job without a begin event, since the listing marks what
// the job reads; not if a listing takes 50 ms. Without it the tables of CompactFiles of level 0 get
// 3.2 of 10 bits per key: all that they replace is taken to stay.
void ListForUntoldJob(Database& database, const std::string& family, JobId job);

// Lists the tables, reads the properties of some of these families, from which the others follow,
// and lists them again: of tables that are not known yet those of level 0, and at most 64 of each
// level below, fewer if there are more than 64 families. A file is opened for each. If one cannot
// be read, ListIfWanted() tries again.
void ReadFamilies(rocksdb::DB& root, Database& database,
                  const std::vector<rocksdb::ColumnFamilyHandle*>& families);

}  // namespace exactbloom::tree
