// The comparison of two filters: the measurement of one repetition, and the result of all.
#pragma once

#include <cstdint>
#include <vector>

#include "key_block.h"
#include "loaded_filter.h"
#include "operation.h"

namespace exactbloom::filter_benchmark {

// A repetition's two times, in nanoseconds per key.
struct Times {
  double ours = 0.0;
  double peer = 0.0;
};

struct Comparison {
  double ratio_median = 0.0;  // of the repetitions' ratios of time
  double ratio_low = 0.0;     // their lower and upper quartile
  double ratio_high = 0.0;
  double peer_nanoseconds = 0.0;  // per key, the median
};

Comparison Summarize(const std::vector<Times>& repetitions);

// Measures two filters in turn, changing the order from one repetition to the next.
class FilterComparer {
 public:
  FilterComparer();

  // Queries are for keys that are new in every repetition and the same for both filters. Before
  // each timed loop the filter's bytes are read once and a few other keys are asked for, so that
  // neither is slowed down by the other's use of the caches. Throws WrongAnswer if a present key is
  // answered absent, and if a build differs from the loaded bytes.
  Comparison Compare(const Operation& operation, LoadedFilter& ours, LoadedFilter& peer,
                     int repetitions);

 private:
  void FillKeys(const Operation& operation, std::uint64_t keys);
  double Time(const Operation& operation, LoadedFilter& filter);

  std::uint64_t block_number_;
  KeyBlock timed_;
  KeyBlock warm_up_;
};

}  // namespace exactbloom::filter_benchmark
