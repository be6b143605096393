// Absent keys that were asked of filters, beside what the exact rates say of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/confidence_interval.h"
#include "exactbloom/table_filters.h"

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
  using Parameters = std::tuple<FilterKind, int, std::uint64_t, std::uint64_t, int>;
  std::map<Parameters, FilterRate> rates_;
};

// The usual asymptotic formula for RocksDB's own filters, averaged over the table: (1 -
// e^(-kn/m))^k for a Bloom filter, 2^(-bits/slots) for a Ribbon filter. Nothing for other families.
std::optional<double> AsymptoticRate(const TableFilter& filter);

struct RateTally {
  std::uint64_t asked = 0;
  std::uint64_t positives = 0;
  double expected = 0.0;  // of the positives
  bool known = true;      // whether `expected` is for all that were asked
  bool exact = true;      // and exact, and so has the variance
  double variance = 0.0;  // of the positives, that of the filters' fill included

  // Of one filter.
  static RateTally OfExact(std::uint64_t asked, std::uint64_t positives, const FilterRate& rate);
  static RateTally Of(std::uint64_t asked, std::uint64_t positives,
                      const std::optional<double>& asymptotic_rate);

  void Add(const RateTally& other);

  // The measured rate with its confidence of 99.9%, for the chance in the keys that were drawn and
  // that in each filter's fill; none without exact rates.
  std::optional<Interval> MeasuredInterval() const;
  // Whether it holds the expected rate.
  std::optional<bool> WithinInterval() const;
};

}  // namespace exactbloom::tool
