// memory_budget in databases: however a tree grows, its filters stay within the budget.
#include "exactbloom/memory_budget.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
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
  EXPECT_EQ(GetMemoryBudgetUse().used, of_first);
  first.reset();
  EXPECT_EQ(GetMemoryBudgetUse().used, 0U);

  first = Open(options, path);
  ASSERT_TRUE(FollowDatabase(first.get()).ok());
  const MemoryBudgetUse opened = GetMemoryBudgetUse();
  EXPECT_EQ(opened.used, of_first);
  ASSERT_EQ(opened.families.size(), 1U);
  EXPECT_EQ(opened.families[0].database, path);
  ASSERT_TRUE(FollowDatabase(first.get()).ok());
  EXPECT_EQ(GetMemoryBudgetUse().used, of_first) << "it counts once";
  const Database second = Open(options, directory_.path("second"));
  PutAndFlush(*second, kKeys);
  EXPECT_LE(bytes_of(*second) + of_first, kBytes);
  PutAndFlush(*first, kKeys / 10, "value", kKeys);
  EXPECT_EQ(GetMemoryBudgetUse().used, bytes_of(*first) + bytes_of(*second));
  EXPECT_LE(GetMemoryBudgetUse().used, kBytes);
  first.reset();
  EXPECT_EQ(GetMemoryBudgetUse().used, bytes_of(*second));
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
  EXPECT_EQ(GetMemoryBudgetUse().used, SumOf(TreesOf(*db)).filter_bytes);
  EXPECT_EQ(GetMemoryBudgetUse().families.size(), 2U);
  for (auto* handle : handles) EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
}

TEST_F(FollowedDatabase, CountsNothingIfItCouldNotBeOpened) {
  const rocksdb::Options options = Options(100'000);
  const Database db = Open(options, path_);
  PutAndFlush(*db, 1000);
  const std::uint64_t used = GetMemoryBudgetUse().used;
  EXPECT_GT(used, 0U);
  Database again;
  EXPECT_FALSE(rocksdb::DB::Open(options, path_, Receive(&again)).ok());
  PutAndFlush(*db, 1000, "value", 1000);
  EXPECT_EQ(GetMemoryBudgetUse().used, SumOf(TreesOf(*db)).filter_bytes);
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
  EXPECT_EQ(GetMemoryBudgetUse().bound, 50'000U);
  const Database plain =
      Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory_.path("other"));
  EXPECT_EQ(GetMemoryBudgetUse().families.size(), 1U);
}

}  // namespace
}  // namespace exactbloom
