#include "benchmark_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "output_file.h"
#include "tool/support/errors.h"
#include "tool/support/progress.h"

namespace exactbloom::filter_benchmark {
namespace {

// Builds of more keys than this take most of a run's time. They are repeated less often, and made
// for the first number of bits per key only.
constexpr std::uint64_t kManyKeys = 1'000'000;
constexpr int kRepetitionsOfManyKeys = 5;

std::string NameOf(const FilterDesign& design) { return design.name; }
std::string NameOf(const Operation& operation) { return operation.name; }
std::string NameOf(const std::string& kernel) { return kernel; }

// The named items, in that order; all of them if no name is given.
template <typename Item>
std::vector<Item> Keep(const std::string& option, const std::vector<Item>& items,
                       const std::vector<std::string>& names) {
  if (names.empty()) return items;
  std::vector<Item> kept;
  for (const std::string& name : names) {
    const auto found = std::find_if(items.begin(), items.end(),
                                    [&](const Item& item) { return NameOf(item) == name; });
    if (found == items.end()) {
      std::vector<std::string> known;
      std::transform(items.begin(), items.end(), std::back_inserter(known),
                     [](const Item& item) { return NameOf(item); });
      throw support::InputError(
          fmt::format("{}: '{}' is not one of {}", option, name, fmt::join(known, ", ")));
    }
    kept.push_back(*found);
  }
  return kept;
}

class BenchmarkRun {
 public:
  BenchmarkRun(const BenchmarkSettings& settings, const std::string& command)
      : settings_(settings), layouts_(Keep("--layouts", OurDesigns(), settings.layouts)) {
    peers_ = Keep("--peers", PeerDesigns(&report_.missing_peer), settings.peers);
    report_.command = command;
    report_.kernels = Keep("--kernels", Kernels(), settings.kernels);
    report_.operations =
        Keep("--operations", std::vector<Operation>(kOperations.begin(), kOperations.end()),
             settings.operations);
    report_.repetitions = settings.repetitions;
    report_.block_offset = settings.load.block_offset;
  }

  void MeasureSize(std::uint64_t keys, double bits_per_key) {
    const std::string size = fmt::format("{} keys, {:g} bits per key", keys, bits_per_key);
    progress_.Begin(size + ": rates", layouts_.size() + peers_.size());
    std::vector<LoadedFilter> ours = Load(layouts_, report_.kernels, keys, bits_per_key);
    std::vector<LoadedFilter> peers = Load(peers_, {""}, keys, bits_per_key);
    progress_.Begin(size + ": times", ours.size() * peers.size());
    for (LoadedFilter& peer : peers) {
      PeerTable table{peer.design, bits_per_key, keys, peer.rate.Rate(), {}};
      for (LoadedFilter& filter : ours) {
        if (&peer == &peers.front() || filter.kernel == report_.kernels.front()) {
          table.rows.push_back(CompareAll(filter, peer, bits_per_key));
        }
        progress_.Add(1);
      }
      report_.tables.push_back(std::move(table));
    }
    progress_.End();
  }

  const BenchmarkReport& report() const { return report_; }

 private:
  std::vector<LoadedFilter> Load(const std::vector<FilterDesign>& designs,
                                 const std::vector<std::string>& kernels, std::uint64_t keys,
                                 double bits_per_key) {
    std::vector<LoadedFilter> all;
    for (const FilterDesign& design : designs) {
      std::vector<LoadedFilter> filters =
          LoadFilter(design, kernels, keys, bits_per_key, settings_.load);
      std::move(filters.begin(), filters.end(), std::back_inserter(all));
      progress_.Add(1);
    }
    return all;
  }

  ComparisonRow CompareAll(LoadedFilter& filter, LoadedFilter& peer, double bits_per_key) {
    ComparisonRow row{
        filter.design, filter.kernel, filter.rate.Rate(), filter.rate.exact->mean, {}};
    for (const Operation& operation : report_.operations) {
      const bool is_large_build = operation.ask == nullptr && filter.keys > kManyKeys;
      row.comparisons.emplace_back();
      if (is_large_build && bits_per_key != settings_.bits_per_key.front()) {
        continue;
      }
      const int repetitions = is_large_build
                                  ? std::min(settings_.repetitions, kRepetitionsOfManyKeys)
                                  : settings_.repetitions;
      row.comparisons.back() = comparer_.Compare(operation, filter, peer, repetitions);
    }
    return row;
  }

  const BenchmarkSettings& settings_;
  std::vector<FilterDesign> layouts_;
  std::vector<FilterDesign> peers_;
  BenchmarkReport report_;
  FilterComparer comparer_;
  support::Progress progress_;
};

}  // namespace

void RunBenchmark(const BenchmarkSettings& settings, const std::string& command) {
  BenchmarkRun run(settings, command);
  OutputFile json_file(settings.json_file);
  for (const std::uint64_t keys : settings.keys) {
    for (const double bits_per_key : settings.bits_per_key) run.MeasureSize(keys, bits_per_key);
  }
  fmt::print("{}", run.report().Text());
  json_file.Commit(run.report().Json().dump(2) + "\n");
}

}  // namespace exactbloom::filter_benchmark
