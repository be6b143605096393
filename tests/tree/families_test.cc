// Many column families in a database: each has its own average, whatever others have or do.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "plugin/rocksdb_compat.h"

namespace exactbloom {
namespace {

constexpr double kBits = 10.0;
constexpr double kMost = 1.06;  // of kBits, on average

using Handle = rocksdb::ColumnFamilyHandle*;

// The families of a database besides the default one.
class ManyFamilies : public testing::Test {
 protected:
  ~ManyFamilies() override { Close(); }

  // With policies of their own, or one of all.
  rocksdb::Options OptionsOfFamily() const {
    rocksdb::Options options =
        FollowingOptions(is_shared_ ? shared_ : PolicyOf(AutoOptions(bits_)), listener_);
    options.write_buffer_size = 256 << 10;
    options.target_file_size_base = 256 << 10;
    options.max_bytes_for_level_base = 1 << 20;
    options.level0_file_num_compaction_trigger = level0_trigger_;
    return options;
  }

  void Create(int families) {
    db_ = Open(OptionsOfFamily(), path_);
    for (int i = 0; i < families; ++i) {
      names_.push_back("family" + std::to_string(i));
      handles_.push_back(nullptr);
      ASSERT_TRUE(db_->CreateColumnFamily(OptionsOfFamily(), names_.back(), &handles_.back()).ok());
    }
  }

  void Close() {
    if (db_ == nullptr) return;
    for (const Handle handle : handles_) EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handle).ok());
    handles_.clear();
    db_.reset();
  }

  void Reopen() {
    Close();
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names_) families.emplace_back(name, OptionsOfFamily());
    families.emplace_back(rocksdb::kDefaultColumnFamilyName, OptionsOfFamily());
    ASSERT_TRUE(
        rocksdb::DB::Open(OptionsOfFamily(), path_, families, &handles_, Receive(&db_)).ok());
    EXPECT_TRUE(db_->DestroyColumnFamilyHandle(handles_.back()).ok());
    handles_.pop_back();
  }

  double BitsOf(const std::string& family) const {
    return SumOf(TreesOf(*db_).at(family)).BitsPerKey();
  }
  double BitsOfLargestRun() const {
    return TreesOf(*db_).at(rocksdb::kDefaultColumnFamilyName).rbegin()->second.BitsPerKey();
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
  ListenerPointer listener_ = NewTreeListener();
  PolicyPointer shared_ = PolicyOf(AutoOptions(kBits));
  bool is_shared_ = false;
  double bits_ = kBits;  // of their own policies
  int level0_trigger_ = 3;
  Database db_;
  std::vector<std::string> names_;
  std::vector<Handle> handles_;
};

TEST_F(ManyFamilies, LeaveTheLargeOneItsBits) {
  constexpr std::uint64_t kLarge = 40'000;
  constexpr std::uint64_t kSmall = 2'000;
  constexpr int kFamilies = 12;
  for (const bool shared : {false, true}) {
    SCOPED_TRACE(shared);
    is_shared_ = shared;
    if (db_ == nullptr) {
      Create(kFamilies);
      for (const Handle handle : handles_) Load(*db_, kSmall, 0, handle);
      Load(*db_, kLarge);
    } else {
      Reopen();
    }
    ASSERT_TRUE(ForceCompaction(*db_).ok());
    EXPECT_GT(BitsOfLargestRun(), 0.98 * kBits);
    EXPECT_LT(BitsOfLargestRun(), 1.035 * kBits);
    for (const Handle handle : handles_) Load(*db_, kSmall, kSmall, handle);
    for (const std::string& name : names_) {
      EXPECT_NEAR(BitsOf(name), kBits, (kMost - 1.0) * kBits) << name;
    }
  }
}

// The first job after a restart is of the default family, and tells nothing of the other's policy.
TEST_F(ManyFamilies, CountOldFiltersWithTheBitsOfTheirOwnPolicy) {
  constexpr std::uint64_t kLarge = 8'000;
  constexpr std::uint64_t kSmall = 400;
  bits_ = 5.0;
  Create(1);
  Load(*db_, kLarge, 0, handles_[0]);
  ASSERT_TRUE(ForceCompaction(*db_, handles_[0]).ok());
  Reopen();
  PutAndFlush(*db_, kSmall);
  Load(*db_, kSmall, 0, handles_[0]);
  ASSERT_TRUE(db_->Flush({}, handles_[0]).ok());
  const auto levels = TreesOf(*db_).at(names_[0]);
  ASSERT_EQ(levels.size(), 2U);
  ASSERT_EQ(levels.begin()->second.keys, kSmall);
  // By the exact rates; as much as the average if the large run seems to have too much already.
  EXPECT_GT(levels.begin()->second.BitsPerKey(), 1.8 * bits_);
}

// What one table has for each entry tells of the others, whatever their number of keys divided by
// this one's is rounded to.
TEST_F(ManyFamilies, HaveAKeyForEachEntryInTablesThatNobodyRead) {
  constexpr std::uint64_t kRead = 49;
  level0_trigger_ = 100;
  Create(1);
  std::uint64_t first = 0;
  for (std::uint64_t keys = 1; keys <= 30; first += keys++) Load(*db_, keys, first, handles_[0]);
  Reopen();
  Load(*db_, kRead, first, handles_[0]);
  ASSERT_TRUE(FollowDatabase(db_.get(), {db_->DefaultColumnFamily()}).ok());
  EXPECT_EQ(FindDifference(*db_, [](const std::string&) { return Known::kKeys; }), "");
}

// A dropped family that is still held is listed beside its namesake.
TEST_F(ManyFamilies, OfTheSameNameAreNotMixedUp) {
  constexpr std::uint64_t kKeys = 20'000;
  Create(1);
  Load(*db_, kKeys, 0, handles_[0]);
  const std::unique_ptr<rocksdb::Iterator> holder(db_->NewIterator({}, handles_[0]));
  ASSERT_TRUE(db_->DropColumnFamily(handles_[0]).ok());
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handles_[0]).ok());
  ASSERT_TRUE(db_->CreateColumnFamily(OptionsOfFamily(), names_[0], &handles_[0]).ok());
  Load(*db_, kKeys / 4, 0, handles_[0]);
  ASSERT_TRUE(ForceCompaction(*db_, handles_[0]).ok());
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
  for (const SortedRuns& runs : GetSortedRuns(*db_)) {
    if (runs.column_family != names_[0]) continue;
    keys += runs.keys;
    bytes += runs.filter_bytes;
  }
  EXPECT_EQ(keys, kKeys / 4);
  EXPECT_NEAR(8.0 * static_cast<double>(bytes) / static_cast<double>(keys), kBits,
              (kMost - 1.0) * kBits);
}

// Before any event has told which family the listed tables are of.
TEST_F(ManyFamilies, ThatWereDroppedBeforeTheirFirstEventAreNotMixedUp) {
  constexpr std::uint64_t kKeys = 20'000;
  Create(1);
  Load(*db_, kKeys, 0, handles_[0]);
  Reopen();
  PutAndFlush(*db_, 10);  // lists the tables of all families
  const std::unique_ptr<rocksdb::Iterator> holder(db_->NewIterator({}, handles_[0]));
  ASSERT_TRUE(db_->DropColumnFamily(handles_[0]).ok());
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(handles_[0]).ok());
  ASSERT_TRUE(db_->CreateColumnFamily(OptionsOfFamily(), names_[0], &handles_[0]).ok());
  Load(*db_, kKeys / 4, 0, handles_[0]);
  EXPECT_EQ(FindDifference(*db_, [](const std::string&) { return Known::kTables; }), "");
}

// The inputs exist as long as the iterator does, but are not part of the tree.
TEST_F(ManyFamilies, KnowWhatCompactFilesReplacedWhileAnIteratorHoldsIt) {
  constexpr std::uint64_t kKeys = 20'000;
  Create(0);
  Load(*db_, kKeys);
  const std::unique_ptr<rocksdb::Iterator> holder(db_->NewIterator({}));
  ASSERT_EQ(CompactAllFiles(*db_, db_->DefaultColumnFamily()).ToString(), "OK");
  Load(*db_, kKeys / 10, kKeys);
  ASSERT_TRUE(ForceCompaction(*db_).ok());
  ExpectKnownTrees(*db_);
  EXPECT_GT(SumOf(TreesOf(*db_)).BitsPerKey(), 0.97 * kBits);
}

}  // namespace
}  // namespace exactbloom
