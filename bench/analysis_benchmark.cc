// The time of the analysis' calls, and of the key hash. The targets: the exact rate within 5 us at
// k = 7 and a million keys and within 50 us at k = 20 and 1e9 keys; sizing, at 3,000 keys, within
// 1% of the time of building the filter, which takes about 10 ns per key: 0.3 us.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter_sizer.h"
#include "exactbloom/levels.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/occupancy.h"
#include "filter/kernels/key_hash.h"

namespace exactbloom {
namespace {

void BM_KeyHash(benchmark::State& state) {
  const std::string key(static_cast<std::size_t>(state.range(0)), 'k');
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(filter::HashKey(key, 0));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_KeyHash)->ArgName("key_bytes")->Arg(8)->Arg(16)->Arg(32)->Arg(64);

Layout LayoutOf(std::int64_t kind, std::int64_t lines) {
  return {kind == 0 ? FilterKind::kStandard : FilterKind::kClassic, static_cast<int>(lines)};
}

void BM_ExactRate(benchmark::State& state) {
  const Layout layout = LayoutOf(state.range(0), state.range(1));
  const int probes = static_cast<int>(state.range(2));
  const auto keys = static_cast<std::uint64_t>(state.range(3));
  const std::uint64_t bits =
      static_cast<std::uint64_t>(static_cast<double>(keys) * probes / kLn2) / kLineBits * kLineBits;
  while (state.KeepRunning())
    benchmark::DoNotOptimize(FalsePositiveRate(layout, bits, keys, probes));
}
BENCHMARK(BM_ExactRate)
    ->ArgNames({"classic", "lines", "k", "n"})
    ->Args({0, 0, 7, 1'000'000})
    ->Args({1, 0, 7, 1'000'000})
    ->Args({0, 0, 20, 1'000'000'000})
    ->Args({1, 0, 20, 1'000'000'000})
    ->Args({1, 1, 6, 1'000'000})
    ->Args({1, 2, 6, 1'000'000})
    ->Unit(benchmark::kMicrosecond);

// Partitions of 3,000 to 3,399 keys, one after another, with one sizer that lives as long as a
// policy.
std::uint64_t NextPartition(std::uint64_t partition) { return 3000 + partition * 7 % 400; }

std::uint64_t BitsOf(Layout layout, std::uint64_t keys, double bits_per_key) {
  const std::uint64_t unit = layout.InLines() ? kLineBits : 8;
  const double units =
      std::ceil(static_cast<double>(keys) * bits_per_key / static_cast<double>(unit));
  return static_cast<std::uint64_t>(units) * unit;
}

void BM_SizerProbes(benchmark::State& state) {
  const Layout layout = LayoutOf(1, state.range(0));
  const double bits_per_key = static_cast<double>(state.range(1)) / 10.0;
  FilterSizer sizer(layout);
  std::uint64_t partition = 0;
  while (state.KeepRunning()) {
    const std::uint64_t keys = NextPartition(partition++);
    benchmark::DoNotOptimize(sizer.OptimalProbes(BitsOf(layout, keys, bits_per_key), keys));
  }
}
BENCHMARK(BM_SizerProbes)
    ->ArgNames({"lines", "tenth_bits_per_key"})
    ->ArgsProduct({{0, 1, 2}, {80, 100, 145, 200}})
    ->Unit(benchmark::kMicrosecond);

// The first four thousand partitions that a sizer ever sees, including all that it computes for
// them.
void BM_NewSizerPerPartition(benchmark::State& state) {
  constexpr int kPartitions = 4000;
  const Layout layout = LayoutOf(1, state.range(0));
  const double bits_per_key = static_cast<double>(state.range(1)) / 10.0;
  while (state.KeepRunning()) {
    FilterSizer sizer(layout);
    for (std::uint64_t partition = 0; partition < kPartitions; ++partition) {
      const std::uint64_t keys = NextPartition(partition);
      benchmark::DoNotOptimize(sizer.OptimalProbes(BitsOf(layout, keys, bits_per_key), keys));
    }
  }
  state.counters["per_partition"] = benchmark::Counter(
      kPartitions, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_NewSizerPerPartition)
    ->ArgNames({"lines", "tenth_bits_per_key"})
    ->ArgsProduct({{0, 1, 2}, {80, 100, 145, 200}})
    ->Unit(benchmark::kMicrosecond);

// Without a sizer: the cost of a single filter of a new size.
void BM_OptimalProbes(benchmark::State& state) {
  const double bits_per_key = static_cast<double>(state.range(0)) / 10.0;
  std::uint64_t partition = 0;
  while (state.KeepRunning()) {
    const std::uint64_t keys = NextPartition(partition++);
    const std::uint64_t bits = BitsOf(FilterKind::kClassic, keys, bits_per_key);
    benchmark::DoNotOptimize(OptimalProbes(FilterKind::kClassic, bits, keys));
  }
}
BENCHMARK(BM_OptimalProbes)
    ->ArgName("tenth_bits_per_key")
    ->DenseRange(60, 200, 20)
    ->Unit(benchmark::kMicrosecond);

void BM_SizerSmallestFilter(benchmark::State& state) {
  FilterSizer sizer(LayoutOf(1, state.range(0)));
  std::uint64_t partition = 0;
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(sizer.SmallestFilter(NextPartition(partition++), 0.01));
  }
}
BENCHMARK(BM_SizerSmallestFilter)
    ->ArgName("lines")
    ->DenseRange(0, 2)
    ->Unit(benchmark::kMicrosecond);

void BM_SmallestFilter(benchmark::State& state) {
  while (state.KeepRunning())
    benchmark::DoNotOptimize(SmallestFilter(FilterKind::kClassic, 3000, 0.01));
}
BENCHMARK(BM_SmallestFilter)->Unit(benchmark::kMicrosecond);

void BM_Variance(benchmark::State& state) {
  const auto occupancy = Occupancy::OfFilter(FilterKind::kClassic, 10'000'000, 1'000'000, 7);
  while (state.KeepRunning()) benchmark::DoNotOptimize(occupancy->Variance());
}
BENCHMARK(BM_Variance)->Unit(benchmark::kMicrosecond);

void BM_MassFunction(benchmark::State& state) {
  const auto bits = static_cast<std::uint64_t>(state.range(0));
  const auto occupancy = Occupancy::OfFilter(FilterKind::kClassic, bits, bits / 10, 7);
  while (state.KeepRunning()) benchmark::DoNotOptimize(occupancy->Pmf());
}
BENCHMARK(BM_MassFunction)
    ->ArgName("m")
    ->Arg(1000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);

void BM_PlanLevels(benchmark::State& state) {
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(
        PlanLevels(FilterKind::kClassic, {10'000, 100'000, 1'000'000, 10'000'000}, 111'100'000));
  }
}
BENCHMARK(BM_PlanLevels)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace exactbloom

BENCHMARK_MAIN();
