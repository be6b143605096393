// Budgets that filters take all of, or nearly.
#include <gtest/gtest.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/memory_budget.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "plugin/live_tree/sized_table.h"

namespace exactbloom {
namespace {

class SpentBudget : public testing::Test {
 protected:
  rocksdb::Options Options(std::uint64_t bound, const std::string& budget) const {
    ExactBloomOptions policy;
    policy.memory_budget = bound;
    policy.budget = budget;
    rocksdb::Options options = OptionsWith(PolicyOf(policy));
    options.listeners = {listener_};
    options.target_file_size_base = 64 << 10;
    return options;
  }

  double Compact(rocksdb::DB& db) const {
    EXPECT_TRUE(ForceCompaction(db).ok());
    return SumOf(TreesOf(db)).BitsPerKey();
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
  ListenerPointer listener_ = NewTreeListener();
};

// As long as a compaction runs, the filters of its inputs count beside those of its outputs.
TEST_F(SpentBudget, TwoCompactionsOfEverythingReachWhatItAllowsAndLaterOnesKeepIt) {
  constexpr std::uint64_t kKeys = 30'000;
  constexpr double kBits = 10.0;  // of the bound, per key
  constexpr const char* kWarning = "the inputs of a compaction hold the memory budget 'compacted'";
  constexpr auto kBound = static_cast<std::uint64_t>(kBits * kKeys / 8.0);
  {
    const Database db = Open(Options(0, ""), path_);
    PutAndFlush(*db, kKeys);
    EXPECT_GT(Compact(*db), 9.9);
  }
  const Database db = Open(Options(kBound, "compacted"), path_);
  ASSERT_TRUE(FollowDatabase(db.get()).ok());
  EXPECT_LT(Compact(*db), 1.0);
  EXPECT_GT(GetMemoryBudgetUse("compacted").families.at(0).tables_without_filter, 0U);
  const std::string log = ReadLog(path_);
  EXPECT_NE(log.find(kWarning), std::string::npos);
  EXPECT_EQ(log.find(kWarning), log.rfind(kWarning));
  const double reached = Compact(*db);
  EXPECT_NEAR(reached, 0.415 * kBits, 0.1);
  EXPECT_EQ(GetMemoryBudgetUse("compacted").families.at(0).tables_without_filter, 0U);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(Compact(*db), reached, 0.05);
}

// It has an entry and no key, so that no lookup asks its filter.
TEST_F(SpentBudget, ATableOfRangeDeletionsIsNotWithoutAFilter) {
  const Database db = Open(Options(1 << 20, "range_deletions"), path_);
  PutAndFlush(*db, 1000);
  ASSERT_TRUE(db->DeleteRange({}, db->DefaultColumnFamily(), KeyOf(0), KeyOf(10)).ok());
  ASSERT_TRUE(db->Flush({}).ok());
  ASSERT_EQ(TreesOf(*db).begin()->second.at(0).tables, 2U);
  EXPECT_EQ(GetMemoryBudgetUse("range_deletions").families.at(0).tables_without_filter, 0U);
}

// As docs/operations.md has it.
TEST_F(SpentBudget, OneCompactionReachesItWhileTheBoundIsRaised) {
  constexpr std::uint64_t kKeys = 30'000;
  constexpr std::uint64_t kBound = 10 * kKeys / 8;
  {
    const Database db = Open(Options(0, ""), path_);
    PutAndFlush(*db, kKeys);
  }
  const Database db = Open(Options(kBound, "raised"), path_);
  ASSERT_TRUE(FollowDatabase(db.get()).ok());
  ASSERT_TRUE(SetMemoryBudget("raised", std::to_string(kBound * 17 / 10)).ok());
  const double reached = Compact(*db);
  ASSERT_TRUE(SetMemoryBudget("raised", std::to_string(kBound)).ok());
  EXPECT_GT(reached, 4.0);
  EXPECT_NEAR(Compact(*db), reached, 0.1);
  EXPECT_EQ(ReadLog(path_).find("the inputs of a compaction hold"), std::string::npos);
}

// What ingestion brings may exceed the bound, here by 1%.
TEST_F(SpentBudget, SmallRunsKeepFiltersUpToAPartOfIt) {
  constexpr std::uint64_t kKeys = 40'000;
  constexpr std::uint64_t kSmall = 200;
  const Database db = Open(Options(kKeys * 10 / 8 * 99 / 100, "ingested"), path_);
  PutAndFlush(*db, 100);
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), db->GetOptions());
  const std::string file = directory_.path("ingested.sst");
  ASSERT_TRUE(writer.Open(file).ok());
  for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(writer.Put(KeyOf(2 * i), "value").ok());
  ASSERT_TRUE(writer.Finish().ok());
  ASSERT_TRUE(db->IngestExternalFile({file}, {}).ok());
  ExpectKnownTrees(*db);

  const auto without = [] {
    return GetMemoryBudgetUse("ingested").families.at(0).tables_without_filter;
  };
  const std::uint64_t before = GetMemoryBudgetUse("ingested").used_bytes;
  EXPECT_GT(before, GetMemoryBudgetUse("ingested").bound_bytes);
  PutAndFlush(*db, kSmall, "value", kKeys);
  EXPECT_GE(GetMemoryBudgetUse("ingested").used_bytes, before + kSmall);
  EXPECT_EQ(without(), 0U);
  for (std::uint64_t i = 1; i < 8; ++i) PutAndFlush(*db, kSmall, "value", kKeys + i * kSmall);
  const MemoryBudgetUse use = GetMemoryBudgetUse("ingested");
  EXPECT_EQ(use.used_bytes, SumOf(TreesOf(*db)).filter_bytes);
  EXPECT_LE(use.used_bytes, before + use.bound_bytes / 50 + 100);
  EXPECT_GT(without(), 0U);
}

// SetOptions may give the family a policy of another budget while a table is in the making.
TEST_F(SpentBudget, OfAnotherPolicyMeanwhileDoesNotWrap) {
  constexpr std::uint64_t kKeys = 1'000;
  const Database db = Open(Options(1'000'000, "left"), path_);
  const Database other = Open(Options(1'000'000, "left"), directory_.path("other"));
  for (rocksdb::DB* written : {db.get(), db.get(), other.get()}) PutAndFlush(*written, kKeys);
  rocksdb::TableFileCreationBriefInfo table;
  table.db_name = db->GetName();
  table.cf_name = rocksdb::kDefaultColumnFamilyName;
  table.file_path = path_ + "/001000.sst";
  table.reason = rocksdb::TableFileCreationReason::kFlush;
  listener_->OnTableFileCreationStarted(table);
  const rocksdb::BlockBasedTableOptions tables;
  rocksdb::FilterBuildingContext context(tables);
  context.column_family_name = table.cf_name;
  context.reason = table.reason;
  tree::SizingOptions sizing;
  sizing.division.ribbon = true;
  tree::SizingOptions other_sizing = sizing;
  {
    const auto lock = tree::Registry::Get().Lock();
    sizing.budget = tree::Registry::Get().FindBudget("left");
    other_sizing.budget = &tree::Registry::Get().NamedBudget("right");
  }
  const auto family = [&] {
    const auto database = tree::Registry::Get().Find(*db);
    const auto lock = database->Lock();
    return database->Find(table.cf_name);
  }();
  family->BeginJob({0, true, 0, 0}, 0, {});
  const auto sized = tree::SizedTable::Begin(sizing, context);
  ASSERT_NE(sized, nullptr);
  family->SetPolicy(other_sizing);
  EXPECT_GT(sized->BitsPerKey(kKeys), 8.0);
  EXPECT_TRUE(sized->Take(2 * kKeys, true));
  EXPECT_EQ(GetMemoryBudgetUse("left").used_bytes, SumOf(TreesOf(*other)).filter_bytes);
  EXPECT_EQ(GetMemoryBudgetUse("right").used_bytes, SumOf(TreesOf(*db)).filter_bytes + 2 * kKeys);

  // A table whose first block exceeds the bound has the planned bits in a smaller one.
  const auto bits = [&] {
    const auto database = tree::Registry::Get().Find(*db);
    const auto lock = database->Lock();
    return family->All().filter_bits;
  };
  const std::uint64_t planned = bits();
  EXPECT_FALSE(sized->Take(2'000 * kKeys, true));
  EXPECT_LT(bits(), planned);
  EXPECT_TRUE(sized->Take(2 * kKeys, true));
  EXPECT_EQ(bits(), planned);
}

}  // namespace
}  // namespace exactbloom
