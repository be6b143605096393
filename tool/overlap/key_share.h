// How many keys of a sorted run are in others, from the answers of filters for a sample of them.
//
// A filter of rate f lets a key that is not there pass with probability f. So with p = 1 for a key
// that passes, and 0 for another,
//
//   x = (p - f) / (1 - f)
//
// has the mean 1 for a key that is in both runs and 0 for others, and the mean of x over a sample
// is an estimate of the share of such keys. Its interval is made in three steps, each of which uses
// Chernoff's bound (1952), which holds for any number of keys, also where only a handful pass:
//
//   1. of the keys that passed, so many may be false positives;
//   2. the share among a table's keys differs from that of the keys drawn from it;
//   3. the share in tables that were not drawn differs from those drawn: by Student's t and the
//      spread between tables (Cochran, Sampling Techniques, 3rd edition, 6.5).
//
// The first two are for errors of less than 0.05% each. The third takes the spread among the drawn
// tables for that of all.
#pragma once

#include <vector>

#include "exactbloom/theory/confidence_interval.h"

namespace exactbloom::tool {

// The answers for keys that were drawn from one table. Counts, but for the three sums.
struct TableAnswers {
  double keys = 0.0;     // of the table, from which those asked were drawn
  double asked = 0.0;    // for
  double unknown = 0.0;  // of these: of which not all filters could be asked, and none let it pass
  double passed = 0.0;
  double rates = 0.0;            // the sum of f over the keys asked for
  double rates_of_passed = 0.0;  // and over those that passed
  double shared = 0.0;           // the sum of x

  // Adds the answer of a filter of rate f, below 1, or of no filter, of rate 0.
  void Add(bool passes, double rate);
};

struct KeysEstimate {
  double keys = 0.0;
  Interval interval = {0.0, 0.0};  // of 99.9% confidence
};

// Returns the estimate for a run of `keys` keys in `tables` tables.
//   drawn   answers of the tables that were drawn at random among them
// The upper end counts all unknown keys as shared. Of a run without answers, or with few of more
// tables (kFewestTables), the interval is 0 .. keys.
KeysEstimate EstimateSharedOf(const std::vector<TableAnswers>& drawn, double tables, double keys);

// Of tables that are drawn from more: with fewer the spread between them tells too little.
inline constexpr unsigned kFewestTables = 8;

}  // namespace exactbloom::tool
