// The time of the live tree's decisions, which are made under a lock, by the tables that a family
// has; of those for a budget by the families that share it; and of a flush in both.
#include <benchmark/benchmark.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "plugin/live_tree/tree.h"
#include "plugin/rocksdb_compat.h"

namespace exactbloom {
namespace {

using tree::TableFacts;

TableFacts FactsOf(std::uint64_t number) {
  const std::uint64_t keys = 10'000 + 97 * (number % 101);
  return {keys, keys * 5 / 4, 0, 0};
}

// Levels of ratio 10 below 20 tables of level 0.
void Fill(tree::Tables& tables, tree::Tree& family, std::uint64_t count) {
  tables.BeginListing();
  std::uint64_t number = 0;
  std::uint64_t left = count;
  for (int level = 6; level > 0; --level) {
    const std::uint64_t here = level == 1 ? left : left * 9 / 10;
    left -= here;
    for (std::uint64_t i = 0; i < here; ++i) {
      ++number;
      tables.TakeOver({number, level == 1 && i < 20 ? 0 : level, FactsOf(number)}, family, false);
    }
  }
}

// A flush begins a table, and decides: what is done under the lock of a database.
void Decide(benchmark::State& state) {
  tree::Tables tables;
  tree::Tree family(tables);
  Fill(tables, family, static_cast<std::uint64_t>(state.range(0)));
  std::uint64_t number = static_cast<std::uint64_t>(state.range(0));
  tree::TableSum amount;
  amount.filter_bytes = 1'250;
  while (state.KeepRunning()) {
    family.BeginJob({static_cast<int>(++number), true, 0, 1}, 0, {});
    family.StartTable(number, static_cast<int>(number), 0);
    const tree::TreeView view = family.For(static_cast<int>(number), 0, 1'000);
    benchmark::DoNotOptimize(tree::Divide(family.Options(), view));
    tables.Reserve(number, amount, true);
  }
}
BENCHMARK(Decide)->Arg(100)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond);

void DecideForAPartition(benchmark::State& state) {
  tree::Tables tables;
  tree::Tree family(tables);
  Fill(tables, family, static_cast<std::uint64_t>(state.range(0)));
  const std::uint64_t number = static_cast<std::uint64_t>(state.range(0)) + 1;
  family.BeginJob({1, true, 0, 1}, 0, {});
  family.StartTable(number, 1, 0);
  const tree::TreeView view = family.For(1, 0, 1'000'000);
  const tree::Share plan = tree::Divide(family.Options(), view);
  tree::TableSum amount;
  while (state.KeepRunning()) {
    tree::Share share = plan;
    tree::Limit(family.Options(), view, {1e9, 0.0, 0.0, 0.0, 0.0, 400.0}, share);
    benchmark::DoNotOptimize(share);
    amount.filter_bytes += 500;
    tables.Reserve(number, amount, true);
  }
}
BENCHMARK(DecideForAPartition)->Arg(100)->Arg(100'000)->Unit(benchmark::kMicrosecond);

struct OpenDatabase {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;

  ~OpenDatabase() {
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    }
  }
};

// One family of ten databases with so many in all is flushed, in memory.
void Flush(benchmark::State& state, const std::string& policy) {
  constexpr int kDatabases = 10;
  const std::unique_ptr<rocksdb::Env> env(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  rocksdb::Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.disable_auto_compactions = true;
  options.write_buffer_size = 1 << 20;
  if (!SetFilterPolicy(&options, policy).ok()) return state.SkipWithError("policy");
  std::vector<rocksdb::ColumnFamilyDescriptor> families = {{"default", options}};
  for (int i = 1; i < state.range(0) / kDatabases; ++i) {
    families.emplace_back("family" + std::to_string(i), options);
  }
  OpenDatabase databases[kDatabases];
  for (int i = 0; i < kDatabases; ++i) {
    auto& [db, handles] = databases[i];
    if (!rocksdb::DB::Open(options, "/db" + std::to_string(i), families, &handles, Receive(&db))
             .ok()) {
      return state.SkipWithError("open");
    }
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      db->Put({}, handle, "key", "value").PermitUncheckedError();
      db->Flush({}, handle).PermitUncheckedError();
    }
  }
  rocksdb::DB& db = *databases[0].db;
  std::uint64_t key = 0;
  while (state.KeepRunning()) {
    for (int i = 0; i < 1'000; ++i) {
      db.Put({}, std::to_string(++key * 7'919), "value").PermitUncheckedError();
    }
    db.Flush({}).PermitUncheckedError();
  }
}
BENCHMARK_CAPTURE(Flush, WithoutABudget, "exactbloom:10")
    ->Arg(1'000)
    ->Iterations(200)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Flush, UnderABudget, "{id=exactbloom;memory_budget=1G;budget=bench}")
    ->Arg(1'000)
    ->Iterations(200)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace exactbloom

BENCHMARK_MAIN();
