// Making a tree of sorted runs out of the stored keys.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include "readamp/keys/key_set.h"
#include "readamp/readamp_settings.h"

namespace exactbloom::readamp {

// The options of a database whose tree is to be as the settings want it: compaction, sizes, levels.
rocksdb::Options TreeOptions(const Settings& settings);

// Lets RocksDB compact by levels by itself, with its own ratios of write buffer, table and level
// sizes.
void CompactByLevels(const Settings& settings, rocksdb::Options* options);

// Writes the stored keys into an empty database and waits until its tree is at rest.
// Throws InputError when it cannot be written, Interrupted.
void LoadTree(rocksdb::DB& db, const Settings& settings, const KeySet& keys);

}  // namespace exactbloom::readamp
