#include "fixed_cost.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "contender.h"
#include "exactbloom/bloom_filter.h"
#include "filter/kernels/key_hash.h"
#include "support/text_table.h"

namespace exactbloom::filter_benchmark {
namespace {

constexpr double kMinSeconds = 0.05;

void MeasureHash(benchmark::State& state) {
  const std::string key(static_cast<std::size_t>(state.range(0)), 'k');
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(filter::HashKey(key, 0));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(MeasureHash)
    ->Name("hash")
    ->ArgName("key bytes")
    ->Arg(8)
    ->Arg(16)
    ->Arg(32)
    ->Arg(64)
    ->MinTime(kMinSeconds);

void MeasureSizing(benchmark::State& state) {
  const Contender ours = Layouts().at(static_cast<std::size_t>(state.range(0)));
  state.SetLabel(ours.name);
  auto keys = static_cast<std::uint64_t>(state.range(1));
  while (state.KeepRunning()) {
    benchmark::DoNotOptimize(keys);
    benchmark::DoNotOptimize(
        SizeAtBitsPerKey(*ours.layout, keys, static_cast<double>(state.range(2))));
  }
}
BENCHMARK(MeasureSizing)
    ->Name("sizing")
    ->ArgNames({"layout", "keys", "bits per key"})
    ->ArgsProduct({benchmark::CreateDenseRange(0, static_cast<int>(Layouts().size()) - 1, 1),
                   {10'000, 600'000, 100'000'000},
                   {10, 14, 20}})
    ->MinTime(kMinSeconds);

// Collects what Google Benchmark measures instead of printing it.
class TableReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      table_.AddRow({run.run_name.function_name, run.report_label, run.run_name.args,
                     fmt::format("{:.1f}", run.GetAdjustedRealTime())});
    }
  }
  std::string Format() const { return table_.Format(); }

 private:
  support::TextTable table_{{"fixed cost", "", "of", "ns"}};
};

}  // namespace

std::string MeasureFixedCosts() {
  TableReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return reporter.Format();
}

}  // namespace exactbloom::filter_benchmark
