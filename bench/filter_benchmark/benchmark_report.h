// The results of a run, as text and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "comparison.h"
#include "operation.h"

namespace exactbloom::filter_benchmark {

// One of ExactBloom's filters against a peer, in the operations of the report.
struct ComparisonRow {
  std::string layout;
  std::string kernel;
  double rate_measured = 0.0;
  double rate_exact = 0.0;
  std::vector<std::optional<Comparison>> comparisons;
};

// All of ExactBloom's filters of one size against a peer.
struct PeerTable {
  std::string peer;
  double bits_per_key = 0.0;
  std::uint64_t keys = 0;
  double peer_rate = 0.0;
  std::vector<ComparisonRow> rows;
};

struct BenchmarkReport {
  std::string command;
  std::string missing_peer;  // why there was no FastLocalBloom with AVX2; empty if there was
  std::vector<std::string> kernels;
  std::vector<Operation> operations;
  int repetitions = 0;
  std::size_t block_offset = 0;
  std::vector<PeerTable> tables;

  std::string Text() const;
  nlohmann::json Json() const;
};

}  // namespace exactbloom::filter_benchmark
