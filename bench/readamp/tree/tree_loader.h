// Makes a tree of sorted runs from the stored keys.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include "readamp/keys/key_set.h"
#include "readamp/readamp_settings.h"

namespace exactbloom::readamp {

// The options of a database for the tree that the settings name: compaction, sizes, levels.
rocksdb::Options TreeOptions(const Settings& settings);

// Lets RocksDB compact by levels automatically, with its own ratios of write buffer, table and
// level sizes.
void CompactByLevels(const Settings& settings, rocksdb::Options* options);

// Writes the stored keys into an empty database and waits until its compactions have ended. Throws
// InputError if it cannot be written, and Interrupted.
void LoadTree(rocksdb::DB& db, const Settings& settings, const KeySet& keys);

}  // namespace exactbloom::readamp
