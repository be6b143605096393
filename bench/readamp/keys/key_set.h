// The keys of a run: which are stored and which are only looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  // The lengths of the keys' values; if empty, all have the same.
  std::vector<std::uint32_t> value_bytes;
  std::size_t same_value_bytes = 0;
  // Present keys with one character changed, all of them absent: keys number size() and up.
  std::vector<std::string> near_misses;
  Numbers stored_in_order;  // for prefix scans: the stored keys' numbers in the keys' order

  // A sorted run of the user's database. Where it is cut into tables: the smallest keys of all but
  // the first.
  struct Run {
    int level = 0;
    std::vector<std::string> cuts;
  };
  std::vector<Run> runs;  // of a tree kDatabase

  std::size_t size() const { return sorted_run.size(); }
  std::string Key(std::size_t i) const;
  std::string Value(std::size_t i) const;  // of a stored key
  int SortedRun(std::size_t i) const { return i < size() ? sorted_run[i] : kAbsent; }
  bool IsStored(std::size_t i) const { return SortedRun(i) != kAbsent; }
  // The number of a key; nothing for near misses and unknown keys.
  std::optional<std::size_t> Find(const std::string& key) const;

  // The stored keys with a prefix: a range of stored_in_order.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  Range StoredWithPrefix(const std::string& prefix) const;
};

// Reads or makes the keys and draws the stored ones, which are spread over the sorted runs in
// proportion to the runs' sizes. Makes near misses, and orders the stored keys, if the workloads
// need them. In a tree kDatabase a key goes to one of the tables whose ranges hold it, in
// proportion to their densities there, and keys beyond all tables are not stored. Throws InputError
// when the keys cannot be read or are too few.
KeySet MakeKeySet(const ReadampSettings& settings);

// The first `count` keys of a set, stored or not as there, with near misses of their own.
KeySet FirstKeys(const KeySet& keys, std::size_t count, const ReadampSettings& settings);

// The value that belongs to a key: `size` bytes, about half of them compressible.
std::string MakeValue(const std::string& key, std::size_t size);

}  // namespace exactbloom::readamp
