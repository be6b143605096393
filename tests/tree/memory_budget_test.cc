// memory_budget in databases: however a tree grows, its filters stay within the budget.
#include "exactbloom/memory_budget.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "plugin/rocksdb_compat.h"

namespace exactbloom {
namespace {

constexpr double kMostBits = 20.0;

class FollowedDatabase : public testing::Test {
 protected:
  static rocksdb::Options Options(std::uint64_t budget) {
    rocksdb::Options options = OptionsWith(PolicyOf(BudgetOptions(budget, kMostBits)));
    options.listeners = {NewTreeListener()};
    return options;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
};

// The log says so once.
TEST_F(FollowedDatabase, OfAnExceededMemoryBudgetGetsNothingForNewTables) {
  constexpr std::uint64_t kKeys = 20'000;
  Load(*Open(Options(1 << 30), path_), kKeys);
  constexpr std::uint64_t kSmall = 10'000;
  const Database db = Open(Options(kSmall), path_);
  ASSERT_TRUE(FollowDatabase(db.get()).ok());
  ASSERT_GT(SumOf(TreesOf(*db)).filter_bytes, 2 * kSmall);
  const TableSum before = SumOf(TreesOf(*db));
  for (std::uint64_t i = 0; i < 3; ++i) Load(*db, 2'000, kKeys + i * 2'000);
  const TableSum after = SumOf(TreesOf(*db));
  EXPECT_LT(after.filter_bytes - before.filter_bytes, 100U);  // blocks that let all keys pass
  const std::string log = ReadLog(path_);
  const std::size_t said = log.find("the filters take all of the memory budget '' of 10000 bytes");
  EXPECT_NE(said, std::string::npos);
  EXPECT_EQ(log.rfind("the filters take all of the memory budget"), said);
  EXPECT_NE(
      log.find("memory budget '': the bound is 10000 bytes, filters of 1 column families take"),
      std::string::npos);
  // It is compaction that frees memory.
  ASSERT_TRUE(ForceCompaction(*db).ok());
  EXPECT_LT(SumOf(TreesOf(*db)).filter_bytes, before.filter_bytes);
}

// A database that was opened and has written nothing counts when it is followed, until it is
// closed.
TEST_F(FollowedDatabase, CountsBeforeItsFirstJob) {
  constexpr std::uint64_t kKeys = 4'000;
  constexpr std::uint64_t kBytes = 12'000;
  const rocksdb::Options options = Options(kBytes);
  const auto bytes_of = [](rocksdb::DB& db) { return SumOf(TreesOf(db)).filter_bytes; };
  const std::string path = directory_.path("first") + "/";  // as a user may write it
  Database first = Open(options, path);
  PutAndFlush(*first, kKeys);
  const std::uint64_t of_first = bytes_of(*first);
  EXPECT_GT(of_first, kBytes / 2);
  EXPECT_EQ(GetMemoryBudgetUse().used_bytes, of_first);
  first.reset();
  EXPECT_EQ(GetMemoryBudgetUse().used_bytes, 0U);

  first = Open(options, path);
  ASSERT_TRUE(FollowDatabase(first.get()).ok());
  const MemoryBudgetUse opened = GetMemoryBudgetUse();
  EXPECT_EQ(opened.used_bytes, of_first);
  ASSERT_EQ(opened.families.size(), 1U);
  EXPECT_EQ(opened.families[0].database, path);
  ASSERT_TRUE(FollowDatabase(first.get()).ok());
  EXPECT_EQ(GetMemoryBudgetUse().used_bytes, of_first) << "it counts once";
  const Database second = Open(options, directory_.path("second"));
  PutAndFlush(*second, kKeys);
  EXPECT_LE(bytes_of(*second) + of_first, kBytes);
  PutAndFlush(*first, kKeys / 10, "value", kKeys);
  EXPECT_EQ(GetMemoryBudgetUse().used_bytes, bytes_of(*first) + bytes_of(*second));
  EXPECT_LE(GetMemoryBudgetUse().used_bytes, kBytes);
  first.reset();
  EXPECT_EQ(GetMemoryBudgetUse().used_bytes, bytes_of(*second));
}

// Its log is recovered before any other table is known.
TEST_F(FollowedDatabase, CountsAllFamiliesAfterARecovery) {
  constexpr std::uint64_t kKeys = 4'000;
  rocksdb::Options options = Options(100'000);
  options.avoid_flush_during_recovery = false;
  {
    const Database db = Open(options, path_);
    rocksdb::ColumnFamilyHandle* cold = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(options, "cold", &cold).ok());
    PutAndFlush(*db, kKeys, "value", 0, cold);
    ASSERT_TRUE(db->Put({}, KeyOf(0), "value").ok());
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(cold).ok());
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  Database db;
  ASSERT_TRUE(rocksdb::DB::Open(options, path_,
                                {{rocksdb::kDefaultColumnFamilyName, options}, {"cold", options}},
                                &handles, Receive(&db))
                  .ok());
  ASSERT_TRUE(FollowDatabase(db.get(), handles).ok());
  EXPECT_EQ(GetMemoryBudgetUse().used_bytes, SumOf(TreesOf(*db)).filter_bytes);
  EXPECT_EQ(GetMemoryBudgetUse().families.size(), 2U);
  for (auto* handle : handles) EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
}

TEST_F(FollowedDatabase, CountsNothingIfItCouldNotBeOpened) {
  const rocksdb::Options options = Options(100'000);
  const Database db = Open(options, path_);
  PutAndFlush(*db, 1000);
  const std::uint64_t used = GetMemoryBudgetUse().used_bytes;
  EXPECT_GT(used, 0U);
  Database again;
  EXPECT_FALSE(rocksdb::DB::Open(options, path_, Receive(&again)).ok());
  PutAndFlush(*db, 1000, "value", 1000);
  EXPECT_EQ(GetMemoryBudgetUse().used_bytes, SumOf(TreesOf(*db)).filter_bytes);
}

// configuration.md tells users to call it for options that were changed.
TEST_F(FollowedDatabase, ValidationOfOptionsLeavesTheBoundAsItIs) {
  const rocksdb::Options options = Options(100'000);
  const Database db = Open(options, path_);
  ASSERT_TRUE(FollowDatabase(db.get()).ok());
  ASSERT_TRUE(SetMemoryBudget("", "50000").ok());
  const rocksdb::Options now = db->GetOptions();
  ASSERT_TRUE(now.table_factory->ValidateOptions(now, now).ok());
  PutAndFlush(*db, 1000);
  EXPECT_EQ(GetMemoryBudgetUse().bound_bytes, 50'000U);
  const Database plain =
      Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory_.path("other"));
  EXPECT_EQ(GetMemoryBudgetUse().families.size(), 1U);
}

constexpr std::uint64_t kIndexedKeys = 20'000;

std::uint64_t IndexBytes(rocksdb::DB& db) {
  rocksdb::TablePropertiesCollection properties;
  EXPECT_TRUE(db.GetPropertiesOfAllTables(&properties).ok());
  std::uint64_t bytes = 0;
  for (const auto& [path, table] : properties) bytes += table->index_size;
  return bytes;
}

class CoveredIndexes : public testing::Test {
 protected:
  Database OpenWith(const std::string& name, const BudgetSize& bound, BudgetCovers covers,
                    const std::string& budget, bool is_partitioned = false) {
    ExactBloomOptions policy;
    policy.bits_per_key = 20.0;
    policy.memory_budget = bound;
    policy.covers = covers;
    policy.budget = budget;
    rocksdb::Options options = OptionsWith(PolicyOf(policy));
    options.listeners = {NewTreeListener()};
    if (is_partitioned) {
      auto tables = *options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
      PartitionFilters(512, &tables);
      options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(tables));
    }
    return Open(options, directory_.path(name));
  }

  TemporaryDirectory directory_;
};

// A load is as large as without them, and its filters get what is left.
TEST_F(CoveredIndexes, CountWithTheFiltersOfLiveTables) {
  std::uint64_t filters[2];
  for (const bool covers : {false, true}) {
    const std::string name = covers ? "covered" : "beside";
    const Database db = OpenWith(
        name, 40'000, covers ? BudgetCovers::kFiltersAndIndexes : BudgetCovers::kFilters, name);
    for (std::uint64_t i = 0; i < 8; ++i) {
      PutAndFlush(*db, kIndexedKeys / 8, "value", i * kIndexedKeys / 8);
      EXPECT_LE(GetMemoryBudgetUse(name).used_bytes, 40'000U);
    }
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(ForceCompaction(*db).ok());
    const MemoryBudgetUse use = GetMemoryBudgetUse(name);
    filters[covers ? 1 : 0] = SumOf(TreesOf(*db)).filter_bytes;
    EXPECT_EQ(use.index_bytes, IndexBytes(*db));
    EXPECT_GT(use.index_bytes, 1'000U);
    EXPECT_EQ(use.families.at(0).index_bytes, use.index_bytes);
    EXPECT_EQ(use.covers == BudgetCovers::kFiltersAndIndexes, covers);
    EXPECT_EQ(use.used_bytes, SumOf(TreesOf(*db)).filter_bytes + (covers ? use.index_bytes : 0));
    EXPECT_LE(use.used_bytes, use.bound_bytes);
    EXPECT_GT(filters[covers ? 1 : 0], use.bound_bytes / 4);
  }
  EXPECT_LT(filters[1], filters[0]);
}

// Also a filter that is rounded up to whole lines.
TEST_F(CoveredIndexes, AreCountedWhenAFilterIsFitted) {
  for (std::uint64_t bound = 2'000; bound < 4'000; bound += 100) {
    const std::string name = "of_" + std::to_string(bound);
    const Database db = OpenWith(name, bound, BudgetCovers::kFiltersAndIndexes, name);
    std::uint64_t filters = 0;
    for (std::uint64_t i = 0; i < 20; ++i) {
      PutAndFlush(*db, 60, std::string(600, 'v'), 60 * i);
      const std::uint64_t before = std::exchange(filters, SumOf(TreesOf(*db)).filter_bytes);
      if (filters <= before + 6) continue;
      EXPECT_LE(GetMemoryBudgetUse(name).used_bytes, bound * 98 / 100 + 6);
    }
  }
}

// Each partition leaves the index of the whole table its part.
TEST_F(CoveredIndexes, CountWithThePartitionsOfFilters) {
  constexpr std::uint64_t kBound = 40'000;
  const Database db = OpenWith("db", kBound, BudgetCovers::kFiltersAndIndexes, "parts", true);
  for (std::uint64_t i = 0; i < 8; ++i) {
    PutAndFlush(*db, kIndexedKeys / 8, std::string(40, 'v'), i * kIndexedKeys / 8);
    EXPECT_EQ(GetMemoryBudgetUse("parts").index_bytes, IndexBytes(*db));
    EXPECT_LE(GetMemoryBudgetUse("parts").used_bytes, kBound * 98 / 100);
  }
  EXPECT_GT(GetMemoryBudgetUse("parts").used_bytes, kBound * 90 / 100);
}

// As with a spent budget, small runs have floors.
TEST_F(CoveredIndexes, ThatExceedTheBoundAloneLeaveFloors) {
  const Database db = OpenWith("db", 1'000'000, BudgetCovers::kFiltersAndIndexes, "exceeded");
  PutAndFlush(*db, kIndexedKeys);
  const std::uint64_t indexes = IndexBytes(*db);
  ASSERT_TRUE(SetMemoryBudget("exceeded", indexes / 2).ok());
  PutAndFlush(*db, 100, "value", kIndexedKeys);
  EXPECT_EQ(GetMemoryBudgetUse("exceeded").families.at(0).tables_without_filter, 0U);
  PutAndFlush(*db, kIndexedKeys / 2, "value", 2 * kIndexedKeys);
  const MemoryBudgetUse use = GetMemoryBudgetUse("exceeded");
  EXPECT_EQ(use.families.at(0).tables_without_filter, 1U);
  EXPECT_GT(use.used_bytes, use.bound_bytes);
}

// The last setting rules, and the log says what it covers.
TEST_F(CoveredIndexes, AreCoveredAsTheLastSettingSays) {
  const Database db = OpenWith("db", 50'000, BudgetCovers::kFiltersAndIndexes, "changing");
  const auto covers = [] { return GetMemoryBudgetUse("changing").covers; };
  PutAndFlush(*db, 1'000);
  EXPECT_EQ(covers(), BudgetCovers::kFiltersAndIndexes);
  ASSERT_TRUE(SetMemoryBudget("changing", 60'000).ok());
  EXPECT_EQ(covers(), BudgetCovers::kFiltersAndIndexes) << "as before";
  const Database other = OpenWith("other", 70'000, BudgetCovers::kFilters, "changing");
  EXPECT_EQ(covers(), BudgetCovers::kFiltersAndIndexes) << "it has written no table";
  PutAndFlush(*other, 1'000);
  EXPECT_EQ(covers(), BudgetCovers::kFilters);
  ASSERT_TRUE(SetMemoryBudget("changing", "1M", BudgetCovers::kFiltersAndIndexes).ok());
  PutAndFlush(*other, 1'000, "value", 1'000);
  const std::string log = ReadLog(directory_.path("other"));
  EXPECT_NE(log.find("the bound is 70000 bytes, filters of 2 column families take"),
            std::string::npos);
  EXPECT_NE(log.find("the bound is 1048576 bytes, filters and indexes of 2 column families take"),
            std::string::npos);
}

}  // namespace
}  // namespace exactbloom
