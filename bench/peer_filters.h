// The rates of RocksDB's own filters.
#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <memory>
#include <string>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "exactbloom/rocksdb_ribbon_rate.h"
#include "plugin/filter_bits_interface.h"
#include "sst/block_description.h"

namespace exactbloom {

// The block of a policy of RocksDB's.
inline std::string BuildPeer(const rocksdb::FilterPolicy& policy, std::uint64_t keys) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.optimize_filters_for_memory = false;  // from 9.2 on it is set
  rocksdb::FilterBuildingContext context(table_options);
  context.level_at_creation = 1;
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(policy.GetBuilderWithContext(context));
  for (std::uint64_t i = 0; i < keys; ++i) {
    builder->AddKey({reinterpret_cast<const char*>(&i), sizeof i});
  }
  std::unique_ptr<const char[]> buffer;
  return builder->Finish(&buffer).ToString();
}

// Of a block of BuildPeer with so many keys.
inline double RateOfPeer(const std::string& block, std::uint64_t keys) {
  constexpr std::uint64_t kTrailerBytes = 5;
  const FilterBlockDescription peer = DescribeFilterBlock(block);
  const std::uint64_t bytes = block.size() - kTrailerBytes;
  if (peer.family == FilterFamily::kRibbon) {
    return RocksDBRibbonFalsePositiveRateOfSlots(peer.ribbon_slots, 8 * bytes);
  }
  return CacheLineFalsePositiveRate(bytes / kLineBytes, keys, peer.probes);
}

}  // namespace exactbloom
