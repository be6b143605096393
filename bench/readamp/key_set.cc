#include "key_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>

#include "filter/key_hash.h"

namespace exactbloom::readamp {
namespace {

std::vector<std::string> ReadKeys(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("cannot read the key file {}", path));
  std::vector<std::string> keys;
  std::string line;
  while (std::getline(file, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) keys.push_back(line);
  }
  if (file.bad()) throw InputError(fmt::format("cannot read the key file {} to its end", path));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// Fixed-length keys spread evenly over the key space, as hashed identifiers are.
std::vector<std::string> MakeSyntheticKeys(std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> keys;
  while (keys.size() < count) {
    for (std::uint64_t i = keys.size(); i < count; ++i) {
      keys.push_back(fmt::format("{:016x}", random()));
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }
  return keys;
}

// Assigns the first `stored` keys to sorted runs whose sizes grow by `ratio`.
std::vector<int> AssignSortedRuns(std::size_t keys, std::size_t stored, int runs, int ratio) {
  double total = 0.0;
  for (int run = 0; run < runs; ++run) total += std::pow(ratio, run);
  std::vector<int> assigned(keys, kAbsent);
  std::size_t begin = 0;
  double share = 0.0;
  for (int run = 0; run < runs; ++run) {
    share += std::pow(ratio, run) / total;
    const auto end =
        run + 1 == runs
            ? stored
            : static_cast<std::size_t>(std::lround(share * static_cast<double>(stored)));
    std::fill(assigned.begin() + static_cast<std::ptrdiff_t>(begin),
              assigned.begin() + static_cast<std::ptrdiff_t>(end), run);
    begin = end;
  }
  return assigned;
}

}  // namespace

KeySet MakeKeySet(const Settings& settings) {
  KeySet set;
  if (settings.synthetic_keys > 0) {
    set.source = fmt::format("synthetic, {} keys", settings.synthetic_keys);
    set.keys = MakeSyntheticKeys(settings.synthetic_keys, settings.seed);
  } else {
    set.source = settings.key_file;
    set.keys = ReadKeys(settings.key_file);
  }
  set.stored = static_cast<std::size_t>(
      std::llround(settings.stored_share * static_cast<double>(set.size())));
  if (set.stored < 1 || set.stored >= set.size()) {
    throw InputError(fmt::format("{}: {} different keys are too few to store a share of {}",
                                 set.source, set.size(), settings.stored_share));
  }
  std::mt19937_64 random(settings.seed);
  std::shuffle(set.keys.begin(), set.keys.end(), random);
  set.sorted_run =
      AssignSortedRuns(set.size(), set.stored, settings.sorted_runs, settings.size_ratio);
  // The workloads ask in the order of the set; the stored keys must not all come first.
  std::vector<std::size_t> order(set.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  KeySet shuffled;
  shuffled.source = set.source;
  shuffled.stored = set.stored;
  for (const std::size_t i : order) {
    shuffled.keys.push_back(std::move(set.keys[i]));
    shuffled.sorted_run.push_back(set.sorted_run[i]);
  }
  return shuffled;
}

std::string MakeValue(const std::string& key, std::size_t size) {
  std::string value;
  value.reserve(size);
  std::mt19937_64 random(filter::HashKey(key, 0));
  while (value.size() < size / 2) value.push_back(static_cast<char>(random()));
  while (value.size() < size) value.append(key, 0, size - value.size());
  return value;
}

}  // namespace exactbloom::readamp
