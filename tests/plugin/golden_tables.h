// The SSTables in tests/golden/sstables, in a folder for each RocksDB that wrote them. They must
// stay readable for ever.
#pragma once

#include <rocksdb/options.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "exactbloom/layout.h"
#include "sample_database.h"

namespace exactbloom {

struct GoldenTable {
  std::string file;
  Layout layout;
  bool partitioned = false;

  // Options of such tables, with any policy. Every lookup reads its blocks from the file.
  rocksdb::Options OptionsWith(const PolicyPointer& policy) const;
};

// Each holds KeyOf() of as many even numbers, from 0 on, with the value of PutAndFlush.
inline constexpr std::uint64_t kGoldenKeys = 300;

// Every layout, with a full and with a partitioned filter.
std::vector<GoldenTable> GoldenTables();

// Prints the file's name, for messages of failing tests.
std::ostream& operator<<(std::ostream& out, const GoldenTable& golden);

}  // namespace exactbloom
