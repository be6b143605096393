// What went wrong in live trees before, each by itself.
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exactbloom/memory_budget.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/filter_bits_interface.h"
#include "plugin/live_tree/open_databases.h"

namespace exactbloom {
namespace {

class LiveTreeFaults : public testing::Test {
 protected:
  rocksdb::Options Options(const ExactBloomOptions& policy) const {
    return FollowingOptions(PolicyOf(policy), listener_);
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
  ListenerPointer listener_ = NewTreeListener();
};

// RocksDB validates the options of the new family.
TEST_F(LiveTreeFaults, ACreatedFamilyChangesNoBoundAndItsFirstTableIsSized) {
  constexpr std::uint64_t kKeys = 4'000;
  ExactBloomOptions policy = BudgetOptions(100'000);
  policy.budget = "created";
  const rocksdb::Options options = Options(policy);
  const Database db = Open(options, path_);
  PutAndFlush(*db, kKeys);
  ASSERT_TRUE(SetMemoryBudget("created", "12000").ok());
  rocksdb::ColumnFamilyHandle* more = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(options, "more", &more).ok());
  EXPECT_EQ(GetMemoryBudgetUse("created").bound, 12'000U);
  PutAndFlush(*db, kKeys, "value", 0, more);
  EXPECT_EQ(GetMemoryBudgetUse("created").bound, 12'000U);
  const std::uint64_t of_first = SumOf(TreesOf(*db).at("default")).filter_bytes;
  EXPECT_LE(SumOf(TreesOf(*db).at("more")).filter_bytes, of_first < 12'000 ? 12'000 - of_first : 6);
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(more).ok());
}

TEST_F(LiveTreeFaults, TheUseOfAMisspeltBudgetMakesNone) {
  const MemoryBudgetUse use = GetMemoryBudgetUse("misspelt");
  EXPECT_EQ(use.bound + use.used + use.families.size(), 0U);
  EXPECT_EQ(tree::FilterBudget::Find("misspelt"), nullptr);
}

// Counts what it is told, and asks what needs the lock of all live trees.
class AskingLogger : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list /*arguments*/) override {
    if (std::string(format).find("exactbloom") == std::string::npos) return;
    GetMemoryBudgetUse("asked");
    ++lines_;
  }
  int Lines() const { return lines_; }

 private:
  std::atomic<int> lines_ = 0;
};

TEST_F(LiveTreeFaults, NothingIsLoggedUnderTheLock) {
  ExactBloomOptions policy = BudgetOptions(1'000);
  policy.budget = "asked";
  const auto logger = std::make_shared<AskingLogger>();
  rocksdb::Options options = Options(policy);
  options.info_log = logger;
  const Database db = Open(options, path_);
  for (std::uint64_t i = 0; i < 3; ++i) PutAndFlush(*db, 2'000, "value", 2'000 * i);
  EXPECT_GE(logger->Lines(), 3) << "the policy, the bound, the plan";
}

// A program may have ever new families.
TEST_F(LiveTreeFaults, APolicyForgetsWhichFamiliesItLogged) {
  const rocksdb::BlockBasedTableOptions tables = PlannedSizes();
  const BloomFilterPolicy policy((PolicyOptions(PolicyKind::kClassicBloom)));
  const auto logger = std::make_shared<AskingLogger>();
  const auto build = [&](const std::string& family) {
    rocksdb::FilterBuildingContext context(tables);
    context.column_family_name = family;
    context.info_log = logger.get();
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy.GetBuilderWithContext(context));
  };
  build("first");
  build("first");
  EXPECT_EQ(logger->Lines(), 1);
  for (int i = 0; i < 1'100; ++i) build("family" + std::to_string(i));
  EXPECT_EQ(logger->Lines(), 1'101);
  build("first");
  EXPECT_EQ(logger->Lines(), 1'102);
}

// RocksDB tells the keys of few tables when few may be open; those of the others follow from their
// bytes.
TEST_F(LiveTreeFaults, TablesOfOneKeyDoNotDistortWhatIsNotKnown) {
  constexpr std::uint64_t kKeys = 40'000;
  constexpr std::uint64_t kSmall = 30;
  rocksdb::Options options = Options(AutoOptions());
  options.level0_file_num_compaction_trigger = 1'000;
  options.target_file_size_base = 16 << 10;
  options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1'000;
  options.max_open_files = 20;
  for (const bool follows : {false, true}) {
    SCOPED_TRACE(follows);
    const TemporaryDirectory directory;
    Database db = Open(options, directory.path("db"));
    Load(*db, kKeys);
    ASSERT_TRUE(ForceCompaction(*db).ok());
    for (std::uint64_t i = 0; i < kSmall; ++i) PutAndFlush(*db, 1, "value", kKeys + i);
    db.reset();
    db = Open(options, directory.path("db"));
    if (follows) {
      ASSERT_TRUE(FollowDatabase(db.get()).ok());
    }
    PutAndFlush(*db, kKeys / 10, "value", 2 * kKeys);
    const auto truth = static_cast<double>(SumOf(TreesOf(*db)).keys);
    const auto off = [&] {
      double keys = 0.0;
      for (const SortedRuns& runs : GetSortedRuns(*db)) keys += static_cast<double>(runs.keys);
      return std::abs(keys / truth - 1.0);
    };
    if (follows) {
      EXPECT_LE(off(), 0.1);
      continue;
    }
    // The first table of a session tells how many keys there are in a byte, in a later snapshot.
    for (std::uint64_t i = 0; i < 100 && off() > 0.3; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      PutAndFlush(*db, 1, "value", 3 * kKeys + i);
    }
    EXPECT_LE(off(), 0.3);
  }
}

// Of a family with few tables all filters are known at once.
TEST_F(LiveTreeFaults, FollowDatabaseReadsTheFiltersOfAllTablesIfTheyAreFew) {
  const rocksdb::Options options = Options(AutoOptions());
  {
    const Database db = Open(options, path_);
    Load(*db, 60'000);
    ASSERT_GT(SumOf(TreesOf(*db)).tables, 9U);
    ASSERT_LE(SumOf(TreesOf(*db)).tables, 64U);
  }
  const Database db = Open(options, path_);
  ASSERT_TRUE(FollowDatabase(db.get()).ok());
  EXPECT_EQ(FindDifference(*db, [](const std::string&) { return Known::kAll; }), "");
}

// Events that come while a snapshot is being read.
TEST_F(LiveTreeFaults, WhatGoesDuringASnapshotDoesNotComeBack) {
  const Database db = Open(Options(AutoOptions()), path_);
  tree::OpenDatabase known(*db, "session", nullptr);
  const auto lock = tree::OpenDatabases::All().Lock();
  const tree::TableFacts facts{100, 125};
  known.EndJob("default", 0, 1, {}, {{1, 0, facts}, {2, 0, facts}, {3, 0, facts}});
  ASSERT_EQ(known.Find("default")->Sum().tables, 3U);
  tree::Snapshot snapshot;
  snapshot.began = known.changes();
  known.is_being_read = true;
  for (std::uint64_t number = 1; number <= 5; ++number) {
    snapshot.families["default"].push_back({number, 0, 100, 1000, false});
  }
  known.DeleteTable(1);
  known.EndJob("default", 0, 2, {{2, 0, facts}, {4, 0, facts}}, {{6, 1, facts}});
  known.DeleteTable(2);
  known.DeleteTable(5);  // which was not known
  known.is_being_read = false;
  known.Apply(snapshot);
  EXPECT_EQ(known.Find("default")->Sum().tables, 2U) << "3 and 6";
  snapshot.began = known.changes();
  snapshot.families["default"] = {{3, 0, 100, 1000, false}, {6, 1, 100, 1000, false}};
  known.Apply(snapshot);
  EXPECT_EQ(known.Find("default")->Sum().tables, 2U);
  EXPECT_EQ(known.Find("default")->held, 250U);
}

}  // namespace
}  // namespace exactbloom
