// The comparison of two filters: the measurement of one repetition, and the result of all.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmark_settings.h"
#include "contender.h"
#include "key_block.h"
#include "operation.h"
#include "verdict.h"

namespace exactbloom::filter_benchmark {

// A finished filter with the reader of one kernel. Filters of several kernels share the memory.
struct LoadedFilter {
  const Contender* contender = nullptr;
  std::string kernel;  // empty for a peer
  Policy policy;
  std::uint64_t keys = 0;
  std::shared_ptr<const FilterMemory> memory;
  std::unique_ptr<rocksdb::FilterBitsReader> reader;
  RateMeasurement rate;

  std::string Name() const;
};

// Times of one against those of the other, per key.
struct Comparison {
  double ratio_median = 0.0;  // of the repetitions' ratios
  double ratio_low = 0.0;     // their lower and upper quartile
  double ratio_high = 0.0;
  double nanoseconds = 0.0;  // medians of the two filters' own times
  double peer_nanoseconds = 0.0;
};

// A repetition's two times, in nanoseconds per key.
struct Times {
  double ours = 0.0;
  double peer = 0.0;
};

Comparison Summarize(const std::vector<Times>& repetitions);

// Measures the two filters in turn, changing the order from one repetition to the next, on keys
// that are new in every repetition and the same for both. Before each timed loop the filter's bytes
// are read once and a few other keys are asked for, so that neither is slowed down by the other's
// use of the caches. Throws WrongAnswer if a present key is answered absent.
class QueryComparer {
 public:
  explicit QueryComparer(int repetitions);

  Comparison Compare(Operation operation, LoadedFilter& ours, LoadedFilter& peer);

 private:
  double Time(Operation operation, LoadedFilter& filter);

  int repetitions_;
  std::uint64_t block_number_;
  KeyBlock timed_;
  KeyBlock warm_up_;
};

// Builds both filters in turn. Throws WrongAnswer if a build differs from the loaded bytes; so
// every kernel's build is compared with the default kernel's.
Comparison CompareBuilds(const LoadedFilter& ours, const LoadedFilter& peer, int repetitions);

}  // namespace exactbloom::filter_benchmark
