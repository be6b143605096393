// What the exact rates say that a workload will see, before any lookup is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "database.h"
#include "key_set.h"

namespace exactbloom::readamp {

struct Prediction {
  // Checks of filters whose table lacks the key: each is answered "absent" or is a false positive.
  std::uint64_t absent_checks = 0;
  // The exact rate, averaged over those checks, with the model of ribbon_rate.h for the Ribbon
  // filters of one of our policies; none for a policy whose rate has no exact theory.
  std::optional<double> rate;
  // Variance of the number of false positives over its binomial variance: each table's filter has
  // one fill, which all of its checks share.
  double dispersion = 1.0;
};

// Follows every lookup of keys[order[i]] down the sorted runs of `tables`. Throws WrongAnswer if a
// table's filter has not the size that the policy announces for its number of keys.
Prediction Predict(const std::vector<Table>& tables, const KeySet& keys,
                   const std::vector<std::size_t>& order, const rocksdb::FilterPolicy* policy);

}  // namespace exactbloom::readamp
