// Rewriting the tables that lack the filter of the current policy.
#include "exactbloom/rebuild_filters.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/table_filters.h"
#include "mixed_database.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

// The database is in memory.
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

TEST_P(RebuildTest, BackToTheBuiltInFilter) {
  mixed_.Build(NewPolicy(FilterKind::kClassic));
  const Database db = mixed_.Reopen(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)));
  const RebuildResult result = Rebuild(*db);
  EXPECT_GE(result.rewritten_tables, 4U);
  for (const auto& [number, table] : TablesOf(*db)) EXPECT_EQ(table.family, FilterFamily::kBloom);
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
