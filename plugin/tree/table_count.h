// Keys and filter bytes of tables, one by one and summed up by sorted run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace exactbloom::tree {

// Both are table properties. RocksDB's lists of live files have only the number of keys.
struct TableCount {
  std::uint64_t keys = 0;  // in the filter, if that is known, or else in the table
  std::optional<std::uint64_t> filter_bytes = 0;
};

struct LiveTable {
  int level = 0;
  std::uint64_t number = 0;  // of the file, unique within the database
  TableCount count;
};

struct Tally {
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;
  std::uint64_t unknown_keys = 0;     // of tables whose filter size is unknown
  std::uint64_t unfiltered_keys = 0;  // of tables without a filter

  void Add(const TableCount& count);
  void Add(const Tally& other);
  // Without the tables that have no filter; `tables` counts them nevertheless.
  Tally Filtered() const;
  // At most down to zero.
  void Subtract(const TableCount& count);
  void Subtract(const Tally& other);
};

// A level and a size class. Each table of level 0 is a sorted run: those of about the same size
// share a class. Deeper levels are one run, of class 0.
using RunClass = std::pair<int, int>;
using Tallies = std::map<RunClass, Tally>;

RunClass RunClassOf(int level, std::uint64_t keys);
Tally TallyOfLevel(const Tallies& tallies, int level);
Tally TallyOfAll(const Tallies& tallies);

}  // namespace exactbloom::tree
