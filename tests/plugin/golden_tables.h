// The SSTables in tests/golden/sstables, in a folder for each RocksDB that wrote them. They must
// stay readable for ever.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "sample_database.h"

namespace exactbloom {

struct GoldenTable {
  std::string file;
  std::string setting;  // of the policy
  bool partitioned = false;

  PolicyPointer MakePolicy() const {
    PolicyPointer made;
    EXPECT_TRUE(rocksdb::FilterPolicy::CreateFromString({}, setting, &made).ok()) << setting;
    return made;
  }

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

// Each kind of filter, full and partitioned.
inline std::vector<GoldenTable> GoldenTables() {
  RegisterFilterPolicies();
  std::vector<GoldenTable> tables;
  for (const auto& [setting, name] :
       {std::pair("classic_bloom:10", "classic"), std::pair("standard_bloom:10", "standard"),
        std::pair("exact_ribbon:10", "ribbon")}) {
    for (const bool partitioned : {false, true}) {
      tables.push_back({std::string(name) + (partitioned ? "_partitioned.sst" : "_full.sst"),
                        setting, partitioned});
    }
  }
  return tables;
}

// Prints the file's name, for messages of failing tests.
inline std::ostream& operator<<(std::ostream& out, const GoldenTable& golden) {
  return out << golden.file;
}

}  // namespace exactbloom
