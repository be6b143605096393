// Which RocksDB the tests run with, and the SSTables in tests/golden/newer_sstables, written by
// RocksDB 11.8.1 in formats that not every RocksDB reads. They must stay readable for ever.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/version.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace exactbloom {

struct Version {
  int major;
  int minor;

  std::string Text() const { return std::to_string(major) + '.' + std::to_string(minor); }
  bool IsHere() const {
    return std::tie(major, minor) <= std::make_tuple(ROCKSDB_MAJOR, ROCKSDB_MINOR);
  }
};

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

// Skips the test if this RocksDB is older than the version that introduced `what`.
#define EXACTBLOOM_SKIP_BEFORE(version, what)                                      \
  if (!(version).IsHere()) {                                                       \
    GTEST_SKIP() << what << " needs RocksDB " << (version).Text() << " or later."; \
  }
