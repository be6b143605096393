// Compares measurements with the exact rate.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/theory/confidence_interval.h"
#include "statistics.h"

namespace exactbloom {

// Expects that a filter of `keys` distinct keys gave `false_positives` in `asked` questions: within
// the interval of 99.9% around its exact rate, the deviations of one filter's fill included.
inline void ExpectExactRate(std::uint64_t false_positives, std::uint64_t asked, FilterKind kind,
                            std::uint64_t keys, double bits_per_key) {
  const FilterSize size = SizeAtBitsPerKey(kind, keys, bits_per_key);
  const double rate = size.false_positive_rate;
  const double fill_variance = RateVariance({kind, size.bits, keys, size.probes});
  const double dispersion =
      1 + static_cast<double>(asked - 1) * fill_variance / (rate * (1 - rate));
  const Interval interval = WilsonInterval(false_positives, asked, kZ999, dispersion);
  EXPECT_TRUE(interval.Contains(rate))
      << rate << " outside " << interval.low << " .. " << interval.high;
}

}  // namespace exactbloom
