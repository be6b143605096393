// All that inspect says of one table: its filter, and whether the database asks it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "database_files.h"
#include "database_options.h"
#include "exactbloom/table_filters.h"
#include "support/rate_deviation.h"

namespace exactbloom::tool {

enum class FilterUse { kUsed, kUnused, kUnknown };

struct FilterUseFinding {
  FilterUse use = FilterUse::kUsed;
  std::string reason;  // why not, or why not for prefixes; else empty
};

// Returns whether a lookup of a key (Get, not an iterator) asks the filter of `table`, which must
// have one and be readable.
//   options   its column family's
//   deepest   whether no level of the column family below this one has tables
// Source: how RocksDB 7.8 finds a table's filter and decides to ask it.
FilterUseFinding UseOf(const TableFilter& table, const FamilyOptions& options, bool deepest);

struct TableReport {
  TableFilter filter;
  rocksdb::Status status;   // the filter's
  bool bottommost = false;  // AreBottommost
  double asked = 1.0;       // the chance that a lookup of an absent key asks it
  std::size_t place = 0;    // OrderInTree

  // The filter. If it has partitions, rates are means weighted by their keys.
  std::uint64_t keys = 0;            // the table's own count
  std::uint64_t bits = 0;            // without trailers
  std::optional<double> fill;        // share of ones; for Bloom filters
  std::optional<double> exact_rate;  // from bits, keys and probes
  std::optional<double> fill_rate;   // from the bits that are set
  std::optional<double> efficiency;  // by the exact rate

  // Keys by the fill, the standard deviation of that number, and whether the table's own count
  // differs by more than chance explains. Infinite for a filter without zeros.
  std::optional<double> estimated_keys;
  double estimated_keys_deviation = 0.0;
  bool wide_gap = false;

  std::optional<FilterUseFinding>
      use;  // known if there is an OPTIONS file; for tables with a filter

  bool HasFilter() const { return status.ok() && filter.family != FilterFamily::kNone; }
  // The share of absent keys for which the table is read; 1 if its filter is not asked.
  double PassRate() const;
};

// A gap between two counts of keys is wide beyond this many standard deviations, and one key for
// small filters: by chance in fewer than one filter of a million.
inline constexpr double kWideGapDeviations = 5.0;
// For RocksDB's own filters, which follow the formulas only approximately, it must also exceed this
// share.
inline constexpr double kWideGapShare = 0.02;

class TableReader {
 public:
  // Reads a table once, one filter block at a time.
  TableReport Read(const TableLocation& table);

 private:
  support::ExactRates rates_;
};

}  // namespace exactbloom::tool
