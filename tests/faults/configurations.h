// The filters that are put through faults.
#pragma once

#include <rocksdb/options.h>

#include <optional>
#include <string>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom::faults {

struct Configuration {
  std::optional<Layout> layout;  // nothing: RocksDB's own Bloom filter
  bool partitioned = false;
  bool detects_faults = false;  // detect_filter_construct_corruption

  std::string Name() const;

  // Of a small database that flushes and compacts by itself and reads its files often. Partitioned
  // filters, and those of tables that detect faults, are read through the block cache.
  rocksdb::Options Options() const;
};

// All layouts with each of the switches, and RocksDB's own filters: what they do as well is
// RocksDB's.
std::vector<Configuration> AllConfigurations();

}  // namespace exactbloom::faults
