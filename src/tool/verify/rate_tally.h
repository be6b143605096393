// Absent keys that were asked of filters, beside what the exact rates say of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/theory/confidence_interval.h"

namespace exactbloom::tool {

// The rate of a filter over hash functions: how far one filter's own rate lies from it is a part of
// the chance in a measurement.
struct FilterRate {
  double mean = 0.0;
  double relative_deviation = 0.0;
};

// The exact rates of our filters. Those of equal parameters, as most partitions of a table, are
// worked out once.
class ExactRates {
 public:
  const FilterRate& Of(const FilterDescription& filter);

 private:
  using Parameters = std::tuple<Layout, std::uint64_t, std::uint64_t, int>;
  std::map<Parameters, FilterRate> rates_;
};

struct RateTally {
  std::uint64_t asked = 0;
  std::uint64_t positives = 0;
  double expected = 0.0;  // of the positives
  double variance = 0.0;  // of the positives, that of the filters' fill included
  bool exact = true;      // whether these two are; otherwise there is no variance

  // Of one filter.
  static RateTally OfExact(std::uint64_t asked, std::uint64_t positives, const FilterRate& rate);
  static RateTally OfApproximate(std::uint64_t asked, std::uint64_t positives, double rate);

  void Add(const RateTally& other);

  // The measured rate with its confidence of 99.9%, for the chance in the keys that were drawn and
  // that in each filter's fill; none without exact rates.
  std::optional<Interval> MeasuredInterval() const;
  // Whether it holds the expected rate.
  std::optional<bool> WithinInterval() const;
};

}  // namespace exactbloom::tool
