// A filter that was built, lies in memory as RocksDB reads it from a file, and answers correctly.
#pragma once

#include <rocksdb/slice.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "filter_design.h"
#include "plugin/filter_bits_interface.h"
#include "tool/support/rate_deviation.h"

namespace exactbloom::filter_benchmark {

using support::ExactRate;

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

// The block has an allocation of its own. Its first byte lies at a given offset in a cache line,
// the same for all filters of a run, because the offset decides whether a key of RocksDB's Bloom
// filter touches one line or two.
class FilterMemory {
 public:
  FilterMemory(const rocksdb::Slice& block, std::size_t offset);

  const rocksdb::Slice& block() const { return block_; }

 private:
  std::unique_ptr<char[]> data_;
  rocksdb::Slice block_;
};

// Adds the first `keys` keys to a new builder and finishes it. Returns the nanoseconds that this
// took, without making the keys, and hands the block to `consume`.
double BuildFilter(const rocksdb::FilterPolicy& policy, std::uint64_t keys,
                   const std::function<void(const rocksdb::Slice&)>& consume);

struct LoadedFilter {
  std::string design;
  Policy policy;
  std::uint64_t keys = 0;
  std::unique_ptr<const FilterMemory> memory;
  std::unique_ptr<rocksdb::FilterBitsReader> reader;
  RateMeasurement rate;
};

// The measurements that every loaded filter has to pass.
struct LoadConditions {
  std::size_t block_offset = 16;             // of a filter's first byte in its cache line
  std::uint64_t absent_queries = 2'000'000;  // for each filter's rate
};

// Builds the filter. Throws WrongAnswer as MeasureRate does.
LoadedFilter LoadFilter(const FilterDesign& design, std::uint64_t keys, double bits_per_key,
                        const LoadConditions& conditions);

}  // namespace exactbloom::filter_benchmark
