// The distribution of a set's size while bits are added to the set or removed from it, one by one:
// sums of positive terms only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "exactbloom/theory/occupancy.h"

namespace exactbloom::analysis {

// Held where it exceeds the range of double. What is dropped, below 1e-335 in all, would add less
// than that to any value later.
class SizeDistribution {
 public:
  // A set of `size` bits for certain.
  explicit SizeDistribution(std::uint64_t size) : first_(size), values_{kScale} {}

  // Draws a bit out of m that differs from `drawn` others of the same committee, all of which are
  // ones by now: it is one of the other ones, or one of the zeros.
  void DrawBit(double m, double drawn) {
    // Divided each, since the rounding of 1 / rest would be the same in every draw, and add up.
    const double rest = m - drawn;
    values_.push_back(0.0);
    double x = static_cast<double>(first_ + values_.size() - 1);
    for (std::size_t i = values_.size() - 1; i > 0; --i, x -= 1.0) {
      values_[i] = values_[i] * ((x - drawn) / rest) + values_[i - 1] * ((m - x + 1.0) / rest);
    }
    values_[0] *= (x - drawn) / rest;
    Trim();
  }

  // Removes one of `size` bits, each equally likely, of which this distribution counts some.
  void RemoveBit(double size) {
    if (first_ > 0) {
      values_.insert(values_.begin(), 0.0);
      --first_;
    }
    values_.push_back(0.0);
    double x = static_cast<double>(first_);
    for (std::size_t i = 0; i + 1 < values_.size(); ++i, x += 1.0) {
      values_[i] = values_[i] * ((size - x) / size) + values_[i + 1] * ((x + 1.0) / size);
    }
    Trim();
  }

  // Adds `weight` times this distribution to `sum`, which is indexed from 0.
  void AddTo(std::vector<double>& sum, double weight) const {
    const std::size_t end = first_ + values_.size();
    if (sum.size() < end) sum.resize(end, 0.0);
    for (std::size_t i = 0; i < values_.size(); ++i) sum[first_ + i] += weight * values_[i];
  }

  void Assign(std::vector<double> values) {
    first_ = 0;
    values_ = std::move(values);
    Trim();
  }

  double At(std::uint64_t x) const {
    return x < first_ || x - first_ >= values_.size() ? 0.0 : values_[x - first_] / kScale;
  }

  MassFunction Result() const {
    MassFunction result{first_, values_};
    for (double& value : result.values) value /= kScale;
    return result;
  }

 private:
  // Values are held times this, so that those near the end of the range keep all their digits.
  static constexpr double kScale = 0x1p100;
  static constexpr double kLeast = 1e-305;

  void Trim() {
    while (values_.size() > 1 && values_.back() < kLeast) values_.pop_back();
    std::size_t low = 0;
    while (low + 1 < values_.size() && values_[low] < kLeast) ++low;
    values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(low));
    first_ += low;
  }

  std::uint64_t first_;
  std::vector<double> values_;
};

}  // namespace exactbloom::analysis
