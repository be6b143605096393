#include "fixed_cost.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "contender.h"
#include "exactbloom/bloom_filter.h"
#include "filter/key_hash.h"
#include "report/text_table.h"

namespace exactbloom::filter_benchmark {
namespace {

constexpr double kMinSeconds = 0.05;
constexpr std::array<std::size_t, 4> kKeySizes = {8, 16, 32, 64};
constexpr std::array<std::uint64_t, 3> kFilterKeys = {10'000, 600'000, 100'000'000};
constexpr std::array<double, 3> kBitsPerKey = {10.0, 14.0, 20.0};

// Collects what Google Benchmark measures instead of printing it.
class TableReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      table_.AddRow({run.run_name.function_name, fmt::format("{:.1f}", run.GetAdjustedRealTime())});
    }
  }
  std::string Format() const { return table_.Format(); }

 private:
  bench::TextTable table_{{"fixed cost", "ns"}};
};

void MeasureHash(benchmark::State& state, std::size_t key_bytes) {
  std::string key(key_bytes, 'k');
  for (auto _ : state) {
    benchmark::DoNotOptimize(key.data());
    benchmark::DoNotOptimize(filter::HashKey(key, 0));
    benchmark::ClobberMemory();
  }
}

void MeasureSizing(benchmark::State& state, Layout layout, std::uint64_t keys,
                   double bits_per_key) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(keys);
    benchmark::DoNotOptimize(SizeAtBitsPerKey(layout, keys, bits_per_key));
  }
}

}  // namespace

std::string MeasureFixedCosts() {
  for (const std::size_t size : kKeySizes) {
    benchmark::RegisterBenchmark(fmt::format("hash of a {}-byte key", size).c_str(), MeasureHash,
                                 size)
        ->MinTime(kMinSeconds);
  }
  for (const Contender& ours : Layouts()) {
    for (const std::uint64_t keys : kFilterKeys) {
      for (const double bits : kBitsPerKey) {
        const std::string name =
            fmt::format("sizing {}, {} keys, {:g} bits per key", ours.name, keys, bits);
        benchmark::RegisterBenchmark(name.c_str(), MeasureSizing, *ours.layout, keys, bits)
            ->MinTime(kMinSeconds);
      }
    }
  }
  TableReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return reporter.Format();
}

}  // namespace exactbloom::filter_benchmark
