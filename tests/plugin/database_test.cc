// The ways in which RocksDB makes and reads tables, and its utilities: present keys are found, and
// the filters filter.
#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/utilities/backup_engine.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "plugin/bloom_filter_policy.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 1000;
constexpr std::uint64_t kAbsent = kKeys - 1;

struct Shape {
  const char* name;
  PolicyKind kind = PolicyKind::kClassicBloom;
  bool partitioned;
};

class DatabaseTest : public testing::TestWithParam<Shape> {
 protected:
  DatabaseTest() {
    table_options_.filter_policy = PolicyWith(10.0);
    if (GetParam().partitioned) PartitionFilters(512, &table_options_);
    // A block cache that holds almost nothing.
    table_options_.block_cache = rocksdb::NewLRUCache(std::size_t{1} << 10, 0);
  }

  static PolicyPointer PolicyWith(double bits_per_key) {
    PolicyOptions options(GetParam().kind);
    options.bits_per_key = bits_per_key;
    return std::make_shared<BloomFilterPolicy>(options);
  }

  rocksdb::Options Options() const { return OptionsWith(table_options_); }
  std::string Path(const std::string& name = "db") const { return directory_.path(name); }

  Database OpenAndFill(const rocksdb::Options& options) const {
    Database db = Open(options, Path());
    PutAndFlush(*db, kKeys);
    return db;
  }

  static void ExpectAllRight(rocksdb::DB& db) {
    ExpectPresent(db, kKeys);
    ExpectFiltering(AskAbsent(db, kAbsent), kAbsent);
  }

  rocksdb::BlockBasedTableOptions table_options_;

 private:
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, DatabaseTest,
                         testing::Values(Shape{"Full", PolicyKind::kClassicBloom, false},
                                         Shape{"Ribbon", PolicyKind::kExactRibbon, false},
                                         Shape{"Partitioned", PolicyKind::kStandardBloom, true},
                                         Shape{"RibbonPartitioned", PolicyKind::kExactRibbon,
                                               true}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(DatabaseTest, ColumnFamiliesHaveTheirOwnPolicies) {
  const Database db = Open(Options(), Path());
  const auto create = [&db](const char* name, const PolicyPointer& policy) {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    EXPECT_TRUE(db->CreateColumnFamily(OptionsWith(policy), name, &family).ok());
    return family;
  };
  rocksdb::ColumnFamilyHandle* wide = create("wide", PolicyWith(20.0));
  rocksdb::ColumnFamilyHandle* bare = create("bare", nullptr);
  rocksdb::ColumnFamilyHandle* zero = create("zero", PolicyWith(0.0));
  rocksdb::ColumnFamilyHandle* few = create("few", PolicyWith(0.4));
  for (rocksdb::ColumnFamilyHandle* family : {db->DefaultColumnFamily(), wide, bare, zero, few}) {
    PutAndFlush(*db, kKeys, family->GetName(), 0, family);
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
  EXPECT_GT(AskAbsent(*db, kAbsent, few).useful, kAbsent / 20);
  for (rocksdb::ColumnFamilyHandle* family : {wide, bare, zero, few}) {
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
