// An interval of rates, of numbers of keys, or of what else is bounded or estimated.
#pragma once

namespace exactbloom {

struct Interval {
  double low = 0.0;
  double high = 0.0;

  bool Contains(double value) const { return low <= value && value <= high; }
};

}  // namespace exactbloom
