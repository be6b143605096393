// The ways in which tables are made and read.
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <memory>
#include <string>

#include "plugin/rocksdb_compat.h"
#include "sample_database.h"
#include "sample_filters.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 4000;

class DatabaseTest : public testing::TestWithParam<FilterKind> {
 protected:
  TemporaryDirectory directory_;
  rocksdb::Options options_ = OptionsWith(NewPolicy(GetParam()));
  std::string path_ = directory_.path("db");
};

INSTANTIATE_TEST_SUITE_P(Kinds, DatabaseTest,
                         testing::Values(FilterKind::kClassic, FilterKind::kStandard),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(DatabaseTest, ZeroBitsPerKeyMeansNoFilter) {
  const Database db = Open(OptionsWith(NewPolicy(GetParam(), 0.4)), path_);
  PutAndFlush(*db, kKeys);
  ExpectPresent(*db, kKeys);
  const FilterCounts counts = AskAbsent(*db, kKeys);
  EXPECT_EQ(counts.useful + counts.positive, 0U);
}

TEST_P(DatabaseTest, OverwritesAndDeletionsAreAnsweredRight) {
  const Database db = Open(options_, path_);
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
  EXPECT_GT(tables.begin()->second->num_entries, 2 * kKeys - 1);
  EXPECT_EQ(tables.begin()->second->num_filter_entries, kKeys);
  ExpectPresent(*db, kKeys - 1, "value", 1);
  std::string value;
  EXPECT_TRUE(db->Get({}, KeyOf(0), &value).IsNotFound());
  ExpectFiltering(AskAbsent(*db, kKeys - 1), kKeys - 1);
  db->ReleaseSnapshot(snapshot);
}

TEST_P(DatabaseTest, ColumnFamiliesHaveTheirOwnPolicies) {
  const Database db = Open(options_, path_);
  rocksdb::ColumnFamilyHandle* wide = nullptr;
  rocksdb::ColumnFamilyHandle* bare = nullptr;
  const FilterKind other =
      GetParam() == FilterKind::kClassic ? FilterKind::kStandard : FilterKind::kClassic;
  ASSERT_TRUE(db->CreateColumnFamily(OptionsWith(NewPolicy(other, 20)), "wide", &wide).ok());
  ASSERT_TRUE(db->CreateColumnFamily(OptionsWith(PolicyPointer()), "bare", &bare).ok());
  for (rocksdb::ColumnFamilyHandle* family : {db->DefaultColumnFamily(), wide, bare}) {
    PutAndFlush(*db, kKeys, family->GetName(), 0, family);
  }
  for (rocksdb::ColumnFamilyHandle* family : {db->DefaultColumnFamily(), wide, bare}) {
    ExpectPresent(*db, kKeys, family->GetName(), 0, family);
  }
  ExpectFiltering(AskAbsent(*db, kKeys - 1), kKeys - 1);
  const FilterCounts counts = AskAbsent(*db, kKeys - 1, wide);
  EXPECT_EQ(counts.useful + counts.FalsePositives(), kKeys - 1);
  EXPECT_LE(counts.FalsePositives(), 5U) << "at 20 bits per key";
  const FilterCounts none = AskAbsent(*db, kKeys - 1, bare);
  EXPECT_EQ(none.useful + none.positive, 0U);
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(wide).ok());
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(bare).ok());
}

TEST_P(DatabaseTest, SecondaryInstancesFilter) {
  const Database primary = Open(options_, path_);
  PutAndFlush(*primary, kKeys);
  options_.statistics = rocksdb::CreateDBStatistics();
  Database db;
  ASSERT_TRUE(
      rocksdb::DB::OpenAsSecondary(options_, path_, directory_.path("secondary"), Receive(&db))
          .ok());
  ExpectPresent(*db, kKeys);
  ExpectFiltering(AskAbsent(*db, kKeys - 1), kKeys - 1);
}

}  // namespace
}  // namespace exactbloom
