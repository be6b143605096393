// exactbloom in databases: after all that changes a tree, no key is lost, the shape equals the
// files, and the filters have the bits that they should.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/rebuild_filters.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 12'000;  // of a load
constexpr double kBits = 10.0;
constexpr double kMost = 1.06;  // of kBits, on average

struct Style {
  const char* name;
  void (*set)(rocksdb::Options* options);
};

const std::vector<Style>& Styles() {
  using rocksdb::Options;
  static const std::vector<Style> styles = {
      {"Level", [](Options* options) { options->level_compaction_dynamic_level_bytes = false; }},
      {"DynamicLevel",
       [](Options* options) { options->level_compaction_dynamic_level_bytes = true; }},
      {"Universal",
       [](Options* options) { options->compaction_style = rocksdb::kCompactionStyleUniversal; }},
      {"IncrementalUniversal",
       [](Options* options) {
         options->compaction_style = rocksdb::kCompactionStyleUniversal;
         options->compaction_options_universal.incremental = true;
       }},
      {"Fifo",
       [](Options* options) {
         options->compaction_style = rocksdb::kCompactionStyleFIFO;
         options->compaction_options_fifo.max_table_files_size = 1 << 30;
         options->compaction_options_fifo.allow_compaction = true;
         options->max_open_files = -1;
       }},
  };
  return styles;
}

class TreeDatabase : public testing::TestWithParam<Style> {
 protected:
  TreeDatabase() { Reopen(); }

  rocksdb::Options Options() const {
    rocksdb::Options options = FollowingOptions(policy_, listener_);
    options.listeners.push_back(watch_);
    GetParam().set(&options);
    return options;
  }
  bool IsLevel() const { return Options().compaction_style == rocksdb::kCompactionStyleLevel; }

  void Reopen() {
    db_.reset();
    db_ = Open(Options(), directory_.path("db"));
    ASSERT_NE(db_, nullptr);
  }

  void LoadMore(std::uint64_t count = kKeys) {
    Load(*db_, count, keys_);
    keys_ += count;
  }

  void ExpectRight() {
    ExpectPresent(*db_, keys_);
    ExpectTrueShape(*db_, listener_);
    const TableSum sum = SumOf(TreesOf(*db_));
    EXPECT_LE(sum.BitsPerKey(), kMost * kBits);
    EXPECT_LE(watch_->MostBitsPerKey(), kMost * kBits);
    if (HasFailure()) FAIL();
  }

  TemporaryDirectory directory_;
  PolicyPointer policy_ = PolicyOf(AutoOptions(kBits));
  ListenerPointer listener_ = NewTreeListener();
  std::shared_ptr<FilterWatch> watch_ = std::make_shared<FilterWatch>(1000);
  Database db_;
  std::uint64_t keys_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Styles, TreeDatabase, testing::ValuesIn(Styles()),
                         [](const auto& test) { return std::string(test.param.name); });

// Each table is written anew, by CompactFiles or by a rebuild of a tree with too many bits.
TEST_P(TreeDatabase, UsesItsBitsWhenAllIsRewritten) {
  if (Options().compaction_style == rocksdb::kCompactionStyleFIFO) return;  // has no CompactFiles
  LoadMore();
  const rocksdb::Status status = CompactAllFiles(*db_, db_->DefaultColumnFamily());
  ASSERT_TRUE(status.ok()) << status.ToString();
  ExpectRight();
  EXPECT_GT(SumOf(TreesOf(*db_)).BitsPerKey(), 0.8 * kBits);

  const PolicyPointer follows =
      std::exchange(policy_, PolicyPointer(rocksdb::NewBloomFilterPolicy(14)));
  Reopen();
  rocksdb::CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db_->CompactRange(rewrite, nullptr, nullptr).ok());
  EXPECT_GT(SumOf(TreesOf(*db_)).BitsPerKey(), 13.0);
  policy_ = follows;
  watch_ = std::make_shared<FilterWatch>(~std::uint64_t{0});
  Reopen();
  Rebuild(*db_);
  ExpectRight();
  // Less than all: the first tables were written while the others had too much.
  EXPECT_GT(SumOf(TreesOf(*db_)).BitsPerKey(), 0.7 * kBits);
}

TEST_P(TreeDatabase, IsKnownAfterDeletionsOfFiles) {
  if (!IsLevel()) return;
  LoadMore();
  ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
  const std::string last = KeyOf(kKeys);
  const rocksdb::Slice end = last;
  const std::uint64_t before = SumOf(TreesOf(*db_)).tables;
  ASSERT_TRUE(
      rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), nullptr, &end).ok());
  EXPECT_LT(SumOf(TreesOf(*db_)).tables, before);
  ExpectTrueShape(*db_, listener_);
}

// CompactRange moves tables behind the event of its end.
TEST_P(TreeDatabase, IsKnownAfterTablesWereMovedToAnotherLevel) {
  if (!IsLevel()) return;
  LoadMore();
  // With dynamic levels, RocksDB would move the tables back to the last level.
  ASSERT_TRUE(db_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  rocksdb::CompactRangeOptions options;
  options.change_level = true;
  options.target_level = 5;
  ASSERT_TRUE(db_->CompactRange(options, nullptr, nullptr).ok());
  ASSERT_EQ(TreesOf(*db_).at(rocksdb::kDefaultColumnFamilyName).count(5), 1U);
  ExpectTrueShape(*db_, listener_);
}

// What the tables of earlier sessions hold is read, in a large level from some of them. If it were
// taken to be bits_per_key, small runs would not get what the largest one has left to them.
TEST(TreeDatabaseSessions, ATableGetsTheSameAfterARestart) {
  constexpr std::uint64_t kLarge = 36'000;
  constexpr std::uint64_t kSmall = 1'000;
  double bits_per_key[2] = {};
  for (const bool restarts : {false, true}) {
    TemporaryDirectory directory;
    const ListenerPointer listener = NewTreeListener();
    rocksdb::Options options = FollowingOptions(PolicyOf(AutoOptions(kBits)), listener);
    options.write_buffer_size = 16 << 20;
    options.target_file_size_base = 1 << 12;  // more tables than are read
    Database db = Open(options, directory.path("db"));
    ASSERT_NE(db, nullptr);
    Load(*db, kLarge);
    rocksdb::CompactRangeOptions rewrite;  // even where RocksDB would move the table
    rewrite.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db->CompactRange(rewrite, nullptr, nullptr).ok());
    ASSERT_GT(SumOf(TreesOf(*db)).tables, 70U);
    if (restarts) {
      db.reset();
      db = Open(options, directory.path("db"));
      ASSERT_NE(db, nullptr);
    }
    Load(*db, kSmall, kLarge);
    ASSERT_TRUE(db->Flush({}).ok());
    const Trees trees = TreesOf(*db);
    bits_per_key[restarts ? 1 : 0] = trees.at(rocksdb::kDefaultColumnFamilyName).at(0).BitsPerKey();
  }
  EXPECT_GT(bits_per_key[0], 1.1 * kBits);
  EXPECT_NEAR(bits_per_key[1], bits_per_key[0], 0.005 * bits_per_key[0]);
}

TEST(TreeDatabaseOfFifo, ForgetsTheTablesThatItDeletes) {
  TemporaryDirectory directory;
  const ListenerPointer listener = NewTreeListener();
  rocksdb::Options options = FollowingOptions(PolicyOf(AutoOptions(kBits)), listener);
  options.compaction_style = rocksdb::kCompactionStyleFIFO;
  options.compaction_options_fifo.max_table_files_size = 300 << 10;
  options.max_open_files = -1;
  const Database db = Open(options, directory.path("db"));
  constexpr std::uint64_t kLoads = 6;
  for (std::uint64_t i = 0; i < kLoads; ++i) Load(*db, kKeys, i * kKeys);
  ExpectTrueShape(*db, listener);
  EXPECT_LT(SumOf(TreesOf(*db)).keys, kLoads * kKeys / 2);
}

struct Kind {
  const char* name;
  void (*set)(rocksdb::Options* options, rocksdb::BlockBasedTableOptions* table);
  double tolerance = 0.06;  // more where filters are so small that their trailers count
};

class TreeDatabaseKinds : public testing::TestWithParam<Kind> {};

INSTANTIATE_TEST_SUITE_P(
    Kinds, TreeDatabaseKinds,
    testing::Values(
        Kind{"Partitioned",
             [](rocksdb::Options*, rocksdb::BlockBasedTableOptions* table) {
               PartitionFilters(512, table);
             },
             0.15},
        // Some hundred prefixes in all: the slots of such small Ribbon filters are rounded up.
        Kind{"Prefixes",
             [](rocksdb::Options* options, rocksdb::BlockBasedTableOptions* table) {
               options->prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
               table->whole_key_filtering = false;
             },
             0.5},
        Kind{"KeysAndPrefixes",
             [](rocksdb::Options* options, rocksdb::BlockBasedTableOptions*) {
               options->prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
             }},
        Kind{"AtomicFlush", [](rocksdb::Options* options,
                               rocksdb::BlockBasedTableOptions*) { options->atomic_flush = true; }},
        Kind{"NoFilterInTheLastLevel",
             [](rocksdb::Options* options, rocksdb::BlockBasedTableOptions*) {
               options->optimize_filters_for_hits = true;
             }},
        Kind{"FitMemory",
             [](rocksdb::Options*, rocksdb::BlockBasedTableOptions* table) {
               table->optimize_filters_for_memory = true;
             }},
        Kind{"Subcompactions",
             [](rocksdb::Options* options, rocksdb::BlockBasedTableOptions*) {
               options->max_subcompactions = 3;
             }}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_P(TreeDatabaseKinds, NoKeyIsLostAndTheTreeIsKnown) {
  TemporaryDirectory directory;
  const ListenerPointer listener = NewTreeListener();
  const auto watch = std::make_shared<FilterWatch>(1000);
  const auto options_of = [&](bool is_ribbon) {
    ExactBloomOptions policy = AutoOptions(kBits);
    policy.ribbon = is_ribbon;
    rocksdb::BlockBasedTableOptions table = PlannedSizes();
    table.filter_policy = PolicyOf(policy);
    rocksdb::Options options = FollowingOptions(table.filter_policy, listener);
    options.listeners.push_back(watch);
    GetParam().set(&options, &table);
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
  };
  const Database db = Open(options_of(false), directory.path("db"));
  rocksdb::ColumnFamilyHandle* ribbon = nullptr;
  const rocksdb::Options ribbon_options = options_of(true);
  ASSERT_TRUE(db->CreateColumnFamily(ribbon_options, "ribbon", &ribbon).ok());
  for (rocksdb::ColumnFamilyHandle* family : {db->DefaultColumnFamily(), ribbon}) {
    Load(*db, kKeys, 0, family);
    Load(*db, kKeys / 2, kKeys, family);
    ASSERT_TRUE(db->Put({}, family, KeyOf(0), "value").ok());
  }
  ASSERT_TRUE(db->Flush({}, {ribbon, db->DefaultColumnFamily()}).ok());
  for (rocksdb::ColumnFamilyHandle* family : {db->DefaultColumnFamily(), ribbon}) {
    ExpectPresent(*db, kKeys + kKeys / 2, "value", 0, family);
  }
  ExpectTrueShape(*db, listener);
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(ribbon).ok());
  EXPECT_LE(watch->MostBitsPerKey(), (1.0 + GetParam().tolerance) * kBits);
}

}  // namespace
}  // namespace exactbloom
