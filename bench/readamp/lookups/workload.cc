#include "workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <unordered_set>

#include "zipf.h"

namespace exactbloom::readamp {
namespace {

using Order = std::vector<std::size_t>;

// The first keys of the set, at most settings.lookups, that are stored or that are not.
Order Take(const KeySet& keys, const ReadampSettings& settings, bool stored) {
  Order order;
  for (std::size_t i = 0; i < keys.size() && order.size() < settings.lookups; ++i) {
    if (keys.IsStored(i) == stored) order.push_back(i);
  }
  return order;
}

Order TakeAbsent(const KeySet& keys, const ReadampSettings& settings) {
  return Take(keys, settings, false);
}

Order TakePresent(const KeySet& keys, const ReadampSettings& settings) {
  return Take(keys, settings, true);
}

Order TakeAll(const KeySet& keys, const ReadampSettings& settings) {
  if (!settings.HasDictionary()) {
    throw InputError("the workload hyphenation needs words: --keys with a file of a folder dict");
  }
  Order order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

Order TakeNearMisses(const KeySet& keys, const ReadampSettings& /*settings*/) {
  Order order(keys.near_misses.size());
  std::iota(order.begin(), order.end(), keys.size());
  return order;
}

// Ends when one of the two kinds has no keys left.
Order TakeMix(const KeySet& keys, const ReadampSettings& settings) {
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
Order TakeByZipf(const KeySet& keys, const ReadampSettings& settings) {
  const ZipfRanks ranks(keys.size(), settings.zipf_exponent);
  std::mt19937_64 random(settings.seed);
  Order order(settings.lookups);
  for (std::size_t& i : order) i = ranks.Draw(random);
  return order;
}

// A key for each prefix.
Order TakePrefixes(const KeySet& keys, const ReadampSettings& settings) {
  if (settings.prefix_bytes == 0) throw InputError("the workload prefix needs --prefix-bytes");
  std::unordered_set<std::string> used;
  Order order;
  for (std::size_t i = 0; i < keys.size() && order.size() < settings.lookups; ++i) {
    if (used.insert(keys.Key(i).substr(0, settings.prefix_bytes)).second) order.push_back(i);
  }
  return order;
}

Order TakeForGrowth(const KeySet& keys, const ReadampSettings& settings) {
  if (settings.tree != Tree::kLoaded && settings.tree != Tree::kUniversal) {
    throw InputError("the workload growth needs --tree loaded or universal");
  }
  Order absent = TakeAbsent(keys, settings);
  if (absent.size() > settings.growth_points) return absent;
  throw InputError(fmt::format("{} lookups are too few for {} points of the workload growth",
                               absent.size(), settings.growth_points));
}

struct WorkloadKind {
  const char* name;
  const char* description;  // with names of settings in braces
  Order (*take)(const KeySet&, const ReadampSettings&);
  LookupKind lookups = LookupKind::kGet;
};

constexpr std::array<WorkloadKind, 10> kWorkloadKinds = {{
    {"absent", "keys that are not in the store", TakeAbsent},
    {"near", "stored keys with one character changed, not in the store", TakeNearMisses},
    {"present", "keys that are in the store", TakePresent},
    {"mix", "keys in random order, {absent:g}% of them not in the store", TakeMix},
    {"zipf", "keys drawn by Zipf's law with an exponent of {exponent:g}", TakeByZipf},
    {"multiget", "batches of {batch} keys, {absent:g}% of them not in the store", TakeMix,
     LookupKind::kMultiGet},
    {"prefix", "scans of prefixes of {prefix} bytes", TakePrefixes, LookupKind::kPrefixScan},
    {"during-writes", "keys that are not in the store, while all others are written again",
     TakeAbsent, LookupKind::kDuringWrites},
    {"growth", "keys that are not in the store, while it is loaded", TakeForGrowth,
     LookupKind::kGrowth},
    {"hyphenation", "every key once, in the store or not", TakeAll},
}};

}  // namespace

std::vector<std::string> WorkloadNames() {
  std::vector<std::string> names;
  names.reserve(kWorkloadKinds.size());
  for (const WorkloadKind& kind : kWorkloadKinds) names.emplace_back(kind.name);
  return names;
}

std::vector<std::string> DefaultWorkloads(const ReadampSettings& settings) {
  std::vector<std::string> names = {"absent", "present"};
  if (settings.HasDictionary() && settings.stored_share == kBloomsShare) {
    names.emplace_back("hyphenation");
  }
  return names;
}

std::vector<Workload> MakeWorkloads(const KeySet& keys, const ReadampSettings& settings) {
  std::vector<Workload> workloads;
  for (const std::string& name : settings.workloads) {
    const auto* kind = std::find_if(kWorkloadKinds.begin(), kWorkloadKinds.end(),
                                    [&](const WorkloadKind& any) { return any.name == name; });
    if (kind == kWorkloadKinds.end()) {
      throw InputError(
          fmt::format("there is no workload '{}', but {}", name, fmt::join(WorkloadNames(), ", ")));
    }
    workloads.push_back(
        {name,
         fmt::format(fmt::runtime(kind->description),
                     fmt::arg("absent", 100.0 * settings.absent_share),
                     fmt::arg("exponent", settings.zipf_exponent),
                     fmt::arg("batch", settings.batch), fmt::arg("prefix", settings.prefix_bytes)),
         kind->lookups, kind->take(keys, settings)});
    if (workloads.back().order.empty()) {
      throw InputError(fmt::format("the workload {} finds no key to ask for", name));
    }
  }
  return workloads;
}

}  // namespace exactbloom::readamp
