// Damaged tables, with checksums and without, and compactions that fail.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "exactbloom/rebuild_filters.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 500;  // of a table
constexpr std::uint64_t kTables = 4;  // with fewer, lookups ignore the tables' ranges

class RebuildDamage : public testing::Test {
 protected:
  // Opens tables of compressed blocks, one of which cannot be decompressed.
  void OpenDamaged(rocksdb::ChecksumType checksum) {
    rocksdb::BlockBasedTableOptions table_options;
    table_options.checksum = checksum;
    const auto open = [&] {
      rocksdb::Options options = OptionsWith(table_options);
      options.compression = rocksdb::kSnappyCompression;
      return Open(options, directory_.path("db"));
    };
    {
      const Database db = open();
      for (std::uint64_t i = 0; i < kTables; ++i) PutAndFlush(*db, kKeys, "value", i * kKeys);
    }
    table_options.filter_policy = NewPolicy(FilterKind::kClassic);
    db_ = open();
    damaged_ = TableFilesIn(directory_.path("db")).at(1);
    std::fstream file(damaged_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file << std::string(20, '\xff');
  }

  void ExpectTheOthersPresent() const {
    ExpectPresent(*db_, kKeys);
    ExpectPresent(*db_, (kTables - 2) * kKeys, "value", 2 * kKeys);
  }

  TemporaryDirectory directory_;
  Database db_;
  std::string damaged_;
};

class RebuildDamagedBlock : public RebuildDamage,
                            public testing::WithParamInterface<rocksdb::ChecksumType> {};

INSTANTIATE_TEST_SUITE_P(Checksums, RebuildDamagedBlock,
                         testing::Values(rocksdb::kCRC32c, rocksdb::kNoChecksum));

TEST_P(RebuildDamagedBlock, IsFoundByItsChecksumOrByDecoding) {
  OpenDamaged(GetParam());
  const RebuildResult result = Rebuild(*db_);
  EXPECT_EQ(result.damaged_files, std::vector<std::string>{damaged_});
  EXPECT_EQ(result.lacking_tables, kTables);
  EXPECT_EQ(result.rewritten_tables, kTables - 1);
  EXPECT_EQ(result.remaining_tables, 1U);
  ExpectTheOthersPresent();
  EXPECT_TRUE(db_->Put({}, "still", "writable").ok());
  EXPECT_TRUE(db_->Flush({}).ok());
}

// An operand cannot be decoded without the operator and its base value.
TEST_F(RebuildDamage, WithoutChecksumsOperandsAreTakenAsTheyAre) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.checksum = rocksdb::kNoChecksum;
  const auto open = [&] {
    rocksdb::Options options = OptionsWith(table_options);
    EXPECT_TRUE(
        rocksdb::MergeOperator::CreateFromString({}, "stringappend", &options.merge_operator).ok());
    return Open(options, directory_.path("db"));
  };
  {
    const Database db = open();
    PutAndFlush(*db, kKeys);
    for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(db->Merge({}, KeyOf(2 * i), "more").ok());
    ASSERT_TRUE(db->Flush({}).ok());
  }
  table_options.filter_policy = NewPolicy(FilterKind::kClassic);
  const Database db = open();
  const RebuildResult result = Rebuild(*db);
  EXPECT_EQ(result.rewritten_tables, 2U);
  EXPECT_TRUE(result.damaged_files.empty());
  ExpectPresent(*db, kKeys, "value,more");
}

// The database has the table open, but it cannot be opened again.
TEST_F(RebuildDamage, ATableWithoutAFooterIsNamedAndLeft) {
  const std::string path = directory_.path("db");
  {
    const Database db = Open(OptionsWith(PolicyPointer()), path);
    for (std::uint64_t i = 0; i < kTables; ++i) PutAndFlush(*db, kKeys, "value", i * kKeys);
  }
  db_ = Open(OptionsWith(NewPolicy(FilterKind::kClassic)), path);
  damaged_ = TableFilesIn(path).at(1);
  std::filesystem::resize_file(damaged_, std::filesystem::file_size(damaged_) - 1);
  const RebuildResult result = Rebuild(*db_);
  EXPECT_EQ(result.damaged_files, std::vector<std::string>{damaged_});
  EXPECT_EQ(result.tables, kTables);
  EXPECT_EQ(result.lacking_tables, kTables - 1);
  EXPECT_EQ(result.rewritten_tables, kTables - 1);
  ExpectTheOthersPresent();
}

TEST_P(RebuildDamagedBlock, FailsACompactionThatNamesItsTable) {
  OpenDamaged(GetParam());
  RebuildOptions careless;
  careless.verify_checksums = false;
  RebuildResult result;
  const rocksdb::Status status = RebuildFilters(*db_, careless, &result);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_EQ(status.ToString().find("Corruption: " + damaged_ + ": "), 0U) << status.ToString();
  EXPECT_EQ(result.rewritten_tables + result.remaining_tables, kTables);
  ExpectTheOthersPresent();
}

}  // namespace
}  // namespace exactbloom
