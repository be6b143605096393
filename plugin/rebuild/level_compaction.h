// Compacting one table within its level.
#pragma once

#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

struct CompactionInput {
  int level = 0;
  std::string directory;  // of the table asked for
  // The table, and those of its level that must be compacted with it.
  std::vector<std::string> paths;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> tables;  // number and bytes of each
  std::uint64_t bytes = 0;                                      // of all
  std::uint64_t largest_file = 0;                               // bytes of the largest
  bool being_compacted = false;                                 // any of them
  bool bottommost = false;  // no older data of its key range, by RocksDB's rule
};

// Returns nothing if the column family has no table of this number. Below level 0, the input
// includes tables that share a boundary key (without its timestamp) with a table of the input, as
// CompactFiles requires. In level 0 the table is the only one.
std::optional<CompactionInput> CompactionInputOf(const rocksdb::ColumnFamilyMetaData& family,
                                                 std::uint64_t number,
                                                 const rocksdb::Comparator& comparator);

// Reads the input. Returns the path of the first file with a wrong checksum, or, in a file without
// checksums, with bytes that cannot be decoded; empty if there is none.
std::string FindDamage(const CompactionInput& input, const rocksdb::Options& options);

// Compacts the input into tables of its level, and sets `outputs` to their paths. Returns the
// status of CompactFiles: Aborted if another compaction holds one of the tables, InvalidArgument if
// it has replaced one.
rocksdb::Status CompactWithinLevel(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family,
                                   const rocksdb::Options& options, const CompactionInput& input,
                                   std::vector<std::string>* outputs);

}  // namespace exactbloom
