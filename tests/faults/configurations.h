// The filters that are tested with faults.
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
  bool follows_tree = false;    // size_ratio=auto, with a budget and a listener; with a layout only

  std::string Name() const;

  // Options of a small database that flushes and compacts automatically and reads its files often.
  // Partitioned filters, and those of tables that detect faults, are read through the block cache.
  rocksdb::Options Options() const;
};

// Two that follow the tree, all layouts with each of the other switches, and RocksDB's own filters:
// a failure that they share is RocksDB's.
std::vector<Configuration> AllConfigurations();

}  // namespace exactbloom::faults
