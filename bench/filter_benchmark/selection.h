// Selects and makes the comparisons of a run.
#pragma once

#include "benchmark_report.h"
#include "benchmark_settings.h"

namespace exactbloom::filter_benchmark {

// Keeps the contenders, kernels and operations that the settings name. Throws InputError for an
// unknown name.
struct Selection {
  explicit Selection(const Settings& settings);

  std::vector<Contender> layouts;
  std::vector<Contender> peers;
  std::string missing_peer;
  std::vector<std::string> kernels;
  std::vector<Operation> operations;
};

// Measures all filters of the given number of keys and bits per key: first their rates, then every
// layout and kernel against the first peer, and the default kernel against the others. Throws
// WrongAnswer.
void MeasureSize(const Settings& settings, const Selection& selection, std::uint64_t keys,
                 double bits_per_key, Report& report, Progress& progress);

}  // namespace exactbloom::filter_benchmark
