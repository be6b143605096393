// Adds to the options of a program's databases what EXACTBLOOM_POLICY asks for.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <string>
#include <vector>

#include "preload_core.h"

namespace exactbloom::preload {

// One line for each column family: which policy it has, and why.
using Notes = std::vector<std::string>;

// Sets the policy in a column family with block-based tables and no filter policy, or only
// rocksdb.BuiltinBloomFilter, which builds no filters; rocksdb_bloom also in place of a policy with
// filters of ExactBloom. Exceptions are `replace-only` where there is none, and, where no filters
// are built, a comparator to which different bytes can be the same key: a filter of the bytes would
// lose keys.
void FillFamily(const std::string& name, rocksdb::ColumnFamilyOptions* options, Notes* notes);
Families FilledFamilies(const Families& families, Notes* notes);

// Adds the tree listener if the policy needs it and the database has none.
void AddListener(rocksdb::DBOptions* options);

// Writes to the database's info log how many calls were replaced, and the notes.
void Announce(const rocksdb::DB& db, const Notes& notes);

}  // namespace exactbloom::preload
