// A rebuild loses nothing, with crashes, damage, ranges that meet, and concurrent writes.
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/listener.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
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

PolicyPointer Bloom() { return PolicyPointer(rocksdb::NewBloomFilterPolicy(10)); }

// Tables of the built-in filter, in levels 0 and 1.
void Build(const std::string& path) {
  const Database db = Open(OptionsWith(Bloom()), path);
  for (std::uint64_t table = 0; table < kTables; ++table) {
    PutAndFlush(*db, kKeys, "value", table * kKeys);
    if (table != kTables / 2) continue;
    ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  }
}

// Copies a directory as a crash at this moment would leave it.
class Photographer : public rocksdb::EventListener {
 public:
  Photographer(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}

  void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo&) override { Shoot(); }
  void OnTableFileCreated(const rocksdb::TableFileCreationInfo&) override { Shoot(); }
  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo&) override { Shoot(); }

  void Shoot() {
    std::filesystem::copy(from_, to_ + std::to_string(pictures++),
                          std::filesystem::copy_options::recursive);
  }

  int pictures = 0;

 private:
  std::string from_;
  std::string to_;
};

TEST(RebuildSafety, ACrashAtAnyMomentLosesNothing) {
  const TemporaryDirectory directory;
  Build(directory.path("db"));
  const auto photographer =
      std::make_shared<Photographer>(directory.path("db"), directory.path("crash"));
  rocksdb::Options options = OptionsWith(NewPolicy(FilterKind::kClassic));
  options.listeners = {photographer};
  {
    const Database db = Open(options, directory.path("db"));
    RebuildResult result = Rebuild(*db);
    ASSERT_EQ(result.rewritten_tables, result.lacking_tables);
  }
  ASSERT_GE(photographer->pictures, 9);
  std::uint64_t most = 0;
  std::uint64_t fewest = kTables;
  options.listeners.clear();
  for (int i = 0; i < photographer->pictures; ++i) {
    const Database db = Open(options, directory.path("crash" + std::to_string(i)));
    ExpectPresent(*db, kTables * kKeys);
    RebuildResult result = Rebuild(*db);
    EXPECT_EQ(result.remaining_tables, 0U);
    most = std::max(most, result.lacking_tables);
    fewest = std::min(fewest, result.lacking_tables);
    ExpectPresent(*db, kTables * kKeys);
    for (const TableFilter& table : ListTableFilters(*db)) {
      EXPECT_EQ(table.family, FilterFamily::kExactBloom);
    }
  }
  EXPECT_GT(most, fewest);  // some crashes came early, some late
}

// A range deletion that a snapshot keeps is cut at the bounds of tables, which therefore meet.
TEST(RebuildSafety, TablesWhoseRangesMeetComeAlong) {
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(Bloom());
  options.target_file_size_base = 2048;
  options.compression = rocksdb::kNoCompression;
  std::uint64_t tables = 0;
  {
    const Database db = Open(options, directory.path("db"));
    PutAndFlush(*db, kTables * kKeys);
    const rocksdb::Snapshot* snapshot = db->GetSnapshot();
    ASSERT_TRUE(
        db->DeleteRange({}, db->DefaultColumnFamily(), KeyOf(0), KeyOf(kTables * kKeys)).ok());
    ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
    tables = ListTableFilters(*db).size();
    ASSERT_GE(tables, 4U);
    db->ReleaseSnapshot(snapshot);
  }
  options.table_factory = OptionsWith(NewPolicy(FilterKind::kClassic)).table_factory;
  const Database db = Open(options, directory.path("db"));
  RebuildOptions bounded;
  bounded.max_tables = 2;
  RebuildResult result = Rebuild(*db, bounded);
  EXPECT_EQ(result.lacking_tables, tables);
  EXPECT_LE(result.rewritten_tables, 2U);
  result = Rebuild(*db);
  EXPECT_EQ(result.remaining_tables, 0U);
  EXPECT_EQ(result.rewritten_tables, result.lacking_tables);
  EXPECT_EQ(result.rewritten_bytes, result.lacking_bytes);
  EXPECT_EQ(result.gone_tables, 0U) << "a table that came along with another was rewritten";
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

// Newer values and deletions in level 1, of keys that level 2 has, too.
TEST(RebuildSafety, AMiddleLevelStaysAboveTheOneBelow) {
  const TemporaryDirectory directory;
  {
    const Database db = Open(OptionsWith(Bloom()), directory.path("db"));
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
  const Database db = Open(OptionsWith(NewPolicy(FilterKind::kClassic)), directory.path("db"));
  RebuildResult result = Rebuild(*db);
  EXPECT_EQ(result.rewritten_tables, 2U);
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

TEST(RebuildSafety, SnapshotsAndBlobsStay) {
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(Bloom());
  options.enable_blob_files = true;
  { PutAndFlush(*Open(options, directory.path("db")), kKeys, "old"); }
  options.table_factory = OptionsWith(NewPolicy(FilterKind::kClassic)).table_factory;
  const Database db = Open(options, directory.path("db"));
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

TEST(RebuildSafety, VersionsWithTimestampsStay) {
  const TemporaryDirectory directory;
  const std::vector<std::string> times = {std::string(8, '\1'), std::string(8, '\2')};
  rocksdb::Options options = OptionsWith(Bloom());
  ASSERT_TRUE(rocksdb::Comparator::CreateFromString(
                  rocksdb::ConfigOptions(), "leveldb.BytewiseComparator.u64ts", &options.comparator)
                  .ok());
  options.target_file_size_base = 2048;
  options.compression = rocksdb::kNoCompression;
  {
    const Database db = Open(options, directory.path("db"));
    for (const std::string& time : times) {
      for (std::uint64_t i = 0; i < kKeys; ++i) {
        ASSERT_TRUE(db->Put({}, KeyOf(2 * i), time, time).ok());
      }
      ASSERT_TRUE(db->Flush({}).ok());
    }
    ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  }
  options.table_factory = OptionsWith(NewPolicy(FilterKind::kClassic)).table_factory;
  const Database db = Open(options, directory.path("db"));
  RebuildResult result = Rebuild(*db);
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

TEST(RebuildSafety, WritesAndCompactionsGoOnBesideIt) {
  const TemporaryDirectory directory;
  Build(directory.path("db"));
  rocksdb::Options options = OptionsWith(NewPolicy(FilterKind::kClassic));
  options.disable_auto_compactions = false;
  options.level0_file_num_compaction_trigger = 2;
  options.write_buffer_size = 64 << 10;
  const Database db = Open(options, directory.path("db"));
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
  for (int call = 0; call < 20 || result.remaining_tables > 0; ++call) {
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
