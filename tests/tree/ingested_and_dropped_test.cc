// What went wrong in live trees before with tables that RocksDB ingests, drops or deletes.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/memory_budget.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "live_tree_faults.h"
#include "plugin/live_tree/registry.h"

namespace exactbloom {
namespace {

// RocksDB tells the end of a flush that keeps no table as of any other.
TEST_F(LiveTreeFaults, AFlushWithoutEntriesLeavesNoTable) {
  const Database db = Open(Options(AutoOptions()), path_);
  PutAndFlush(*db, 100);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(db->Put({}, "key", "value").ok());
    ASSERT_TRUE(db->SingleDelete({}, "key").ok());
    ASSERT_TRUE(db->Flush({}).ok());
  }
  EXPECT_EQ(SumOf(TreesOf(*db)).tables, 1U);
  EXPECT_EQ(FindDifference(*db, [](const std::string&) { return Known::kAll; }), "");
}

// CompactFiles begins a table for a range deletion, and drops it at the bottom.
TEST_F(LiveTreeFaults, ATableThatCompactFilesDropsDoesNotAskForListingsForEver) {
  const Database db = Open(Options(AutoOptions()), path_);
  PutAndFlush(*db, 100);
  ASSERT_TRUE(db->DeleteRange({}, db->DefaultColumnFamily(), KeyOf(0), KeyOf(1'000)).ok());
  ASSERT_TRUE(db->Flush({}).ok());
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(file.name);
  ASSERT_TRUE(db->CompactFiles({}, names, 1).ok());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(FollowDatabase(db.get()).ok());
  EXPECT_FALSE(tree::Registry::Get().Find(*db)->tables.IsStale());
  EXPECT_EQ(SumOf(TreesOf(*db)).tables, 0U);
}

// A listing of many tables is taken over in pieces. DeleteFilesInRange fires no event but that of
// each file, which does not name the family.
TEST_F(LiveTreeFaults, TheFamilyOfEachListedTableIsKnown) {
  constexpr std::uint64_t kPiece = 1'024;
  const std::unique_ptr<rocksdb::Env> env(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  rocksdb::Options options = Options(AutoOptions());
  options.env = env.get();
  options.disable_auto_compactions = true;
  options.target_file_size_base = 1;  // so each block becomes a table
  options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_size = 64;
  {
    const Database db = Open(options, path_);
    PutAndFlush(*db, 6 * kPiece);
    ASSERT_TRUE(ForceCompaction(*db).ok());
  }
  const Database db = Open(options, path_);
  PutAndFlush(*db, 1);
  const auto count = [&] {
    std::uint64_t tables = 0;
    for (const SortedRuns& runs : GetSortedRuns(*db)) tables += runs.tables;
    return tables;
  };
  EXPECT_GT(count(), kPiece + 1);
  ASSERT_TRUE(
      rocksdb::DeleteFilesInRange(db.get(), db->DefaultColumnFamily(), nullptr, nullptr).ok());
  EXPECT_EQ(count(), 1U);
}

void Ingest(rocksdb::DB& db, const rocksdb::Options& options, const std::string& file,
            std::uint64_t first, std::uint64_t keys, rocksdb::ColumnFamilyHandle* family) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  ASSERT_TRUE(writer.Open(file).ok());
  for (std::uint64_t i = 0; i < keys; ++i) {
    ASSERT_TRUE(writer.Put(KeyOf(2 * (first + i)), "value").ok());
  }
  ASSERT_TRUE(writer.Finish().ok());
  ASSERT_TRUE(db.IngestExternalFile(family, {file}, {}).ok());
}

// Nothing but their deletion may be told of them before the next listing.
TEST_F(LiveTreeFaults, TablesThatAreIngestedAndDeletedCountNoLonger) {
  ExactBloomOptions policy = BudgetOptions(1'000'000);
  policy.budget = "ingested";
  rocksdb::Options options = Options(policy);
  options.disable_auto_compactions = true;
  const Database db = Open(options, path_);
  PutAndFlush(*db, 1'000, "value", 900'000);
  for (std::uint64_t i = 0; i < 10; ++i) {
    Ingest(*db, options, directory_.path(std::to_string(i)), i * 2'000, 2'000,
           db->DefaultColumnFamily());
    const std::string end = KeyOf(2 * 100'000);
    const rocksdb::Slice last(end);
    ASSERT_TRUE(
        rocksdb::DeleteFilesInRange(db.get(), db->DefaultColumnFamily(), nullptr, &last).ok());
  }
  EXPECT_EQ(SumOf(TreesOf(*db)).tables, 1U);
  EXPECT_EQ(GetMemoryBudgetUse("ingested").used_bytes, SumOf(TreesOf(*db)).filter_bytes);
}

TEST_F(LiveTreeFaults, AFamilyThatOnlyIngestsCountsAtOnce) {
  constexpr std::uint64_t kBound = 40'000;
  ExactBloomOptions policy = BudgetOptions(kBound);
  policy.budget = "only_ingests";
  const rocksdb::Options options = Options(policy);
  const Database db = Open(options, path_);
  ASSERT_TRUE(FollowDatabase(db.get()).ok());
  PutAndFlush(*db, 100);
  rocksdb::ColumnFamilyHandle* more = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(options, "more", &more).ok());
  Ingest(*db, options, directory_.path("file"), 0, 12'000, more);
  const MemoryBudgetUse use = GetMemoryBudgetUse("only_ingests");
  EXPECT_EQ(use.families.size(), 2U);
  EXPECT_EQ(use.used_bytes, SumOf(TreesOf(*db)).filter_bytes);
  PutAndFlush(*db, 30'000, "value", 100'000);
  EXPECT_LE(SumOf(TreesOf(*db)).filter_bytes, kBound + 6);
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(more).ok());
}

// Nothing tells whose policy it has, where families have several budgets.
TEST_F(LiveTreeFaults, AFamilyThatOnlyIngestsIsOfNoBudgetIfItMayBeOfTwo) {
  rocksdb::Options options[2];
  for (const int i : {0, 1}) {
    ExactBloomOptions policy = BudgetOptions(40'000);
    policy.budget = i == 0 ? "one_of_two" : "other_of_two";
    options[i] = Options(policy);
  }
  const Database db = Open(options[0], path_);
  ASSERT_TRUE(FollowDatabase(db.get()).ok());
  std::vector<rocksdb::ColumnFamilyHandle*> families(2);
  for (const std::size_t i : {0, 1}) {
    ASSERT_TRUE(
        db->CreateColumnFamily(options[1], "family" + std::to_string(i), &families[i]).ok());
  }
  const auto used = [] {
    return std::pair(GetMemoryBudgetUse("one_of_two").used_bytes,
                     GetMemoryBudgetUse("other_of_two").used_bytes);
  };
  PutAndFlush(*db, 100);
  PutAndFlush(*db, 100, "value", 0, families[0]);
  const auto before = used();
  EXPECT_NE(before.second, 0U);
  Ingest(*db, options[1], directory_.path("file"), 0, 12'000, families[1]);
  EXPECT_EQ(used(), before);
  PutAndFlush(*db, 100, "value", 90'000, families[1]);
  EXPECT_EQ(used(), std::pair(before.first, SumOf(TreesOf(*db)).filter_bytes - before.first))
      << "its policy was asked";
  for (auto* family : families) EXPECT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
}

}  // namespace
}  // namespace exactbloom
