// Which tables of a RocksDB database carry which filter.
//
// An SSTable stores its filter in one block, or in one block per partition. An ExactBloom block
// describes itself in full (bloom_filter.h); RocksDB's own Bloom and Ribbon filters tell their kind
// and little more. RocksDB has no public way to read these blocks, so these functions read them
// from the files, through the database's own file system (encrypted and in-memory ones work), and
// verify their checksums. A call holds one block in memory at a time. It accepts any bytes, and may
// run during reads, writes and compactions.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/file_system.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom {

enum class FilterFamily : std::uint8_t {
  kNone,         // the table has no filter
  kExactBloom,   // ExactBloom's
  kBloom,        // RocksDB's Bloom filter of format version 5 and later
  kLegacyBloom,  // the one of earlier format versions
  kRibbon,       // RocksDB's Ribbon filter; partitions with few keys may have a Bloom filter
  kEmpty,        // RocksDB's filter of no keys, which answers "absent" to all
  kBlockBased,   // RocksDB's filters per data block, which 7.4 and later no longer read
  kUnknown,      // damaged, of a later version, or of another policy: it lets all keys pass
};

// "exactbloom", "bloom", "ribbon" and so on, for people.
const char* NameOf(FilterFamily family);

// The filter of one table.
struct TableFilter {
  // The table. Level and number are known only for a database's tables.
  std::string path;
  std::string column_family;
  int level = -1;
  std::uint64_t number = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t entries = 0;  // keys in all their versions, and deletions of ranges
  std::uint64_t index_bytes = 0;

  // Its filter. If partitions differ in family, the filter is kUnknown; kEmpty partitions do not
  // count.
  FilterFamily family = FilterFamily::kNone;
  bool partitioned = false;
  std::uint64_t blocks = 0;         // 1, or the number of partitions
  std::uint64_t bytes = 0;          // of these blocks
  std::string policy;               // the name of the policy that wrote the table
  std::string compatibility_name;   // of the policies that can read the filter
  std::uint64_t filter_keys = 0;    // added to it, keys and prefixes, as RocksDB counted them
  std::uint64_t range_deletes = 0;  // part of `entries`; in no filter

  // What was added: keys, their prefixes, or both.
  bool whole_key_filtering = true;
  bool prefix_filtering = false;
  std::string prefix_extractor;  // the table's, whether its prefixes are in the filter or not

  std::string reason;  // why it is kUnknown

  // kExactBloom, kBloom, kLegacyBloom: the fewest and the most bits that a key sets in a block.
  int min_probes = 0;
  int max_probes = 0;

  // kRibbon: the slots of all blocks. With s slots in b bits, about 2^(-b/s) of the absent keys
  // pass.
  std::uint64_t ribbon_slots = 0;

  // kExactBloom.
  Layout layout;                // of the last block
  std::uint64_t hash_seed = 0;  // of the last block
  std::uint64_t bits = 0;       // of all blocks
  std::uint64_t keys = 0;       // of all blocks, as ExactBloom counted them
  int format_version = 0;       // of the block, docs/format.md

  // OK, or why the file could not be read: Corruption, NotSupported for tables that are not
  // block-based, errors of the file system. The family is kUnknown then.
  rocksdb::Status status;
};

// Reads one table file.
//   file_system  the one that the file lies in, as rocksdb::FileSystem::Default()
//   visit        called for the bytes of each filter block, which are valid during the call
// Returns `filter->status`. The other fields hold what could be read.
rocksdb::Status ReadTableFilter(rocksdb::FileSystem& file_system, const std::string& path,
                                TableFilter* filter,
                                const std::function<void(rocksdb::Slice)>& visit = nullptr);

// Reads the filters of all tables of the open column families, in the order of families and
// levels. A table that compaction deletes before it is read is left out; one that cannot be read
// has a `status` with the reason.
std::vector<TableFilter> ListTableFilters(rocksdb::DB& db);

// Calls `visit` for the bytes of each filter block of a table, in the order of the keys: for
// BloomFilterView, or for a policy's GetFilterBitsReader. The bytes are valid during the call.
// Stops at the first error, of reading or of `visit`, and returns it; OK for a table without a
// filter.
rocksdb::Status VisitFilterBlocks(rocksdb::FileSystem& file_system, const std::string& path,
                                  const std::function<rocksdb::Status(rocksdb::Slice)>& visit);

}  // namespace exactbloom
