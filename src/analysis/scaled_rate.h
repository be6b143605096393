// The exact rate as a scaled number, which sizing compares where a double would underflow.
#pragma once

#include <cmath>
#include <cstdint>

#include "exactbloom/layout.h"

namespace exactbloom::analysis {

// A number mantissa * 2^exponent, for rates below the range of double.
struct ScaledNumber {
  double mantissa = 0.0;
  int exponent = 0;

  double Value() const { return std::ldexp(mantissa, exponent); }
  double Log2() const { return std::log2(mantissa) + exponent; }
};

// The largest whole number up to which all whole numbers are doubles.
inline constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 53;

// Whether the parameters lie in the ranges of FalsePositiveRate.
bool IsGeometry(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes);

// Requires IsGeometry.
ScaledNumber ScaledFalsePositiveRate(BloomKind kind, std::uint64_t bits, std::uint64_t keys,
                                     int probes);

}  // namespace exactbloom::analysis
