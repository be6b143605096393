// The cost of filters that follow the tree. The targets: a builder within 50 us in a tree of
// 100,000 tables, and all that a compaction causes within 1% of its time.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plugin/tree/tree_census.h"
#include "plugin/tree/tree_division.h"

namespace exactbloom::tree {
namespace {

constexpr char kFamily[] = "default";
constexpr std::uint64_t kKeysOfTable = 1'000'000;
constexpr int kDeepest = 6;

// Level compaction with ratio 10: a few tables in level 0, and ten times as many in each next
// level.
std::map<std::string, std::vector<LiveTable>> TreeOf(std::uint64_t tables) {
  constexpr std::uint64_t kRatio = 10;
  std::map<std::string, std::vector<LiveTable>> families;
  std::vector<LiveTable>& live = families[kFamily];
  std::uint64_t of_level = tables * (kRatio - 1) / kRatio;
  for (int level = kDeepest; level >= 0 && live.size() < tables; --level) {
    for (std::uint64_t i = 0; i < of_level && live.size() < tables; ++i) {
      live.push_back({level, live.size() + 1, {kKeysOfTable, kKeysOfTable * 10 / 8}});
    }
    of_level = of_level / kRatio + 1;
  }
  return families;
}

class Watched {
 public:
  explicit Watched(std::uint64_t tables) {
    const auto families = TreeOf(tables);
    const std::size_t before = mallinfo2().uordblks;
    census_.Look(census_.Changes(), "session", families);
    bytes_per_table_ =
        static_cast<double>(mallinfo2().uordblks - before) / static_cast<double>(tables);
    next_number_ = tables + 1;
    // The tables of a compaction, one of the level above the deepest and those that it overlaps.
    for (const LiveTable& table : families.at(kFamily)) {
      const std::size_t most = table.level == kDeepest ? 10 : table.level == kDeepest - 1 ? 11 : 0;
      if (inputs_.size() < most) inputs_.push_back(table);
    }
  }

  TreeCensus& Census() { return census_; }
  double BytesPerTable() const { return bytes_per_table_; }
  const std::vector<LiveTable>& Inputs() const { return inputs_; }

  // The events of a compaction that writes as many tables as it takes in.
  void Compact(TreeCensus::JobId job) {
    census_.BeginCompaction(kFamily, job, kDeepest, inputs_);
    std::vector<LiveTable> outputs;
    for (const LiveTable& input : inputs_) {
      census_.AddWritten(kFamily, job, input.count);
      outputs.push_back({kDeepest, next_number_++, input.count});
    }
    census_.EndJob(kFamily, job, outputs);
    for (const LiveTable& input : inputs_) census_.Delete(input.number);
    inputs_ = outputs;
  }

 private:
  TreeCensus census_;
  double bytes_per_table_ = 0.0;
  std::uint64_t next_number_ = 0;
  std::vector<LiveTable> inputs_;
};

const TreeDivision& Division(bool has_budget) {
  static const TreeDivision& unbounded = *new TreeDivision({FilterKind::kClassic, 10.0, 0});
  static const TreeDivision& bounded =
      *new TreeDivision({FilterKind::kClassic, 10.0, std::uint64_t{1} << 40});
  return has_budget ? bounded : unbounded;
}

// What one builder asks: the share of its table, before its keys are known or when they are.
void BM_ShareOfATable(benchmark::State& state) {
  Watched tree(static_cast<std::uint64_t>(state.range(0)));
  const TreeDivision& division = Division(state.range(1) != 0);
  constexpr TreeCensus::JobId kJob = 1;
  tree.Census().BeginCompaction(kFamily, kJob, kDeepest, tree.Inputs());
  while (state.KeepRunning()) {
    const auto view = tree.Census().View(kFamily, kJob, kDeepest);
    benchmark::DoNotOptimize(division.Share(*view, kKeysOfTable).bits_per_key);
  }
  state.counters["bytes_per_table"] = tree.BytesPerTable();
}
BENCHMARK(BM_ShareOfATable)
    ->ArgNames({"tables", "budget"})
    ->ArgsProduct({{100, 100'000, 1'000'000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

// All events of a compaction of eleven tables.
void BM_EventsOfACompaction(benchmark::State& state) {
  Watched tree(static_cast<std::uint64_t>(state.range(0)));
  TreeCensus::JobId job = 0;
  while (state.KeepRunning()) tree.Compact(++job);
}
BENCHMARK(BM_EventsOfACompaction)
    ->ArgName("tables")
    ->Arg(100)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Unit(benchmark::kMicrosecond);

// The first event of an opened database, beside RocksDB's own listing of the tables.
void BM_Look(benchmark::State& state) {
  const auto families = TreeOf(static_cast<std::uint64_t>(state.range(0)));
  TreeCensus census;
  while (state.KeepRunning()) census.Look(census.Changes(), "session", families);
}
BENCHMARK(BM_Look)->ArgName("tables")->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace exactbloom::tree
