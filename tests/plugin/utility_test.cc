// RocksDB's operations and utilities on tables with ExactBloom's filters: present keys are found,
// and the filters filter.
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 2000;
constexpr std::uint64_t kAbsent = kKeys - 1;

class Utility : public testing::TestWithParam<int> {
 protected:
  std::string Path(const std::string& name = "db") const { return directory_.path(name); }

  // Opens the database of another utility and checks its contents.
  void ExpectCopyFilters(const std::string& name) const {
    rocksdb::Options options = options_;
    options.statistics = rocksdb::CreateDBStatistics();
    const Database copy = Open(options, Path(name));
    ExpectPresent(*copy, kKeys);
    ExpectFiltering(AskAbsent(*copy, kAbsent), kAbsent);
  }

  PolicyPointer policy_ = NewPolicy({FilterKind::kClassic, GetParam()});
  rocksdb::Options options_ = OptionsWith(policy_);

 private:
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Lines, Utility, testing::Values(0, 1, 2));

TEST_P(Utility, MergesAreFoundInAllTables) {
  ASSERT_TRUE(
      rocksdb::MergeOperator::CreateFromString({}, "stringappend", &options_.merge_operator).ok());
  const Database db = Open(options_, Path());
  PutAndFlush(*db, kKeys, "a");
  for (const char* operand : {"b", "c"}) {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(db->Merge({}, KeyOf(2 * i), operand).ok());
    }
    ASSERT_TRUE(db->Flush({}).ok());
  }
  ExpectPresent(*db, kKeys, "a,b,c");
  ExpectFiltering(AskAbsent(*db, kAbsent), 3 * kAbsent);
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  ExpectPresent(*db, kKeys, "a,b,c");
  ExpectFiltering(AskAbsent(*db, kAbsent), kAbsent);
}

TEST_P(Utility, DeletedRangesAreGoneAndTheRestIsFound) {
  const Database db = Open(options_, Path());
  PutAndFlush(*db, kKeys);
  constexpr std::uint64_t kFirst = 500;
  constexpr std::uint64_t kLast = 1000;
  // A table of nothing but the deletion has no filter.
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
    const FilterCounts counts = AskAbsent(*db, kAbsent);
    EXPECT_GT(counts.useful, (kKeys - (kLast - kFirst)) * 95 / 100);
    ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  }
}

// Keys end in eight bytes of time, the latest first; filters hold what is before them.
TEST_P(Utility, UserDefinedTimestampsStayOutOfTheFilter) {
  ASSERT_TRUE(rocksdb::Comparator::CreateFromString({}, "leveldb.BytewiseComparator.u64ts",
                                                    &options_.comparator)
                  .ok());
  const Database db = Open(options_, Path());
  const std::vector<std::string> times = {std::string(8, '\1'), std::string(8, '\2')};
  for (const std::string& time : times) {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(db->Put({}, KeyOf(2 * i), time, time).ok());
    }
  }
  ASSERT_TRUE(db->Flush({}).ok());
  rocksdb::TablePropertiesCollection tables;
  ASSERT_TRUE(db->GetPropertiesOfAllTables(&tables).ok());
  EXPECT_EQ(tables.begin()->second->num_filter_entries, kKeys);

  for (const std::string& time : times) {
    const rocksdb::Slice time_slice(time);
    rocksdb::ReadOptions read_options;
    read_options.timestamp = &time_slice;
    TakeCounts(*db);
    for (std::uint64_t i = 0; i < kAbsent; ++i) {
      std::string value;
      ASSERT_TRUE(db->Get(read_options, KeyOf(2 * i), &value).ok());
      ASSERT_EQ(value, time);
      ASSERT_TRUE(db->Get(read_options, KeyOf(2 * i + 1), &value).IsNotFound());
    }
    const FilterCounts counts = TakeCounts(*db);
    EXPECT_EQ(counts.true_positive, kAbsent);
    ExpectFiltering(counts, kAbsent);
  }
}

TEST_P(Utility, BlobFiles) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 0;
  const Database db = Open(options_, Path());
  PutAndFlush(*db, kKeys);
  std::uint64_t blob_files = 0;
  ASSERT_TRUE(db->GetIntProperty(rocksdb::DB::Properties::kNumBlobFiles, &blob_files));
  EXPECT_EQ(blob_files, 1U);
  ExpectPresent(*db, kKeys);
  ExpectFiltering(AskAbsent(*db, kAbsent), kAbsent);
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  ExpectPresent(*db, kKeys);
  ExpectFiltering(AskAbsent(*db, kAbsent), kAbsent);
}

TEST_P(Utility, BackupAndRestore) {
  {
    const Database db = Open(options_, Path());
    PutAndFlush(*db, kKeys);
    rocksdb::BackupEngine* opened = nullptr;
    ASSERT_TRUE(rocksdb::BackupEngine::Open(rocksdb::BackupEngineOptions(Path("backup")),
                                            rocksdb::Env::Default(), &opened)
                    .ok());
    const std::unique_ptr<rocksdb::BackupEngine> engine(opened);
    ASSERT_TRUE(engine->CreateNewBackup(db.get()).ok());
    ASSERT_TRUE(engine->RestoreDBFromLatestBackup(Path("restored"), Path("restored")).ok());
  }
  ExpectCopyFilters("restored");
}

TEST_P(Utility, Checkpoint) {
  {
    const Database db = Open(options_, Path());
    PutAndFlush(*db, kKeys);
    rocksdb::Checkpoint* created = nullptr;
    ASSERT_TRUE(rocksdb::Checkpoint::Create(db.get(), &created).ok());
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(created);
    ASSERT_TRUE(checkpoint->CreateCheckpoint(Path("checkpoint")).ok());
  }
  ExpectCopyFilters("checkpoint");
}

// Puts a pair of keys into a transaction, which sees the database and itself, and commits it.
void RunTransaction(rocksdb::DB& db, rocksdb::Transaction& transaction) {
  TakeCounts(db);
  for (std::uint64_t i = 0; i < kAbsent; ++i) {
    std::string value;
    ASSERT_TRUE(transaction.GetForUpdate({}, KeyOf(2 * i + 1), &value).IsNotFound());
  }
  ExpectFiltering(TakeCounts(db), kAbsent);
  ASSERT_TRUE(transaction.Put(KeyOf(1), "new").ok());
  std::string value;
  ASSERT_TRUE(transaction.Get({}, KeyOf(1), &value).ok());
  ASSERT_TRUE(transaction.Get({}, KeyOf(2), &value).ok());
  ASSERT_TRUE(transaction.Commit().ok());
  ASSERT_TRUE(db.Flush({}).ok());
  ASSERT_TRUE(db.Get({}, KeyOf(1), &value).ok());
  EXPECT_EQ(value, "new");
  ExpectPresent(db, kKeys);
}

TEST_P(Utility, TransactionDatabase) {
  rocksdb::TransactionDB* opened = nullptr;
  ASSERT_TRUE(rocksdb::TransactionDB::Open(options_, {}, Path(), &opened).ok());
  const std::unique_ptr<rocksdb::TransactionDB> db(opened);
  PutAndFlush(*db, kKeys);
  const std::unique_ptr<rocksdb::Transaction> transaction(db->BeginTransaction({}));
  RunTransaction(*db, *transaction);
}

TEST_P(Utility, OptimisticTransactionDatabase) {
  rocksdb::OptimisticTransactionDB* opened = nullptr;
  ASSERT_TRUE(rocksdb::OptimisticTransactionDB::Open(options_, Path(), &opened).ok());
  const std::unique_ptr<rocksdb::OptimisticTransactionDB> db(opened);
  PutAndFlush(*db, kKeys);
  const std::unique_ptr<rocksdb::Transaction> transaction(db->BeginTransaction({}));
  RunTransaction(*db, *transaction);
}

}  // namespace
}  // namespace exactbloom
