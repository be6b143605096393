#include "key_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>
#include <unordered_set>
#include <utility>

#include "filter/kernels/key_hash.h"
#include "support/key_file.h"
#include "synthetic_key.h"
#include "table_plan.h"
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
std::vector<std::int8_t> AssignToTables(const std::vector<SampledKey>& keys,
                                        const KeySet::Numbers& sources,
                                        const ReadampSettings& settings, KeySet* set) {
  const KeySet::Numbers stored(sources.begin(),
                               sources.begin() + static_cast<std::ptrdiff_t>(set->stored));
  std::mt19937_64 random(settings.seed);
  TablePlan plan = PlanTables(settings.user_tables, keys, stored, random);
  set->runs = std::move(plan.runs);
  set->stored -=
      static_cast<std::size_t>(std::count(plan.sorted_run.begin(), plan.sorted_run.end(), kAbsent));
  if (set->stored == 0) {
    throw InputError(fmt::format("{}: no key of the sample is in a table", set->source));
  }
  plan.sorted_run.resize(keys.size(), static_cast<std::int8_t>(kAbsent));
  return std::move(plan.sorted_run);
}

// Moves the keys, which are sorted, to random places, together with their sorted runs: workloads
// look keys up in the order of the set, and the stored keys must not all come first.
void Shuffle(std::vector<SampledKey> keys, std::vector<std::int8_t> assigned,
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
    set->read[i] = std::move(keys[source].key);
    if (settings.user_values) set->value_bytes.push_back(keys[source].value_bytes);
    set->in_order[source] = static_cast<std::uint32_t>(i);
    set->sorted_run[i] = assigned[places[i]];
  }
}

KeySet::Numbers OrderStored(const KeySet& set) {
  KeySet::Numbers order;
  order.reserve(set.stored);
  for (std::uint32_t i = 0; i < set.size(); ++i) {
    if (set.IsStored(i)) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&set](std::uint32_t a, std::uint32_t b) {
    return set.read.empty() ? SyntheticNumber(a, set.seed) < SyntheticNumber(b, set.seed)
                            : set.read[a] < set.read[b];
  });
  return order;
}

char AnyCharacter(const KeySet& keys, std::mt19937_64& random) {
  const std::string key = keys.Key(random() % keys.size());
  return key.empty() ? '\0' : key[random() % key.size()];
}

// Throws InputError if no key is as long as the prefixes. Without keys they are synthetic.
void CheckPrefixes(const std::vector<SampledKey>& keys, const ReadampSettings& settings) {
  std::size_t longest = keys.empty() ? SyntheticKey(0, settings.seed).size() : 0;
  for (const SampledKey& sampled : keys) longest = std::max(longest, sampled.key.size());
  if (settings.prefix_bytes <= longest) return;
  throw InputError(fmt::format("--prefix-bytes {}: the longest key has {} bytes",
                               settings.prefix_bytes, longest));
}

// Returns `count` different keys, or as many as are found without trying for long: stored keys with
// the character at a random place replaced by one of another key. None of them is a key of the set.
// Equal sets give equal keys.
std::vector<std::string> MakeNearMisses(const KeySet& keys, std::size_t count) {
  constexpr int kRounds = 16;  // over the stored keys; the last ones may find nothing new
  std::mt19937_64 random(keys.seed);
  std::unordered_set<std::string> used;
  std::vector<std::string> result;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < keys.size() && result.size() < count; ++i) {
      if (!keys.IsStored(i)) continue;
      std::string key = keys.Key(i);
      if (key.empty()) continue;
      key[random() % key.size()] = AnyCharacter(keys, random);
      if (keys.Find(key) || !used.insert(key).second) continue;
      result.push_back(std::move(key));
    }
  }
  return result;
}

// What only some workloads need.
void AddLookups(const ReadampSettings& settings, KeySet* set) {
  const auto& workloads = settings.workloads;
  if (std::find(workloads.begin(), workloads.end(), "near") != workloads.end()) {
    set->near_misses = MakeNearMisses(*set, settings.lookups);
  }
  if (settings.prefix_bytes > 0) set->stored_in_order = OrderStored(*set);
}

}  // namespace

std::string KeySet::Key(std::size_t i) const {
  if (i >= size()) return near_misses[i - size()];
  return read.empty() ? SyntheticKey(i, seed) : read[i];
}

std::string KeySet::Value(std::size_t i) const {
  return MakeValue(Key(i), value_bytes.empty() ? same_value_bytes : value_bytes[i]);
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

KeySet::Range KeySet::StoredWithPrefix(const std::string& prefix) const {
  const auto first = stored_in_order.begin();
  const auto begin = std::partition_point(first, stored_in_order.end(),
                                          [&](std::uint32_t i) { return Key(i) < prefix; });
  const auto end = std::partition_point(begin, stored_in_order.end(), [&](std::uint32_t i) {
    return Key(i).compare(0, prefix.size(), prefix) == 0;
  });
  return {static_cast<std::size_t>(begin - first), static_cast<std::size_t>(end - first)};
}

KeySet MakeKeySet(const ReadampSettings& settings) {
  KeySet set;
  set.seed = settings.seed;
  set.same_value_bytes = settings.value_bytes;
  std::vector<SampledKey> sorted;
  std::size_t count = 0;  // of synthetic keys
  if (!settings.user_database.empty()) {
    set.source = settings.user_database;
    sorted = SampleKeys(settings.user_database, settings.sampled_keys, settings.seed);
    std::sort(sorted.begin(), sorted.end(),
              [](const SampledKey& a, const SampledKey& b) { return a.key < b.key; });
  } else if (settings.synthetic_keys > 0) {
    set.source = fmt::format("synthetic, {} keys", settings.synthetic_keys);
    count = settings.synthetic_keys;
  } else {
    set.source = settings.key_file;
    std::vector<std::string> lines = support::ReadKeyFile(settings.key_file);
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    for (std::string& line : lines) sorted.push_back({std::move(line)});
  }
  const bool synthetic = count > 0;
  if (!synthetic) count = sorted.size();
  set.stored =
      static_cast<std::size_t>(std::llround(settings.stored_share * static_cast<double>(count)));
  if (set.stored < 1 || set.stored >= count) {
    throw InputError(fmt::format("{}: {} different keys are too few to store a share of {}",
                                 set.source, count, settings.stored_share));
  }
  if (settings.prefix_bytes > 0) CheckPrefixes(sorted, settings);
  std::vector<std::int8_t> assigned =
      AssignSortedRuns(count, set.stored, settings.sorted_runs, settings.size_ratio);
  std::mt19937_64 random(settings.seed);
  if (synthetic) {
    std::shuffle(assigned.begin(), assigned.end(), random);
    set.sorted_run = std::move(assigned);
  } else {
    Shuffle(std::move(sorted), std::move(assigned), settings, random, &set);
  }
  AddLookups(settings, &set);
  return set;
}

KeySet FirstKeys(const KeySet& keys, std::size_t count, const ReadampSettings& settings) {
  const auto part = static_cast<std::ptrdiff_t>(count);
  KeySet set;
  set.source = keys.source;
  set.seed = keys.seed;
  set.same_value_bytes = keys.same_value_bytes;
  set.runs = keys.runs;
  set.sorted_run.assign(keys.sorted_run.begin(), keys.sorted_run.begin() + part);
  set.stored = count - static_cast<std::size_t>(
                           std::count(set.sorted_run.begin(), set.sorted_run.end(), kAbsent));
  if (!keys.read.empty()) {
    set.read.assign(keys.read.begin(), keys.read.begin() + part);
    std::copy_if(keys.in_order.begin(), keys.in_order.end(), std::back_inserter(set.in_order),
                 [count](std::uint32_t i) { return i < count; });
  }
  if (!keys.value_bytes.empty()) {
    set.value_bytes.assign(keys.value_bytes.begin(), keys.value_bytes.begin() + part);
  }
  AddLookups(settings, &set);
  return set;
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
