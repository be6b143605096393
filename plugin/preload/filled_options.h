// Options of a program's databases, with what EXACTBLOOM_POLICY adds to them.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <string>
#include <vector>

#include "preload_core.h"

namespace exactbloom::preload {

// What was done about column families, a line for each.
using Notes = std::vector<std::string>;

// Gives the column family the policy if it has a block-based table factory and no filter policy,
// unless the wish is to replace only, or its comparator might take different bytes for the same
// key, whose filter would lose keys.
void FillFamily(const std::string& name, rocksdb::ColumnFamilyOptions* options, Notes* notes);
Families FilledFamilies(const Families& families, Notes* notes);

// Adds the tree listener if the policies follow the tree and the database has none.
void AddListener(rocksdb::DBOptions* options);

// Writes into the database's info log which calls were answered with a policy, and the notes.
void Announce(const rocksdb::DB& db, const Notes& notes);

}  // namespace exactbloom::preload
