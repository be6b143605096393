// What a run of filter_benchmark measures, as the command line gives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/errors.h"
#include "support/progress.h"

namespace exactbloom::filter_benchmark {

using support::InputError;
using support::Progress;
using support::WrongAnswer;

struct Settings {
  std::vector<std::uint64_t> keys = {10'000, 600'000, 10'000'000};
  std::vector<double> bits_per_key = {10, 14, 20};
  // Names to keep; empty: all.
  std::vector<std::string> layouts;
  std::vector<std::string> kernels;
  std::vector<std::string> operations;
  std::vector<std::string> peers;

  bool full = false;  // 100 million keys as well, and every build
  int repetitions = 21;
  std::uint64_t absent_queries = 2'000'000;  // for each filter's rate
  std::size_t block_offset = 16;             // of a filter's first byte in its cache line
  bool fixed_costs = true;                   // hashing and sizing, which have no peer
  std::string json_file;                     // empty: none
};

}  // namespace exactbloom::filter_benchmark
