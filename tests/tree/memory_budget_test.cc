// memory_budget in databases: however a tree grows, its filters stay within the budget.
#include "exactbloom/memory_budget.h"

#include <gtest/gtest.h>
#include <rocksdb/convenience.h>

#include <cstdint>
#include <memory>
#include <string>

#include "exactbloom/tree_listener.h"
#include "followed_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kFirstKeys = 2'000;
constexpr std::uint64_t kAllKeys = 100 * kFirstKeys;
constexpr double kMostBits = 20.0;
constexpr double kLeastBits = 4.0;  // of the grown tree
constexpr std::uint64_t kBudget = kAllKeys / 2;

std::uint64_t Exceeded(std::uint64_t budget) { return budget * 103 / 100; }

class MemoryBudget : public testing::TestWithParam<rocksdb::CompactionStyle> {
 protected:
  rocksdb::Options Options(std::uint64_t budget) {
    rocksdb::Options options =
        FollowingOptions(PolicyOf(BudgetOptions(budget, kMostBits)), listener_);
    options.listeners.push_back(watch_);
    options.compaction_style = GetParam();
    options.write_buffer_size = 256 << 10;
    options.target_file_size_base = 256 << 10;
    options.max_bytes_for_level_base = 1 << 20;
    return options;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path("db");
  ListenerPointer listener_ = NewTreeListener();
  std::shared_ptr<FilterWatch> watch_ = std::make_shared<FilterWatch>(1000);
};

INSTANTIATE_TEST_SUITE_P(Styles, MemoryBudget,
                         testing::Values(rocksdb::kCompactionStyleLevel,
                                         rocksdb::kCompactionStyleUniversal),
                         [](const auto& test) {
                           return test.param == rocksdb::kCompactionStyleLevel ? "Level"
                                                                               : "Universal";
                         });

TEST_P(MemoryBudget, HoldsWhileATreeGrowsAHundredfold) {
  Database db = Open(Options(kBudget), path_);
  Load(*db, kFirstKeys);
  const TableSum first = SumOf(TreesOf(*db));
  EXPECT_NEAR(first.BitsPerKey(), kMostBits, 0.03 * kMostBits);
  Load(*db, kAllKeys - kFirstKeys, kFirstKeys);
  const TableSum all = SumOf(TreesOf(*db));
  EXPECT_EQ(all.keys, kAllKeys);
  EXPECT_LE(watch_->MostBytes(), Exceeded(kBudget));
  EXPECT_LE(watch_->MostBitsPerKey(), 1.03 * kMostBits);
  // All of it is used, if not every moment: what is there is kept.
  EXPECT_LE(all.BitsPerKey(), 1.03 * kLeastBits);
  // How much depends on how jobs overlap: room is kept until the largest run is written again.
  EXPECT_GE(all.BitsPerKey(), 0.1 * kLeastBits);
  ExpectTrueShape(*db, listener_);
  ExpectPresent(*db, kAllKeys / 10);

  // With another listener, which has to look first.
  listener_ = NewTreeListener();
  watch_ = std::make_shared<FilterWatch>(1000);
  db.reset();
  db = Open(Options(kBudget), path_);
  Load(*db, kAllKeys / 4, kAllKeys);
  EXPECT_GT(watch_->MostBytes(), kBudget / 5);
  EXPECT_LE(watch_->MostBytes(), Exceeded(kBudget));
  ExpectTrueShape(*db, listener_);
}

// A table that gets no more is said once.
TEST_P(MemoryBudget, ThatIsExceededLeavesTheLeastToNewTables) {
  {
    const Database db = Open(Options(1 << 30), path_);
    Load(*db, kAllKeys / 10);
  }
  constexpr std::uint64_t kSmall = 10'000;
  rocksdb::Options options = Options(kSmall);
  options.level0_file_num_compaction_trigger = 100;
  const Database db = Open(options, path_);
  ASSERT_GT(SumOf(TreesOf(*db)).filter_bytes, 2 * kSmall);
  const TableSum before = SumOf(TreesOf(*db));
  for (std::uint64_t i = 0; i < 3; ++i) Load(*db, 2'000, kAllKeys + i * 2'000);
  const TableSum after = SumOf(TreesOf(*db));
  const double added = 8.0 * static_cast<double>(after.filter_bytes - before.filter_bytes);
  EXPECT_NEAR(added / static_cast<double>(after.keys - before.keys), 1.0, 0.2);
  const std::string log = ReadLog(path_);
  const std::size_t said = log.find("the filters take all of the memory budget '' of 10000 bytes");
  EXPECT_NE(said, std::string::npos);
  EXPECT_EQ(log.rfind("the filters take all of the memory budget"), said);
  EXPECT_NE(log.find("memory budget '': the bound is 10000 bytes, filters of 1 databases take"),
            std::string::npos);
  // It is compaction that frees memory.
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  AwaitQuiet(*db);
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  EXPECT_LT(SumOf(TreesOf(*db)).filter_bytes, before.filter_bytes);
}

// A rebuild compacts within levels, which listeners are not told of.
TEST_P(MemoryBudget, RebuildBringsATreeNearToTheBudget) {
  {
    rocksdb::Options options = Options(0);
    options.table_factory =
        OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(kMostBits))).table_factory;
    const Database db = Open(options, path_);
    Load(*db, kAllKeys / 10);
    ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  }
  constexpr std::uint64_t kHalf = kAllKeys / 10 * 10 / 8;  // ten bits per key
  const Database db = Open(Options(kHalf), path_);
  ASSERT_GT(SumOf(TreesOf(*db)).filter_bytes, 3 * kHalf / 2);
  Rebuild(*db);
  const TableSum after = SumOf(TreesOf(*db));
  EXPECT_LE(after.filter_bytes, Exceeded(kHalf) + after.largest_filter);
  EXPECT_EQ(ReadLog(path_).find("the tree is not known"), std::string::npos);
  ExpectPresent(*db, kAllKeys / 10);
}

// A database that was opened and has written nothing counts by its MANIFEST, until it is closed.
TEST(OpenedDatabase, CountsBeforeItsFirstJob) {
  constexpr std::uint64_t kKeys = 4'000;
  constexpr std::uint64_t kBytes = 12'000;
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(PolicyOf(BudgetOptions(kBytes, kMostBits)));
  options.listeners = {NewTreeListener()};
  const auto bytes_of = [](rocksdb::DB& db) { return SumOf(TreesOf(db)).filter_bytes; };
  Database first = Open(options, directory.path("first"));
  PutAndFlush(*first, kKeys);
  const std::uint64_t of_first = bytes_of(*first);
  EXPECT_GT(of_first, kBytes / 2);
  first.reset();
  EXPECT_EQ(GetMemoryBudgetUse().used, 0U);

  first = Open(options, directory.path("first"));
  const MemoryBudgetUse opened = GetMemoryBudgetUse();
  EXPECT_NEAR(static_cast<double>(opened.used), static_cast<double>(of_first), 2.0);
  ASSERT_EQ(opened.families.size(), 1U);
  EXPECT_EQ(opened.families[0].database, directory.path("first"));
  const Database second = Open(options, directory.path("second"));
  PutAndFlush(*second, kKeys);
  EXPECT_LE(bytes_of(*second) + of_first, kBytes);
  // The shape takes the place of what the MANIFEST said.
  PutAndFlush(*first, kKeys / 10, "value", kKeys);
  EXPECT_EQ(GetMemoryBudgetUse().used, bytes_of(*first) + bytes_of(*second));
  EXPECT_LE(GetMemoryBudgetUse().used, kBytes);

  first.reset();
  EXPECT_EQ(GetMemoryBudgetUse().used, bytes_of(*second));
  first = Open(options, directory.path("first"));
  EXPECT_GT(GetMemoryBudgetUse().used, bytes_of(*second));
  first.reset();
  EXPECT_EQ(GetMemoryBudgetUse().used, bytes_of(*second));
}

}  // namespace
}  // namespace exactbloom
