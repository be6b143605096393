// exactbloom in databases: after all that changes a tree, no key is lost, the shape equals the
// files, and the filters have the bits that they should.
#include <gtest/gtest.h>
#include <rocksdb/slice_transform.h>

#include <cstdint>
#include <memory>
#include <string>

#include "exactbloom/tree_listener.h"
#include "followed_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 12'000;  // of a load
constexpr double kBits = 10.0;

// CompactRange moves tables behind the event of its end.
TEST(TreeDatabase, IsKnownAfterTablesWereMovedToAnotherLevel) {
  for (const bool dynamic : {false, true}) {
    SCOPED_TRACE(dynamic);
    const TemporaryDirectory directory;
    rocksdb::Options options = FollowingOptions(PolicyOf(AutoOptions(kBits)), NewTreeListener());
    options.level_compaction_dynamic_level_bytes = dynamic;
    const Database db = Open(options, directory.path("db"));
    Load(*db, kKeys);
    // With dynamic levels, RocksDB would move the tables back to the last level.
    ASSERT_TRUE(db->SetOptions({{"disable_auto_compactions", "true"}}).ok());
    rocksdb::CompactRangeOptions move;
    move.change_level = true;
    move.target_level = 5;
    ASSERT_TRUE(db->CompactRange(move, nullptr, nullptr).ok());
    ASSERT_EQ(TreesOf(*db).at(rocksdb::kDefaultColumnFamilyName).count(5), 1U);
    ExpectKnownTrees(*db);
  }
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
    ASSERT_TRUE(ForceCompaction(*db).ok());
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
  ExpectKnownTrees(*db);
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
             },
             0.07},
        Kind{"NoFilterInTheLastLevel",
             [](rocksdb::Options* options, rocksdb::BlockBasedTableOptions*) {
               options->optimize_filters_for_hits = true;
             }},
        // Blocks fill the allocator's size classes.
        Kind{"FitMemory",
             [](rocksdb::Options*, rocksdb::BlockBasedTableOptions* table) {
               table->optimize_filters_for_memory = true;
             },
             0.07}),
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
  ExpectKnownTrees(*db);
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(ribbon).ok());
  EXPECT_LE(watch->MostBitsPerKey(), (1.0 + GetParam().tolerance) * kBits);
}

}  // namespace
}  // namespace exactbloom
