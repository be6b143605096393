// The keys of a run: which are stored and which are only looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "readamp/readamp_settings.h"

namespace exactbloom::readamp {

// A stored key's sorted run, counted from the smallest, or kAbsent.
inline constexpr int kAbsent = -1;

// Different keys in a random but fixed order. Synthetic keys are computed from their number, so
// that a hundred million of them take no memory except for their sorted runs.
struct KeySet {
  using Numbers = std::vector<std::uint32_t>;

  std::string source;  // where the keys come from, for the report
  std::size_t stored = 0;
  std::vector<std::int8_t> sorted_run;  // of each key: 0 .. sorted_runs - 1, or kAbsent
  // Keys that were read, and their numbers in the keys' order; empty for synthetic keys.
  std::vector<std::string> read;
  Numbers in_order;
  std::uint64_t seed = 0;  // of synthetic keys
  std::size_t value_bytes = 0;

  std::size_t size() const { return sorted_run.size(); }
  std::string Key(std::size_t i) const;
  // Of a stored key: value_bytes, about half of them compressible.
  std::string Value(std::size_t i) const;
  bool IsStored(std::size_t i) const { return sorted_run[i] != kAbsent; }
  // The number of a key; nothing for unknown keys.
  std::optional<std::size_t> Find(const std::string& key) const;
};

// Reads or makes the keys and draws the stored ones, which are spread over the sorted runs in
// proportion to the runs' sizes; in a tree kDatabase as AssignToRuns says. Throws InputError when
// the keys cannot be read or are too few.
KeySet MakeKeySet(const ReadampSettings& settings);

// Returns the sorted run of each of the keys, which are in order, or kAbsent for keys beyond all
// tables. A key goes to one of the tables whose ranges hold it, with a probability in proportion to
// their densities: their entries over the keys in their range. So a sorted run gets its share of
// the keys, in the ranges that it covers.
//   tables   in at most 127 sorted runs
std::vector<std::int8_t> AssignToRuns(const std::vector<UserTable>& tables,
                                      const std::vector<std::string>& keys,
                                      std::mt19937_64& random);

}  // namespace exactbloom::readamp
