#include "workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <unordered_set>

#include "zipf.h"

namespace exactbloom::readamp {
namespace {

using Order = std::vector<std::size_t>;

// The first keys of the set, at most settings.lookups, that are stored or that are not.
Order Take(const KeySet& keys, const Settings& settings, bool stored) {
  Order order;
  for (std::size_t i = 0; i < keys.size() && order.size() < settings.lookups; ++i) {
    if ((keys.SortedRun(i) != kAbsent) == stored) order.push_back(i);
  }
  return order;
}

Order TakeAbsent(const KeySet& keys, const Settings& settings) {
  return Take(keys, settings, false);
}

Order TakePresent(const KeySet& keys, const Settings& settings) {
  return Take(keys, settings, true);
}

Order TakeAll(const KeySet& keys, const Settings& /*settings*/) {
  Order order(keys.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  return order;
}

Order TakeNearMisses(const KeySet& keys, const Settings& /*settings*/) {
  Order order(keys.near_misses.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = keys.size() + i;
  return order;
}

// Ends when one of the two kinds has no keys left.
Order TakeMix(const KeySet& keys, const Settings& settings) {
  const Order absent = TakeAbsent(keys, settings);
  const Order present = TakePresent(keys, settings);
  std::mt19937_64 random(settings.seed);
  std::bernoulli_distribution is_absent(settings.absent_share);
  Order order;
  std::size_t next_absent = 0;
  std::size_t next_present = 0;
  while (order.size() < settings.lookups) {
    const bool take_absent = is_absent(random);
    std::size_t& next = take_absent ? next_absent : next_present;
    const Order& kind = take_absent ? absent : present;
    if (next == kind.size()) break;
    order.push_back(kind[next++]);
  }
  return order;
}

// The set is in random order, so a key's number is its rank.
Order TakeByZipf(const KeySet& keys, const Settings& settings) {
  const ZipfRanks ranks(keys.size(), settings.zipf_exponent);
  std::mt19937_64 random(settings.seed);
  Order order(settings.lookups);
  for (std::size_t& i : order) i = ranks.Draw(random);
  return order;
}

// A key for each prefix.
Order TakePrefixes(const KeySet& keys, const Settings& settings) {
  if (settings.prefix_bytes == 0) throw InputError("the workload prefix needs --prefix-bytes");
  std::unordered_set<std::string> used;
  Order order;
  for (std::size_t i = 0; i < keys.size() && order.size() < settings.lookups; ++i) {
    if (used.insert(keys.Key(i).substr(0, settings.prefix_bytes)).second) order.push_back(i);
  }
  return order;
}

std::string Plain(const Settings& /*settings*/) { return ""; }

std::string DescribeMix(const Settings& settings) {
  return fmt::format(", {:g}% of them not in the store", 100.0 * settings.absent_share);
}

std::string DescribeZipf(const Settings& settings) {
  return fmt::format(" with an exponent of {:g}", settings.zipf_exponent);
}

std::string DescribeBatches(const Settings& settings) {
  return fmt::format(" of {} keys{}", settings.batch, DescribeMix(settings));
}

std::string DescribePrefixes(const Settings& settings) {
  return fmt::format(" of {} bytes", settings.prefix_bytes);
}

struct Kind {
  const char* name;
  const char* description;
  std::string (*describe)(const Settings&);  // of the parameters
  Order (*take)(const KeySet&, const Settings&);
  LookupKind lookups;
};

constexpr std::array<Kind, 9> kKinds = {{
    {"absent", "keys that are not in the store", Plain, TakeAbsent, LookupKind::kGet},
    {"near", "stored keys with one character changed, not in the store", Plain, TakeNearMisses,
     LookupKind::kGet},
    {"present", "keys that are in the store", Plain, TakePresent, LookupKind::kGet},
    {"mix", "keys in random order", DescribeMix, TakeMix, LookupKind::kGet},
    {"zipf", "keys drawn by Zipf's law", DescribeZipf, TakeByZipf, LookupKind::kGet},
    {"multiget", "batches", DescribeBatches, TakeMix, LookupKind::kMultiGet},
    {"prefix", "scans of prefixes", DescribePrefixes, TakePrefixes, LookupKind::kPrefixScan},
    {"during-writes", "keys that are not in the store, while all others are written again", Plain,
     TakeAbsent, LookupKind::kDuringWrites},
    {"hyphenation", "every key once, in the store or not", Plain, TakeAll, LookupKind::kGet},
}};

}  // namespace

std::vector<std::string> WorkloadNames() {
  std::vector<std::string> names;
  names.reserve(kKinds.size());
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::vector<Workload> MakeWorkloads(const KeySet& keys, const Settings& settings) {
  std::vector<Workload> workloads;
  for (const std::string& name : settings.workloads) {
    const auto* kind = std::find_if(kKinds.begin(), kKinds.end(),
                                    [&](const Kind& any) { return any.name == name; });
    if (kind == kKinds.end()) {
      throw InputError(
          fmt::format("there is no workload '{}', but {}", name, fmt::join(WorkloadNames(), ", ")));
    }
    workloads.push_back({name, kind->description + kind->describe(settings),
                         kind->take(keys, settings), kind->lookups});
    if (workloads.back().order.empty()) {
      throw InputError(fmt::format("the workload {} finds no key to ask for", name));
    }
  }
  return workloads;
}

}  // namespace exactbloom::readamp
