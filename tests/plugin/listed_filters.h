// The filters of a database's tables, as the files have them.
#pragma once

#include <rocksdb/db.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sst/table_filters.h"

namespace exactbloom {

struct ListedFilter : TableFilter {
  std::string path;
  int level = 0;
  std::uint64_t number = 0;
};

// Reads the filters of all tables of the open column families, in the order of
// GetLiveFilesMetaData. Leaves out tables that a compaction deletes before they are read; the
// `status` of a table that cannot be read has the reason.
std::vector<ListedFilter> ListTableFilters(rocksdb::DB& db);

// What ExactBloom's blocks of a table's filter say.
struct FilterBlocks {
  std::uint64_t bloom = 0;      // blocks
  std::uint64_t ribbon = 0;     // blocks
  std::uint64_t keys = 0;       // in both
  std::uint64_t hash_seed = 0;  // of the last one
  double passing = 0.0;         // the sum over the blocks of keys times the exact rate

  // Of a key that the table does not have, by the part of the keys that a block has. Keys that are
  // in no such block pass.
  double Rate(std::uint64_t keys_of_table) const;
};

// Returns nothing if a compaction has deleted the table.
std::optional<FilterBlocks> ReadFilterBlocks(rocksdb::DB& db, const std::string& path);

}  // namespace exactbloom
