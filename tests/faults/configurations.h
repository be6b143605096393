// The filters that are tested with faults.
#pragma once

#include <rocksdb/options.h>

#include <optional>
#include <string>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom::faults {

struct Configuration {
  std::optional<BloomKind> kind;  // nothing: RocksDB's own Bloom filter
  bool partitioned = false;
  bool detects_faults = false;  // detect_filter_construct_corruption
  bool follows_tree = false;    // exactbloom with a budget and a listener, whatever the kind is

  std::string Name() const;

  // Options of a small database that flushes and compacts automatically, and often reads its files.
  // Filters are read through the block cache.
  rocksdb::Options Options() const;
};

// Two that follow the tree, and each kind and RocksDB's own filters with each of the other
// switches: a failure that RocksDB's filters share is RocksDB's.
std::vector<Configuration> AllConfigurations();

}  // namespace exactbloom::faults
