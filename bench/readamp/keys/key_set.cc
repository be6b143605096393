#include "key_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "src/filter/kernels/key_hash.h"
#include "support/key_file.h"
#include "synthetic_key.h"
#include "user_database.h"

namespace exactbloom::readamp {
namespace {

// Assigns the first `stored` keys to sorted runs whose sizes grow by `ratio`.
std::vector<std::int8_t> AssignSortedRuns(std::size_t keys, std::size_t stored, int runs,
                                          int ratio) {
  double total = 0.0;
  for (int run = 0; run < runs; ++run) total += std::pow(ratio, run);
  std::vector<std::int8_t> assigned(keys, static_cast<std::int8_t>(kAbsent));
  auto next = assigned.begin();
  double share = 0.0;
  for (int run = 0; run < runs; ++run) {
    share += std::pow(ratio, run) / total;
    const auto end =
        assigned.begin() + (run + 1 == runs ? static_cast<std::ptrdiff_t>(stored)
                                            : std::lround(share * static_cast<double>(stored)));
    std::fill(next, end, static_cast<std::int8_t>(run));
    next = end;
  }
  return assigned;
}

// The same for a tree kDatabase: the first stored ones of `sources` go to tables.
std::vector<std::int8_t> AssignToTables(const std::vector<std::string>& keys,
                                        const KeySet::Numbers& sources,
                                        const ReadampSettings& settings, KeySet* set) {
  std::mt19937_64 random(settings.seed);
  const std::vector<std::int8_t> runs = AssignToRuns(settings.user_tables, keys, random);
  std::vector<std::int8_t> assigned(keys.size(), static_cast<std::int8_t>(kAbsent));
  for (std::size_t i = 0; i < set->stored; ++i) assigned[i] = runs[sources[i]];
  set->stored =
      keys.size() - static_cast<std::size_t>(std::count(assigned.begin(), assigned.end(), kAbsent));
  if (set->stored == 0) {
    throw InputError(fmt::format("{}: no key of the sample is in a table", set->source));
  }
  return assigned;
}

// Moves the keys, which are sorted, to random places, together with their sorted runs: workloads
// look keys up in the order of the set, and the stored keys must not all come first.
void Shuffle(const std::vector<std::string>& keys, std::vector<std::int8_t> assigned,
             const ReadampSettings& settings, std::mt19937_64& random, KeySet* set) {
  KeySet::Numbers sources(keys.size());
  std::iota(sources.begin(), sources.end(), 0U);
  KeySet::Numbers places = sources;
  std::shuffle(sources.begin(), sources.end(), random);
  std::shuffle(places.begin(), places.end(), random);
  if (settings.tree == Tree::kDatabase) assigned = AssignToTables(keys, sources, settings, set);

  set->read.resize(keys.size());
  set->in_order.resize(keys.size());
  set->sorted_run.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint32_t source = sources[places[i]];
    set->read[i] = keys[source];
    set->in_order[source] = static_cast<std::uint32_t>(i);
    set->sorted_run[i] = assigned[places[i]];
  }
}

// The different keys of the user's database or of a file, in order.
std::vector<std::string> ReadKeys(const ReadampSettings& settings, std::string* source) {
  const bool is_file = settings.user_database.empty();
  *source = is_file ? settings.key_file : settings.user_database;
  std::vector<std::string> keys = is_file
                                      ? support::ReadKeyFile(*source)
                                      : SampleKeys(*source, settings.sampled_keys, settings.seed);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace

std::string KeySet::Key(std::size_t i) const {
  return read.empty() ? SyntheticKey(i, seed) : read[i];
}

std::string KeySet::Value(std::size_t i) const {
  const std::string key = Key(i);
  std::string value;
  value.reserve(value_bytes);
  std::mt19937_64 random(filter::HashKey(key, 0));
  while (value.size() < value_bytes / 2) value.push_back(static_cast<char>(random()));
  while (value.size() < value_bytes) value.append(key, 0, value_bytes - value.size());
  return value;
}

std::optional<std::size_t> KeySet::Find(const std::string& key) const {
  std::size_t found = size();
  if (read.empty()) {
    found = NumberOfSyntheticKey(key, seed).value_or(size());
  } else {
    const auto place = std::partition_point(in_order.begin(), in_order.end(),
                                            [&](std::uint32_t i) { return read[i] < key; });
    if (place != in_order.end() && read[*place] == key) found = *place;
  }
  return found < size() ? std::optional(found) : std::nullopt;
}

std::vector<std::int8_t> AssignToRuns(const std::vector<UserTable>& tables,
                                      const std::vector<std::string>& keys,
                                      std::mt19937_64& random) {
  std::vector<std::int8_t> runs(keys.size(), static_cast<std::int8_t>(kAbsent));
  std::vector<double> densities(keys.size(), 0.0);  // the sum over the tables so far
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (const UserTable& table : tables) {
    const auto begin = std::lower_bound(keys.begin(), keys.end(), table.smallest);
    const auto end = std::upper_bound(begin, keys.end(), table.largest);
    const double density = static_cast<double>(table.entries) /
                           static_cast<double>(std::max<std::ptrdiff_t>(1, end - begin));
    for (auto key = begin; key != end; ++key) {
      const auto i = static_cast<std::size_t>(key - keys.begin());
      densities[i] += density;
      // So each of the key's tables is the last to take it with its share of the sum.
      if (uniform(random) * densities[i] < density) {
        runs[i] = static_cast<std::int8_t>(table.sorted_run);
      }
    }
  }
  return runs;
}

KeySet MakeKeySet(const ReadampSettings& settings) {
  KeySet set;
  set.seed = settings.seed;
  set.value_bytes = settings.value_bytes;
  const bool synthetic = settings.user_database.empty() && settings.synthetic_keys > 0;
  const std::vector<std::string> sorted =
      synthetic ? std::vector<std::string>() : ReadKeys(settings, &set.source);
  if (synthetic) set.source = fmt::format("synthetic, {} keys", settings.synthetic_keys);
  const std::size_t count = synthetic ? settings.synthetic_keys : sorted.size();
  set.stored =
      static_cast<std::size_t>(std::llround(settings.stored_share * static_cast<double>(count)));
  if (set.stored < 1 || set.stored >= count) {
    throw InputError(fmt::format("{}: {} different keys are too few to store a share of {}",
                                 set.source, count, settings.stored_share));
  }
  std::vector<std::int8_t> assigned =
      AssignSortedRuns(count, set.stored, settings.sorted_runs, settings.size_ratio);
  std::mt19937_64 random(settings.seed);
  if (synthetic) {
    std::shuffle(assigned.begin(), assigned.end(), random);
    set.sorted_run = std::move(assigned);
  } else {
    Shuffle(sorted, std::move(assigned), settings, random, &set);
  }
  return set;
}

}  // namespace exactbloom::readamp
