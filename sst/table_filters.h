// Which filter an SSTable carries.
//
// An SSTable stores its filter in one block, or in one block per partition. An ExactBloom block
// describes itself in full (filter.h); RocksDB's own Bloom and Ribbon blocks store their kind
// and little more. ReadTableFilter reads the blocks from the file, through its file system
// (encrypted and in-memory ones work), and verifies their checksums. It holds one block in memory
// at a time, and the index of partitions, accepts any bytes, and may run during reads, writes and
// compactions.
#pragma once

#include <rocksdb/file_system.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "exactbloom/layout.h"

namespace exactbloom {

enum class FilterFamily : std::uint8_t {
  kNone,         // the table has no filter
  kExactBloom,   // ExactBloom's Bloom filter
  kExactRibbon,  // ExactBloom's Ribbon filter; partitions with few keys may have a Bloom filter
  kBloom,        // RocksDB's Bloom filter of format version 5 and later
  kLegacyBloom,  // the one of earlier format versions
  kRibbon,       // RocksDB's Ribbon filter; partitions with few keys may have a Bloom filter
  kEmpty,        // RocksDB's filter of no keys, which passes no key
  kBlockBased,   // RocksDB's filters per data block, which RocksDB 7.4 and later do not read
  kUnknown,      // damaged, of a later version, or of another policy: it passes all keys
};

// Whether only the policies of ExactBloom read such filters.
inline bool IsOurs(FilterFamily family) {
  return family == FilterFamily::kExactBloom || family == FilterFamily::kExactRibbon;
}

// Returns "exact_bloom", "exact_ribbon", "bloom", "ribbon" and so on, for reports and JSON, where
// every release keeps them.
const char* NameOf(FilterFamily family);

// What a table file says of itself and its filter.
struct TableFilter {
  std::string column_family;
  std::uint64_t file_bytes = 0;
  std::uint64_t entries = 0;  // all versions of all keys, and range deletions

  // Its filter. A filter whose partitions differ in family is kUnknown; kEmpty partitions do not
  // count.
  FilterFamily family = FilterFamily::kNone;
  bool partitioned = false;
  std::uint64_t blocks = 0;            // 1, or the number of partitions
  std::uint64_t empty_partitions = 0;  // those of no bytes, at which MultiGet fails
  std::uint64_t bytes = 0;             // of these blocks
  std::string policy;                  // Name() of the policy that wrote the table
  std::string compatibility_name;      // of the policies that can read the filter
  std::uint64_t filter_keys = 0;       // keys and prefixes added to it, as RocksDB counted them;
                                       // by RocksDB before 6.21 the entries of the table
  std::uint64_t range_deletes = 0;     // part of `entries`; in no filter

  std::uint64_t index_bytes = 0;  // of the table's index of data blocks, with its partitions
  std::uint64_t data_blocks = 0;

  // What was added: keys, their prefixes, or both.
  bool whole_key_filtering = true;
  bool prefix_filtering = false;
  std::string prefix_extractor;  // of the table, even if no prefixes are in the filter

  // Versions of keys. A lookup reads no data of a table without any.
  std::uint64_t PointEntries() const { return entries - std::min(entries, range_deletes); }

  std::string reason;  // why it is kUnknown

  // The smallest and largest number of probes of its blocks that are Bloom filters.
  int min_probes = 0;
  int max_probes = 0;

  // kRibbon, kExactRibbon: the slots of all blocks. With s slots in b bits, about 2^(-b/s) of the
  // absent keys pass.
  std::uint64_t ribbon_slots = 0;

  // kExactBloom, and but for `kind` and `bits` kExactRibbon.
  BloomKind kind = BloomKind::kClassic;  // of the last block
  std::uint64_t hash_seed = 0;           // of the last block
  std::uint64_t bits = 0;                // of all blocks
  std::uint64_t keys = 0;                // of all blocks, as ExactBloom counted them
  int format_version = 0;                // of the block, docs/format.md

  // OK, or why the file could not be read: Corruption, NotSupported for tables that are not
  // block-based, errors of the file system. The family is kUnknown then.
  rocksdb::Status status;
};

// Reads one table file.
//   file_system  that of the file, such as rocksdb::FileSystem::Default()
//   visit        called for the bytes of each filter block, in key order, for FilterView or a
//                policy's GetFilterBitsReader; they are valid during the call
// Returns `filter->status`. The other fields hold what could be read.
rocksdb::Status ReadTableFilter(rocksdb::FileSystem& file_system, const std::string& path,
                                TableFilter* filter,
                                const std::function<void(rocksdb::Slice)>& visit = nullptr);

}  // namespace exactbloom
