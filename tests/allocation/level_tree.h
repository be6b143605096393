// A settled tree: sorted runs, one per level, each with ten times as many keys as the one above,
// and the bytes and counters of their filters.
#pragma once

#include <rocksdb/options.h>

#include <array>
#include <cstdint>
#include <string>

#include "sample_database.h"

namespace exactbloom {

class LevelTree {
 public:
  static constexpr std::size_t kRuns = 4;
  static constexpr std::array<std::uint64_t, kRuns> kKeys = {50, 500, 5'000, 50'000};
  static constexpr std::uint64_t kAllKeys = 55'550;

  // Loads the runs into the levels first_level .. first_level + kRuns - 1, the largest first. Every
  // run is one table, and all runs span nearly the same keys.
  LevelTree(const rocksdb::Options& options, int first_level);

  rocksdb::DB& db() { return *db_; }
  std::string path() const { return directory_.path("db"); }

  // The bytes of a run's filter, and of all.
  std::uint64_t FilterBytes(std::size_t run);
  std::uint64_t FilterBytes();

  // Asks for kAllKeys absent keys, and returns what the filter of each run did by RocksDB's
  // counters of its level.
  std::array<FilterCounts, kRuns> AskAbsent();

 private:
  void LoadRun(std::size_t run);
  int LevelOf(std::size_t run) const { return first_level_ + static_cast<int>(run); }

  TemporaryDirectory directory_;
  int first_level_;
  Database db_;
};

}  // namespace exactbloom
