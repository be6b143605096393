// The SSTables of a database in the order in which a lookup asks them.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "readamp/keys/key_set.h"
#include "src/model/sorted_runs.h"
#include "sst/block_description.h"

namespace exactbloom::readamp {

// The tables of the default column family, in RocksDB's order, with their levels.
using ListedTables = std::vector<std::pair<int, rocksdb::SstFileMetaData>>;
ListedTables ListTables(rocksdb::DB& db);

// Their sorted runs.
model::SortedRuns RunsOf(const ListedTables& tables);

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

  int SortedRuns() const { return static_cast<int>(runs_.Runs().size()); }

  // The sorted run that holds key number `i` of the key set, or kAbsent.
  int SortedRunOf(std::size_t i) const {
    return i < sorted_run_of_key_.size() ? sorted_run_of_key_[i] : kAbsent;
  }

  // The table that has key number `i` of the key set, or null.
  const Table* Holder(const KeySet& keys, std::size_t i) const;

  // The table of a sorted run whose key range holds `key`, as RocksDB finds it, or null.
  const Table* Find(int sorted_run, const std::string& key) const;

  // Whether lookups ask all tables, whose ranges RocksDB then does not look at.
  bool AreAskedRegardlessOfRange() const { return runs_.AreAllAsked(); }

  // The first table of a sorted run.
  const Table& FirstOf(int sorted_run) const {
    return tables_[runs_.Runs()[static_cast<std::size_t>(sorted_run)].front()];
  }

 private:
  std::vector<Table> tables_;
  model::SortedRuns runs_{{}, {}, model::CompareBytes};  // of tables by their places
  std::vector<std::int16_t> sorted_run_of_key_;          // or kAbsent
};

}  // namespace exactbloom::readamp
