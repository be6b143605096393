// The ways in which RocksDB makes and reads tables, and its utilities: present keys are found, and
// the filters filter.
#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 1000;
constexpr std::uint64_t kAbsent = kKeys - 1;

struct Shape {
  const char* name;
  Layout layout;
  bool partitioned;
};

class DatabaseTest : public testing::TestWithParam<Shape> {
 protected:
  DatabaseTest() {
    table_options_.filter_policy = NewPolicy(GetParam().layout);
    if (GetParam().partitioned) PartitionFilters(512, &table_options_);
    // A block cache that holds almost nothing.
    table_options_.block_cache = rocksdb::NewLRUCache(std::size_t{1} << 10, 0);
  }

  rocksdb::Options Options() const { return OptionsWith(table_options_); }
  std::string Path(const std::string& name = "db") const { return directory_.path(name); }

  Database OpenAndFill(const rocksdb::Options& options) const {
    Database db = Open(options, Path());
    PutAndFlush(*db, kKeys);
    return db;
  }

  // Expects all keys of `tables` tables that overlap.
  static void ExpectAllRight(rocksdb::DB& db, const std::string& value = "value",
                             std::uint64_t tables = 1) {
    ExpectPresent(db, kKeys, value);
    ExpectFiltering(AskAbsent(db, kAbsent), tables * kAbsent);
  }

  rocksdb::BlockBasedTableOptions table_options_;

 private:
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, DatabaseTest,
                         testing::Values(Shape{"Full", {FilterKind::kClassic, 0}, false},
                                         Shape{"Partitioned", {FilterKind::kStandard, 1}, true}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(DatabaseTest, OverwritesAndDeletionsAreAnsweredRight) {
  const Database db = Open(Options(), Path());
  PutAndFlush(*db, kKeys, "old");
  const rocksdb::Snapshot* snapshot = db->GetSnapshot();
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(db->Put({}, KeyOf(2 * i), "value").ok());
    }
  }
  ASSERT_TRUE(db->Delete({}, KeyOf(0)).ok());
  // The snapshot keeps two versions of every key in one table.
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  rocksdb::TablePropertiesCollection tables;
  ASSERT_TRUE(db->GetPropertiesOfAllTables(&tables).ok());
  ASSERT_EQ(tables.size(), 1U);
  const rocksdb::TableProperties& table = *tables.begin()->second;
  EXPECT_GT(table.num_entries, 2 * kKeys - 1);
  // RocksDB from 9.6 on counts keys at the borders of partitions twice.
  constexpr std::uint64_t kBorders = 8;
  EXPECT_GE(table.num_filter_entries, kKeys);
  EXPECT_LE(table.num_filter_entries, kKeys + kBorders);
  ExpectPresent(*db, kKeys - 1, "value", 1);
  std::string value;
  EXPECT_TRUE(db->Get({}, KeyOf(0), &value).IsNotFound());
  ExpectFiltering(AskAbsent(*db, kAbsent), kAbsent);
  db->ReleaseSnapshot(snapshot);
}

TEST_P(DatabaseTest, ColumnFamiliesHaveTheirOwnPolicies) {
  const Database db = Open(Options(), Path());
  const auto create = [&db](const char* name, const PolicyPointer& policy) {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    EXPECT_TRUE(db->CreateColumnFamily(OptionsWith(policy), name, &family).ok());
    return family;
  };
  rocksdb::ColumnFamilyHandle* wide = create("wide", NewPolicy(FilterKind::kClassic, 20));
  rocksdb::ColumnFamilyHandle* bare = create("bare", nullptr);
  // The bits per key are rounded to zero.
  rocksdb::ColumnFamilyHandle* zero = create("zero", NewPolicy(GetParam().layout, 0.4));
  for (rocksdb::ColumnFamilyHandle* family : {db->DefaultColumnFamily(), wide, bare, zero}) {
    PutAndFlush(*db, kKeys, family->GetName(), 0, family);
  }
  for (rocksdb::ColumnFamilyHandle* family : {db->DefaultColumnFamily(), wide, bare, zero}) {
    ExpectPresent(*db, kKeys, family->GetName(), 0, family);
  }
  ExpectFiltering(AskAbsent(*db, kAbsent), kAbsent);
  const FilterCounts counts = AskAbsent(*db, kAbsent, wide);
  EXPECT_EQ(counts.useful + counts.FalsePositives(), kAbsent);
  EXPECT_LE(counts.FalsePositives(), 3U) << "at 20 bits per key";
  for (rocksdb::ColumnFamilyHandle* family : {bare, zero}) {
    const FilterCounts none = AskAbsent(*db, kAbsent, family);
    EXPECT_EQ(none.useful + none.positive, 0U);
  }
  for (rocksdb::ColumnFamilyHandle* family : {wide, bare, zero}) {
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  }
}

TEST_P(DatabaseTest, OtherWaysOfReading) {
  {
    const Database primary = OpenAndFill(Options());
    for (const bool async : {false, true}) {
      rocksdb::ReadOptions read_options;
      read_options.async_io = async;
      read_options.optimize_multiget_for_io = async;
      ExpectFiltering(MultiGetAll(*primary, kKeys, read_options), kAbsent);
    }
    Database secondary;
    ASSERT_TRUE(
        rocksdb::DB::OpenAsSecondary(Options(), Path(), Path("secondary"), Receive(&secondary))
            .ok());
    ExpectAllRight(*secondary);
  }
  // Filters are read in place, at any alignment.
  rocksdb::Options mapped = Options();
  mapped.allow_mmap_reads = true;
  ExpectAllRight(*Open(mapped, Path()));
}

TEST_P(DatabaseTest, DirectReads) {
  rocksdb::Options options = Options();
  options.use_direct_reads = true;
  options.use_direct_io_for_flush_and_compaction = true;
  Database db;
  if (!rocksdb::DB::Open(options, Path(), Receive(&db)).ok()) {
    GTEST_SKIP() << "the file system of " << Path() << " has no direct IO";
  }
  PutAndFlush(*db, kKeys);
  ExpectAllRight(*db);
}

TEST_P(DatabaseTest, FiltersInTheBlockCache) {
  table_options_.cache_index_and_filter_blocks = true;
  const Database db = OpenAndFill(Options());
  const auto misses = [&db] {
    return db->GetDBOptions().statistics->getTickerCount(rocksdb::BLOCK_CACHE_FILTER_MISS);
  };
  ExpectPresent(*db, kKeys);
  const std::uint64_t before = misses();
  ExpectFiltering(AskAbsent(*db, kAbsent), kAbsent);
  EXPECT_GT(misses(), before + 10) << "each filter is loaded repeatedly";
}

// The last level has no filters, and all others keep theirs.
TEST_P(DatabaseTest, OptimizeFiltersForHits) {
  rocksdb::Options options = Options();
  options.optimize_filters_for_hits = true;
  const Database db = OpenAndFill(options);
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  const FilterCounts none = AskAbsent(*db, kAbsent);
  EXPECT_EQ(none.useful + none.positive, 0U);
  PutAndFlush(*db, kKeys);
  ExpectAllRight(*db);
}

TEST_P(DatabaseTest, MergesAreFoundInAllTables) {
  rocksdb::Options options = Options();
  ASSERT_TRUE(
      rocksdb::MergeOperator::CreateFromString({}, "stringappend", &options.merge_operator).ok());
  const Database db = Open(options, Path());
  PutAndFlush(*db, kKeys, "a");
  for (const char* operand : {"b", "c"}) {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(db->Merge({}, KeyOf(2 * i), operand).ok());
    }
    ASSERT_TRUE(db->Flush({}).ok());
  }
  ExpectAllRight(*db, "a,b,c", 3);
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  ExpectAllRight(*db, "a,b,c");
}

TEST_P(DatabaseTest, DeletedRangesAreGoneAndTheRestIsFound) {
  const Database db = OpenAndFill(Options());
  constexpr std::uint64_t kFirst = kKeys / 4;
  constexpr std::uint64_t kLast = kKeys / 2;
  // A table that holds only a range deletion has no filter.
  ASSERT_TRUE(
      db->DeleteRange({}, db->DefaultColumnFamily(), KeyOf(2 * kFirst), KeyOf(2 * kLast)).ok());
  ASSERT_TRUE(db->Flush({}).ok());
  for (int round = 0; round < 2; ++round) {
    ExpectPresent(*db, kFirst);
    ExpectPresent(*db, kKeys - kLast, "value", kLast);
    for (std::uint64_t i = kFirst; i < kLast; ++i) {
      std::string value;
      ASSERT_TRUE(db->Get({}, KeyOf(2 * i), &value).IsNotFound());
    }
    EXPECT_GT(AskAbsent(*db, kAbsent).useful, (kKeys - (kLast - kFirst)) * 95 / 100);
    ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  }
}

TEST_P(DatabaseTest, BlobFiles) {
  rocksdb::Options options = Options();
  options.enable_blob_files = true;
  options.min_blob_size = 0;
  const Database db = OpenAndFill(options);
  std::uint64_t blob_files = 0;
  ASSERT_TRUE(db->GetIntProperty(rocksdb::DB::Properties::kNumBlobFiles, &blob_files));
  EXPECT_EQ(blob_files, 1U);
  ExpectAllRight(*db);
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  ExpectAllRight(*db);
}

TEST_P(DatabaseTest, BackupsAndCheckpoints) {
  {
    const Database db = OpenAndFill(Options());
    rocksdb::BackupEngine* opened = nullptr;
    ASSERT_TRUE(rocksdb::BackupEngine::Open(rocksdb::BackupEngineOptions(Path("backup")),
                                            rocksdb::Env::Default(), &opened)
                    .ok());
    const std::unique_ptr<rocksdb::BackupEngine> engine(opened);
    ASSERT_TRUE(engine->CreateNewBackup(db.get()).ok());
    ASSERT_TRUE(engine->RestoreDBFromLatestBackup(Path("restored"), Path("restored")).ok());
    rocksdb::Checkpoint* created = nullptr;
    ASSERT_TRUE(rocksdb::Checkpoint::Create(db.get(), &created).ok());
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(created);
    ASSERT_TRUE(checkpoint->CreateCheckpoint(Path("checkpoint")).ok());
  }
  for (const char* copy : {"restored", "checkpoint"}) ExpectAllRight(*Open(Options(), Path(copy)));
}

// In a transaction, which sees the database and itself, puts a key and commits it.
void RunTransaction(rocksdb::DB& db, const std::function<rocksdb::Transaction*()>& begin) {
  PutAndFlush(db, kKeys);
  const std::unique_ptr<rocksdb::Transaction> transaction(begin());
  TakeCounts(db);
  std::string value;
  for (std::uint64_t i = 0; i < kAbsent; ++i) {
    ASSERT_TRUE(transaction->GetForUpdate({}, KeyOf(2 * i + 1), &value).IsNotFound());
  }
  ExpectFiltering(TakeCounts(db), kAbsent);
  ASSERT_TRUE(transaction->Put(KeyOf(1), "new").ok());
  ASSERT_TRUE(transaction->Get({}, KeyOf(1), &value).ok());
  ASSERT_TRUE(transaction->Get({}, KeyOf(2), &value).ok());
  ASSERT_TRUE(transaction->Commit().ok());
  ASSERT_TRUE(db.Flush({}).ok());
  ASSERT_TRUE(db.Get({}, KeyOf(1), &value).ok());
  EXPECT_EQ(value, "new");
  ExpectPresent(db, kKeys);
}

TEST_P(DatabaseTest, Transactions) {
  rocksdb::TransactionDB* locking = nullptr;
  ASSERT_TRUE(rocksdb::TransactionDB::Open(Options(), {}, Path(), &locking).ok());
  const std::unique_ptr<rocksdb::DB> first(locking);
  RunTransaction(*first, [&] { return locking->BeginTransaction({}); });
  rocksdb::OptimisticTransactionDB* optimistic = nullptr;
  ASSERT_TRUE(
      rocksdb::OptimisticTransactionDB::Open(Options(), Path("optimistic"), &optimistic).ok());
  const std::unique_ptr<rocksdb::DB> second(optimistic);
  RunTransaction(*second, [&] { return optimistic->BeginTransaction({}); });
}

}  // namespace
}  // namespace exactbloom
