// Selects and makes the comparisons of a run of filter_benchmark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmark_report.h"

namespace exactbloom::filter_benchmark {

// The settings of the command line.
struct BenchmarkSettings {
  std::vector<std::uint64_t> keys = {10'000, 600'000, 10'000'000};
  std::vector<double> bits_per_key = {10, 14, 20};
  // Names to keep; empty: all.
  std::vector<std::string> layouts;
  std::vector<std::string> kernels;
  std::vector<std::string> operations;
  std::vector<std::string> peers;

  int repetitions = 31;
  LoadConditions load;
  std::string json_file;  // empty: none
};

// Measures the filters of each size: first their rates, then every layout and kernel against the
// first peer, and the default kernel against the others. Prints the report and writes the JSON.
// Throws InputError for an unknown name, and WrongAnswer.
void RunBenchmark(const BenchmarkSettings& settings, const std::string& command);

}  // namespace exactbloom::filter_benchmark
