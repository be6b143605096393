// Which tables a lookup asks, and which lie at the bottom, from their ranges.
#include "tool/database/key_ranges.h"

#include <gtest/gtest.h>
#include <rocksdb/comparator.h>

#include <fstream>

#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom::tool {
namespace {

TableLocation Table(int level, const std::string& smallest, const std::string& largest,
                    std::uint64_t sequence = 0) {
  TableLocation table;
  table.column_family = "default";
  table.comparator = rocksdb::BytewiseComparator()->Name();
  table.level = level;
  table.smallest = smallest;
  table.largest = largest;
  table.largest_sequence = sequence;
  return table;
}

std::vector<double> Chances(const std::vector<TableLocation>& tables,
                            const std::vector<std::uint64_t>& keys,
                            const std::vector<std::string>& lookups = {}) {
  std::vector<CountedTable> counted;
  for (std::size_t i = 0; i < tables.size(); ++i) counted.emplace_back(&tables[i], keys[i]);
  std::vector<double> chances;
  for (const TablePlace& place : PlacesOf(counted, lookups)) chances.push_back(place.asked);
  return chances;
}

std::vector<bool> AreBottommost(const std::vector<TableLocation>& tables) {
  std::vector<CountedTable> counted;
  for (const TableLocation& table : tables) counted.emplace_back(&table, 1);
  std::vector<bool> are_bottommost;
  for (const TablePlace& place : PlacesOf(counted, {})) are_bottommost.push_back(place.bottommost);
  return are_bottommost;
}

void ExpectNear(const std::vector<double>& chances, const std::vector<double>& expected) {
  ASSERT_EQ(chances.size(), expected.size());
  for (std::size_t i = 0; i < chances.size(); ++i) {
    EXPECT_NEAR(chances[i], expected[i], 1e-9) << "table " << i;
  }
}

std::string Byte(int value) { return {static_cast<char>(value)}; }

TEST(ChancesAsked, FollowFromWhereTheKeysLie) {
  // A quarter of the deepest level's keys lies between the two tables of level 1.
  const std::vector<TableLocation> tables = {
      Table(1, Byte(0), Byte(64)), Table(1, Byte(128), Byte(192)), Table(2, Byte(0), Byte(128)),
      Table(2, Byte(130), Byte(194))};
  const std::vector<double> chances = Chances(tables, {0, 0, 60, 40});
  ExpectNear(chances, {0.3, 0.4 * 62 / 64, 0.6, 0.4});
  // With their own keys, which lie in their ranges.
  ExpectNear(Chances(tables, {30, 70, 0, 0}), {0.3, 0.7, 0.3, 0.7 * 62 / 64});
}

TEST(ChancesAsked, OfLevel0) {
  std::vector<TableLocation> tables = {Table(0, Byte(0), Byte(100), 9),
                                       Table(0, Byte(50), Byte(100), 8),
                                       Table(0, Byte(0), Byte(10), 7)};
  // RocksDB does not compare the ranges of three tables that are alone.
  ExpectNear(Chances(tables, {0, 0, 10}), {1.0, 1.0, 1.0});
  tables.push_back(Table(6, Byte(0), Byte(200)));
  ExpectNear(Chances(tables, {0, 0, 0, 10}), {0.5, 0.25, 0.05, 1.0});
}

TEST(ChancesAsked, WithoutAKnownOrder) {
  std::vector<TableLocation> tables = {Table(0, Byte(0), Byte(1)), Table(1, Byte(0), Byte(1)),
                                       Table(1, Byte(2), Byte(3))};
  for (TableLocation& table : tables) table.comparator = "own";
  ExpectNear(Chances(tables, {5, 10, 30}), {1.0, 0.25, 0.75});
}

TEST(ChancesAsked, InReverseOrder) {
  std::vector<TableLocation> tables = {Table(1, Byte(100), Byte(50)), Table(2, Byte(200), Byte(0))};
  for (TableLocation& table : tables) {
    table.comparator = rocksdb::ReverseBytewiseComparator()->Name();
  }
  ExpectNear(Chances(tables, {0, 10}), {0.25, 1.0});
  EXPECT_EQ(AreBottommost(tables), (std::vector<bool>{false, true}));
}

// Otherwise nearly all numbers from 0000 to 1999 would lie close to 0999 or to 1999.
TEST(ChancesAsked, OfNumbersInText) {
  std::vector<TableLocation> tables = {Table(1, "user1000#", "user1199#"),
                                       Table(2, "user0000#", "user1999#")};
  ExpectNear(Chances(tables, {0, 10}), {199.0 / 1999.0, 1.0});
  tables = {Table(1, "80", "c0"), Table(2, "00", "ff")};
  ExpectNear(Chances(tables, {0, 10}), {64.0 / 255.0, 1.0});
}

TEST(ChancesAsked, OfATableOfOneKey) {
  const std::vector<TableLocation> tables = {Table(1, "k", "k"), Table(2, "a", "k"),
                                             Table(2, "l", "z")};
  ExpectNear(Chances(tables, {1, 0, 0}), {1.0, 1.0, 0.0});
}

TEST(ChancesAsked, AreCountedForGivenKeys) {
  const std::vector<TableLocation> tables = {Table(1, "b", "d"), Table(2, "a", "c"),
                                             Table(2, "e", "g")};
  ExpectNear(Chances(tables, {1, 1, 1}, {"bb", "cc", "d", "f"}), {0.75, 0.25, 0.25});
}

TEST(AreBottommost, ByRangesAndInLevel0ByAge) {
  const std::vector<TableLocation> tables = {Table(0, "a", "z", 5), Table(0, "a", "z", 9),
                                             Table(0, "x", "z", 7)};
  EXPECT_EQ(AreBottommost(tables), (std::vector<bool>{true, false, false}));
  std::vector<TableLocation> more = tables;
  more.push_back(Table(3, "a", "c"));
  more.push_back(Table(3, "x", "z"));
  more.push_back(Table(2, "b", "c"));
  more.push_back(Table(2, "d", "w"));  // between the two of level 3
  EXPECT_EQ(AreBottommost(more), (std::vector<bool>{false, false, false, true, true, false, true}));
}

TEST(AreBottommost, NotWithOneKeyInTheRangeOfADeeperTable) {
  const std::vector<TableLocation> tables = {Table(1, "a", "c"), Table(1, "x", "z"),
                                             Table(2, "c", "f"), Table(2, "t", "x")};
  EXPECT_EQ(AreBottommost(tables), (std::vector<bool>{false, false, true, true}));
}

// The command counts what RocksDB asks.
TEST(Lookups, OfAFileWeighHotRanges) {
  const TemporaryDirectory directory;
  {
    const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path("db"));
    PutAndFlush(*db, 1000);
    MoveDown(*db, 2);
    PutAndFlush(*db, 100, "value", 500);
    MoveDown(*db, 1);
  }
  const auto asked = [&](const std::string& arguments) {
    std::vector<double> levels;
    const auto report =
        testing::AskToolForJson("inspect " + arguments + " " + directory.path("db"));
    for (const auto& level : report.at("levels")) levels.push_back(level.at("asked"));
    return levels;
  };
  std::ofstream hot(directory.path("hot"));
  for (std::uint64_t i = 0; i < 100; ++i) {
    hot << KeyOf(2 * (i < 40 ? 520 + i : i) + 1) << "\n";
  }
  hot.close();
  ExpectNear(asked("--lookups " + directory.path("hot")), {0.4, 1.0});
  EXPECT_NEAR(asked("").front(), 200.0 / 1100.0, 0.02);
}

}  // namespace
}  // namespace exactbloom::tool
