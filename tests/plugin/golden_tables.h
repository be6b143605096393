// The SSTables in tests/golden/sstables, in a folder for each RocksDB that wrote them. They must
// stay readable for ever.
#pragma once

#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "exactbloom/layout.h"
#include "sample_database.h"

namespace exactbloom {

struct GoldenTable {
  std::string file;
  FilterKind kind = FilterKind::kClassic;
  bool partitioned = false;

  // Options of such tables, with any policy. Every lookup reads its blocks from the file.
  rocksdb::Options OptionsWith(const PolicyPointer& policy) const {
    rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
    table_options.filter_policy = policy;
    table_options.block_size = 512;
    table_options.no_block_cache = true;
    if (partitioned) PartitionFilters(192, &table_options);
    rocksdb::Options options = exactbloom::OptionsWith(table_options);
    options.compression = rocksdb::kNoCompression;
    options.db_host_id = "host";
    return options;
  }
};

// Each holds KeyOf() of as many even numbers, from 0 on, with the value of PutAndFlush.
inline constexpr std::uint64_t kGoldenKeys = 300;

// Both kinds, with a full and with a partitioned filter.
inline std::vector<GoldenTable> GoldenTables() {
  std::vector<GoldenTable> tables;
  for (const FilterKind kind : {FilterKind::kClassic, FilterKind::kStandard}) {
    for (const bool partitioned : {false, true}) {
      std::string name = kind == FilterKind::kClassic ? "classic" : "standard";
      name += partitioned ? "_partitioned.sst" : "_full.sst";
      tables.push_back({name, kind, partitioned});
    }
  }
  return tables;
}

// Prints the file's name, for messages of failing tests.
inline std::ostream& operator<<(std::ostream& out, const GoldenTable& golden) {
  return out << golden.file;
}

}  // namespace exactbloom
