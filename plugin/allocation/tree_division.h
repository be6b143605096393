// The bits per key of a table, by its tree.
//
// An absent key's lookup asks the filter of every sorted run, so what it wastes is the sum of the
// runs' rates. At a given total that sum is least where one more bit lowers each rate equally
// (run_division.h). A table's filter is made once, though, and the tree goes on. So a job divides
// the bits among the runs that the tree will have on average until it is in the same state again
// (TreeView). Larger runs keep the filters that they have for longer than the job's tables will
// live; the job divides what they leave, and gives its tables the share of their run.
//
// Pure functions of numbers. They throw std::bad_alloc when memory is short.
#pragma once

#include <cstdint>
#include <vector>

#include "../tree/lsm_shape.h"
#include "exactbloom/layout.h"

namespace exactbloom::tree {

struct DivisionOptions {
  Layout layout;
  double bits_per_key = 10.0;  // the most, on average over a family's keys
  bool ribbon = false;         // large runs get Ribbon filters
};

// By how much the bits of a family may exceed the average that is wanted, before new tables get
// fewer than their share: small runs come before the large one is written anew.
inline constexpr double kMostOverAverage = 1.03;
inline constexpr double kMostOverWithBudget = 1.025;

// The part of a budget that is given away: blocks have trailers, and some are rounded up to the
// size classes of an allocator.
inline constexpr double kFill = 0.98;

// What is held back for small runs that are not there yet, as a part of what they take in a tree of
// ratio 10.
inline constexpr double kExpectedPart = 0.3;

// The least that is worth a filter: at one bit per key the first hash function saves most reads per
// bit (1 - exp(-1/b) = rate; (1 - rate) / b is largest at b = 1).
inline constexpr double kLeastBitsPerKey = 1.0;

struct TableShare {
  double bits_per_key = 0.0;
  bool is_over_budget = false;  // the budget leaves no more than the least
  double keys_to_write = 0.0;   // of the job, this table's among them
  // All runs of the family, the table's last, with what they would get if all were made anew.
  std::vector<RunsOfSize> runs;
  std::vector<double> planned;
};

class TreeDivision {
 public:
  explicit TreeDivision(const DivisionOptions& options) : options_(options) {}

  // Returns the share of a table of a job.
  //   view         with all other families and databases that share the budget
  //   table_keys   of the table; 0: not known yet
  TableShare Share(const TreeView& view, double table_keys) const;

  // Whether a table of the job gets a Ribbon filter.
  //   table_keys   0: not known yet
  bool WantsRibbon(const TreeView& view, double table_keys) const;

  // Returns the bits that a budget leaves for what a job has still to write; below zero if it is
  // exceeded.
  double BitsLeft(const TreeView& view) const;

 private:
  struct Run {
    RunsOfSize runs;
    bool ribbon = false;
  };
  using Runs = std::vector<Run>;

  bool IsRibbon(double run_keys, double all_keys) const;
  // The other runs that the bits are divided among: those of the view and those that are expected.
  std::vector<RunsOfSize> RunsBeside(const TreeView& view, double own_keys) const;
  // All runs among which the bits are divided, of other families first, the table's last.
  Runs RunsOf(const TreeView& view, double own_keys) const;
  // Bits per key that all keys get on average. A budget has to last until the table's run is
  // written anew.
  double Average(const TreeView& view, const Runs& runs, double live_keys,
                 double keys_to_write) const;
  // The bits that runs smaller than the table's have not got yet.
  static double WantedBySmaller(const Runs& runs, const std::vector<double>& planned);
  std::vector<double> Divide(const Runs& runs, double total_bits) const;
  // Bits per key of the last run, if those that are much larger keep what they have.
  double DivideWhatLargerLeave(const Runs& runs, const std::vector<double>& planned,
                               double total_bits) const;

  DivisionOptions options_;
};

}  // namespace exactbloom::tree
