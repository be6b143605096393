// Predicts what a workload will measure, from the tree and the exact rates, and checks what it
// measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "readamp/lookups/lookup_run.h"
#include "readamp/tree/database.h"

namespace exactbloom::readamp {

struct Prediction {
  // Checks of filters whose table lacks the key: each is answered "absent" or is a false positive.
  // For prefix scans, the same for prefixes. None if the tree changes during the reads.
  std::optional<std::uint64_t> absent_checks;
  // Checks of filters whose table has the key, or the prefix.
  std::uint64_t present_checks = 0;
  // Those of the absent checks of keys and prefixes in tables without any key from them on.
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

// Follows every lookup of the workload down the sorted runs of the database. Throws WrongAnswer if
// the size of a filter differs from the one that the policy announces for its number of keys.
Prediction Predict(const Database& database, const Workload& workload);

// Compares what RocksDB counted, what the file system counted and what follows from the tree:
//   filter checks of absent keys     RocksDB's are the tree's
//   reads and bytes of table files   RocksDB's are the file system's; direct reads in whole pages
//   wasted reads                     the file system's are RocksDB's false positives, less those
//                                    that the block cache answered
//   waste by level                   its sums over the levels are the totals
//   false positives                  on a settled tree, where Prediction::decides: their rate is
//                                    the exact one, unless chance has done what it does once in 1.7
//                                    million measurements
// Reads while the tree changes are compared in the second only. Throws WrongAnswer, beginning with
// `run`.
void CheckAgreement(const Measurement& measured, const Prediction& prediction, LookupKind kind,
                    Tree tree, const std::string& run);

// A direct read fetches whole pages: at most one more at either end of a block.
inline constexpr std::uint64_t kPageBytes = 4096;

}  // namespace exactbloom::readamp
