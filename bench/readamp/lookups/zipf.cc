#include "zipf.h"

#include <algorithm>
#include <cmath>

namespace exactbloom::readamp {

// Rank k = r + 1 has the bar from k - 1/2 to k + 1/2 under the density, whose area is at least its
// probability. The first rank has a bar of its own probability, 1.
ZipfRanks::ZipfRanks(std::uint64_t count, double exponent)
    : count_(count),
      exponent_(exponent),
      lowest_(Integral(1.5) - 1.0),
      highest_(Integral(static_cast<double>(count) + 0.5)) {}

double ZipfRanks::Integral(double x) const {
  const double power = 1.0 - exponent_;
  return power == 0.0 ? std::log(x) : std::expm1(power * std::log(x)) / power;
}

double ZipfRanks::InverseIntegral(double y) const {
  const double power = 1.0 - exponent_;
  return power == 0.0 ? std::exp(y) : std::exp(std::log1p(power * y) / power);
}

std::uint64_t ZipfRanks::Draw(std::mt19937_64& random) const {
  const auto uniform = [&random] {
    constexpr int kUnusedBits = 11;
    return std::ldexp(static_cast<double>(random() >> kUnusedBits), kUnusedBits - 64);
  };
  for (;;) {
    const double area = lowest_ + uniform() * (highest_ - lowest_);
    const double nearest = std::round(InverseIntegral(area));
    const double k = std::clamp(nearest, 1.0, static_cast<double>(count_));
    if (area >= Integral(k + 0.5) - std::pow(k, -exponent_)) {
      return static_cast<std::uint64_t>(k) - 1;
    }
  }
}

}  // namespace exactbloom::readamp
