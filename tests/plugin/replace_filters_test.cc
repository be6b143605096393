// All tables of a database get the filters of another policy, by both ways of docs/operations.md:
// to ExactBloom, to another setting of it, and back.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "later_env.h"
#include "listed_filters.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using rocksdb::ColumnFamilyHandle;

struct Setting {
  const char* policy;
  const char* name;  // in the properties of tables
  double bits_per_key;
};

constexpr Setting kSettings[] = {
    {"classic_bloom:10", "classic_bloom", 10.0}, {"exactbloom:14", "exactbloom", 14.0},
    {"exactbloom:10", "exactbloom", 10.0},       {"rocksdb_bloom:10", "rocksdb_bloom", 10.0},
    {"bloomfilter:10", "bloomfilter", 10.0},
};
constexpr const char* kBuiltIn = "bloomfilter:10";

// For very few keys RocksDB's Ribbon policy builds Bloom filters, also in tables of exactbloom.
bool IsOf(const Setting& setting, const TableFilter& table) {
  if (!table.status.ok() || table.policy != setting.name) return false;
  if (table.policy == "exactbloom") return table.family != FilterFamily::kNone;
  const bool is_built_in = table.policy == "bloomfilter" || table.policy == "rocksdb_bloom";
  return table.family == (is_built_in ? FilterFamily::kBloom : FilterFamily::kExactBloom);
}

// Three column families, of which each has tables in several levels or sorted runs.
class ReplaceFilters : public testing::Test {
 protected:
  static constexpr std::uint64_t kKeysOfTable = 1000;
  static constexpr std::uint64_t kTables = 5;  // of a family

  ReplaceFilters() { RegisterFilterPolicies(); }
  ~ReplaceFilters() override { Close(); }

  // With the policy in each family's own options, as the program sets them.
  void Reopen(const std::string& policy) {
    Close();
    PolicyPointer made;
    ASSERT_TRUE(rocksdb::FilterPolicy::CreateFromString({}, policy, &made).ok());
    rocksdb::Options options = OptionsWith(made);
    options.listeners = {NewTreeListener()};
    options.create_missing_column_families = true;
    options.disable_auto_compactions = false;
    options.level0_file_num_compaction_trigger = 100;
    options.compaction_style = style_;
    options.level_compaction_dynamic_level_bytes = false;  // the default of RocksDB 8.4 and later
    options.env = &env_;
    OpenFamilies(options);
  }

  void Close() {
    for (ColumnFamilyHandle* family : families_) {
      EXPECT_TRUE(db_->DestroyColumnFamilyHandle(family).ok());
    }
    families_.clear();
    db_.reset();
  }

  // Level compaction: one table in level 3, one in level 1, and three in level 0.
  void Write() {
    for (ColumnFamilyHandle* family : families_) {
      for (std::uint64_t table = 0; table < kTables; ++table) {
        PutAndFlush(*db_, kKeysOfTable, "value", table * kKeysOfTable / 2, family);
        if (style_ == rocksdb::kCompactionStyleLevel && table < 2) {
          MoveNewest(family, table == 0 ? 3 : 1);
        }
      }
    }
  }

  void ExpectAllKeys() {
    for (ColumnFamilyHandle* family : families_) {
      ExpectPresent(*db_, (kTables + 1) * kKeysOfTable / 2, "value", 0, family);
    }
  }

  // The keys of each level, by column family.
  std::map<std::string, std::map<int, std::uint64_t>> KeysOfLevels() {
    std::map<std::string, std::map<int, std::uint64_t>> keys;
    for (const TableFilter& table : ListTableFilters(*db_)) {
      keys[table.column_family][table.level] += table.entries;
    }
    return keys;
  }

  // Numbers of tables grow with time.
  std::pair<std::uint64_t, std::uint64_t> OldestAndNewestTable() {
    const std::vector<TableFilter> tables = ListTableFilters(*db_);
    const auto [oldest, newest] = std::minmax_element(
        tables.begin(), tables.end(),
        [](const TableFilter& a, const TableFilter& b) { return a.number < b.number; });
    return {oldest->number, newest->number};
  }

  void ExpectFiltersOf(const Setting& setting) {
    double bytes = 0.0;
    double keys = 0.0;
    for (const TableFilter& table : ListTableFilters(*db_)) {
      EXPECT_TRUE(IsOf(setting, table)) << table.path << " " << table.policy;
      bytes += static_cast<double>(table.bytes);
      keys += static_cast<double>(table.filter_keys);
    }
    EXPECT_NEAR(8.0 * bytes / keys, setting.bits_per_key, 2.5) << setting.policy;
    ExpectAllKeys();
  }

  // A program without ExactBloom.
  void ExpectStockFilters() {
    Close();
    OpenFamilies(OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10))));
    ExpectAllKeys();
    for (ColumnFamilyHandle* family : families_) {
      const FilterCounts counts = AskAbsent(*db_, kKeysOfTable / 2 - 1, family);
      EXPECT_GT(counts.useful, kKeysOfTable / 2 * 95 / 100);
      EXPECT_EQ(counts.true_positive, 0U);
    }
  }

  LaterEnv env_;
  rocksdb::CompactionStyle style_ = rocksdb::kCompactionStyleLevel;
  Database db_;
  std::vector<ColumnFamilyHandle*> families_;

 private:
  void OpenFamilies(const rocksdb::Options& options) {
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const char* name : {"default", "users", "orders"}) descriptors.emplace_back(name, options);
    const rocksdb::Status status =
        rocksdb::DB::Open(options, directory_.path("db"), descriptors, &families_, Receive(&db_));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  void MoveNewest(ColumnFamilyHandle* family, int level) {
    rocksdb::ColumnFamilyMetaData tree;
    db_->GetColumnFamilyMetaData(family, &tree);
    const std::string table = tree.levels[0].files.at(0).relative_filename;
    ASSERT_TRUE(db_->CompactFiles({}, family, {table}, level).ok());
  }

  TemporaryDirectory directory_;
};

class ReplaceByCompactRange : public ReplaceFilters,
                              public testing::WithParamInterface<rocksdb::CompactionStyle> {};

INSTANTIATE_TEST_SUITE_P(Styles, ReplaceByCompactRange,
                         testing::Values(rocksdb::kCompactionStyleLevel,
                                         rocksdb::kCompactionStyleUniversal),
                         [](const auto& test) {
                           return test.param == rocksdb::kCompactionStyleLevel ? "Level"
                                                                               : "Universal";
                         });

TEST_P(ReplaceByCompactRange, ThereAndBack) {
  style_ = GetParam();
  Reopen(kBuiltIn);
  Write();
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(setting.policy);
    Reopen(setting.policy);
    ExpectAllKeys();
    for (ColumnFamilyHandle* family : families_) EXPECT_TRUE(ForceCompaction(*db_, family).ok());
    ExpectFiltersOf(setting);
  }
  ExpectStockFilters();
}

// While the database is open. Each table stays in its level.
TEST_F(ReplaceFilters, LiveThereAndBack) {
  constexpr std::int64_t kDay = 86'400;
  constexpr auto kLongestWait = std::chrono::minutes(2);
  const char* const option = "periodic_compaction_seconds";
  Reopen(kBuiltIn);
  Write();
  const auto levels = KeysOfLevels();
  EXPECT_EQ(levels.at("users").size(), 3U);
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(setting.policy);
    Reopen(setting.policy);
    const std::uint64_t last_before = OldestAndNewestTable().second;
    env_.SetForward(kDay);
    std::vector<std::string> before;
    for (ColumnFamilyHandle* family : families_) {
      before.push_back(std::to_string(db_->GetOptions(family).periodic_compaction_seconds));
      ASSERT_TRUE(db_->SetOptions(family, {{option, std::to_string(kDay / 2)}}).ok());
      PutAndFlush(*db_, 1, "value", 0, family);
    }
    const auto begin = std::chrono::steady_clock::now();
    while (OldestAndNewestTable().first <= last_before) {
      ASSERT_LT(std::chrono::steady_clock::now(), begin + kLongestWait);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    for (std::size_t i = 0; i < families_.size(); ++i) {
      ASSERT_TRUE(db_->SetOptions(families_[i], {{option, before[i]}}).ok());
      const auto now = db_->GetOptions(families_[i]).periodic_compaction_seconds;
      EXPECT_EQ(std::to_string(now), before[i]);
    }
    ExpectFiltersOf(setting);
    for (const auto& [family, keys] : KeysOfLevels()) {
      EXPECT_EQ(keys.at(1), levels.at(family).at(1)) << family;
      EXPECT_EQ(keys.at(3), levels.at(family).at(3)) << family;
    }
  }
  ExpectStockFilters();
}

}  // namespace
}  // namespace exactbloom
