#include "key_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <numeric>
#include <random>
#include <utility>

#include "filter/kernels/key_hash.h"
#include "near_misses.h"
#include "synthetic_key.h"
#include "user_database.h"

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

// Assigns the first `stored` keys to sorted runs whose sizes grow by `ratio`.
std::vector<std::int8_t> AssignSortedRuns(std::size_t keys, std::size_t stored, int runs,
                                          int ratio) {
  double total = 0.0;
  for (int run = 0; run < runs; ++run) total += std::pow(ratio, run);
  std::vector<std::int8_t> assigned(keys, static_cast<std::int8_t>(kAbsent));
  std::size_t begin = 0;
  double share = 0.0;
  for (int run = 0; run < runs; ++run) {
    share += std::pow(ratio, run) / total;
    const auto end =
        run + 1 == runs
            ? stored
            : static_cast<std::size_t>(std::lround(share * static_cast<double>(stored)));
    std::fill(assigned.begin() + static_cast<std::ptrdiff_t>(begin),
              assigned.begin() + static_cast<std::ptrdiff_t>(end), static_cast<std::int8_t>(run));
    begin = end;
  }
  return assigned;
}

KeySet NameKeys(const Settings& settings, std::vector<std::string>* keys) {
  KeySet set;
  set.seed = settings.seed;
  if (!settings.user_database.empty()) {
    *keys = SampleKeys(settings.user_database, settings.sampled_keys, settings.seed);
    std::sort(keys->begin(), keys->end());
    set.source = settings.user_database;
  } else if (settings.synthetic_keys > 0) {
    set.source = fmt::format("synthetic, {} keys", settings.synthetic_keys);
  } else {
    set.source = settings.key_file;
    *keys = ReadKeys(settings.key_file);
  }
  return set;
}

// Moves the keys, which are sorted, to random places, together with their sorted runs: workloads
// look keys up in the order of the set, and the stored keys must not all come first.
void Shuffle(std::vector<std::string> keys, const std::vector<std::int8_t>& assigned,
             std::mt19937_64& random, KeySet* set) {
  KeySet::Numbers sources(keys.size());
  std::iota(sources.begin(), sources.end(), 0U);
  std::shuffle(sources.begin(), sources.end(), random);
  KeySet::Numbers places(keys.size());
  std::iota(places.begin(), places.end(), 0U);
  std::shuffle(places.begin(), places.end(), random);

  std::vector<std::string> shuffled(keys.size());
  KeySet::Numbers in_order(keys.size());
  set->sorted_run.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint32_t source = sources[places[i]];
    shuffled[i] = std::move(keys[source]);
    in_order[source] = static_cast<std::uint32_t>(i);
    set->sorted_run[i] = assigned[places[i]];
  }
  set->read = std::make_shared<const std::vector<std::string>>(std::move(shuffled));
  set->in_order = std::make_shared<const KeySet::Numbers>(std::move(in_order));
}

KeySet::Numbers OrderStored(const KeySet& set) {
  KeySet::Numbers order;
  order.reserve(set.stored);
  if (set.in_order != nullptr) {
    std::copy_if(set.in_order->begin(), set.in_order->end(), std::back_inserter(order),
                 [&](std::uint32_t i) { return set.sorted_run[i] != kAbsent; });
    return order;
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> made;
  made.reserve(set.stored);
  for (std::uint32_t i = 0; i < set.size(); ++i) {
    if (set.sorted_run[i] != kAbsent) made.emplace_back(MadeNumber(i, set.seed), i);
  }
  std::sort(made.begin(), made.end());
  for (const auto& [number, i] : made) order.push_back(i);
  return order;
}

bool Asks(const Settings& settings, const std::string& workload) {
  return std::count(settings.workloads.begin(), settings.workloads.end(), workload) > 0;
}

}  // namespace

std::string KeySet::Key(std::size_t i) const {
  if (i >= size()) return near_misses[i - size()];
  return read != nullptr ? (*read)[i] : MakeKey(i, seed);
}

std::optional<std::size_t> KeySet::Find(const std::string& key) const {
  std::size_t found = size();
  if (read != nullptr) {
    const auto place = std::lower_bound(
        in_order->begin(), in_order->end(), key,
        [this](std::uint32_t i, const std::string& wanted) { return (*read)[i] < wanted; });
    if (place != in_order->end() && (*read)[*place] == key) found = *place;
  } else {
    found = NumberOfMadeKey(key, seed).value_or(size());
  }
  return found < size() ? std::optional(found) : std::nullopt;
}

KeySet MakeKeySet(const Settings& settings) {
  std::vector<std::string> keys;
  KeySet set = NameKeys(settings, &keys);
  const bool made = settings.user_database.empty() && settings.synthetic_keys > 0;
  const std::size_t count = made ? settings.synthetic_keys : keys.size();
  set.stored =
      static_cast<std::size_t>(std::llround(settings.stored_share * static_cast<double>(count)));
  if (set.stored < 1 || set.stored >= count) {
    throw InputError(fmt::format("{}: {} different keys are too few to store a share of {}",
                                 set.source, count, settings.stored_share));
  }
  std::vector<std::int8_t> assigned =
      AssignSortedRuns(count, set.stored, settings.sorted_runs, settings.size_ratio);
  std::mt19937_64 random(settings.seed);
  if (made) {
    std::shuffle(assigned.begin(), assigned.end(), random);
    set.sorted_run = std::move(assigned);
  } else {
    Shuffle(std::move(keys), assigned, random, &set);
  }
  if (Asks(settings, "near")) set.near_misses = MakeNearMisses(set, settings.lookups);
  if (settings.prefix_bytes > 0) set.stored_in_order = OrderStored(set);
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
