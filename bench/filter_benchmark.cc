// filter_benchmark: the times to build and to ask filters, ExactBloom's and RocksDB's in one run.
//
//   filter_benchmark [POLICY...] [options of Google Benchmark]
//
// Benchmarks are named OPERATION/POLICY/KEYS; times are nanoseconds per key. Filters are called by
// the interface that RocksDB calls, so that one more policy is one more name in kPolicies.
#include <benchmark/benchmark.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <rocksdb/filter_policy.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "equal_memory.h"
#include "exactbloom/filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/theory/confidence_interval.h"
#include "machine.h"
#include "plugin/filter_bits_interface.h"
#include "readamp/keys/synthetic_key.h"
#include "readamp/policy_measurement.h"
#include "readamp/tree/database.h"
#include "support/errors.h"
#include "support/rate_deviation.h"

namespace exactbloom {
namespace {

using rocksdb::FilterBitsReader;
using rocksdb::FilterPolicy;
using rocksdb::Slice;
using support::WrongAnswer;

const std::vector<std::string> kPolicies = {"bloomfilter:10", "ribbonfilter:{equal_bytes}",
                                            "classic_bloom:10", "standard_bloom:10",
                                            "exact_ribbon:10"};
constexpr double kBitsPerKey = 10.0;
constexpr std::array<std::uint64_t, 4> kKeysToBuild = {1'000, 20'000, 500'000, 5'000'000};
constexpr std::size_t kBatch = 32;  // RocksDB's largest
// Enough that the clocks take less than 1% of the time, few enough for a cache beside the filter.
constexpr std::size_t kKeysAtOnce = 8'192;
constexpr std::uint64_t kAbsentKeysOfRate = std::uint64_t{1} << 20;

// Keys that are made before they are used: a key is its number, after the bijectively mixed number.
struct Keys {
  Keys() {
    for (std::size_t i = 0; i < kKeysAtOnce; ++i) {
      slices[i] = Slice(reinterpret_cast<const char*>(&words[i]), sizeof(words[i]));
      pointers[i] = &slices[i];
    }
  }
  Keys(const Keys&) = delete;

  template <typename NumberOf>
  void Fill(const NumberOf& number_of) {
    for (std::size_t i = 0; i < kKeysAtOnce; ++i) {
      const std::uint64_t number = number_of(i);
      words[i] = {readamp::SplitMix::Mix(number), number};
    }
  }

  std::vector<std::array<std::uint64_t, 2>> words{kKeysAtOnce};
  std::vector<Slice> slices{kKeysAtOnce};
  std::vector<Slice*> pointers{kKeysAtOnce};
};

// The numbers of keys in filters, and of others.
std::uint64_t Present(std::uint64_t i) { return 2 * i; }
std::uint64_t Absent(std::uint64_t i) { return 2 * i + 1; }

// Returns the first of kKeysAtOnce numbers that are new, since the branch predictor would learn the
// answers of others. Lower ones are for checks, whose results are so the same in every run.
std::uint64_t NewKeys() {
  static std::uint64_t next = std::uint64_t{1} << 40;
  return std::exchange(next, next + kKeysAtOnce);
}

std::unique_ptr<rocksdb::FilterBitsBuilder> NewBuilder(const FilterPolicy* policy) {
  static const rocksdb::BlockBasedTableOptions options = EqualMemoryTableOptions();
  static const rocksdb::FilterBuildingContext context(options);
  std::unique_ptr<rocksdb::FilterBitsBuilder> builder;
  if (policy != nullptr) builder.reset(policy->GetBuilderWithContext(context));
  if (builder == nullptr) throw support::InputError("a policy builds no filters");
  return builder;
}

// A filter in memory. It begins 16 bytes behind the start of a cache line, where glibc puts large
// allocations: the place decides whether a key of RocksDB's Bloom filter touches one line or two.
struct LoadedFilter {
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> lines;
  std::unique_ptr<FilterBitsReader> reader;
};

LoadedFilter Load(const FilterPolicy& policy, const std::string& block) {
  std::vector<LoadedFilter::Line> lines(block.size() / sizeof(LoadedFilter::Line) + 2);
  char* start = lines.front().bytes + 16;
  block.copy(start, block.size());
  std::unique_ptr<FilterBitsReader> reader(policy.GetFilterBitsReader({start, block.size()}));
  return {std::move(lines), std::move(reader)};
}

// Returns how many of the keys may match. Throws WrongAnswer if batches and single calls differ.
std::uint64_t CountMatches(const std::string& name, FilterBitsReader& reader, Keys& keys) {
  std::uint64_t matches = 0;
  std::array<bool, kBatch> may_match{};
  for (std::size_t i = 0; i < kKeysAtOnce; ++i) {
    if (i % kBatch == 0) reader.MayMatch(kBatch, &keys.pointers[i], may_match.data());
    const bool answer = reader.MayMatch(keys.slices[i]);
    if (answer != may_match[i % kBatch]) throw WrongAnswer(name + ": batches answer otherwise");
    matches += answer ? 1U : 0U;
  }
  return matches;
}

// Throws WrongAnswer if the block's exact rate lies outside the 99.9% interval of the measured one,
// which is widened by the deviation of a single filter. RocksDB's blocks have no exact rate.
void CheckRate(const std::string& name, const std::string& block, std::uint64_t false_positives) {
  const FilterView view(block);
  if (view.Status() != BlockStatus::kUsable) return;
  const support::ExactRate exact = view.Kind() == FilterKind::kRibbon
                                       ? support::ExactRate{view.FalsePositiveRate()}
                                       : support::ExactRates().Of(view.Description());
  const double dispersion =
      support::Dispersion(exact.mean, exact.relative_deviation, kAbsentKeysOfRate);
  const Interval measured = *WilsonInterval(false_positives, kAbsentKeysOfRate, kZ999, dispersion);
  if (measured.Contains(exact.mean)) return;
  throw WrongAnswer(fmt::format("{}: the rate is in {:.4g} .. {:.4g}, the exact one {:.4g}", name,
                                measured.low, measured.high, exact.mean));
}

struct CheckedFilter {
  std::shared_ptr<const FilterPolicy> policy;
  std::string block;  // of the first keys
  double false_positive_rate = 0.0;
};

// Builds a filter, and asks it for all of its keys and for absent ones.
CheckedFilter BuildAndCheck(const std::string& policy, std::uint64_t keys) {
  const std::string name = fmt::format("{}, {} keys", policy, keys);
  CheckedFilter filter;
  filter.policy = readamp::MakePolicy(readamp::WithEqualBytes(policy, keys, kBitsPerKey));
  const auto builder = NewBuilder(filter.policy.get());
  Keys some;
  for (std::uint64_t i = 0; i < keys; ++i) {
    if (i % kKeysAtOnce == 0) some.Fill([&](std::uint64_t j) { return Present(i + j); });
    builder->AddKey(some.slices[i % kKeysAtOnce]);
  }
  std::unique_ptr<const char[]> buffer;
  filter.block = builder->Finish(&buffer).ToString();

  const LoadedFilter loaded = Load(*filter.policy, filter.block);
  for (std::uint64_t i = 0; i < keys; i += kKeysAtOnce) {
    some.Fill([&](std::uint64_t j) { return Present((i + j) % keys); });
    if (CountMatches(name, *loaded.reader, some) == kKeysAtOnce) continue;
    throw WrongAnswer(name + ": a present key is denied");
  }
  std::uint64_t false_positives = 0;
  for (std::uint64_t i = 0; i < kAbsentKeysOfRate; i += kKeysAtOnce) {
    some.Fill([&](std::uint64_t j) { return Absent(i + j); });
    false_positives += CountMatches(name, *loaded.reader, some);
  }
  CheckRate(name, filter.block, false_positives);
  filter.false_positive_rate = static_cast<double>(false_positives) / kAbsentKeysOfRate;
  return filter;
}

// Returns the filter, which is built and checked once.
const CheckedFilter& FilterOf(const std::string& policy, std::uint64_t keys) {
  static std::map<std::pair<std::string, std::uint64_t>, CheckedFilter> known;
  const auto [place, is_new] = known.try_emplace({policy, keys});
  if (is_new) place->second = BuildAndCheck(policy, keys);
  return place->second;
}

// Each filter has a builder of its own, as each table has.
void Build(benchmark::State& state, const std::string& policy, std::uint64_t keys) {
  const CheckedFilter& filter = FilterOf(policy, keys);
  Keys some;
  std::size_t used = kKeysAtOnce;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(keys))) {
    const auto builder = NewBuilder(filter.policy.get());
    for (std::uint64_t i = 0; i < keys; ++i, ++used) {
      if (used == kKeysAtOnce) {
        state.PauseTiming();
        some.Fill([first = NewKeys()](std::uint64_t j) { return Present(first + j); });
        used = 0;
        state.ResumeTiming();
      }
      builder->AddKey(some.slices[used]);
    }
    std::unique_ptr<const char[]> buffer;
    benchmark::DoNotOptimize(builder->Finish(&buffer));
  }
  const auto bits = 8.0 * static_cast<double>(filter.block.size());
  state.counters["bits_per_key"] = bits / static_cast<double>(keys);
  state.counters["false_positive_rate"] = filter.false_positive_rate;
}

// A branch depends on every answer.
void AskSingly(const std::vector<LoadedFilter>& filters, Keys& keys) {
  std::uint64_t matches = 0;
  auto filter = filters.begin();
  for (std::size_t i = 0; i < kKeysAtOnce; ++i) {
    if (filter->reader->MayMatch(keys.slices[i])) benchmark::DoNotOptimize(++matches);
    if (++filter == filters.end()) filter = filters.begin();
  }
}

void AskInBatches(const std::vector<LoadedFilter>& filters, Keys& keys) {
  std::array<bool, kBatch> may_match{};
  auto filter = filters.begin();
  for (std::size_t i = 0; i < kKeysAtOnce; i += kBatch) {
    filter->reader->MayMatch(kBatch, &keys.pointers[i], may_match.data());
    benchmark::DoNotOptimize(may_match);
    if (++filter == filters.end()) filter = filters.begin();
  }
}

struct Lookup {
  const char* operation;
  void (*ask)(const std::vector<LoadedFilter>& filters, Keys& keys);
  bool is_of_present_keys;
  std::uint64_t keys;   // of a filter
  std::size_t filters;  // asked in turns
};
// A filter of 500,000 keys stays in the cache of a core, 200 filters of 1 MB do not.
constexpr Lookup kLookups[] = {
    {"absent", AskSingly, false, 500'000, 1},
    {"absent_batch", AskInBatches, false, 500'000, 1},
    {"present", AskSingly, true, 500'000, 1},
    {"present_batch", AskInBatches, true, 500'000, 1},
    {"absent_200_filters", AskSingly, false, 800'000, 200},
    {"absent_200_filters_batch", AskInBatches, false, 800'000, 200},
};

void Ask(benchmark::State& state, const std::string& policy, const Lookup& lookup) {
  const CheckedFilter& filter = FilterOf(policy, lookup.keys);
  std::vector<LoadedFilter> filters;
  while (filters.size() < lookup.filters) filters.push_back(Load(*filter.policy, filter.block));
  Keys some;
  while (state.KeepRunningBatch(kKeysAtOnce)) {
    state.PauseTiming();
    some.Fill([&, first = NewKeys()](std::uint64_t i) {
      if (!lookup.is_of_present_keys) return Absent(first + i);
      return Present(readamp::SplitMix::Mix(first + i) % lookup.keys);
    });
    state.ResumeTiming();
    lookup.ask(filters, some);
  }
}

void Register(const std::string& policy) {
  for (const std::uint64_t keys : kKeysToBuild) {
    const std::string name = fmt::format("build/{}/{}", policy, keys);
    benchmark::RegisterBenchmark(name.c_str(), Build, policy, keys);
  }
  for (const Lookup& lookup : kLookups) {
    const std::string name = fmt::format("{}/{}/{}", lookup.operation, policy, lookup.keys);
    benchmark::RegisterBenchmark(name.c_str(), Ask, policy, lookup);
  }
}

// Writes the times of all repetitions, and the rates of filters that were built.
class ResultFile : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      const std::string& name = run.run_name.function_name;
      const std::size_t policy = name.find('/') + 1;
      const std::size_t keys = name.rfind('/') + 1;
      nlohmann::ordered_json& row = rows_[run.family_index];
      row["operation"] = name.substr(0, policy - 1);
      row["policy"] = name.substr(policy, keys - 1 - policy);
      row["keys"] = std::stoull(name.substr(keys));
      row["ns"].push_back(std::round(100.0 * run.GetAdjustedCPUTime()) / 100.0);
      for (const auto& [counter, value] : run.counters) row[counter] = value.value;
    }
  }

  void Finalize() override {
    const std::string machine =
        fmt::format("{}; GCC {}, RocksDB {}", DescribeCpu(), __VERSION__, RocksDBVersion());
    nlohmann::ordered_json result = {{"view", "bench"}, {"machine", machine}};
    result["date"] = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
    for (const auto& [number, row] : rows_) result["rows"].push_back(row);
    GetOutputStream() << result.dump() << '\n';
  }

 private:
  std::map<std::int64_t, nlohmann::ordered_json> rows_;  // in the order of registration
};

// Nothing is printed before the last filter was checked.
void Run(std::vector<std::string> arguments) {
  RegisterFilterPolicies();
  const bool to_file = std::any_of(arguments.begin(), arguments.end(), [](const std::string& text) {
    return text.rfind("--benchmark_out=", 0) == 0;
  });
  std::vector<char*> texts;
  texts.reserve(arguments.size());
  for (std::string& argument : arguments) texts.push_back(argument.data());
  int count = static_cast<int>(texts.size());
  benchmark::Initialize(&count, texts.data());
  benchmark::AddCustomContext("run on", DescribeCpu() + ", RocksDB " + RocksDBVersion());
  const std::vector<std::string> named(texts.begin() + 1, texts.begin() + count);
  for (const std::string& policy : named.empty() ? kPolicies : named) Register(policy);
  std::ostringstream text;
  const std::unique_ptr<benchmark::BenchmarkReporter> reporter(
      benchmark::CreateDefaultDisplayReporter());
  reporter->SetOutputStream(&text);
  reporter->SetErrorStream(&text);
  ResultFile file;
  benchmark::RunSpecifiedBenchmarks(reporter.get(), to_file ? &file : nullptr);
  fmt::print("{}", text.str());
}

}  // namespace
}  // namespace exactbloom

int main(int argc, char** argv) {
  std::vector<std::string> arguments = {
      argv[0], "--benchmark_repetitions=15", "--benchmark_min_time=0.05",
      "--benchmark_enable_random_interleaving=true", "--benchmark_display_aggregates_only=true"};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  return exactbloom::support::ExitStatusOf("filter_benchmark", [&] { exactbloom::Run(arguments); });
}
