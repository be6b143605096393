// The rates of RocksDB's own filters.
#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cmath>
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
  const rocksdb::BlockBasedTableOptions table_options;
  rocksdb::FilterBuildingContext context(table_options);
  context.level_at_creation = 1;
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(policy.GetBuilderWithContext(context));
  for (std::uint64_t i = 0; i < keys; ++i) {
    builder->AddKey({reinterpret_cast<const char*>(&i), sizeof i});
  }
  std::unique_ptr<const char[]> buffer;
  return builder->Finish(&buffer).ToString();
}

// The rate of a Bloom filter of cache lines: the keys of a line are binomial, and a line is a
// filter of the standard kind.
inline double RateOfLines(std::uint64_t keys, std::uint64_t lines, int probes) {
  constexpr std::uint64_t kLineBits = 512;
  const double part = 1.0 / static_cast<double>(lines);
  const auto n = static_cast<double>(keys);
  double rate = 0.0;
  for (std::uint64_t i = lines == 1 ? keys : 0; i <= keys; ++i) {
    const auto in_line = static_cast<double>(i);
    const double log_choices =
        std::lgamma(n + 1) - std::lgamma(in_line + 1) - std::lgamma(n - in_line + 1);
    const double log_others = i == keys ? 0.0 : (n - in_line) * std::log1p(-part);
    const double probability = std::exp(log_choices + in_line * std::log(part) + log_others);
    if (probability < 1e-15) continue;
    rate += probability * FalsePositiveRate(BloomKind::kStandard, kLineBits, i, probes);
  }
  return rate;
}

// Of a block of BuildPeer with so many keys.
inline double RateOfPeer(const std::string& block, std::uint64_t keys) {
  constexpr std::uint64_t kTrailerBytes = 5;
  const FilterBlockDescription peer = DescribeFilterBlock(block);
  const std::uint64_t bytes = block.size() - kTrailerBytes;
  if (peer.family == FilterFamily::kRibbon) {
    return RocksDBRibbonFalsePositiveRateOfSlots(peer.ribbon_slots, 8 * bytes);
  }
  return RateOfLines(keys, bytes / kLineBytes, peer.probes);
}

}  // namespace exactbloom
