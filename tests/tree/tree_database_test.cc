// size_ratio=auto in databases: after everything that changes a tree, no key is lost, the listener
// knows the tree, and the filters take the bits that they should.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/levels.h"
#include "exactbloom/rebuild_filters.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 12'000;  // of a load
constexpr double kBits = 10.0;

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
  ~TreeDatabase() override { EXPECT_TRUE(Close()); }

  rocksdb::Options Options() const {
    rocksdb::Options options = FollowingOptions(policy_, listener_);
    options.listeners.push_back(watch_);
    GetParam().set(&options);
    return options;
  }
  bool IsLevel() const { return Options().compaction_style == rocksdb::kCompactionStyleLevel; }

  bool Close() {
    for (rocksdb::ColumnFamilyHandle* family : families_) {
      if (!db_->DestroyColumnFamilyHandle(family).ok()) return false;
    }
    families_.clear();
    db_.reset();
    return true;
  }
  void Reopen() {
    ASSERT_TRUE(Close());
    db_ = Open(Options(), directory_.path("db"));
    ASSERT_NE(db_, nullptr);
  }

  void LoadMore(std::uint64_t count = kKeys) {
    Load(*db_, count, keys_);
    keys_ += count;
  }

  void ExpectRight() {
    ExpectPresent(*db_, keys_);
    ExpectTrueCensus(*db_, listener_);
    const TableSum sum = SumOf(TreesOf(*db_));
    EXPECT_LE(sum.BitsPerKey(), most_ * kBits);
    EXPECT_LE(watch_->MostBitsPerKey(), most_ * kBits);
    if (HasFailure()) FAIL();
  }

  TemporaryDirectory directory_;
  PolicyPointer policy_ = PolicyOf(AutoOptions(kBits));
  ListenerPointer listener_ = NewTreeListener();
  std::shared_ptr<FilterWatch> watch_ = std::make_shared<FilterWatch>(1000);
  Database db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
  std::uint64_t keys_ = 0;
  double most_ = 1.03;  // of kBits
};

INSTANTIATE_TEST_SUITE_P(Styles, TreeDatabase, testing::ValuesIn(Styles()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(TreeDatabase, IsKnownWhateverChangesIt) {
  {
    SCOPED_TRACE("load");
    LoadMore();
    ExpectRight();
    Load(*db_, kKeys / 2);  // again
    ExpectRight();
  }
  {
    SCOPED_TRACE("families");
    rocksdb::ColumnFamilyHandle* dropped = nullptr;
    families_.resize(1);
    ASSERT_TRUE(db_->CreateColumnFamily(Options(), "more", &families_[0]).ok());
    ASSERT_TRUE(db_->CreateColumnFamily(Options(), "dropped", &dropped).ok());
    Load(*db_, kKeys / 4, 0, dropped);
    Load(*db_, kKeys / 4, 0, families_[0]);
    ExpectRight();
    ASSERT_TRUE(db_->DropColumnFamily(dropped).ok());
    Load(*db_, kKeys / 4, kKeys / 4, families_[0]);
    ASSERT_TRUE(db_->DestroyColumnFamilyHandle(dropped).ok());
    ExpectRight();
    ExpectPresent(*db_, kKeys / 2, "value", 0, families_[0]);
    ASSERT_TRUE(db_->DropColumnFamily(families_[0]).ok());
  }
  {
    SCOPED_TRACE("reopened with the same listener");
    Reopen();
    LoadMore(kKeys / 4);
    ExpectRight();
  }
  // With FIFO, RocksDB's manual compaction loses ingested tables.
  if (Options().compaction_style != rocksdb::kCompactionStyleFIFO) {
    SCOPED_TRACE("ingested");
    const std::string path = directory_.path("ingested.sst");
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), Options());
    ASSERT_TRUE(writer.Open(path).ok());
    constexpr std::uint64_t kIngested = 500;
    for (std::uint64_t i = 0; i < kIngested; ++i) {
      ASSERT_TRUE(writer.Put(KeyOf(2 * (keys_ + i)), "value").ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
    ASSERT_TRUE(db_->IngestExternalFile({path}, {}).ok());
    keys_ += kIngested;
    ExpectRight();
  }
  {
    SCOPED_TRACE("compacted by hand");
    LoadMore(kKeys / 4);
    ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
    ExpectRight();
    LoadMore(kKeys / 4);
    if (IsLevel()) {
      rocksdb::CompactRangeOptions options;
      // Known only when the listener looks again.
      most_ = 1.05;
      options.change_level = true;
      options.target_level = 4;
      ASSERT_TRUE(db_->CompactRange(options, nullptr, nullptr).ok());
      ExpectPresent(*db_, keys_);
    }
    LoadMore(kKeys / 4);
  }
  {
    SCOPED_TRACE("reopened with another listener");
    listener_ = NewTreeListener();
    Reopen();
    LoadMore(kKeys / 4);
    ExpectRight();
  }
}

// CompactFiles tells listeners nothing.
TEST_P(TreeDatabase, IsKnownAfterCompactFiles) {
  if (Options().compaction_style == rocksdb::kCompactionStyleFIFO) return;  // has no such thing
  LoadMore();
  rocksdb::ColumnFamilyMetaData tree;
  db_->GetColumnFamilyMetaData(&tree);
  std::vector<std::string> files;
  int deepest = 0;
  for (const auto& level : tree.levels) {
    for (const auto& file : level.files) files.push_back(file.relative_filename);
    if (!level.files.empty()) deepest = level.level;
  }
  ASSERT_GT(files.size(), 1U);
  rocksdb::CompactionOptions options;
  options.compression = rocksdb::kDisableCompressionOption;
  options.output_file_size_limit = 64 << 10;
  const rocksdb::Status status =
      db_->CompactFiles(options, files, std::max(deepest, tree.levels.back().level));
  ASSERT_TRUE(status.ok()) << status.ToString();
  ExpectRight();
  const TableSum sum = SumOf(TreesOf(*db_));
  EXPECT_GT(sum.BitsPerKey(), 0.8 * kBits);
}

TEST_P(TreeDatabase, IsKnownAfterARebuild) {
  const PolicyPointer follows = policy_;
  policy_ = PolicyPointer(rocksdb::NewBloomFilterPolicy(14));
  watch_ = std::make_shared<FilterWatch>(~std::uint64_t{0});
  Reopen();
  LoadMore();
  policy_ = follows;
  Reopen();
  Rebuild(*db_);
  ExpectRight();
  const TableSum sum = SumOf(TreesOf(*db_));
  EXPECT_LE(sum.BitsPerKey(), 1.03 * kBits);
  // Less than all: the first tables were written while the others had too much.
  EXPECT_GT(sum.BitsPerKey(), 0.7 * kBits);
}

TEST_P(TreeDatabase, IsKnownAfterDeletionsOfFiles) {
  if (!IsLevel()) return;
  LoadMore();
  ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
  const std::string first = KeyOf(0);
  const std::string last = KeyOf(kKeys);
  const rocksdb::Slice begin = first;
  const rocksdb::Slice end = last;
  const std::uint64_t before = SumOf(TreesOf(*db_)).tables;
  ASSERT_TRUE(
      rocksdb::DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), &begin, &end).ok());
  EXPECT_LT(SumOf(TreesOf(*db_)).tables, before);
  ExpectTrueCensus(*db_, listener_);
}

// The sum of the rates of a tree at rest is close to the least that its bits can have.
TEST_P(TreeDatabase, DividesAsPlanLevelsDoes) {
  // What the tree is on the way is not what it is at rest.
  LoadMore(2 * kKeys);
  ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
  LoadMore(kKeys / 3);
  const Trees trees = TreesOf(*db_);
  const auto& tree = trees.at(rocksdb::kDefaultColumnFamilyName);
  EXPECT_GT(SumOf(tree).BitsPerKey(), 0.9 * kBits);
  const TableSum& largest =
      std::max_element(tree.begin(), tree.end(), [](const auto& one, const auto& other) {
        return one.second.keys < other.second.keys;
      })->second;
  for (const auto& [level, sum] : tree) {
    if (2 * sum.keys > largest.keys) continue;
    EXPECT_GT(sum.BitsPerKey(), largest.BitsPerKey()) << level;
  }
}

// What the tables of earlier sessions hold is read, in a large level from some of them. If it were
// taken to be bits_per_key, small runs would not get what the largest one has left to them.
TEST(TreeDatabaseSessions, ATableGetsTheSameAfterARestart) {
  constexpr std::uint64_t kLarge = 60'000;
  constexpr std::uint64_t kSmall = 1'000;
  double bits_per_key[2] = {};
  for (const bool restarts : {false, true}) {
    TemporaryDirectory directory;
    const ListenerPointer listener = NewTreeListener();
    rocksdb::Options options = FollowingOptions(PolicyOf(AutoOptions(kBits)), listener);
    options.write_buffer_size = 16 << 20;
    options.target_file_size_base = 1 << 13;  // more tables than are read
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
  EXPECT_GT(bits_per_key[0], 1.5 * kBits);
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
  ExpectTrueCensus(*db, listener);
  EXPECT_LT(SumOf(TreesOf(*db)).keys, kLoads * kKeys / 2);
}

struct Kind {
  const char* name;
  void (*set)(rocksdb::Options* options, rocksdb::BlockBasedTableOptions* table);
  double tolerance = 0.03;  // more where filters are so small that their trailers count
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
        Kind{"Prefixes",
             [](rocksdb::Options* options, rocksdb::BlockBasedTableOptions* table) {
               options->prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
               table->whole_key_filtering = false;
             },
             0.3},
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
  for (const bool ribbon : {false, true}) {
    TemporaryDirectory directory;
    const ListenerPointer listener = NewTreeListener();
    const auto watch = std::make_shared<FilterWatch>(1000);
    BloomFilterPolicyOptions policy = AutoOptions(kBits);
    if (ribbon) policy.bottommost = BottommostFilter::kRibbon;
    rocksdb::BlockBasedTableOptions table = PlannedSizes();
    table.filter_policy = PolicyOf(policy);
    rocksdb::Options options = FollowingOptions(table.filter_policy, listener);
    options.listeners.push_back(watch);
    GetParam().set(&options, &table);
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    const Database db = Open(options, directory.path("db"));
    rocksdb::ColumnFamilyHandle* more = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(options, "more", &more).ok());
    Load(*db, kKeys);
    Load(*db, kKeys / 2, 0, more);
    Load(*db, kKeys / 2, kKeys);
    ASSERT_TRUE(db->Put({}, more, KeyOf(0), "value").ok());
    ASSERT_TRUE(db->Put({}, KeyOf(0), "value").ok());
    ASSERT_TRUE(db->Flush({}, {more, db->DefaultColumnFamily()}).ok());
    ExpectPresent(*db, kKeys + kKeys / 2);
    ExpectPresent(*db, kKeys / 2, "value", 0, more);
    ExpectTrueCensus(*db, listener);
    EXPECT_TRUE(db->DestroyColumnFamilyHandle(more).ok());
    EXPECT_LE(watch->MostBitsPerKey(), (1.0 + GetParam().tolerance) * kBits);
  }
}

TEST(TreeDatabases, ShareAPolicyAndAListener) {
  TemporaryDirectory directory;
  const ListenerPointer listener = NewTreeListener();
  const rocksdb::Options options = FollowingOptions(PolicyOf(AutoOptions(kBits)), listener);
  Database first = Open(options, directory.path("first"));
  Database second = Open(options, directory.path("second"));
  Load(*first, kKeys);
  Load(*second, kKeys / 2);
  ExpectTrueCensus(*first, listener);
  ExpectTrueCensus(*second, listener);
  second.reset();
  Load(*first, kKeys, kKeys);
  ExpectTrueCensus(*first, listener);
  second = Open(options, directory.path("second"));
  Load(*second, kKeys / 2, kKeys / 2);
  ExpectTrueCensus(*second, listener);
  ExpectTrueCensus(*first, listener);
  ExpectPresent(*first, 2 * kKeys);
  ExpectPresent(*second, kKeys);
}

}  // namespace
}  // namespace exactbloom
