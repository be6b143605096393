// What newer versions of RocksDB do to a tree that a listener follows.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "later_env.h"
#include "newer_versions.h"

namespace exactbloom {
namespace {

constexpr Version kKeepsTimesOfWrites{11, 8};
constexpr std::uint64_t kKeys = 2'000;
constexpr std::int64_t kRecentSeconds = 10'000;

// With per-key placement, a compaction into the last level writes old keys there and recent ones
// into the level above, in one thread and in turns.
TEST(PerKeyPlacement, BothOutputsOfACompactionCount) {
  EXACTBLOOM_SKIP_BEFORE(kKeepsTimesOfWrites, "keeping the times of writes in tables");
  const TemporaryDirectory directory;
  const std::string path = directory.path("db");
  const ListenerPointer listener = NewTreeListener();
  LaterEnv env;
  rocksdb::Options options = FollowingOptions(PolicyOf(AutoOptions()), listener);
  options.env = &env;
  options.compaction_style = rocksdb::kCompactionStyleUniversal;
  options.disable_auto_compactions = true;
  options.num_levels = 4;
  options.preclude_last_level_data_seconds = static_cast<std::uint64_t>(kRecentSeconds);
  Database db = Open(options, path);
  PutAndFlush(*db, kKeys);
  db.reset();
  env.SetForward(5 * kRecentSeconds);
  db = Open(options, path);
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    ASSERT_TRUE(db->Put({}, KeyOf(2 * i) + "recent", "value").ok());
  }
  ASSERT_TRUE(db->Flush({}).ok());
  std::vector<std::string> files;
  for (const auto& file : TableFilesIn(path)) files.push_back(file.filename());
  ASSERT_TRUE(db->CompactFiles({}, files, options.num_levels - 1).ok());
  const auto tree = TreesOf(*db).at(rocksdb::kDefaultColumnFamilyName);
  EXPECT_EQ(tree.size(), 2U);  // levels
  ExpectKnownTrees(*db);

  ASSERT_TRUE(ForceCompaction(*db).ok());
  ExpectKnownTrees(*db);
  db.reset();
}

// From RocksDB 11.8 on, CompactFiles may move tables instead of rewriting them.
constexpr Version kMoves{11, 8};

// Returns whether this RocksDB can.
template <typename Options>
auto AllowMoves(Options* options, int /*preferred*/)
    -> decltype(options->allow_trivial_move, true) {
  options->allow_trivial_move = true;
  return true;
}
template <typename Options>
bool AllowMoves(Options* /*options*/, long /*otherwise*/) {
  return false;
}

// The move fires no event and needs none: the table keeps its filter, and the tree its keys. The
// next rescan finds the level.
TEST(TrivialMove, OfCompactFilesLosesNothing) {
  rocksdb::CompactionOptions options;
  if (!AllowMoves(&options, 0)) EXACTBLOOM_SKIP_BEFORE(kMoves, "allow_trivial_move");
  options.compression = rocksdb::kDisableCompressionOption;
  const TemporaryDirectory directory;
  const ListenerPointer listener = NewTreeListener();
  rocksdb::Options following = OptionsWith(PolicyOf(AutoOptions()));
  following.listeners = {listener};
  const Database db = Open(following, directory.path("db"));
  PutAndFlush(*db, kKeys);
  const TableSum before = SumOf(TreesOf(*db));
  const std::vector<std::string> files = {TableFilesIn(directory.path("db")).back().filename()};
  const rocksdb::Status status = db->CompactFiles(options, files, 4);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(TableFilesIn(directory.path("db")).back().filename(), files.back()) << "not moved";
  EXPECT_EQ(TreesOf(*db).at("default").begin()->first, 4);
  const TableSum after = SumOf(TreesOf(*db));
  EXPECT_EQ(after.keys, before.keys);
  EXPECT_EQ(after.filter_bytes, before.filter_bytes);

  PutAndFlush(*db, kKeys / 10, "value", kKeys);
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  ExpectKnownTrees(*db);
  ExpectPresent(*db, kKeys + kKeys / 10);
}

constexpr Version kBoundsFiles{10, 10};

// RocksDB ends a table where a filter of so many keys would exceed the size. One with assertions,
// as scripts/rocksdb builds it, aborts if the filter gets larger. Small runs get more bits per key
// than the options say.
TEST(TargetFileSize, IsAnUpperBoundOfTablesWhoseFiltersTheTreeSizes) {
  EXACTBLOOM_SKIP_BEFORE(kBoundsFiles, "a target file size that is an upper bound");
  const TemporaryDirectory directory;
  const ListenerPointer listener = NewTreeListener();
  rocksdb::Options options = FollowingOptions(PolicyOf(AutoOptions()), listener);
  options.write_buffer_size = 256 << 10;
  options.target_file_size_base = 1 << 20;
  options.max_bytes_for_level_base = 2 << 20;
  options.compression = rocksdb::kNoCompression;
  const rocksdb::Status status = rocksdb::GetColumnFamilyOptionsFromString(
      rocksdb::ConfigOptions(), options, "target_file_size_is_upper_bound=true", &options);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const Database db = Open(options, directory.path("db"));
  const auto put_scattered = [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) {
      ASSERT_TRUE(db->Put({}, KeyOf(i * 0x9E3779B97F4A7C15U), "value").ok());
    }
    ASSERT_TRUE(db->Flush({}).ok());
    AwaitQuiet(*db);
  };
  constexpr std::uint64_t kMany = 600'000;
  put_scattered(0, kMany);
  // Compactions that keep few keys are followed by one that keeps all, so the number that it will
  // write is not known.
  for (int i = 0; i < 16; ++i) PutAndFlush(*db, 2'000);
  AwaitQuiet(*db);
  put_scattered(kMany, kMany + 240'000);
  EXPECT_GT(TableFilesIn(directory.path("db")).size(), 10U);
}

}  // namespace
}  // namespace exactbloom
