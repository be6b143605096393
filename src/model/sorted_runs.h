// The sorted runs of a column family, by the key ranges of its tables: which tables a lookup asks.
//
// A table of level 0 is a sorted run, and so is a deeper level. A lookup asks the runs from the
// newest to the one that has its key, in each the table whose range, from its smallest to its
// largest key, holds the key. A level that is compacted table by table has gaps, and a table of
// level 0 need not span all keys. So a lookup asks fewer tables than there are runs:
//
//   A_t   the share of absent keys in the range of table t
//   P_t   the share of present keys in its range that only older runs have
//
// Both are numbers of tables that lack the key, per lookup, and their sums over a tree's tables are
// what a lookup asks in vain. wasted_reads.h makes wasted reads of them.
//
// The functions throw std::bad_alloc when memory is short, nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace exactbloom::model {

// Returns less than, equal to or more than zero, as a comparator does.
using KeyOrder = int (*)(std::string_view, std::string_view);
inline int CompareBytes(std::string_view one, std::string_view other) { return one.compare(other); }

struct Table {
  int level = -1;                      // not known: of a single file
  std::string smallest;                // all keys are between these two,
  std::string largest;                 // both included
  std::uint64_t largest_sequence = 0;  // of its entries: level 0 is in this order
  std::uint64_t number = 0;            // of its file
};

// Returns a class of sizes: sorted runs of one class differ by less than a tenth in keys.
int SizeClass(double keys);
// Of the sorted run that a table is of: in level 0 each is one, and they have classes by their
// keys. Any other level has class 0.
inline int SizeClass(int level, double keys) { return level == 0 ? SizeClass(keys) : 0; }

// How many times a lookup asks a table that lacks its key: 0 to 1.
struct Asked {
  double absent = 1.0;   // A_t, where the key is in no table
  double present = 0.0;  // P_t, where a table has it

  // Of lookups of which this share is present.
  double Mixed(double present_share) const {
    return (1.0 - present_share) * absent + present_share * present;
  }
};

// Keys as numbers. At a position where all keys have digits or letters, these are the digits of
// base 10, 16 or 26, so that numbers in text are spread evenly; other bytes have base 256.
class KeyScale {
 public:
  // Call it for all keys first: they determine the base of each position.
  void Look(std::string_view key);

  // The numbers of a table's range, behind what all of its keys begin with.
  struct Range {
    std::size_t common = 0;
    double begin = 0.0;
    double width = 0.0;
  };
  Range RangeOf(std::string_view smallest, std::string_view largest) const;

  // A key that is looked for in many ranges: its number is kept for the next one.
  struct Place {
    explicit Place(std::string_view place) : key(place) {}
    std::string_view key;
    std::size_t begin = std::string_view::npos;
    double number = 0.0;
  };

  // Returns the position of a key in a range, 0 .. 1; 1 where all of the range is one number.
  double PartBefore(Place& place, const Range& range) const;

 private:
  static constexpr std::size_t kKinds = 4;  // of symbols

  double NumberOf(std::string_view key, std::size_t begin) const;

  std::vector<std::array<bool, kKinds>> places_;  // whether all keys have symbols of these kinds
};

class SortedRuns {
 public:
  //   tables  of one column family, in any order; they are named by their places here
  //   keys    of each table
  //   order   null: not known. Then each table of level 0, and one of each deeper level, is taken
  //           to be asked, and only the tables of the last run are bottommost
  SortedRuns(std::vector<Table> tables, std::vector<double> keys, KeyOrder order);

  // The tables of each run, in the order of their keys; the newest run first.
  const std::vector<std::vector<std::size_t>>& Runs() const { return runs_; }

  // Returns the table of a run whose range has the key. The order must be known.
  std::optional<std::size_t> Find(std::size_t run, std::string_view key) const;

  // Whether lookups ask all tables: RocksDB does not compare a key with the ranges of at most three
  // tables that are all that there is, and in level 0.
  bool AreAllAsked() const;

  // Whether no table of an older run can have keys in the table's range, by RocksDB's rule. In
  // level 0 only the oldest table of all is bottommost.
  bool IsBottommost(std::size_t table) const;

  // From now on Ask takes the absent keys to be these. Without this call they are taken to be
  // distributed like the stored keys, and a table's keys to be spread evenly over its range.
  void SetLookups(const std::vector<std::string>& absent_keys);

  // Returns the shares of a table. Present keys are those of all tables, each as often as another;
  // a key in several runs counts in each of them.
  Asked Ask(std::size_t table) const;

 private:
  std::size_t FirstEndingAtOrAfter(std::size_t run, std::string_view key) const;
  double KeysBefore(std::size_t run, KeyScale::Place& place) const;
  double KeysWithin(std::size_t run, KeyScale::Place& smallest, KeyScale::Place& largest) const;
  // The keys of a run whose lookups ask the table, unless they find their key before.
  double KeysAskedFor(std::size_t run, std::size_t table, KeyScale::Place& smallest,
                      KeyScale::Place& largest) const;

  std::vector<Table> tables_;
  std::vector<double> keys_;
  KeyOrder order_;
  KeyScale scale_;
  std::vector<KeyScale::Range> ranges_;  // by table, if the order is known
  std::vector<std::vector<std::size_t>> runs_;
  std::vector<std::vector<double>> sums_;  // by run: of the keys before each table, and of all
  std::vector<std::size_t> run_of_;        // by table
  double all_keys_ = 0.0;
  std::vector<double> counted_;  // by table: the share of the given lookups; empty: none are given
};

}  // namespace exactbloom::model
