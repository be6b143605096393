// How long a run will take, from runs on parts of its keys.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "readamp/keys/key_set.h"
#include "readamp_settings.h"
#include "support/progress.h"

namespace exactbloom::readamp {

// A run on the first keys of a set.
struct TimedPart {
  std::size_t keys = 0;
  double seconds = 0.0;
};

// Returns the seconds of a run on `keys` keys: those of the largest part, and for the other keys by
// the difference between the two largest. So what a run takes with any number of keys, such as
// opening databases, counts once. The parts are in order.
double SecondsOf(const std::vector<TimedPart>& parts, std::size_t keys);

// The settings of a run on the first `keys` keys of the set: lookups, caches and the tables of a
// settled tree are in proportion, so that levels, tables and reads are as many. Write buffers are
// not, so flushes and compactions are in proportion, too.
ReadampSettings SettingsOfPart(const ReadampSettings& settings, const KeySet& all,
                               std::size_t keys);

// Returns the seconds that the settings' policies and Bloom's Table I will take. Runs parts of the
// work for a small share of that time: without filters, with those of the first policy that has
// some, and the table. Nothing if there are too few keys. Throws Interrupted.
std::optional<double> EstimateSeconds(const KeySet& keys, const ReadampSettings& settings,
                                      Progress& progress);

}  // namespace exactbloom::readamp
