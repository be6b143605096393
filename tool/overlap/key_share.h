// How many keys of a sorted run are in others, from the answers of filters for its keys.
//
// A filter of rate f lets a key that is not there pass with probability f. So with p = 1 for a key
// that passes, and 0 for another,
//
//   x = (p - f) / (1 - f)
//
// has the mean 1 for a key that is in both runs and 0 for others, and the sum of x is an estimate
// of the number of such keys. Of the keys that passed, so many may be false positives as Chernoff's
// bound (1952) allows, which holds for any number of keys, also where only a handful pass.
#pragma once

#include "exactbloom/theory/confidence_interval.h"

namespace exactbloom::tool {

// The answers for a run's keys. Counts, but for the three sums.
struct RunAnswers {
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

// Returns the estimate for a run of `keys` keys, of which all that could be read were asked for.
// The upper end counts the others, and all unknown keys, as shared.
KeysEstimate EstimateShared(const RunAnswers& answers, double keys);

}  // namespace exactbloom::tool
