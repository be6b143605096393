// The distribution of a set's size while bits are added to the set or removed from it, one by one:
// sums of positive terms only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "exactbloom/theory/occupancy.h"

namespace exactbloom::analysis {

// Held where it exceeds the range of double; what is dropped could not have grown above it again.
class SizeDistribution {
 public:
  explicit SizeDistribution(std::uint64_t at) : first_(at), values_{kScale} {}

  std::uint64_t End() const { return first_ + values_.size(); }

  // Draws a bit that differs from `drawn` others of the same committee, all of which are ones by
  // now: it is one of the other ones, or one of the zeros.
  void DrawBit(double m, double drawn) {
    const double choices = 1.0 / (m - drawn);
    values_.push_back(0.0);
    for (std::size_t i = values_.size(); i-- > 0;) {
      const double x = static_cast<double>(first_ + i);
      const double stay = i + 1 < values_.size() ? values_[i] * ((x - drawn) * choices) : 0.0;
      const double grow = i > 0 ? values_[i - 1] * ((m - x + 1.0) * choices) : 0.0;
      values_[i] = stay + grow;
    }
    Trim();
  }

  // Removes one of `size` bits, each equally likely, of which this distribution counts some.
  void RemoveBit(double size) {
    double above = 0.0;
    if (first_ > 0) {
      values_.insert(values_.begin(), 0.0);
      --first_;
    }
    for (std::size_t i = values_.size(); i-- > 0;) {
      const double x = static_cast<double>(first_ + i);
      const double here = values_[i];
      values_[i] = here * ((size - x) / size) + above * ((x + 1.0) / size);
      above = here;
    }
    Trim();
  }

  // Adds `weight` times this distribution to `sum`, which is indexed from 0.
  void AddTo(std::vector<double>& sum, double weight) const {
    if (sum.size() < End()) sum.resize(End(), 0.0);
    for (std::size_t i = 0; i < values_.size(); ++i) sum[first_ + i] += weight * values_[i];
  }

  void Assign(std::vector<double> values) {
    first_ = 0;
    values_ = std::move(values);
    Trim();
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
