// Peers at equal memory: the setting at which a policy takes a given number of bits per key.
#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace exactbloom {

// Table options under which a filter takes the memory that its policy is configured for. From 9.2
// on, RocksDB would have filters grow and shrink to what its allocator hands out.
inline rocksdb::BlockBasedTableOptions EqualMemoryTableOptions() {
  rocksdb::BlockBasedTableOptions options;
  options.optimize_filters_for_memory = false;
  return options;
}

using MakePolicyOfSetting =
    std::function<std::shared_ptr<const rocksdb::FilterPolicy>(double setting)>;

// Returns the largest setting, to the thousandth that RocksDB rounds to, at which a filter of
// `keys` keys takes at most `bits_per_key` bits per key. The policy's builder is asked how many
// keys fit into a number of bytes; settings from `bits_per_key` to twice as much are tried.
// RocksDB's Ribbon needs it: it is configured by the bits per key of a Bloom filter of equal rate.
double SettingOfEqualMemory(const MakePolicyOfSetting& make_policy, std::uint64_t keys,
                            double bits_per_key);

}  // namespace exactbloom
