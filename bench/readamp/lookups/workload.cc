#include "workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace exactbloom::readamp {
namespace {

using Order = std::vector<std::size_t>;

// The first keys of the set, at most settings.lookups, that are stored or that are not.
template <bool kStored>
Order Take(const KeySet& keys, const ReadampSettings& settings) {
  Order order;
  for (std::size_t i = 0; i < keys.size() && order.size() < settings.lookups; ++i) {
    if (keys.IsStored(i) == kStored) order.push_back(i);
  }
  return order;
}

Order TakeAll(const KeySet& keys, const ReadampSettings& /*settings*/) {
  Order order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

// The set is in random order, so a key's number is its rank r, counted from zero, whose probability
// is in proportion to (r + 1)^-exponent.
Order TakeByZipf(const KeySet& keys, const ReadampSettings& settings) {
  std::vector<double> sums;  // of the weights of all ranks up to this one
  sums.reserve(keys.size());
  double sum = 0.0;
  for (std::size_t r = 0; r < keys.size(); ++r) {
    sum += std::pow(static_cast<double>(r + 1), -settings.zipf_exponent);
    sums.push_back(sum);
  }
  std::mt19937_64 random(settings.seed);
  std::uniform_real_distribution<double> uniform(0.0, sum);
  Order order(settings.lookups);
  for (std::size_t& i : order) {
    const auto rank = std::upper_bound(sums.begin(), sums.end() - 1, uniform(random));
    i = static_cast<std::size_t>(rank - sums.begin());
  }
  return order;
}

Order TakeForGrowth(const KeySet& keys, const ReadampSettings& settings) {
  if (settings.tree != Tree::kLoaded && settings.tree != Tree::kUniversal) {
    throw InputError("the workload growth needs --tree loaded or universal");
  }
  Order absent = Take<false>(keys, settings);
  if (absent.size() > settings.growth_points) return absent;
  throw InputError(fmt::format("{} lookups are too few for {} points of the workload growth",
                               absent.size(), settings.growth_points));
}

struct WorkloadKind {
  const char* name;
  const char* description;  // {:g} is the exponent
  Order (*take)(const KeySet&, const ReadampSettings&);
};

constexpr std::array<WorkloadKind, 5> kWorkloadKinds = {{
    {"absent", "keys that are not in the store", Take<false>},
    {"present", "keys that are in the store", Take<true>},
    {"hyphenation", "every key once, in the store or not", TakeAll},
    {"zipf", "keys drawn by Zipf's law with an exponent of {:g}", TakeByZipf},
    {"growth", "keys that are not in the store, while it is loaded", TakeForGrowth},
}};

}  // namespace

std::vector<std::string> WorkloadNames() {
  std::vector<std::string> names;
  names.reserve(kWorkloadKinds.size());
  for (const WorkloadKind& kind : kWorkloadKinds) names.emplace_back(kind.name);
  return names;
}

std::vector<Workload> MakeWorkloads(const KeySet& keys, const ReadampSettings& settings) {
  std::vector<Workload> workloads;
  for (const std::string& name : settings.workloads) {
    const auto* kind = std::find_if(kWorkloadKinds.begin(), kWorkloadKinds.end(),
                                    [&](const WorkloadKind& any) { return any.name == name; });
    workloads.push_back({name, fmt::format(fmt::runtime(kind->description), settings.zipf_exponent),
                         kind->take(keys, settings)});
    if (workloads.back().order.empty()) {
      throw InputError(fmt::format("the workload {} finds no key to ask for", name));
    }
  }
  return workloads;
}

}  // namespace exactbloom::readamp
