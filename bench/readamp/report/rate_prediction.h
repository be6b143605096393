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
  std::uint64_t absent_checks = 0;
  // Those of them in tables whose last key lies before the key: RocksDB then reads no block.
  std::uint64_t checks_beyond = 0;
  // Searches of tables that lack the key and have no filter.
  std::uint64_t unfiltered_searches = 0;
  // The exact rate, averaged over the absent checks; none for a policy without an exact theory.
  std::optional<double> rate;
  // Whether a measured rate outside its interval must be an error: every Bloom
  // filter has enough keys for its fill to be normally distributed, and no key is asked for twice.
  bool decides = false;
  // Variance of the number of false positives over its binomial variance: each filter has one fill,
  // which all of its checks share, and a key that is asked again gets the same answers.
  double dispersion = 1.0;

  // Expected searches of tables that lack the key; each is a read if no block is cached.
  std::optional<double> WastedSearches() const;
};

// Follows every lookup of the workload down the sorted runs of the database.
Prediction Predict(const Database& database, const Workload& workload);

// Compares what RocksDB counted, what the file system counted and what follows from the tree:
//   filter checks of absent keys     RocksDB's are the tree's
//   reads and bytes of table files   RocksDB's are the file system's
//   wasted reads                     the file system's are RocksDB's false positives, less those
//                                    that the block cache answered
//   false positives                  on a settled tree, where Prediction::decides: the exact rate
//                                    lies in the interval of the measured one, which is so wide
//                                    that chance leaves it once in 1.7 million measurements
// Throws WrongAnswer, beginning with `run`.
void CheckAgreement(const Measurement& measured, const Prediction& prediction, Tree tree,
                    const std::string& run);

}  // namespace exactbloom::readamp
