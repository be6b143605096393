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

// One of ExactBloom's filters against one peer, in one operation.
struct Result {
  std::string layout;
  std::string kernel;
  double bits_per_key = 0.0;
  std::uint64_t keys = 0;
  Operation operation = Operation::kBuild;
  std::string peer;
  Comparison comparison;
  double rate_measured = 0.0;
  double rate_exact = 0.0;
  double peer_rate_measured = 0.0;
};

// A filter's size and rate.
struct RateRow {
  std::string name;
  double bits_per_key = 0.0;  // as configured
  std::uint64_t keys = 0;
  std::size_t bytes = 0;  // of the whole block
  RateMeasurement rate;
};

struct Report {
  std::string command;
  std::string missing_peer;  // why there was no FastLocalBloom with AVX2; empty if there was
  std::vector<std::string> kernels;
  int repetitions = 0;
  std::size_t block_offset = 0;
  std::vector<RateRow> rates;
  std::vector<Result> results;
  std::string fixed_costs;  // a table; empty if they were not measured

  std::string Text() const;
  nlohmann::json Json() const;
};

}  // namespace exactbloom::filter_benchmark
