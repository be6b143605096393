// What a run of readamp measures, as the command line gives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/errors.h"
#include "report/progress.h"

namespace exactbloom::readamp {

struct Settings {
  std::vector<std::string> policies = {"none", "bloomfilter:10", "ribbonfilter:10",
                                       "standard_bloom:10", "classic_bloom:10"};
  std::string key_file = "/usr/share/dict/american-english-insane";
  std::uint64_t synthetic_keys = 0;  // instead of the key file, when not zero
  double stored_share = 0.1;         // Bloom's share of words that need a disk read
  std::uint64_t lookups = 200'000;   // of the absent and the present workload

  int sorted_runs = 3;  // levels of the tree, the largest at the bottom
  int size_ratio = 4;   // between the sizes of neighbouring levels
  std::size_t value_bytes = 100;
  std::size_t table_bytes = std::size_t{2} << 20;
  std::size_t block_cache_bytes = std::size_t{512} << 10;
  int threads = 4;

  std::string directory = ".";  // the databases are made, and removed, in here
  std::string json_file;        // none when empty
  bool bloom_table = true;      // reproduce Bloom's Table I
  std::uint64_t seed = 1970;
};

using bench::InputError;
using bench::Progress;
using bench::WrongAnswer;

}  // namespace exactbloom::readamp
