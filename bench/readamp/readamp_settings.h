// The settings of a run of readamp, from the command line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "support/progress.h"

namespace exactbloom::readamp {

// How the tree of sorted runs is made.
enum class Tree {
  kSettled,    // one sorted run per level, made by compactions to the wanted levels
  kLoaded,     // keys in random order, RocksDB's own compaction by levels
  kLevel0,     // overlapping files in level 0, no compaction
  kUniversal,  // keys in random order, RocksDB's universal compaction
  kDatabase,   // the sorted runs and tables of the user's database
};

inline constexpr std::array<std::pair<const char*, Tree>, 5> kTreeNames = {
    {{"settled", Tree::kSettled},
     {"loaded", Tree::kLoaded},
     {"level0", Tree::kLevel0},
     {"universal", Tree::kUniversal},
     {"database", Tree::kDatabase}}};

// A table of the user's database.
struct UserTable {
  int sorted_run = 0;  // 0 is the newest
  int level = 0;
  std::string smallest;
  std::string largest;
  std::uint64_t entries = 0;
};

inline constexpr std::size_t kDefaultBlockCacheBytes = std::size_t{512} << 10;

struct ReadampSettings {
  std::vector<std::string> policies = {"none",
                                       "bloomfilter:10",
                                       "ribbonfilter:{equal_bytes}:-1",
                                       "classic_bloom:10",
                                       "exact_ribbon:10",
                                       "exactbloom:10"};

  // The keys: of a file, synthetic, or of the user's own database.
  std::string key_file = "/usr/share/dict/american-english-insane";
  std::uint64_t synthetic_keys = 0;        // instead of the key file, unless zero
  std::string user_database;               // instead of both, unless empty; only read
  std::uint64_t sampled_keys = 1'000'000;  // at most, of the user's database
  double stored_share = 0.5;

  // The lookups.
  std::vector<std::string> workloads = {"absent", "present"};
  std::uint64_t lookups = 200'000;            // of each workload but hyphenation
  std::uint64_t unfiltered_lookups = 50'000;  // at most, without filters; 0: all
  double zipf_exponent = 0.99;
  std::size_t growth_points = 20;  // of growth, besides the one at rest

  // The tree.
  Tree tree = Tree::kSettled;
  int sorted_runs = 4;     // of a settled tree: its levels, the largest at the bottom
  int size_ratio = 10;     // between the sizes of neighbouring levels
  int level0_files = 8;    // of a level0 tree
  int level0_trigger = 4;  // files of level 0 that start a compaction of a loaded or universal tree
  int num_levels = 7;      // of a tree kDatabase
  std::size_t write_buffer_bytes = std::size_t{64} << 20;  // of a loaded or universal tree
  std::vector<UserTable> user_tables;  // of a tree kDatabase, in the order of lookups
  std::size_t value_bytes = 100;
  std::size_t block_bytes = std::size_t{4} << 10;
  std::size_t table_bytes = std::size_t{2} << 20;
  bool compacts_universally = false;  // what the policies are told of a tree kDatabase
  bool partitioned_filters = false;
  std::size_t partition_bytes = std::size_t{4} << 10;

  // The reads.
  std::size_t block_cache_bytes = 0;
  int threads = 4;

  std::string directory = ".";  // where the databases are made and removed
  std::string json_file;        // empty: none
  bool details = false;         // print all tables
  bool bloom_table = false;     // reproduce Bloom's Table I
  std::uint64_t seed = 1970;
};

using support::InputError;
using support::Progress;
using support::WrongAnswer;

}  // namespace exactbloom::readamp
