// Draws numbers by Zipf's law.
#pragma once

#include <cstdint>
#include <random>

namespace exactbloom::readamp {

// Draws ranks 0 .. count - 1, rank r with a probability in proportion to (r + 1)^-exponent, in
// constant time and memory. Source: Hoermann, Derflinger, "Rejection-inversion to generate variates
// from monotone discrete distributions", 1996.
class ZipfRanks {
 public:
  //   count      at least 1
  //   exponent   at least 0; 0: all ranks are equally likely
  ZipfRanks(std::uint64_t count, double exponent);

  std::uint64_t Draw(std::mt19937_64& random) const;

 private:
  double Integral(double x) const;  // of the density x^-exponent, up to a constant
  double InverseIntegral(double y) const;

  std::uint64_t count_;
  double exponent_;
  double lowest_;  // the integral's range
  double highest_;
};

}  // namespace exactbloom::readamp
