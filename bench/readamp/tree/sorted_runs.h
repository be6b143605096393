// The sorted runs of a database: a file of level 0 is one, and so is a level below.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>

namespace exactbloom::readamp {

// Calls `use` with the sorted run, 0 for the newest, the level and RocksDB's description of each
// table, in the order in which a lookup asks the runs.
template <typename Use>
void VisitTables(rocksdb::DB& db, const Use& use) {
  rocksdb::ColumnFamilyMetaData tree;
  db.GetColumnFamilyMetaData(&tree);
  int run = -1;
  for (const rocksdb::LevelMetaData& level : tree.levels) {
    if (level.level > 0 && !level.files.empty()) ++run;
    // RocksDB lists the files of level 0 from the newest on, and those below by their keys.
    for (const rocksdb::SstFileMetaData& file : level.files) {
      if (level.level == 0) ++run;
      use(run, level.level, file);
    }
  }
}

}  // namespace exactbloom::readamp
