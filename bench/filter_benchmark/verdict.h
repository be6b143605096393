// Whether a filter answered correctly. A run in which one did not has no report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "benchmark_settings.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom::filter_benchmark {

// The exact rate of a filter.
struct ExactRate {
  double mean = 0.0;                // over hash functions
  double relative_deviation = 0.0;  // of one filter's own rate
};

struct RateMeasurement {
  std::uint64_t keys_missed = 0;
  std::uint64_t absent_queries = 0;
  std::uint64_t false_positives = 0;
  std::optional<ExactRate> exact;  // empty without an exact theory

  double Rate() const;
};

// Returns what is wrong with a measurement, if anything: a key was missed, or the exact rate lies
// outside the 99.9% interval of the measured one, which is widened by the deviation of the filter's
// own rate.
std::optional<std::string> Objection(const RateMeasurement& measurement);

// Asks for up to a million of the filter's keys and for `absent_queries` others, one by one and in
// batches. Throws WrongAnswer, naming the filter as `name`, if the two ways disagree or there is an
// objection.
RateMeasurement MeasureRate(const std::string& name, rocksdb::FilterBitsReader& reader,
                            std::uint64_t keys, std::uint64_t absent_queries,
                            const std::optional<ExactRate>& exact);

}  // namespace exactbloom::filter_benchmark
