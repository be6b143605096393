// The SSTables of a database in the order in which a lookup asks them.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "readamp/keys/key_set.h"
#include "sst/block_description.h"

namespace exactbloom::readamp {

// Calls `use` with the sorted run, 0 for the newest, the level and RocksDB's description of each
// table, in the order in which a lookup asks the runs: a file of level 0 is a sorted run, and so is
// a level below.
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

// A filter block: a table's whole filter, or a partition of it.
struct TableFilterBlock {
  std::string last_key;  // of a partition: it answers for keys up to this one, in the table's order
  std::uint64_t bytes = 0;
  FilterBlockDescription description;
};

// One SSTable of the tree.
struct Table {
  int sorted_run = 0;  // 0 is the newest
  int level = 0;       // RocksDB's
  std::uint64_t file_number = 0;
  std::string smallest;
  std::string largest;
  std::uint64_t entries = 0;
  std::uint64_t keys = 0;          // in its filter
  std::uint64_t filter_bytes = 0;  // of all blocks, with their index if it is partitioned
  std::vector<TableFilterBlock> filter_blocks;

  bool HasFilter() const { return filter_bytes > 0; }
};

// A level that has tables.
struct LevelKeys {
  int level = 0;
  std::uint64_t keys = 0;
};

class TableList {
 public:
  TableList() = default;
  // Lists the tables of `db`, and reads which of them each stored key is in. Throws InputError if
  // the tables cannot be read.
  TableList(rocksdb::DB& db, const KeySet& keys);

  std::size_t size() const { return tables_.size(); }
  bool empty() const { return tables_.empty(); }
  const Table& operator[](std::size_t i) const { return tables_[i]; }
  auto begin() const { return tables_.begin(); }
  auto end() const { return tables_.end(); }

  // Over all tables.
  std::uint64_t Sum(std::uint64_t Table::*field) const;

  std::vector<LevelKeys> KeysOfLevels() const;

  int SortedRuns() const { return empty() ? 0 : tables_.back().sorted_run + 1; }

  // The sorted run that holds key number `i` of the key set, or kAbsent.
  int SortedRunOf(std::size_t i) const {
    return i < sorted_run_of_key_.size() ? sorted_run_of_key_[i] : kAbsent;
  }

  // The table that has key number `i` of the key set, or null.
  const Table* Holder(const KeySet& keys, std::size_t i) const;

  // The table of a sorted run whose key range holds `key`, as RocksDB finds it, or null.
  const Table* Find(int sorted_run, const std::string& key) const;

  // Whether lookups ask all tables: RocksDB does not compare a key with the ranges of so few, if
  // they are all that there is, and in level 0.
  bool AreAskedRegardlessOfRange() const;

  // The first table of a sorted run that is not empty.
  const Table& FirstOf(int sorted_run) const;

 private:
  std::vector<Table> tables_;
  std::vector<std::int16_t> sorted_run_of_key_;  // or kAbsent
};

}  // namespace exactbloom::readamp
