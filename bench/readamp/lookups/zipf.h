// Draws numbers by Zipf's law.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace exactbloom::readamp {

// Draws ranks 0 .. count - 1, rank r with a probability in proportion to (r + 1)^-exponent, in
// constant time and memory. Source: Hoermann, Derflinger, "Rejection-inversion to generate variates
// from monotone discrete distributions", 1996.
//
// Rank k = r + 1 has the bar from k - 1/2 to k + 1/2 under the density, whose area is at least its
// probability. The first rank has a bar of its own probability, 1.
class ZipfRanks {
 public:
  //   count      at least 1
  //   exponent   at least 0; 0: all ranks are equally likely
  ZipfRanks(std::uint64_t count, double exponent)
      : count_(static_cast<double>(count)),
        exponent_(exponent),
        lowest_(Integral(1.5) - 1.0),
        highest_(Integral(count_ + 0.5)) {}

  std::uint64_t Draw(std::mt19937_64& random) const {
    for (;;) {
      constexpr int kUnusedBits = 11;
      const double uniform =
          std::ldexp(static_cast<double>(random() >> kUnusedBits), kUnusedBits - 64);
      const double area = lowest_ + uniform * (highest_ - lowest_);
      const double k = std::clamp(std::round(InverseIntegral(area)), 1.0, count_);
      if (area >= Integral(k + 0.5) - std::pow(k, -exponent_)) {
        return static_cast<std::uint64_t>(k) - 1;
      }
    }
  }

 private:
  // The integral of the density x^-exponent, up to a constant.
  double Integral(double x) const {
    const double power = 1.0 - exponent_;
    return power == 0.0 ? std::log(x) : std::expm1(power * std::log(x)) / power;
  }
  double InverseIntegral(double y) const {
    const double power = 1.0 - exponent_;
    return power == 0.0 ? std::exp(y) : std::exp(std::log1p(power * y) / power);
  }

  double count_;
  double exponent_;
  double lowest_;  // the integral's range
  double highest_;
};

}  // namespace exactbloom::readamp
