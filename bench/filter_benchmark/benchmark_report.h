// The results of a run, as text and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "comparison.h"

namespace exactbloom::filter_benchmark {

// One of ExactBloom's filters against a peer in one operation. The names are those of the JSON.
struct ComparisonRow : Comparison {
  std::string peer;
  std::uint64_t keys = 0;
  double bits_per_key = 0.0;
  double peer_rate = 0.0;
  std::string layout;
  std::string kernel;
  double rate_measured = 0.0;
  double rate_exact = 0.0;
  std::string operation;
};

struct BenchmarkReport {
  std::string command;
  std::string missing_peer;  // why there was no FastLocalBloom with AVX2; empty if there was
  int repetitions = 0;
  std::size_t block_offset = 0;
  // Those of a peer and a size are neighbours, and so are those of a kind in them.
  std::vector<ComparisonRow> rows;

  std::string Text() const;
  nlohmann::json Json() const;
};

}  // namespace exactbloom::filter_benchmark
