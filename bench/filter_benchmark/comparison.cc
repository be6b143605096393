#include "comparison.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tool/support/errors.h"

namespace exactbloom::filter_benchmark {
namespace {

using support::WrongAnswer;

constexpr std::size_t kTimedKeys = 16'384;
constexpr std::size_t kWarmUpKeys = 1'024;
// The absent keys below this block are those of the rates.
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
  constexpr std::size_t kLineBytes = 64;
  unsigned sum = 0;
  for (std::size_t i = 0; i < block.size(); i += kLineBytes) {
    sum += static_cast<unsigned char>(block[i]);
  }
  benchmark::DoNotOptimize(sum);
}

double TimeBuild(const LoadedFilter& filter) {
  const std::uint64_t builds =
      std::clamp<std::uint64_t>(kKeysToBuild / filter.keys, 1, kMostBuilds);
  double nanoseconds = 0.0;
  for (std::uint64_t i = 0; i < builds; ++i) {
    nanoseconds += BuildFilter(*filter.policy, filter.keys, [&](const rocksdb::Slice& block) {
      if (block == filter.memory->block()) return;
      throw WrongAnswer(filter.design + " builds another filter of the same keys");
    });
  }
  return nanoseconds / static_cast<double>(builds * filter.keys);
}

}  // namespace

Comparison Summarize(const std::vector<Times>& repetitions) {
  std::vector<double> ratios;
  std::vector<double> peer;
  for (const Times& times : repetitions) {
    ratios.push_back(times.ours / times.peer);
    peer.push_back(times.peer);
  }
  return {Quantile(ratios, 0.5), Quantile(ratios, 0.25), Quantile(ratios, 0.75),
          Quantile(peer, 0.5)};
}

FilterComparer::FilterComparer()
    : block_number_(kFirstTimedBlock), timed_(kTimedKeys), warm_up_(kWarmUpKeys) {}

void FilterComparer::FillKeys(const Operation& operation, std::uint64_t keys) {
  ++block_number_;
  if (operation.asks_present_keys) {
    timed_.FillSample(block_number_, keys);
    warm_up_.FillSample(~block_number_, keys);
  } else {
    timed_.FillAbsent(block_number_);
    warm_up_.FillAbsent(~block_number_ >> 16);
  }
}

double FilterComparer::Time(const Operation& operation, LoadedFilter& filter) {
  if (operation.ask == nullptr) return TimeBuild(filter);
  ReadAll(filter.memory->block());
  operation.ask(*filter.reader, warm_up_);
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t positive = operation.ask(*filter.reader, timed_);
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
  if (operation.asks_present_keys && positive != timed_.size()) {
    throw WrongAnswer(fmt::format("{}: {} of {} present keys were answered absent", filter.design,
                                  timed_.size() - positive, timed_.size()));
  }
  return elapsed.count() / static_cast<double>(timed_.size());
}

Comparison FilterComparer::Compare(const Operation& operation, LoadedFilter& ours,
                                   LoadedFilter& peer, int repetitions) {
  std::vector<Times> repeated;
  repeated.reserve(static_cast<std::size_t>(repetitions));
  for (int i = 0; i < repetitions; ++i) {
    FillKeys(operation, ours.keys);
    Times times;
    if (i % 2 == 0) times.peer = Time(operation, peer);
    times.ours = Time(operation, ours);
    if (i % 2 != 0) times.peer = Time(operation, peer);
    repeated.push_back(times);
  }
  return Summarize(repeated);
}

}  // namespace exactbloom::filter_benchmark
