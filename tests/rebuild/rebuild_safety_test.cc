// A rebuild loses nothing: with damage, ranges that meet, and concurrent writes. Crashes are in
// tests/faults/kill_test.cc.
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table_properties.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exactbloom/rebuild_filters.h"
#include "exactbloom/table_filters.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 500;  // of a table
constexpr std::uint64_t kTables = 4;  // with fewer, lookups ignore the tables' ranges

class RebuildSafety : public testing::Test {
 protected:
  Database OpenWith(PolicyPointer policy) {
    table_options_.filter_policy = std::move(policy);
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options_));
    return Open(options_, path_);
  }
  Database OpenWithBloom() { return OpenWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10))); }
  Database OpenWithOurs() { return OpenWith(NewPolicy(FilterKind::kClassic)); }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.path("db");
  rocksdb::BlockBasedTableOptions table_options_;
  rocksdb::Options options_ = OptionsWith(nullptr);
};

// A range deletion that a snapshot keeps is cut at the boundaries of tables, which therefore share
// keys.
TEST_F(RebuildSafety, TablesWhoseRangesMeetAreCompactedTogether) {
  options_.target_file_size_base = 2048;
  options_.compression = rocksdb::kNoCompression;
  std::uint64_t tables = 0;
  {
    const Database db = OpenWithBloom();
    PutAndFlush(*db, kTables * kKeys);
    const rocksdb::Snapshot* snapshot = db->GetSnapshot();
    ASSERT_TRUE(
        db->DeleteRange({}, db->DefaultColumnFamily(), KeyOf(0), KeyOf(kTables * kKeys)).ok());
    ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
    tables = ListTableFilters(*db).size();
    ASSERT_GE(tables, 4U);
    db->ReleaseSnapshot(snapshot);
  }
  const Database db = OpenWithOurs();
  RebuildOptions bounded;
  bounded.max_tables = 2;
  RebuildResult result = Rebuild(*db, bounded);
  EXPECT_EQ(result.lacking_tables, tables);
  EXPECT_LE(result.rewritten_tables, 2U);
  result = Rebuild(*db);
  EXPECT_EQ(result.remaining_tables, 0U);
  EXPECT_EQ(result.rewritten_tables, result.lacking_tables);
  EXPECT_EQ(result.rewritten_bytes, result.lacking_bytes);
  EXPECT_EQ(result.gone_tables, 0U) << "a table was compacted twice";
  rocksdb::TablePropertiesCollection properties;
  ASSERT_TRUE(db->GetPropertiesOfAllTables(&properties).ok());
  for (const auto& [path, table] : properties) {
    // From format_version 7 on, the name lists the compressions in use.
    const bool is_plain =
        table->compression_name == "NoCompression" || table->compression_name == ";;";
    EXPECT_TRUE(is_plain) << path << ": " << table->compression_name;
  }
  ExpectPresent(*db, kTables * kKeys / 2, "value", kTables * kKeys / 2);
  EXPECT_EQ(AskAbsent(*db, kKeys).positive, 0U);
}

// Level 1 has newer values and deletions of keys in level 2.
TEST_F(RebuildSafety, AMiddleLevelStaysAboveTheOneBelow) {
  {
    const Database db = OpenWithBloom();
    PutAndFlush(*db, kKeys, "old");
    rocksdb::CompactRangeOptions down;
    down.change_level = true;
    down.target_level = 2;
    ASSERT_TRUE(db->CompactRange(down, nullptr, nullptr).ok());
    for (std::uint64_t i = 0; i < kKeys / 2; ++i) ASSERT_TRUE(db->Delete({}, KeyOf(2 * i)).ok());
    PutAndFlush(*db, kKeys / 2, "new", kKeys / 2);
    const std::string newer = ListTableFilters(*db).front().path;
    ASSERT_TRUE(db->CompactFiles({}, {newer}, 1).ok());
  }
  const Database db = OpenWithOurs();
  EXPECT_EQ(Rebuild(*db).rewritten_tables, 2U);
  const std::vector<TableFilter> tables = ListTableFilters(*db);
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_EQ(tables[0].level, 1);
  EXPECT_EQ(tables[0].entries, kKeys);  // with its deletions
  EXPECT_EQ(tables[1].level, 2);
  ExpectPresent(*db, kKeys / 2, "new", kKeys / 2);
  std::string value;
  for (std::uint64_t i = 0; i < kKeys / 2; ++i) {
    EXPECT_TRUE(db->Get({}, KeyOf(2 * i), &value).IsNotFound()) << value;
  }
}

TEST_F(RebuildSafety, SnapshotsAndBlobsStay) {
  options_.enable_blob_files = true;
  PutAndFlush(*OpenWithBloom(), kKeys, "old");
  const Database db = OpenWithOurs();
  rocksdb::ReadOptions before;
  before.snapshot = db->GetSnapshot();
  PutAndFlush(*db, kKeys, "new");
  RebuildResult result = Rebuild(*db);
  EXPECT_EQ(result.lacking_tables, 1U);
  EXPECT_EQ(result.rewritten_tables, 1U);
  EXPECT_EQ(result.still_lacking_tables, 0U);
  ExpectPresent(*db, kKeys, "new");
  std::string value;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    ASSERT_TRUE(db->Get(before, KeyOf(2 * i), &value).ok());
    EXPECT_EQ(value, "old");
  }
  db->ReleaseSnapshot(before.snapshot);
}

TEST_F(RebuildSafety, VersionsWithTimestampsStay) {
  const std::vector<std::string> times = {std::string(8, '\1'), std::string(8, '\2')};
  ASSERT_TRUE(rocksdb::Comparator::CreateFromString({}, "leveldb.BytewiseComparator.u64ts",
                                                    &options_.comparator)
                  .ok());
  options_.target_file_size_base = 2048;
  options_.compression = rocksdb::kNoCompression;
  {
    const Database db = OpenWithBloom();
    for (const std::string& time : times) {
      for (std::uint64_t i = 0; i < kKeys; ++i) {
        ASSERT_TRUE(db->Put({}, KeyOf(2 * i), time, time).ok());
      }
      ASSERT_TRUE(db->Flush({}).ok());
    }
    ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  }
  const Database db = OpenWithOurs();
  const RebuildResult result = Rebuild(*db);
  EXPECT_GE(result.rewritten_tables, 2U);
  EXPECT_EQ(result.remaining_tables, 0U);
  for (const std::string& time : times) {
    const rocksdb::Slice slice = time;
    rocksdb::ReadOptions at;
    at.timestamp = &slice;
    std::string value;
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(db->Get(at, KeyOf(2 * i), &value).ok());
      EXPECT_EQ(value, time);
    }
    EXPECT_TRUE(db->Get(at, KeyOf(1), &value).IsNotFound());
  }
}

TEST_F(RebuildSafety, WritesAndCompactionsContinueMeanwhile) {
  for (std::uint64_t i = 0; i < kTables; ++i) {
    PutAndFlush(*OpenWithBloom(), kKeys, "value", i * kKeys);
  }
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.write_buffer_size = 64 << 10;
  const Database db = OpenWithOurs();
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> rounds = 0;
  std::thread writer([&] {
    for (; !stop || rounds < 3; ++rounds) {
      const std::string value = "round " + std::to_string(rounds);
      for (std::uint64_t i = 0; i < kTables * kKeys; ++i) {
        EXPECT_TRUE(db->Put({}, KeyOf(2 * i), value).ok());
      }
    }
  });
  RebuildResult result;
  for (int call = 0; call < 10 || result.remaining_tables > 0; ++call) {
    result = Rebuild(*db);
    EXPECT_EQ(result.still_lacking_tables, 0U);
  }
  stop = true;
  writer.join();
  ExpectPresent(*db, kTables * kKeys, "round " + std::to_string(rounds - 1));
  ASSERT_TRUE(db->Flush({}).ok());
  for (const TableFilter& table : ListTableFilters(*db)) {
    EXPECT_EQ(table.family, FilterFamily::kExactBloom);
  }
}

// Damaged tables, with checksums and without, and compactions that fail.

class RebuildDamage : public RebuildSafety,
                      public testing::WithParamInterface<rocksdb::ChecksumType> {
 protected:
  // Makes tables of compressed blocks, and opens them with ExactBloom's policy.
  void OpenTables() {
    options_.compression = rocksdb::kSnappyCompression;
    {
      const Database db = OpenWith(nullptr);
      for (std::uint64_t i = 0; i < kTables; ++i) PutAndFlush(*db, kKeys, "value", i * kKeys);
    }
    db_ = OpenWithOurs();
    damaged_ = TableFilesIn(path_).at(1);
  }

  // One block cannot be decompressed.
  void OpenDamaged() {
    table_options_.checksum = GetParam();
    OpenTables();
    std::fstream file(damaged_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file << std::string(20, '\xff');
  }

  void ExpectTheOthersPresent() const {
    ExpectPresent(*db_, kKeys);
    ExpectPresent(*db_, (kTables - 2) * kKeys, "value", 2 * kKeys);
  }

  Database db_;
  std::string damaged_;
};

INSTANTIATE_TEST_SUITE_P(Checksums, RebuildDamage,
                         testing::Values(rocksdb::kCRC32c, rocksdb::kNoChecksum));

TEST_P(RebuildDamage, IsFoundByTheChecksumOrByDecoding) {
  OpenDamaged();
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
TEST_F(RebuildSafety, WithoutChecksumsMergeOperandsAreNotDecoded) {
  table_options_.checksum = rocksdb::kNoChecksum;
  ASSERT_TRUE(
      rocksdb::MergeOperator::CreateFromString({}, "stringappend", &options_.merge_operator).ok());
  {
    const Database db = OpenWith(nullptr);
    PutAndFlush(*db, kKeys);
    for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(db->Merge({}, KeyOf(2 * i), "more").ok());
    ASSERT_TRUE(db->Flush({}).ok());
  }
  const Database db = OpenWithOurs();
  const RebuildResult result = Rebuild(*db);
  EXPECT_EQ(result.rewritten_tables, 2U);
  EXPECT_TRUE(result.damaged_files.empty());
  ExpectPresent(*db, kKeys, "value,more");
}

// The database has the table open, but it cannot be opened again.
TEST_P(RebuildDamage, ATableWithoutAFooterIsNamedAndNotRewritten) {
  OpenTables();
  std::filesystem::resize_file(damaged_, std::filesystem::file_size(damaged_) - 1);
  const RebuildResult result = Rebuild(*db_);
  EXPECT_EQ(result.damaged_files, std::vector<std::string>{damaged_});
  EXPECT_EQ(result.tables, kTables);
  EXPECT_EQ(result.lacking_tables, kTables - 1);
  EXPECT_EQ(result.rewritten_tables, kTables - 1);
  ExpectTheOthersPresent();
  const std::vector<TableFilter> tables = ListTableFilters(*db_);
  ASSERT_EQ(tables.size(), kTables);
  for (const TableFilter& table : tables) {
    const bool damaged = table.path == damaged_;
    EXPECT_EQ(table.status.ok(), !damaged) << table.status.ToString();
    EXPECT_EQ(table.family, damaged ? FilterFamily::kUnknown : FilterFamily::kExactBloom);
  }
}

TEST_P(RebuildDamage, FailsACompactionThatNamesItsTable) {
  OpenDamaged();
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
