// Asks the filter of one SSTable for every key of the table, and for keys that it lacks.
#pragma once

#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exactbloom/theory/confidence_interval.h"
#include "sst/table_filters.h"
#include "support/rate_deviation.h"
#include "tool/database/database_files.h"

namespace exactbloom::tool {

// The absent keys that filters were asked for, and the expected number of those that pass.
struct RateTally {
  std::uint64_t asked = 0;
  std::uint64_t positives = 0;
  double expected = 0.0;  // positives
  double variance = 0.0;  // of the positives, including that of the filters' fill
  bool exact = true;      // whether these two are

  // Adds the keys that one filter was asked for.
  void Add(std::uint64_t keys, std::uint64_t passed, const support::ExactRate& rate,
           bool is_exact = true);
  void Add(const RateTally& other);

  // The 99.9% interval of the measured rate, which allows for chance in the choice of keys and in
  // each filter's fill; none without exact rates.
  std::optional<Interval> MeasuredInterval() const;
  // Whether it contains the expected rate.
  std::optional<bool> WithinInterval() const;
};

// A key that the filter denies, although it should have been added.
struct FalseNegative {
  std::string key;
  bool is_prefix = false;
};

struct TableVerification {
  static constexpr std::size_t kMostNamed = 10;

  rocksdb::Status status;  // why the table could not be read to its end
  TableFilter filter;
  std::string unchecked;  // why the filter, or its prefixes, could not be checked

  std::uint64_t keys_checked = 0;  // those of the table that are in the filter, each once
  std::uint64_t false_negatives = 0;
  std::vector<FalseNegative> named;  // the first of them, at most kMostNamed
  RateTally absent;
};

// Which absent keys the filter is asked for.
struct AbsentKeyOptions {
  std::uint64_t drawn = 0;  // the number of those to draw
  std::uint64_t seed = 0;   // of these
  // In bytewise order, in place of drawn ones: those within the range of the table's keys are asked
  // for. Must outlive the call. Null: none are given.
  const std::vector<rocksdb::Slice>* given = nullptr;
};

// Reads the table once. Each key is looked up in the block, or partition, that a lookup of its
// latest version asks: as the key, as its prefix, or as both, depending on how the table was
// written.
//   absent  a key that is drawn is looked up in the partition of the present key that it was made
//           from, one that is given in its own. Fewer are asked for if some turn out to be present
TableVerification VerifyTable(const TableLocation& table, const AbsentKeyOptions& absent);

}  // namespace exactbloom::tool
