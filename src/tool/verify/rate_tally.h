// The answers of filters for absent keys, and the answers expected by the exact rates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/theory/confidence_interval.h"

namespace exactbloom::tool {

// The rate of a filter over hash functions: the deviation of one filter's own rate from it is part
// of the chance in a measurement.
struct FilterRate {
  double mean = 0.0;
  double relative_deviation = 0.0;
};

// The exact rates of ExactBloom's filters. Rates of equal parameters, such as those of most
// partitions of a table, are computed once.
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
  double variance = 0.0;  // of the positives, including that of the filters' fill
  bool exact = true;      // whether these two are exact; otherwise there is no variance

  // The tally of one filter.
  static RateTally OfExact(std::uint64_t asked, std::uint64_t positives, const FilterRate& rate);
  static RateTally OfApproximate(std::uint64_t asked, std::uint64_t positives, double rate);

  void Add(const RateTally& other);

  // The 99.9% interval of the measured rate, which allows for chance in the choice of keys and in
  // each filter's fill; none without exact rates.
  std::optional<Interval> MeasuredInterval() const;
  // Whether it contains the expected rate.
  std::optional<bool> WithinInterval() const;
};

}  // namespace exactbloom::tool
