// What a workload will measure by the exact rates, computed before any lookup.
#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <optional>

#include "readamp/keys/key_set.h"
#include "readamp/lookups/workload.h"
#include "readamp/tree/table_list.h"

namespace exactbloom::readamp {

struct Prediction {
  // Checks of filters whose table lacks the key: each is answered "absent" or is a false positive.
  // For prefix scans, the same for prefixes. None if the tree changes during the reads.
  std::optional<std::uint64_t> absent_checks;
  // Checks of filters whose table has the key, or the prefix.
  std::uint64_t present_checks = 0;
  // Those of the absent checks of prefixes in tables without any key from the prefix on.
  std::uint64_t checks_beyond = 0;
  // Searches of tables that lack the key and have no filter.
  std::uint64_t unfiltered_searches = 0;
  // The exact rate, averaged over the absent checks, with the model of ribbon_rate.h for the Ribbon
  // filters of ExactBloom's policies; none for a policy without an exact theory.
  std::optional<double> rate;
  // Whether a measured rate outside its interval must be an error: every filter has an exact rate
  // and enough keys for its fill to be normally distributed, and no key is asked for twice.
  bool decides = false;
  // Variance of the number of false positives over its binomial variance: each filter has one fill,
  // which all of its checks share, and a key that is asked again gets the same answers.
  double dispersion = 1.0;

  // Expected searches of tables that lack the key; each is a read if no block is cached.
  std::optional<double> WastedReads() const;
};

// Follows every lookup of the workload down the sorted runs of `tables`. Throws WrongAnswer if the
// size of a filter differs from the one that the policy announces for its number of keys.
Prediction Predict(const TableList& tables, const KeySet& keys, const Workload& workload,
                   const Settings& settings, const rocksdb::FilterPolicy* policy);

}  // namespace exactbloom::readamp
