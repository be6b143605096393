// The keys of a run: which are in the store and which are only asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "settings.h"

namespace exactbloom::readamp {

// A stored key's sorted run, counted from the smallest, or kAbsent.
inline constexpr int kAbsent = -1;

struct KeySet {
  std::string source;             // where the keys come from, for the report
  std::vector<std::string> keys;  // all different, in a random but fixed order
  std::vector<int> sorted_run;    // of each key: 0 .. sorted_runs - 1, or kAbsent
  std::size_t stored = 0;

  std::size_t size() const { return keys.size(); }
};

// Reads or makes the keys and draws from them the stored ones, which are spread over the sorted
// runs in proportion to the runs' sizes. Throws InputError when the file cannot be read or has too
// few keys.
KeySet MakeKeySet(const Settings& settings);

// The value that belongs to a key: `size` bytes, about half of them compressible.
std::string MakeValue(const std::string& key, std::size_t size);

}  // namespace exactbloom::readamp
