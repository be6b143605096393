// The SSTables in tests/golden/newer_sstables, written by RocksDB 11.8.1 in formats that not every
// RocksDB reads. They must stay readable for ever.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rocksdb_version.h"

namespace exactbloom {

struct NewerTable {
  std::string file;
  Version since;          // the first RocksDB that reads its data blocks
  std::string of_tables;  // the option that makes it
};

inline std::vector<NewerTable> NewerTables() {
  return {{"format_version_6.sst", {8, 6}, "format_version=6"},
          {"format_version_7.sst", {10, 4}, "format_version=7"},
          {"keys_apart.sst", {11, 0}, "separate_key_value_in_data_block=true"}};
}

// Each holds KeyOf() of as many even numbers, from 0 on.
inline constexpr std::uint64_t kNewerTableKeys = 200;

}  // namespace exactbloom
