// Memory budgets that databases, column families and policies of the process share by name.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exactbloom/memory_budget.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "plugin/bits_builder.h"
#include "plugin/filter_bits_interface.h"
#include "plugin/live_tree/sized_table.h"

namespace exactbloom {
namespace {

class SharedBudget : public testing::Test {
 protected:
  // Of a policy of its own, as option strings give it.
  rocksdb::Options Options(const std::string& policy) {
    rocksdb::Options options = FollowingOptions(nullptr, nullptr);
    options.listeners.clear();
    const rocksdb::Status status = SetFilterPolicy(&options, policy);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return options;
  }

  std::string Path(const std::string& name) const { return directory_.path(name); }

  TemporaryDirectory directory_;
};

double BitsOf(rocksdb::DB& db) { return SumOf(TreesOf(db)).BitsPerKey(); }

TEST_F(SharedBudget, IsThatOfItsName) {
  constexpr std::uint64_t kKeys = 10'000;
  const std::string of_one = "{id=exactbloom;ribbon=false;memory_budget=10000;budget=one}";
  const Database first = Open(Options(of_one), Path("first"));
  const Database second = Open(Options(of_one), Path("second"));
  const Database other =
      Open(Options("{id=exactbloom;ribbon=false;memory_budget=10000;budget=two}"), Path("other"));
  for (rocksdb::DB* db : {first.get(), second.get(), other.get()}) PutAndFlush(*db, kKeys);
  const MemoryBudgetUse use = GetMemoryBudgetUse("one");
  EXPECT_EQ(use.bound_bytes, 10'000U);
  EXPECT_LE(use.used_bytes, use.bound_bytes);
  ASSERT_EQ(use.families.size(), 2U);
  std::set<std::string> databases;
  for (const auto& family : use.families) databases.insert(family.database);
  EXPECT_EQ(databases, (std::set<std::string>{Path("first"), Path("second")}));
  EXPECT_EQ(use.families[0].column_family, "default");
  const auto bytes_of = [](rocksdb::DB& db) { return SumOf(TreesOf(db)).filter_bytes; };
  EXPECT_EQ(use.used_bytes, bytes_of(*first) + bytes_of(*second));
  EXPECT_EQ(GetMemoryBudgetUse("two").used_bytes, bytes_of(*other));
  EXPECT_EQ(GetMemoryBudgetUse("three").bound_bytes, 0U);
  // The second one found what the first one left, which the other had for itself.
  EXPECT_LT(BitsOf(*second), 0.8 * BitsOf(*other));
  EXPECT_NEAR(BitsOf(*first), BitsOf(*other), 0.1 * BitsOf(*other));
}

TEST_F(SharedBudget, TheLastSizeThatIsSetRules) {
  const Database first =
      Open(Options("{id=exactbloom;memory_budget=1M;budget=changing}"), Path("first"));
  PutAndFlush(*first, 100);
  EXPECT_NE(ReadLog(Path("first")).find("memory budget 'changing': the bound is 1048576 bytes"),
            std::string::npos);
  const Database second =
      Open(Options("{id=exactbloom;memory_budget=2M;budget=changing}"), Path("second"));
  ASSERT_TRUE(FollowDatabase(second.get()).ok());
  EXPECT_EQ(GetMemoryBudgetUse("changing").bound_bytes, std::uint64_t{2} << 20);
  PutAndFlush(*first, 100);
  EXPECT_NE(ReadLog(Path("first")).find("the bound is 2097152 bytes"), std::string::npos);

  ASSERT_TRUE(SetMemoryBudget("changing", "30").ok());
  PutAndFlush(*first, 10'000);
  EXPECT_LE(GetMemoryBudgetUse("changing").used_bytes, 10'000 / 8 * 11 / 10 + 300);
  ASSERT_TRUE(SetMemoryBudget("changing", "0").ok());
  PutAndFlush(*second, 10'000);
  EXPECT_GT(BitsOf(*second), 9.0);

  EXPECT_TRUE(SetMemoryBudget("changing", "much").IsInvalidArgument());
  EXPECT_TRUE(SetMemoryBudget("a;b", "1M").IsInvalidArgument());
  EXPECT_TRUE(SetMemoryBudget("changing", "1G;ribbon=false").IsInvalidArgument());
  EXPECT_EQ(GetMemoryBudgetUse("changing").bound_bytes, 0U);
}

// By the limit of the process's control group or the machine's memory.
TEST_F(SharedBudget, MayBeAPartOfTheMemory) {
  ASSERT_TRUE(SetMemoryBudget("all", "100%").ok());
  ASSERT_TRUE(SetMemoryBudget("tenth", "10%").ok());
  const std::uint64_t all = GetMemoryBudgetUse("all").bound_bytes;
  EXPECT_GE(all, std::uint64_t{1} << 27);
  EXPECT_NEAR(static_cast<double>(GetMemoryBudgetUse("tenth").bound_bytes),
              static_cast<double>(all) / 10.0, 1.0);
  EXPECT_TRUE(SetMemoryBudget("tenth", "101%").IsInvalidArgument());
}

// A thread that writes a table and has finished its filter, but not yet the table.
std::size_t FilterInTheMaking(rocksdb::DB& db, int keys) {
  std::size_t bytes = 0;
  std::thread([&] {
    const auto builder = BeginTable(db);
    for (int i = 0; i < keys; ++i) builder->AddKey(std::to_string(i));
    std::unique_ptr<const char[]> block;
    bytes = builder->Finish(&block).size();
  }).join();
  return bytes;
}

TEST_F(SharedBudget, WhatIsInTheMakingIsTaken) {
  constexpr int kKeys = 6'000;
  const rocksdb::Options options =
      Options("{id=exactbloom;ribbon=false;memory_budget=10000;budget=making}");
  const Database first = Open(options, Path("first"));
  const Database second = Open(options, Path("second"));
  PutAndFlush(*first, 100);
  PutAndFlush(*second, 100);
  const std::size_t of_first = FilterInTheMaking(*first, kKeys);
  EXPECT_GT(of_first, 4'000U);
  EXPECT_LE(of_first + FilterInTheMaking(*second, kKeys), 10'000U);
  EXPECT_LE(GetMemoryBudgetUse("making").used_bytes, 10'000U);
}

// Of the bytes of the bound, so that a load is never left with nothing.
constexpr double kForOthers = 0.15;

// How the jobs of a budget build their filters: whole, or in partitions; of either kind.
struct Building {
  const char* name;
  bool is_partitioned;
  bool ribbon;
};

class BudgetOfJobs : public SharedBudget, public testing::WithParamInterface<Building> {
 protected:
  static constexpr std::uint64_t kBound = 40'000;

  Database OpenStore() {
    const std::string ribbon = GetParam().ribbon ? "true" : "false";
    rocksdb::Options options = Options("{id=exactbloom;bits_per_key=20;ribbon=" + ribbon +
                                       ";memory_budget=40000;budget=" + GetParam().name + "}");
    if (GetParam().is_partitioned) {
      auto tables = *options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
      PartitionFilters(1024, &tables);
      options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(tables));
    }
    Database db = Open(options, Path("db"));
    PutAndFlush(*db, 100);
    return db;
  }

  std::uint64_t Used() const { return GetMemoryBudgetUse(GetParam().name).used_bytes; }

  // Adds keys as RocksDB does, and returns the bytes of the filter. Partitions have the size that
  // RocksDB asks for; between two of them `pause` is called.
  template <typename Pause>
  static std::uint64_t Build(rocksdb::FilterBitsBuilder& builder, std::uint64_t keys, Pause pause) {
    constexpr std::size_t kPartitionBytes = 921;
    const std::uint64_t of_partition =
        GetParam().is_partitioned ? builder.ApproximateNumEntries(kPartitionBytes) : keys;
    std::uint64_t bytes = 0;
    for (std::uint64_t first = 0; first < keys; first += of_partition) {
      const std::uint64_t end = std::min(keys, first + of_partition);
      for (std::uint64_t i = first; i < end; ++i) builder.AddKey(std::to_string(i));
      std::unique_ptr<const char[]> block;
      pause();
      bytes += builder.Finish(&block).size();
    }
    return bytes;
  }
};

INSTANTIATE_TEST_SUITE_P(Buildings, BudgetOfJobs,
                         testing::Values(Building{"jobs_whole_bloom", false, false},
                                         Building{"jobs_whole_ribbon", false, true},
                                         Building{"jobs_partitions_bloom", true, false},
                                         Building{"jobs_partitions_ribbon", true, true}),
                         [](const auto& test) { return std::string(test.param.name); });

// Blocks that let all keys pass are no part of it.
constexpr std::uint64_t kPassingBlocks = 2'000;

// All decide before the first has built its filter.
TEST_F(SharedBudget, HoldsWhenSixteenDecideAtOnce) {
  constexpr std::uint64_t kBound = 40'000;
  constexpr std::uint64_t kKeysOfJob = 6'000;
  for (const bool is_partitioned : {false, true}) {
    SCOPED_TRACE(is_partitioned);
    const std::string name = is_partitioned ? "deciding_partitions" : "deciding";
    const Database db =
        Open(Options("{id=exactbloom;bits_per_key=20;memory_budget=40000;budget=" + name + "}"),
             Path(name));
    PutAndFlush(*db, 100);
    tree::SizingOptions sizing;
    sizing.division = {20.0, true};
    {
      const auto lock = tree::Registry::Get().Lock();
      sizing.budget = tree::Registry::Get().FindBudget(name);
    }
    rocksdb::BlockBasedTableOptions tables;
    tables.partition_filters = is_partitioned;
    rocksdb::FilterBuildingContext context(tables);
    context.column_family_name = rocksdb::kDefaultColumnFamilyName;
    context.reason = rocksdb::TableFileCreationReason::kFlush;
    context.level_at_creation = 0;
    std::vector<std::unique_ptr<tree::SizedTable>> jobs;
    for (int job = 1'000; job < 1'016; ++job) {
      NoteTableCreation(*db, job);
      jobs.push_back(tree::SizedTable::Begin(sizing, context));
      ASSERT_NE(jobs.back(), nullptr);
    }
    double bytes = 0.0;
    for (int partition = 0; partition < (is_partitioned ? 3 : 1); ++partition) {
      std::vector<double> decided;
      for (const auto& job : jobs) {
        const double bits = job->BitsPerKey(kKeysOfJob);
        decided.push_back(bits < kMinBitsPerKey ? 0.0 : bits * kKeysOfJob / 8.0);
        EXPECT_LE(GetMemoryBudgetUse(name).used_bytes, kBound);
      }
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        EXPECT_TRUE(jobs[i]->Take(static_cast<std::size_t>(decided[i]), true));
        bytes += decided[i];
      }
      EXPECT_LE(bytes, kBound);
    }
    EXPECT_GT(bytes, kBound / 2);
    // What comes from nowhere finds no room.
    EXPECT_FALSE(jobs[0]->Take(kBound, true));
  }
}

TEST_P(BudgetOfJobs, SixteenAtOnceKeepTheBound) {
  constexpr int kJobs = 16;
  constexpr std::uint64_t kKeysOfJob = 6'000;  // 15,000 bytes, where 40,000 are for all
  const Database db = OpenStore();
  const std::uint64_t before = Used();
  std::atomic<int> ready{0};
  std::array<std::uint64_t, kJobs> bytes{};
  std::atomic<std::uint64_t> most{0};
  std::vector<std::thread> threads;
  for (int job = 0; job < kJobs; ++job) {
    threads.emplace_back([&, job] {
      const auto builder = BeginTable(*db, 1'000 + job);
      bool is_first = true;
      bytes[static_cast<std::size_t>(job)] = Build(*builder, kKeysOfJob, [&] {
        if (std::exchange(is_first, false)) {
          ++ready;
          while (ready < kJobs) std::this_thread::yield();
        }
        const std::uint64_t used = Used();
        std::uint64_t known = most;
        while (used > known && !most.compare_exchange_weak(known, used)) {
        }
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t sum = before;
  for (const std::uint64_t of_job : bytes) sum += of_job;
  EXPECT_LE(most, kBound);
  EXPECT_LE(Used(), kBound);
  EXPECT_LE(sum, kBound + kPassingBlocks);
  EXPECT_GT(sum, kBound / 2);
  EXPECT_GE(Used() + kPassingBlocks, sum) << "until RocksDB tells of their tables";
}

TEST_P(BudgetOfJobs, OneLeavesAPartToOthers) {
  constexpr std::uint64_t kManyKeys = 200'000;
  const Database db = OpenStore();
  std::thread([&] {
    const auto builder = BeginTable(*db);
    const std::uint64_t bytes = Build(*builder, kManyKeys, [] {});
    EXPECT_GT(bytes, kBound / 3);
  }).join();
  EXPECT_LE(static_cast<double>(Used()), (1.0 - kForOthers) * kBound);
}

// A block that lets all keys pass has no bytes of the budget, also while its table is written.
TEST_P(BudgetOfJobs, OneThatGetsLessThanABitTakesNone) {
  if (GetParam().is_partitioned) return;
  constexpr std::uint64_t kTooManyKeys = 700'000;
  const Database db = OpenStore();
  const std::uint64_t before = Used();
  std::thread([&] {
    const auto builder = BeginTable(*db);
    EXPECT_EQ(Build(*builder, kTooManyKeys, [] {}), AlwaysMatchBlock().size());
    EXPECT_EQ(Used(), before);
  }).join();
}

// As RocksDB builds them one after the other.
TEST_P(BudgetOfJobs, EachPartitionCountsAtOnce) {
  if (!GetParam().is_partitioned) return;
  const Database db = OpenStore();
  std::thread([&] {
    const auto builder = BeginTable(*db);
    std::uint64_t counted = Used();
    std::uint64_t partitions = 0;
    const std::uint64_t before = counted;
    const std::uint64_t bytes = Build(*builder, 3'000, [&] {
      const std::uint64_t now = Used();
      if (partitions++ != 0) {
        EXPECT_GT(now, counted);
      }
      counted = now;
    });
    EXPECT_GT(partitions, 3U);
    EXPECT_EQ(Used(), before + bytes);
  }).join();
}

}  // namespace
}  // namespace exactbloom
