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
#include "exactbloom/tree_listener.h"
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

// How many tables each level has.
std::map<int, int> LevelsOf(const std::map<std::uint64_t, TableFilter>& tables) {
  std::map<int, int> levels;
  for (const auto& [number, table] : tables) levels[table.level] += 1;
  return levels;
}

constexpr std::uint64_t kKeys = 1000;  // of a table of a MixedDatabase
constexpr std::uint64_t kTables = 6;

// A database in memory whose tables have every kind of filter, in several levels. Each table has
// newer values for half of the keys of the one before.
class MixedDatabase {
 public:
  explicit MixedDatabase(rocksdb::CompactionStyle style)
      : memory_(rocksdb::NewMemEnv(rocksdb::Env::Default())), options_(OptionsWith(nullptr)) {
    options_.env = memory_.get();
    options_.compaction_style = style;
    if (style == rocksdb::kCompactionStyleFIFO) options_.max_open_files = -1;
  }

  // Creates the database, and opens it with `policy`.
  Database Build(const PolicyPointer& policy) {
    const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
    const PolicyPointer ribbon(rocksdb::NewRibbonFilterPolicy(10, -1));
    std::uint64_t table = 0;
    for (const PolicyPointer& writer :
         {PolicyPointer(), bloom, ribbon, policy, PolicyPointer(), policy}) {
      const Database db = Reopen(writer);
      PutAndFlush(*db, kKeys, std::to_string(table), table * kKeys / 2);
      const bool has_levels = options_.compaction_style != rocksdb::kCompactionStyleFIFO;
      if (has_levels && table < 2) MoveDown(*db, table == 0 ? 3 : 2);
      ++table;
    }
    return Reopen(policy);
  }

  Database Reopen(const PolicyPointer& policy) {
    rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
    table_options.filter_policy = policy;
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
    options_.statistics = rocksdb::CreateDBStatistics();
    return Open(options_, "/mixed");
  }

  // Expects each key to have its last value.
  static void ExpectIntact(rocksdb::DB& db) {
    for (std::uint64_t table = 0; table < kTables; ++table) {
      const std::uint64_t newest = table == kTables - 1 ? kKeys : kKeys / 2;
      ExpectPresent(db, newest, std::to_string(table), table * kKeys / 2);
    }
  }

  rocksdb::Options& options() { return options_; }

 private:
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

TEST_P(RebuildTest, OnlyWhatLacksOursAndGoesOnWhereItWasStopped) {
  Database db = mixed_.Build(NewPolicy(FilterKind::kClassic));
  const std::map<std::uint64_t, TableFilter> before = TablesOf(*db);
  std::map<std::string, int> families;
  std::uint64_t lacking_bytes = 0;
  for (const auto& [number, table] : before) {
    families[NameOf(table.family)] += 1;
    if (table.family != FilterFamily::kExactBloom) lacking_bytes += table.file_bytes;
  }
  for (const char* family : {"none", "bloom", "ribbon"}) ASSERT_GE(families[family], 1);
  ASSERT_GE(families["exactbloom"], 2);

  RebuildOptions options;
  options.dry_run = true;
  const RebuildResult look = Rebuild(*db, options);
  EXPECT_EQ(look.tables, before.size());
  EXPECT_EQ(look.lacking_tables, before.size() - static_cast<std::size_t>(families["exactbloom"]));
  EXPECT_EQ(look.lacking_bytes, lacking_bytes);
  EXPECT_EQ(look.remaining_tables, look.lacking_tables);
  EXPECT_EQ(look.rewritten_tables, 0U);
  std::uint64_t rewritten_bytes = 0;
  RebuildOptions portion;
  portion.max_tables = 1;
  for (std::uint64_t left = look.lacking_tables; left > 0; --left) {
    const RebuildResult result = Rebuild(*db, portion);
    EXPECT_EQ(result.lacking_tables, left);
    EXPECT_EQ(result.rewritten_tables, 1U);
    EXPECT_EQ(result.remaining_tables, left - 1);
    EXPECT_EQ(result.still_lacking_tables, 0U);
    rewritten_bytes += result.rewritten_bytes;
    db.reset();
    db = mixed_.Reopen(NewPolicy(FilterKind::kClassic));
  }
  EXPECT_EQ(rewritten_bytes, lacking_bytes);
  EXPECT_EQ(Rebuild(*db).lacking_tables, 0U);
  const std::map<std::uint64_t, TableFilter> after = TablesOf(*db);
  EXPECT_EQ(LevelsOf(after), LevelsOf(before));
  for (const auto& [number, table] : before) {
    EXPECT_EQ(after.count(number), table.family == FilterFamily::kExactBloom ? 1U : 0U) << number;
  }
  for (const auto& [number, table] : after) EXPECT_EQ(table.family, FilterFamily::kExactBloom);
  mixed_.ExpectIntact(*db);
}

TEST(RebuildLimits, BytesAreKeptAndCancellationStopsBeforeTheNextTable) {
  MixedDatabase mixed(rocksdb::kCompactionStyleLevel);
  const Database db = mixed.Build(NewPolicy(FilterKind::kClassic));
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

  std::atomic<bool> cancel = false;
  options = {};
  options.scope = RebuildScope::kAll;
  options.cancel = &cancel;
  options.progress = [&cancel](const RebuildResult& soFar) {
    if (soFar.rewritten_tables > 0) cancel = true;
  };
  const RebuildResult result = Rebuild(*db, options);
  EXPECT_EQ(result.rewritten_tables, 1U);
  EXPECT_EQ(result.remaining_tables, result.lacking_tables - 1);
  EXPECT_EQ(result.busy_tables, 0U);
}

// With exactbloom what a table should get depends on the whole tree.
TEST(RebuildOfATree, ASecondRebuildWritesNothing) {
  const std::unique_ptr<rocksdb::Env> memory(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  const auto open = [&memory](PolicyPointer policy) {
    rocksdb::Options options = OptionsWith(std::move(policy));
    options.env = memory.get();
    options.listeners = {NewTreeListener()};
    return Open(options, "/tree");
  };
  constexpr std::uint64_t kBottomTables = 8;
  {
    // Eight tables in level 3, two in level 1, one in level 0.
    const Database db = open(NewPolicy(FilterKind::kClassic));
    for (std::uint64_t i = 0; i < kBottomTables; ++i) {
      PutAndFlush(*db, 2000, "value", 2000 * i);
      MoveDown(*db, 3);
    }
    for (std::uint64_t i = 0; i < 2; ++i) {
      PutAndFlush(*db, 1000, "value", 7000 * i);
      MoveDown(*db, 1);
    }
    PutAndFlush(*db, 300);
  }
  RebuildOptions rebuild;
  rebuild.scope = RebuildScope::kOtherSize;
  const auto bits_by_level = [](rocksdb::DB& db) {
    std::map<int, double> bits;
    for (const auto& [number, table] : TablesOf(db)) {
      bits[table.level] = 8.0 * static_cast<double>(table.bytes) / static_cast<double>(table.keys);
    }
    return bits;
  };
  ExactBloomOptions options;
  options.ribbon = false;
  // More bits, fewer, and fewer by a budget.
  for (const auto& [bits_per_key, budget] :
       {std::pair(10.0, 0), std::pair(14.0, 0), std::pair(7.0, 0), std::pair(10.0, 12'000)}) {
    SCOPED_TRACE(testing::Message() << bits_per_key << " bits per key, budget " << budget);
    options.bits_per_key = bits_per_key;
    options.memory_budget = static_cast<std::uint64_t>(budget);
    for (const bool again : {false, true}) {
      const Database db = open(PolicyPointer(NewExactBloomFilterPolicy(options)));
      for (int run = 0; run < 2; ++run) {
        const RebuildResult result = Rebuild(*db, rebuild);
        EXPECT_EQ(result.remaining_tables, 0U);
        if (again || run > 0) {
          EXPECT_EQ(result.written_bytes, 0U) << "run " << run << (again ? " again" : "");
        } else {
          EXPECT_GE(result.rewritten_tables, kBottomTables);
        }
      }
      EXPECT_GT(bits_by_level(*db).at(0), bits_by_level(*db).at(1) + 1.0);
      EXPECT_GT(bits_by_level(*db).at(1), bits_by_level(*db).at(3) + 1.0);
    }
  }
}

// Its clock advances by sleeping only.
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
  SleepingEnv env(mixed.options().env);
  mixed.options().env = &env;
  const Database db = mixed.Build(NewPolicy(FilterKind::kClassic));
  std::vector<std::uint64_t> rewritten = {0};
  RebuildOptions options;
  options.bytes_per_second = 1000;
  const std::uint64_t start = env.NowMicros();
  options.progress = [&](const RebuildResult& soFar) {
    if (soFar.rewritten_bytes == rewritten.back()) return;
    // The table waited for the time of those before it, and no longer.
    EXPECT_EQ(env.NowMicros() - start, rewritten.back() * 1000);
    rewritten.push_back(soFar.rewritten_bytes);
  };
  Rebuild(*db, options);
  EXPECT_GE(rewritten.size(), 4U);
}

}  // namespace
}  // namespace exactbloom
