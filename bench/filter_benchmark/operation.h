// The timed loops.
#pragma once

#include <array>
#include <cstdint>

#include "key_block.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom::filter_benchmark {

inline constexpr std::size_t kBatch = 32;  // RocksDB's largest

// Asks a filter for all keys of the block once and returns how many of them may be in it.
using AskKeys = std::uint64_t (*)(rocksdb::FilterBitsReader& reader, KeyBlock& keys);

// Each query waits until the one before has ended.
std::uint64_t AskFenced(rocksdb::FilterBitsReader& reader, KeyBlock& keys);
// Queries may overlap, but a branch depends on every answer.
std::uint64_t AskInTurn(rocksdb::FilterBitsReader& reader, KeyBlock& keys);
// kBatch keys per call, as in MultiGet.
std::uint64_t AskInBatches(rocksdb::FilterBitsReader& reader, KeyBlock& keys);

struct Operation {
  const char* name;  // as in the JSON
  bool asks_present_keys;
  AskKeys ask;  // null for the build: AddKey of all keys and Finish
};

inline constexpr std::array<Operation, 6> kOperations = {{
    {"negative_latency", false, AskFenced},
    {"negative_throughput", false, AskInTurn},
    {"negative_batch", false, AskInBatches},
    {"positive_throughput", true, AskInTurn},
    {"positive_batch", true, AskInBatches},
    {"build", false, nullptr},
}};

}  // namespace exactbloom::filter_benchmark
