// The timed loops.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "key_block.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom::filter_benchmark {

enum class Operation {
  kNegativeLatency,     // each query waits until the one before has ended
  kNegativeThroughput,  // queries may overlap, but a branch depends on every answer
  kNegativeBatch,       // kBatch keys per call, as in MultiGet
  kPositiveThroughput,
  kPositiveBatch,
  kBuild,  // AddKey of all keys and Finish
};

inline constexpr std::array<Operation, 6> kOperations = {
    Operation::kNegativeLatency,    Operation::kNegativeThroughput, Operation::kNegativeBatch,
    Operation::kPositiveThroughput, Operation::kPositiveBatch,      Operation::kBuild};

inline constexpr std::size_t kBatch = 32;  // RocksDB's largest

// As in the JSON.
std::string Name(Operation operation);

bool AsksPresentKeys(Operation operation);

struct Answers {
  double nanoseconds = 0.0;
  std::uint64_t positive = 0;
};

// Asks for all keys of the block once. The operation is any but kBuild.
Answers Ask(Operation operation, rocksdb::FilterBitsReader& reader, KeyBlock& keys);

}  // namespace exactbloom::filter_benchmark
