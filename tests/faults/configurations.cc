#include "configurations.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "sample_database.h"
#include "sample_filters.h"

namespace exactbloom::faults {
std::string Configuration::Name() const {
  return (kind ? NameOf(*kind) : "RocksDB") + (partitioned ? "Partitioned" : "Full") +
         (detects_faults ? "Detecting" : "") + (follows_tree ? "Following" : "");
}

rocksdb::Options Configuration::Options() const {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = kind ? NewPolicy(*kind) : PolicyPointer(rocksdb::NewBloomFilterPolicy(10));
  if (follows_tree) {
    ExactBloomOptions following;
    following.memory_budget = 4096;  // which the trees of the tests exceed at times
    table.filter_policy = NewFilterPolicy(following);
  }
  table.detect_filter_construct_corruption = detects_faults;
  if (partitioned) PartitionFilters(256, &table);
  table.block_size = 1024;
  table.cache_index_and_filter_blocks = true;
  table.block_cache = rocksdb::NewLRUCache(64 << 10, 0);
  rocksdb::Options options = OptionsWith(table);
  options.disable_auto_compactions = false;
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 64 << 10;
  options.max_bytes_for_level_base = 128 << 10;
  options.level0_file_num_compaction_trigger = 2;
  options.compression = rocksdb::kNoCompression;
  options.max_open_files = 10;           // so that tables are opened again and again
  options.max_file_opening_threads = 1;  // in each column family
  if (follows_tree) options.listeners.push_back(NewTreeListener());
  return options;
}

std::vector<Configuration> AllConfigurations() {
  std::vector<Configuration> all = {{BloomKind::kStandard, false, false, true},
                                    {BloomKind::kClassic, true, false, true}};
  for (const bool partitioned : {false, true}) {
    for (const BloomKind kind : BloomKinds()) all.push_back({kind, partitioned, !partitioned});
    all.push_back({std::nullopt, partitioned, !partitioned});
  }
  return all;
}

}  // namespace exactbloom::faults
