// From RocksDB 11.8 on, CompactFiles may move tables instead of rewriting them.
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <map>
#include <string>
#include <vector>

#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "rocksdb_version.h"

namespace exactbloom {
namespace {

constexpr Version kMoves{11, 8};
constexpr std::uint64_t kKeys = 3'000;

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
  ExpectTrueShape(*db, listener);
  ExpectPresent(*db, kKeys + kKeys / 10);
}

}  // namespace
}  // namespace exactbloom
