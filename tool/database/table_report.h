// A table's filter, its rates, and whether lookups use it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "database_files.h"
#include "database_options.h"
#include "filter_fill.h"
#include "sst/table_filters.h"
#include "support/rate_deviation.h"

namespace exactbloom::tool {

enum class FilterUse { kUsed, kUnused, kUnknown, kNone, kNotNeeded };

struct FilterUseFinding {
  FilterUse use = FilterUse::kUsed;
  std::string reason;  // why not, or why not for prefixes; else empty
  std::string remedy;  // what to do, where it follows from the reason
};

// Returns whether Get() uses the filter of `table`, which must be readable. Of a table without a
// filter, kNone or kNotNeeded, it says why it has none.
//   options   its column family's; null: not known, which tables with a filter may not have
//   deepest   whether no level below the table's has tables
// Source: RocksDB 7.8, table/block_based.
FilterUseFinding UseOf(const TableFilter& table, const FamilyOptions* options, bool deepest);

// What empty filter partitions do, and what cures them, as parts of sentences.
inline constexpr char kEmptyPartitions[] =
    "RocksDB's MultiGet aborts at a filter partition of 0 bytes where it has assertions, and by "
    "its source denies present keys where it has none";
inline constexpr char kCureOfEmptyPartitions[] =
    "compact the column family with a policy of ExactBloom; RocksDB's ribbonfilter writes such "
    "partitions again";

struct TableReport {
  TableLocation location;  // its column family is also known for a single file
  // Of a database's table: as model::SortedRuns.
  bool bottommost = false;
  double asked = 1.0;  // by a lookup, in vain
  TableFilter filter;
  rocksdb::Status status;  // the filter's

  // The filter. If it has partitions, rates are means weighted by their keys.
  std::uint64_t keys = 0;            // the table's own count
  std::uint64_t bits = 0;            // without trailers
  std::optional<double> fill;        // share of ones; for Bloom filters
  std::optional<double> exact_rate;  // from bits, keys and probes: of RocksDB's Bloom filters
                                     // by cache lines, of its Ribbon filters by a model
  std::optional<double> fill_rate;   // from the bits that are set

  // Known if there is an OPTIONS file, or the table has no filter.
  std::optional<FilterUseFinding> use;

  bool HasFilter() const { return status.ok() && filter.family != FilterFamily::kNone; }
  // Whether lookups use it, as far as that is known.
  bool Filters() const { return HasFilter() && !(use && use->use == FilterUse::kUnused); }
  // Whether lookups may read it. They read no data of a table with range deletions only.
  bool NeedsFilter() const { return status.ok() && filter.PointEntries() != 0; }
  // The share of absent keys for which the table is read; 1 if its filter is not used.
  double PassRate() const;
  // Reads of the table in vain, per lookup.
  double WastedReads() const { return asked * PassRate(); }
  // The most memory that building its filter took, or takes again; 0 without one.
  std::uint64_t BuildBytes() const;
};

// Returns the most memory, in bytes, that building a table's filter takes. RocksDB builds one
// partition after the other, and keeps them all until it has written the table's data.
//   keys    of the filter, or of its largest partition
//   bytes   of the filter, with all of its partitions
std::uint64_t BuildBytes(FilterFamily family, bool partitioned, std::uint64_t keys,
                         std::uint64_t bytes);

class TableReader {
 public:
  // Reads a table once, one filter block at a time.
  TableReport Read(const TableLocation& table);

 private:
  // Of one of RocksDB's blocks. Those of Bloom filters take a tenth of a millisecond, and thousands
  // of partitions have a few sizes.
  double RateOfBuiltIn(const BlockFill& fill, double keys);

  support::ExactRates rates_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, int>, double> bloom_rates_;
};

}  // namespace exactbloom::tool
