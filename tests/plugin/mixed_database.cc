#include "mixed_database.h"

#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = MixedDatabase::kKeys;

constexpr std::uint64_t kDeleted = 10;  // of the first keys, one in kDeleted

const char kOldest[] = "oldest";
const char kMiddle[] = "middle";
const char kNewest[] = "newest";

}  // namespace

std::map<std::uint64_t, TableFilter> TablesOf(rocksdb::DB& db) {
  std::map<std::uint64_t, TableFilter> tables;
  for (const TableFilter& table : ListTableFilters(db)) {
    EXPECT_TRUE(table.status.ok()) << table.status.ToString();
    tables[table.number] = table;
  }
  return tables;
}

std::map<std::uint64_t, int> NumbersAndLevels(const std::map<std::uint64_t, TableFilter>& tables) {
  std::map<std::uint64_t, int> levels;
  for (const auto& [number, table] : tables) levels[number] = table.level;
  return levels;
}

MixedDatabase::MixedDatabase(rocksdb::CompactionStyle style)
    : memory_(rocksdb::NewMemEnv(rocksdb::Env::Default())), options_(OptionsWith(nullptr)) {
  options_.env = memory_.get();
  options_.compaction_style = style;
  if (style == rocksdb::kCompactionStyleFIFO) options_.max_open_files = -1;
}

Database MixedDatabase::Reopen(const PolicyPointer& policy) {
  rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
  table_options.filter_policy = policy;
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  options_.statistics = rocksdb::CreateDBStatistics();
  return Open(options_, "/mixed");
}

void MixedDatabase::Put(const PolicyPointer& policy, const std::string& value,
                        std::uint64_t first) {
  PutAndFlush(*Reopen(policy), kKeys, value, first);
}

void MixedDatabase::MoveDown(const PolicyPointer& policy, std::uint64_t first) {
  if (options_.compaction_style == rocksdb::kCompactionStyleFIFO) return;  // has one level
  const Database db = Reopen(policy);
  const std::string begin = KeyOf(2 * first);
  const std::string end = KeyOf(2 * (first + kKeys - 1));
  const rocksdb::Slice begin_slice = begin;
  const rocksdb::Slice end_slice = end;
  ASSERT_TRUE(db->CompactRange({}, &begin_slice, &end_slice).ok());
}

void MixedDatabase::DeleteSome() {
  const Database db = Reopen(nullptr);
  for (std::uint64_t i = 0; i < kKeys; i += kDeleted) {
    ASSERT_TRUE(db->Delete({}, KeyOf(2 * i)).ok());
  }
  ASSERT_TRUE(db->Flush({}).ok());
}

Database MixedDatabase::Build(const PolicyPointer& policy) {
  const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
  const PolicyPointer ribbon(rocksdb::NewRibbonFilterPolicy(10, -1));
  Put(nullptr, kOldest, 0);
  MoveDown(nullptr, 0);
  Put(bloom, kOldest, kKeys);
  MoveDown(bloom, kKeys);
  Put(ribbon, kMiddle, kKeys / 2);
  Put(policy, kMiddle, kKeys / 2 * 3);
  DeleteSome();
  Put(policy, kNewest, kKeys);
  return Reopen(policy);
}

void MixedDatabase::ExpectIntact(rocksdb::DB& db) {
  for (std::uint64_t i = 0; i < kKeys / 2 * 5; ++i) {
    const bool newest = i >= kKeys && i < 2 * kKeys;
    const std::string expected = newest ? kNewest : i < kKeys / 2 ? kOldest : kMiddle;
    std::string value;
    const rocksdb::Status status = db.Get({}, KeyOf(2 * i), &value);
    if (i < kKeys && i % kDeleted == 0) {
      ASSERT_TRUE(status.IsNotFound()) << i << ": " << value;
    } else {
      ASSERT_TRUE(status.ok()) << i << ": " << status.ToString();
      ASSERT_EQ(value, expected) << i;
    }
  }
}

}  // namespace exactbloom
