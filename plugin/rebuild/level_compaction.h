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
#include <vector>

namespace exactbloom {

struct CompactionInput {
  int level = 0;
  std::string directory;           // of the table asked for
  std::vector<std::string> paths;  // the table's, and those of its level that must come along
  std::uint64_t bytes = 0;         // of all
  std::uint64_t largest_file = 0;  // bytes of the largest
  bool being_compacted = false;    // one of them
  bool bottommost = false;         // nothing older lies below, by RocksDB's rule
};

// Returns nothing if the column family has no table of this number any more. In levels above 0
// tables come along that share a key, without its timestamp, with a table that is in: those whose
// ranges meet there, as RocksDB demands it of CompactFiles. In level 0 a table comes alone.
std::optional<CompactionInput> CompactionInputOf(const rocksdb::ColumnFamilyMetaData& family,
                                                 std::uint64_t number,
                                                 const rocksdb::Comparator& comparator);

// Reads the input through. Returns the path of the first file with a wrong checksum, or, where
// there are no checksums, with bytes that cannot be decoded; or nothing.
std::string FindDamage(const CompactionInput& input, const rocksdb::Options& options);

// Compacts the input into tables of its level, as many as there are. `outputs` gets their paths.
// Returns what CompactFiles returns: Aborted where another compaction holds one of the tables,
// InvalidArgument where it has replaced one.
rocksdb::Status CompactWithinLevel(rocksdb::DB& db, rocksdb::ColumnFamilyHandle& family,
                                   const rocksdb::Options& options, const CompactionInput& input,
                                   std::vector<std::string>* outputs);

}  // namespace exactbloom
