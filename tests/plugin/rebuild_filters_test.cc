// Rewriting the tables that lack the filter of the current policy.
#include "exactbloom/rebuild_filters.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/table_filters.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

// The tables of all open column families, by number.
std::map<std::uint64_t, TableFilter> TablesOf(rocksdb::DB& db) {
  std::map<std::uint64_t, TableFilter> tables;
  for (const TableFilter& table : ListTableFilters(db)) {
    EXPECT_TRUE(table.status.ok()) << table.status.ToString();
    tables[table.number] = table;
  }
  return tables;
}

// Their numbers, each with its level.
std::map<std::uint64_t, int> NumbersAndLevels(const std::map<std::uint64_t, TableFilter>& tables) {
  std::map<std::uint64_t, int> levels;
  for (const auto& [number, table] : tables) levels[number] = table.level;
  return levels;
}

constexpr std::uint64_t kKeys = 1000;  // of a table of a MixedDatabase

// A database whose tables carry every kind of filter, in several levels. It is in memory, and
// destroyed with this object. The tables are made one after the other, each of kKeys keys:
//
//   keys / kKeys   0 .. 1       none     moved below level 0
//                  1 .. 2       bloom    moved below level 0; universal compaction takes
//                                        the one before along, FIFO moves none
//                  0.5 .. 1.5   ribbon   in level 0, as those that follow
//                  1.5 .. 2.5   the policy asked for
//                  0 .. 1       none, with deletions of a tenth of these keys
//                  1 .. 2       the policy asked for
class MixedDatabase {
 public:
  explicit MixedDatabase(rocksdb::CompactionStyle style)
      : memory_(rocksdb::NewMemEnv(rocksdb::Env::Default())), options_(OptionsWith(nullptr)) {
    options_.env = memory_.get();
    options_.compaction_style = style;
    if (style == rocksdb::kCompactionStyleFIFO) options_.max_open_files = -1;
  }

  // Makes the database, and opens it with `policy`.
  Database Build(const PolicyPointer& policy) {
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

  Database Reopen(const PolicyPointer& policy) {
    rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
    table_options.filter_policy = policy;
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
    options_.statistics = rocksdb::CreateDBStatistics();
    return Open(options_, "/mixed");
  }

  // Expects each key to have its last value, or to be deleted.
  static void ExpectIntact(rocksdb::DB& db) {
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

  rocksdb::Env* env() const { return options_.env; }
  void SetEnv(rocksdb::Env* env) { options_.env = env; }

 private:
  static constexpr std::uint64_t kDeleted = 10;  // of the first keys, one in kDeleted
  static constexpr char kOldest[] = "oldest";
  static constexpr char kMiddle[] = "middle";
  static constexpr char kNewest[] = "newest";

  void Put(const PolicyPointer& policy, const std::string& value, std::uint64_t first) {
    PutAndFlush(*Reopen(policy), kKeys, value, first);
  }

  void MoveDown(const PolicyPointer& policy, std::uint64_t first) {
    if (options_.compaction_style == rocksdb::kCompactionStyleFIFO) return;  // has one level
    const Database db = Reopen(policy);
    const std::string begin = KeyOf(2 * first);
    const std::string end = KeyOf(2 * (first + kKeys - 1));
    const rocksdb::Slice begin_slice = begin;
    const rocksdb::Slice end_slice = end;
    ASSERT_TRUE(db->CompactRange({}, &begin_slice, &end_slice).ok());
  }

  void DeleteSome() {
    const Database db = Reopen(nullptr);
    for (std::uint64_t i = 0; i < kKeys; i += kDeleted) {
      ASSERT_TRUE(db->Delete({}, KeyOf(2 * i)).ok());
    }
    ASSERT_TRUE(db->Flush({}).ok());
  }

  std::unique_ptr<rocksdb::Env> memory_;
  rocksdb::Options options_;
};

class RebuildTest : public testing::TestWithParam<rocksdb::CompactionStyle> {
 protected:
  MixedDatabase mixed_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Styles, RebuildTest,
                         testing::Values(rocksdb::kCompactionStyleLevel,
                                         rocksdb::kCompactionStyleUniversal,
                                         rocksdb::kCompactionStyleFIFO),
                         [](const auto& test) {
                           return test.param == rocksdb::kCompactionStyleLevel       ? "Level"
                                  : test.param == rocksdb::kCompactionStyleUniversal ? "Universal"
                                                                                     : "Fifo";
                         });

TEST_P(RebuildTest, OnlyWhatLacksOurs) {
  const Database db = mixed_.Build(NewPolicy(FilterKind::kClassic));
  const std::map<std::uint64_t, TableFilter> before = TablesOf(*db);
  std::map<std::string, int> families;
  std::uint64_t lacking_bytes = 0;
  for (const auto& [number, table] : before) {
    families[NameOf(table.family)] += 1;
    if (table.family != FilterFamily::kExactBloom) lacking_bytes += table.file_bytes;
  }
  ASSERT_GE(families["none"], 1);
  ASSERT_GE(families["bloom"], 1);
  ASSERT_GE(families["ribbon"], 1);
  ASSERT_GE(families["exactbloom"], 2);

  RebuildOptions options;
  options.dry_run = true;
  const RebuildResult look = Rebuild(*db, options);
  EXPECT_EQ(look.tables, before.size());
  EXPECT_EQ(look.lacking_tables, before.size() - static_cast<std::size_t>(families["exactbloom"]));
  EXPECT_EQ(look.lacking_bytes, lacking_bytes);
  EXPECT_EQ(look.remaining_tables, look.lacking_tables);
  EXPECT_EQ(look.rewritten_tables, 0U);
  EXPECT_EQ(NumbersAndLevels(before), NumbersAndLevels(TablesOf(*db)));

  const RebuildResult done = Rebuild(*db);
  EXPECT_EQ(done.rewritten_tables, look.lacking_tables);
  EXPECT_EQ(done.rewritten_bytes, lacking_bytes);
  EXPECT_EQ(done.remaining_tables, 0U);
  EXPECT_EQ(done.still_lacking_tables, 0U);
  const std::map<std::uint64_t, TableFilter> after = TablesOf(*db);
  EXPECT_EQ(after.size(), before.size());
  std::map<int, int> levels;
  for (const auto& [number, table] : before) {
    levels[table.level] += 1;
    EXPECT_EQ(after.count(number), table.family == FilterFamily::kExactBloom ? 1U : 0U) << number;
  }
  for (const auto& [number, table] : after) {
    levels[table.level] -= 1;
    EXPECT_EQ(table.family, FilterFamily::kExactBloom);
  }
  for (const auto& [level, change] : levels) EXPECT_EQ(change, 0) << "level " << level;

  EXPECT_EQ(Rebuild(*db).lacking_tables, 0U);
  mixed_.ExpectIntact(*db);
}

TEST_P(RebuildTest, GoesOnWhereItWasStopped) {
  Database db = mixed_.Build(NewPolicy(FilterKind::kClassic));
  RebuildOptions look;
  look.dry_run = true;
  std::uint64_t left = Rebuild(*db, look).lacking_tables;
  ASSERT_GE(left, 3U);
  RebuildOptions portion;
  portion.max_tables = 1;
  for (; left > 0; --left) {
    const RebuildResult result = Rebuild(*db, portion);
    EXPECT_EQ(result.lacking_tables, left);
    EXPECT_EQ(result.rewritten_tables, 1U);
    EXPECT_EQ(result.remaining_tables, left - 1);
    db.reset();
    db = mixed_.Reopen(NewPolicy(FilterKind::kClassic));
  }
  EXPECT_EQ(Rebuild(*db, portion).lacking_tables, 0U);
  mixed_.ExpectIntact(*db);
}

class RebuildBounds : public testing::Test {
 protected:
  MixedDatabase mixed_{rocksdb::kCompactionStyleLevel};
};

TEST_F(RebuildBounds, Bytes) {
  const Database db = mixed_.Build(NewPolicy(FilterKind::kClassic));
  RebuildOptions options;
  options.max_bytes = 1;
  const RebuildResult none = Rebuild(*db, options);
  EXPECT_EQ(none.rewritten_tables, 0U);
  EXPECT_EQ(none.too_large_tables, none.lacking_tables);
  EXPECT_EQ(none.remaining_bytes, none.lacking_bytes);
  options.max_bytes = none.lacking_bytes / 2;
  const RebuildResult half = Rebuild(*db, options);
  EXPECT_GE(half.rewritten_tables, 1U);
  EXPECT_LE(half.rewritten_bytes, options.max_bytes);
  EXPECT_EQ(half.rewritten_bytes + half.remaining_bytes, none.lacking_bytes);
}

TEST_F(RebuildBounds, CancellationStopsBeforeTheNextTable) {
  const Database db = mixed_.Build(NewPolicy(FilterKind::kClassic));
  std::atomic<bool> cancel = false;
  RebuildOptions options;
  options.cancel = &cancel;
  options.progress = [&cancel](const RebuildResult& soFar) {
    if (soFar.rewritten_tables > 0) cancel = true;
  };
  const RebuildResult result = Rebuild(*db, options);
  EXPECT_EQ(result.rewritten_tables, 1U);
  EXPECT_EQ(result.remaining_tables, result.lacking_tables - 1);
  EXPECT_EQ(result.busy_tables, 0U);
}

// Sleeps only in its own time.
class SleepingEnv : public rocksdb::EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  const char* Name() const override { return "SleepingEnv"; }
  std::uint64_t NowMicros() override { return now_; }
  void SleepForMicroseconds(int micros) override { now_ += static_cast<std::uint64_t>(micros); }

 private:
  std::atomic<std::uint64_t> now_ = 1000000;
};

TEST(RebuildRate, SleepsBetweenTables) {
  MixedDatabase mixed(rocksdb::kCompactionStyleLevel);
  SleepingEnv env(mixed.env());
  mixed.SetEnv(&env);
  const Database db = mixed.Build(NewPolicy(FilterKind::kClassic));
  std::vector<std::uint64_t> rewritten = {0};
  RebuildOptions options;
  options.bytes_per_second = 1000;
  const std::uint64_t start = env.NowMicros();
  options.progress = [&](const RebuildResult& soFar) {
    if (soFar.rewritten_bytes == rewritten.back()) return;
    // This table waited for the time of those before it, and no longer.
    EXPECT_EQ(env.NowMicros() - start, rewritten.back() * 1000);
    rewritten.push_back(soFar.rewritten_bytes);
  };
  Rebuild(*db, options);
  EXPECT_GE(rewritten.size(), 4U);
}

}  // namespace
}  // namespace exactbloom
