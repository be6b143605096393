#include "comparison.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace exactbloom::filter_benchmark {
namespace {

constexpr std::size_t kTimedKeys = 16'384;
constexpr std::size_t kWarmUpKeys = 1'024;
// The absent keys below this block are for measuring rates.
constexpr std::uint64_t kFirstTimedBlock = std::uint64_t{1} << 32;
// Small filters are built several times in one measurement.
constexpr std::uint64_t kKeysToBuild = 50'000;
constexpr std::uint64_t kMostBuilds = 8;

double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - std::floor(place)) * (values[above] - values[below]);
}

void ReadAll(const rocksdb::Slice& block) {
  constexpr std::size_t kLineBytes = kLineBits / 8;
  unsigned sum = 0;
  for (std::size_t i = 0; i < block.size(); i += kLineBytes) {
    sum += static_cast<unsigned char>(block[i]);
  }
  benchmark::DoNotOptimize(sum);
}

// Measures first one, then the other; the order changes with the repetition.
template <typename Measure>
Times MeasureBoth(int repetition, Measure measure_ours, Measure measure_peer) {
  Times times;
  if (repetition % 2 == 0) times.peer = measure_peer();
  times.ours = measure_ours();
  if (repetition % 2 != 0) times.peer = measure_peer();
  return times;
}

double TimeBuild(const LoadedFilter& filter) {
  const ForcedKernel forced(filter.kernel);
  const std::uint64_t builds =
      std::clamp<std::uint64_t>(kKeysToBuild / filter.keys, 1, kMostBuilds);
  double nanoseconds = 0.0;
  for (std::uint64_t i = 0; i < builds; ++i) {
    nanoseconds += BuildFilter(*filter.policy, filter.keys, [&](const rocksdb::Slice& block) {
      if (block == filter.memory->block()) return;
      throw WrongAnswer(filter.Name() + " builds another filter of the same keys");
    });
  }
  return nanoseconds / static_cast<double>(builds * filter.keys);
}

}  // namespace

std::string LoadedFilter::Name() const {
  return kernel.empty() ? contender->name : contender->name + " " + kernel;
}

Comparison Summarize(const std::vector<Times>& repetitions) {
  std::vector<double> ratios;
  std::vector<double> ours;
  std::vector<double> peer;
  for (const Times& times : repetitions) {
    ratios.push_back(times.ours / times.peer);
    ours.push_back(times.ours);
    peer.push_back(times.peer);
  }
  return {Quantile(ratios, 0.5), Quantile(ratios, 0.25), Quantile(ratios, 0.75),
          Quantile(ours, 0.5), Quantile(peer, 0.5)};
}

QueryComparer::QueryComparer(int repetitions)
    : repetitions_(repetitions),
      block_number_(kFirstTimedBlock),
      timed_(kTimedKeys),
      warm_up_(kWarmUpKeys) {}

double QueryComparer::Time(Operation operation, LoadedFilter& filter) {
  ReadAll(filter.memory->block());
  Ask(operation, *filter.reader, warm_up_);
  const Answers answers = Ask(operation, *filter.reader, timed_);
  if (AsksPresentKeys(operation) && answers.positive != timed_.size()) {
    throw WrongAnswer(fmt::format("{}: {} of {} present keys were answered absent", filter.Name(),
                                  timed_.size() - answers.positive, timed_.size()));
  }
  return answers.nanoseconds / static_cast<double>(timed_.size());
}

Comparison QueryComparer::Compare(Operation operation, LoadedFilter& ours, LoadedFilter& peer) {
  std::vector<Times> times;
  times.reserve(static_cast<std::size_t>(repetitions_));
  for (int i = 0; i < repetitions_; ++i) {
    ++block_number_;
    if (AsksPresentKeys(operation)) {
      timed_.FillSample(block_number_, ours.keys);
      warm_up_.FillSample(~block_number_, ours.keys);
    } else {
      timed_.FillAbsent(block_number_);
      warm_up_.FillAbsent(~block_number_ >> 16);
    }
    times.push_back(MeasureBoth<std::function<double()>>(
        i, [&] { return Time(operation, ours); }, [&] { return Time(operation, peer); }));
    support::CheckForInterrupts();
  }
  return Summarize(times);
}

Comparison CompareBuilds(const LoadedFilter& ours, const LoadedFilter& peer, int repetitions) {
  std::vector<Times> times;
  times.reserve(static_cast<std::size_t>(repetitions));
  for (int i = 0; i < repetitions; ++i) {
    times.push_back(MeasureBoth<std::function<double()>>(
        i, [&] { return TimeBuild(ours); }, [&] { return TimeBuild(peer); }));
  }
  return Summarize(times);
}

}  // namespace exactbloom::filter_benchmark
