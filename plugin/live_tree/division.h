// How many bits per key a table gets, by the sorted runs of its tree.
//
// The lookup of an absent key asks the filter of every sorted run, so it wastes the sum of their
// false-positive rates f_i(b_i). With B bits in all for runs of n_i keys the sum is least where one
// more bit lowers each rate equally (Dayan et al., "Monkey", 2017):
//
//   f_i'(b_i) / n_i  is the same for all i,   sum n_i b_i = B
//
// A filter is built once and stays while the tree goes on. So a job, which is a flush or a
// compaction, divides B = bits_per_key * keys of the column family among the runs as they are when
// it has ended: its inputs are gone, a compaction's tables are part of the run of their level, and
// a flushed table is a run. With s for the bits per key of their run its tables get
//
//   max(min(s, what keeps the family's filters within kMostOverAverage over bits_per_key),
//       min(kLeastPart * s, bits_per_key))
//
// Under a memory budget B is model::kBudgetPart of the bound if that is less, the runs are those of
// all families that share it, and a table takes no more than
//
//   - what the bound leaves beside all filters that exist, less kForOthers of the bound, or
//     kLeastOfRoom of what is left, with all its partitions;
//   - what lets its job be repeated: as long as a job runs, its inputs have their filters beside
//     those of its outputs. Without this full compactions alternate between many bits and few.
//
// A run of at most kSmallRun of the family's keys has its share as long as the family's filters
// stay within kMostOfSmallRuns of bits_per_key more: runs above it that are about to be compacted
// fill the cap, and a flush of 110 keys beside a compaction gets 10.6 bits where its share is 20.2.
// Without a limit a hundred runs of .1% take 10.9 bits of 10, of .5% 12.1. Where keys may ascend it
// would let a few tables take many bits, which the samples after restarts miss: 320 restarts reach
// 10.84 bits of 10 with it, 10.66 without.
//
// A run of at most kSmallPart of the family's keys has a floor of bits_per_key under any bound, of
// which all floors take kFloors at most: filters that exceed the bound by a per cent would else
// cost every flush its filter, and with it a read per lookup.
//
// Wasted reads over those of the best division in hindsight, which knows the future and has the
// same bytes at each moment: .91 to 1.05 over the load of a tree (leveled, universal, dynamic
// levels, small buffers). Tried and left out: runs to come 1.02 to 1.09, inputs that return 1.02 to
// 1.26 times the wasted reads of this rule; Bloom filters in small runs: .3% more in trees of a
// hundred flushes, 5 to 7% more in larger ones, .5 to 2% of a load's time saved.
//
// Pure functions of numbers. They throw std::bad_alloc when memory is short.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../../src/analysis/run_division.h"
#include "exactbloom/layout.h"

namespace exactbloom::tree {

// Small runs beside a large one that was written before them need so many bits per key more.
// 0.3 wastes 5 to 14% more, in 0.5% fewer bytes; 5% of bits_per_key wastes 15 to 25% more at 4
// bits.
inline constexpr double kMostOverAverage = 0.5;
// Without bits_per_key beside it, a level 0 that piles up takes 10.85 of 10 bits per key.
inline constexpr double kLeastPart = 0.6;
// With nothing left for others, a load wastes 1.34 times as much as with this.
inline constexpr double kForOthers = 0.15;
inline constexpr double kLeastOfRoom = 0.25;
// Of the bound: partitions have an index, and tables without a filter a block of 6 bytes.
inline constexpr double kFill = 0.98;
inline constexpr double kSmallPart = 0.02;
inline constexpr double kFloors = 0.02;
inline constexpr double kSmallRun = 0.01;
inline constexpr double kMostOfSmallRuns = 0.005;

struct DivisionOptions {
  double bits_per_key = 10.0;  // the most on average over a family's keys
  bool ribbon = false;         // whether its filters are Ribbon filters
};

// Returns the bits that the division counts of a filter that it knows by its bytes: neither the
// trailer and the index of partitions nor what an array is rounded up to, which is a large part of
// a small filter. One of at most five lines counts as with bits_per_key, whatever it has.
//   beside_bytes   of the filter's bytes, what is no array
std::uint64_t CountedBits(const DivisionOptions& options, std::uint64_t keys,
                          std::uint64_t filter_bytes, std::uint64_t beside_bytes);

// The view shows a family as it is when a job has ended.
struct TreeView {
  std::vector<analysis::EqualRuns> other_runs;  // beside the table's; those of equal size together
  double own_keys = 0.0;                        // of the table's run; 0 if not known
  // The job's tables have so many, this one's among them, less those that are written.
  double keys_to_write = 0.0;
  double other_filter_bits = 0.0;   // of all tables but those to write
  double input_filter_bytes = 0.0;  // of the job's inputs
  double written_filter_bytes = 0.0;
  bool rewrites_tables = true;       // so keys do not ascend
  double index_bytes_per_key = 0.0;  // that the job's tables are expected to have
};

// Bytes.
struct BudgetView {
  double bound = 0.0;
  double index_bytes = 0.0;  // that the budget covers, with those of the table
  double held = 0.0;         // by all filters, without this one
  double of_floors = 0.0;    // of these
  double taken = 0.0;        // by the table's earlier partitions, a part of `held`
  // The filter has so many, or all partitions that the table has still to get.
  double keys_to_write = 0.0;
};

struct Share {
  double bits_per_key = 0.0;
  double most_bits_per_key = kMaxBitsPerKey;  // that the bound leaves
  bool is_budget_spent = false;               // that is less than one
  bool is_spent_by_inputs = false;            // and would not be without the job's inputs
  bool is_floor = false;                      // and the table gets more
  // All runs of the family, the table's last, and what they would get if all were made anew.
  std::vector<analysis::EqualRuns> runs;
  std::vector<double> planned;
};

// Returns what a table gets; bits_per_key where its run is not known.
//   beside   all other families that share its budget
//   budget   bytes that it has for filters; nothing without one
Share Divide(const DivisionOptions& options, const TreeView& view,
             std::vector<analysis::EqualRuns> beside = {},
             const std::optional<double>& budget = std::nullopt);

// Limits the share to what the budget leaves.
void Limit(const DivisionOptions& options, const TreeView& view, const BudgetView& budget,
           Share& share);

// Returns the bits per key of a table of so many keys that is written while its database is opened.
// Nothing of the tree can be known then, each restart may write one, and most have few keys: they
// get 18 bits per key for 137 keys, where the plan gives 17.2 beside 20,000 keys and 22.9 beside a
// million; all of them together at most 512 bytes more than on average.
double BitsOfRecovered(double bits_per_key, double keys);

}  // namespace exactbloom::tree
