// The reads that filters waste, and the division of their bits that wastes the fewest.
//
// A lookup reads each table that it asks and that lacks its key at the false-positive rate f_t of
// the table's filter, which is 1 without a filter. So with a share p of present keys it wastes
//
//   sum over tables of  ((1 - p) A_t + p P_t) f_t
//
// tables, A_t and P_t as in sorted_runs.h, and a lookup of a present key reads one table besides.
// For a given sum of bits the sum is least where one more bit saves equally many reads in every run
// (Dayan et al., "Monkey", 2017); src/analysis/run_division.h finds that division.
//
// The functions throw std::bad_alloc when memory is short, nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../analysis/run_division.h"
#include "exactbloom/layout.h"

namespace exactbloom::model {

// Returns how many of these tables a lookup of an absent key asks where no ranges are known: each
// table of level 0, and of a deeper run one, more often of one with more keys.
//   tables, keys   of the tables that are alike
//   keys_of_run    of all tables of their level; not used in level 0
double AskedOfRun(int level, double tables, double keys, double keys_of_run);

// Returns how many disk reads more than before a lookup costs, as a share, if wasted reads go from
// `before` to `then`, both per lookup.
//   present   the share of lookups that find their key, each of which reads a table
double MoreReads(double before, double then, double present);

// Returns the bits per key of each run if all filters were made anew: `bits_per_key` on average, or
// what kBudgetPart of a memory budget leaves if that is less.
//   bound   of the budget, in bytes
std::vector<double> PlanRuns(double bits_per_key, const std::vector<analysis::EqualRuns>& runs,
                             const std::optional<double>& bound);

// A budget keeps the rest for filters that exist twice while compactions run.
inline constexpr double kBudgetPart = 0.6;

struct FilteredRun {
  double keys = 0.0;
  double filter_bytes = 0.0;
  double asked = 1.0;  // tables of it, per lookup of an absent key
};

// Returns the wasted reads per lookup of an absent key if the filter bytes of the runs are divided
// among them in the best way, with one rate in each run.
//   kind     of Bloom filters
//   ribbon   whether the runs have Ribbon filters instead
// Precision: 2% for runs of a thousand keys or more, as analysis::DivideAmongRuns.
double LeastWastedReads(BloomKind kind, bool ribbon, const std::vector<FilteredRun>& runs);

// Filters of equal numbers of keys.
struct EqualFilters {
  double count = 0.0;
  std::uint64_t keys = 0;  // of each
  double share = 0.0;      // of the tables' data, and so of the lookups, that all of them have
};

// Tables with partitioned filters.
struct PartitionedTables {
  double tables = 0.0;
  double keys = 0.0;     // in all filters, but for those that several partitions of a table have
  double entries = 0.0;  // that RocksDB adds: also repeated prefixes and versions of a key
  double data_blocks = 0.0;  // at whose ends partitions end; 0: not known, at every entry
  double index_bytes = 0.0;  // of the entries of their indexes; 0 if not known
  bool shares_keys = false;  // whether prefixes are all keys, so that neighbours share some
};

// Returns the filters that the tables get. RocksDB counts entries, not keys; it ends a partition at
// the end of a data block, where as many entries are added as keys fit, or where a partition of the
// index is full. So each table has full partitions and one with the rest. Where prefixes are all
// keys, a partition also has one beyond each end within the table, as counted in RocksDB 7.8.
//   keys_that_fit   into a filter of the size of a partition
//   index_size      of a partition of the index, in bytes
std::vector<EqualFilters> PartitionsOf(const PartitionedTables& tables, std::uint64_t keys_that_fit,
                                       std::uint64_t index_size);

}  // namespace exactbloom::model
