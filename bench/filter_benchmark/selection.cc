#include "selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "exactbloom/bloom_filter.h"
#include "support/rate_deviation.h"

namespace exactbloom::filter_benchmark {
namespace {

// Builds of more keys than this take most of a run's time. They are repeated less often and, except
// in a full run, made for the first number of bits per key only.
constexpr std::uint64_t kManyKeys = 1'000'000;
constexpr int kRepetitionsOfManyKeys = 3;

template <typename Item, typename NameOf>
std::vector<Item> Keep(const std::string& option, std::vector<Item> items,
                       const std::vector<std::string>& names, NameOf name_of) {
  if (names.empty()) return items;
  std::vector<Item> kept;
  for (const std::string& name : names) {
    const auto found = std::find_if(items.begin(), items.end(),
                                    [&](const Item& item) { return name_of(item) == name; });
    if (found == items.end()) {
      std::string known;
      for (const Item& item : items) known += (known.empty() ? "" : ", ") + name_of(item);
      throw InputError(fmt::format("--{}: '{}' is not one of {}", option, name, known));
    }
    kept.push_back(*found);
  }
  return kept;
}

// The filters of one size, each built once.
class FilterSet {
 public:
  FilterSet(const Settings& settings, std::uint64_t keys, double bits_per_key, Report& report)
      : settings_(settings), keys_(keys), bits_per_key_(bits_per_key), report_(report) {}

  // A filter of the contender with one reader per kernel; a peer, which has no kernels, has one
  // reader.
  std::vector<LoadedFilter> Load(const Contender& contender,
                                 const std::vector<std::string>& kernels) {
    const Policy policy = contender.make_policy(keys_, bits_per_key_);
    std::shared_ptr<const FilterMemory> memory;
    BuildFilter(*policy, keys_, [&](const rocksdb::Slice& block) {
      memory = std::make_shared<FilterMemory>(block, settings_.block_offset);
    });
    std::vector<LoadedFilter> filters;
    for (const std::string& kernel : kernels) {
      LoadedFilter filter;
      filter.contender = &contender;
      filter.kernel = kernel;
      filter.policy = policy;
      filter.keys = keys_;
      filter.memory = memory;
      const ForcedKernel forced(kernel);
      filter.reader.reset(policy->GetFilterBitsReader(memory->block()));
      filter.rate = MeasureRate(Describe(filter), *filter.reader, keys_, settings_.absent_queries,
                                Exact(contender));
      filters.push_back(std::move(filter));
    }
    for (const LoadedFilter& filter : filters) ExpectSameRate(filters.front(), filter);
    report_.rates.push_back(
        {contender.name, bits_per_key_, keys_, memory->block().size(), filters.front().rate});
    return filters;
  }

 private:
  std::string Describe(const LoadedFilter& filter) const {
    return fmt::format("{}, {} keys, {:g} bits per key", filter.Name(), keys_, bits_per_key_);
  }

  std::optional<ExactRate> Exact(const Contender& contender) const {
    if (!contender.layout) return std::nullopt;
    const FilterSize size = SizeAtBitsPerKey(*contender.layout, keys_, bits_per_key_);
    return ExactRate{size.false_positive_rate,
                     support::RelativeRateDeviation(*contender.layout, size, keys_)};
  }

  void ExpectSameRate(const LoadedFilter& first, const LoadedFilter& other) const {
    if (first.rate.false_positives == other.rate.false_positives) return;
    throw WrongAnswer(fmt::format("{} lets {} absent keys through, {} {}", Describe(first),
                                  first.rate.false_positives, other.Name(),
                                  other.rate.false_positives));
  }

  const Settings& settings_;
  std::uint64_t keys_;
  double bits_per_key_;
  Report& report_;
};

bool IsToBeMeasured(const Settings& settings, Operation operation, std::uint64_t keys,
                    double bits_per_key) {
  return operation != Operation::kBuild || settings.full || keys <= kManyKeys ||
         bits_per_key == settings.bits_per_key.front();
}

Comparison Compare(const Settings& settings, Operation operation, LoadedFilter& ours,
                   LoadedFilter& peer, QueryComparer& queries) {
  if (operation != Operation::kBuild) return queries.Compare(operation, ours, peer);
  const int repetitions = ours.keys > kManyKeys
                              ? std::min(settings.repetitions, kRepetitionsOfManyKeys)
                              : settings.repetitions;
  return CompareBuilds(ours, peer, repetitions);
}

}  // namespace

Selection::Selection(const Settings& settings) {
  const auto name_of = [](const Contender& contender) { return contender.name; };
  layouts = Keep("layouts", Layouts(), settings.layouts, name_of);
  peers = Keep("peers", Peers(&missing_peer), settings.peers, name_of);
  kernels = Keep("kernels", Kernels(), settings.kernels, [](const std::string& k) { return k; });
  operations = Keep("operations", std::vector<Operation>(kOperations.begin(), kOperations.end()),
                    settings.operations, [](Operation operation) { return Name(operation); });
}

void MeasureSize(const Settings& settings, const Selection& selection, std::uint64_t keys,
                 double bits_per_key, Report& report, Progress& progress) {
  const std::string size = fmt::format("{} keys, {:g} bits per key", keys, bits_per_key);
  progress.Begin(size + ": rates", selection.layouts.size() + selection.peers.size());
  FilterSet set(settings, keys, bits_per_key, report);
  std::vector<LoadedFilter> ours;
  std::vector<LoadedFilter> peers;
  for (const Contender& layout : selection.layouts) {
    for (LoadedFilter& filter : set.Load(layout, selection.kernels)) {
      ours.push_back(std::move(filter));
    }
    progress.Add(1);
  }
  for (const Contender& peer : selection.peers) {
    peers.push_back(std::move(set.Load(peer, {""}).front()));
    progress.Add(1);
  }

  progress.Begin(size + ": times", ours.size() * peers.size() * selection.operations.size());
  QueryComparer queries(settings.repetitions);
  for (LoadedFilter& peer : peers) {
    for (LoadedFilter& filter : ours) {
      for (const Operation operation : selection.operations) {
        progress.Add(1);
        const bool default_kernel = filter.kernel == selection.kernels.front();
        if (&peer != &peers.front() && !default_kernel) continue;
        if (!IsToBeMeasured(settings, operation, keys, bits_per_key)) continue;
        report.results.push_back({filter.contender->name, filter.kernel, bits_per_key, keys,
                                  operation, peer.contender->name,
                                  Compare(settings, operation, filter, peer, queries),
                                  filter.rate.Rate(), filter.rate.exact->mean, peer.rate.Rate()});
      }
    }
  }
  progress.End();
}

}  // namespace exactbloom::filter_benchmark
