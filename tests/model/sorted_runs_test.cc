// Which tables a lookup asks, and which lie at the bottom, from their ranges.
#include "src/model/sorted_runs.h"

#include <gtest/gtest.h>

namespace exactbloom::model {
namespace {

Table Make(int level, const std::string& smallest, const std::string& largest,
           std::uint64_t sequence = 0) {
  return {level, smallest, largest, sequence, 0};
}

int CompareReversed(std::string_view one, std::string_view other) { return other.compare(one); }

std::vector<double> Chances(const std::vector<Table>& tables, const std::vector<double>& keys,
                            const std::vector<std::string>& lookups = {},
                            KeyOrder order = CompareBytes, double present = 0.0) {
  SortedRuns runs(tables, keys, order);
  runs.SetLookups(lookups);
  std::vector<double> chances;
  for (std::size_t i = 0; i < tables.size(); ++i) chances.push_back(runs.Ask(i).Mixed(present));
  return chances;
}

std::vector<bool> AreBottommost(const std::vector<Table>& tables, KeyOrder order = CompareBytes) {
  const SortedRuns runs(tables, std::vector<double>(tables.size(), 1.0), order);
  std::vector<bool> are_bottommost;
  for (std::size_t i = 0; i < tables.size(); ++i) are_bottommost.push_back(runs.IsBottommost(i));
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
  const std::vector<Table> tables = {Make(1, Byte(0), Byte(64)), Make(1, Byte(128), Byte(192)),
                                     Make(2, Byte(0), Byte(128)), Make(2, Byte(130), Byte(194))};
  const std::vector<double> chances = Chances(tables, {0, 0, 60, 40});
  ExpectNear(chances, {0.3, 0.4 * 62 / 64, 0.6, 0.4});
  // With their own keys, which lie in their ranges.
  ExpectNear(Chances(tables, {30, 70, 0, 0}), {0.3, 0.7, 0.3, 0.7 * 62 / 64});
}

TEST(ChancesAsked, OfLevel0) {
  std::vector<Table> tables = {Make(0, Byte(0), Byte(100), 9), Make(0, Byte(50), Byte(100), 8),
                               Make(0, Byte(0), Byte(10), 7)};
  // RocksDB does not compare the ranges of three tables that are alone.
  ExpectNear(Chances(tables, {0, 0, 10}), {1.0, 1.0, 1.0});
  tables.push_back(Make(6, Byte(0), Byte(200)));
  ExpectNear(Chances(tables, {0, 0, 0, 10}), {0.5, 0.25, 0.05, 1.0});
}

TEST(ChancesAsked, WithoutAKnownOrder) {
  const std::vector<Table> tables = {Make(0, Byte(0), Byte(1)), Make(1, Byte(0), Byte(1)),
                                     Make(1, Byte(2), Byte(3))};
  ExpectNear(Chances(tables, {5, 10, 30}, {}, nullptr), {1.0, 0.25, 0.75});
  ExpectNear(Chances(tables, {0, 0, 0}, {}, nullptr), {1.0, 1.0, 1.0});
}

TEST(ChancesAsked, InReverseOrder) {
  const std::vector<Table> tables = {Make(1, Byte(100), Byte(50)), Make(2, Byte(200), Byte(0))};
  ExpectNear(Chances(tables, {0, 10}, {}, CompareReversed), {0.25, 1.0});
  EXPECT_EQ(AreBottommost(tables, CompareReversed), (std::vector<bool>{false, true}));
}

// Otherwise nearly all numbers from 0000 to 1999 would lie close to 0999 or to 1999.
TEST(ChancesAsked, OfNumbersInText) {
  std::vector<Table> tables = {Make(1, "user1000#", "user1199#"),
                               Make(2, "user0000#", "user1999#")};
  ExpectNear(Chances(tables, {0, 10}), {199.0 / 1999.0, 1.0});
  tables = {Make(1, "80", "c0"), Make(2, "00", "ff")};
  ExpectNear(Chances(tables, {0, 10}), {64.0 / 255.0, 1.0});
}

TEST(ChancesAsked, OfATableOfOneKey) {
  const std::vector<Table> tables = {Make(1, "k", "k"), Make(2, "a", "k"), Make(2, "l", "z")};
  ExpectNear(Chances(tables, {1, 0, 0}), {1.0, 1.0, 0.0});
}

TEST(ChancesAsked, AreCountedForGivenKeys) {
  const std::vector<Table> tables = {Make(1, "b", "d"), Make(2, "a", "c"), Make(2, "e", "g")};
  ExpectNear(Chances(tables, {1, 1, 1}, {"bb", "cc", "d", "f"}), {0.75, 0.25, 0.25});
}

// RocksDB does not compare keys with the ranges of three tables that are alone.
TEST(ChancesAsked, OfGivenKeysAreOneWithAFewTablesOfLevel0) {
  std::vector<Table> tables = {Make(0, "a", "c", 2), Make(0, "b", "d", 1)};
  ExpectNear(Chances(tables, {1, 1}, {"a", "d", "e", "f"}), {1.0, 1.0});
  tables.push_back(Make(1, "a", "z"));
  ExpectNear(Chances(tables, {1, 1, 1}, {"a", "d", "e", "f"}), {0.25, 0.25, 1.0});
}

// A present key asks the newer runs whose range has it: a lookup of one of the 90 keys below asks
// level 1 where its range is, and none asks the last run in vain.
TEST(ChancesAsked, ByPresentKeys) {
  const std::vector<Table> tables = {Make(1, Byte(0), Byte(100)), Make(2, Byte(0), Byte(200))};
  ExpectNear(Chances(tables, {10, 90}, {}, CompareBytes, 1.0), {0.45, 0.0});
  ExpectNear(Chances(tables, {10, 90}, {}, CompareBytes, 0.8), {0.8 * 0.45 + 0.2 * 0.55, 0.2});
  ExpectNear(Chances(tables, {10, 90}, {}, nullptr, 1.0), {0.9, 0.0});
  const std::vector<Table> few = {Make(0, Byte(0), Byte(9), 2), Make(0, Byte(50), Byte(60), 1)};
  ExpectNear(Chances(few, {10, 30}, {}, CompareBytes, 1.0), {0.75, 0.0});
}

TEST(SortedRuns, FindTheTableOfAKey) {
  const SortedRuns runs({Make(2, "e", "g"), Make(2, "a", "c"), Make(0, "b", "z", 5)}, {1, 1, 1},
                        CompareBytes);
  EXPECT_EQ(runs.Runs(), (std::vector<std::vector<std::size_t>>{{2}, {1, 0}}));
  EXPECT_EQ(runs.Find(1, "a"), 1U);
  EXPECT_EQ(runs.Find(1, "g"), 0U);
  EXPECT_EQ(runs.Find(1, "d"), std::nullopt);
  EXPECT_EQ(runs.Find(1, "h"), std::nullopt);
  EXPECT_EQ(runs.Find(0, "a"), std::nullopt);
}

// As tables have that were ingested together.
TEST(SortedRuns, OfLevel0WithOneSequenceNumberAreInTheOrderOfTheirFiles) {
  std::vector<Table> tables = {Make(0, "a", "z", 5), Make(0, "b", "y", 5), Make(0, "c", "x", 4)};
  for (std::size_t i = 0; i < tables.size(); ++i) tables[i].number = 7 + i;
  const SortedRuns runs(tables, {1, 1, 1}, CompareBytes);
  EXPECT_EQ(runs.Runs(), (std::vector<std::vector<std::size_t>>{{1}, {0}, {2}}));
}

TEST(AreBottommost, ByRangesAndInLevel0ByAge) {
  const std::vector<Table> tables = {Make(0, "a", "z", 5), Make(0, "a", "z", 9),
                                     Make(0, "x", "z", 7)};
  EXPECT_EQ(AreBottommost(tables), (std::vector<bool>{true, false, false}));
  std::vector<Table> more = tables;
  more.push_back(Make(3, "a", "c"));
  more.push_back(Make(3, "x", "z"));
  more.push_back(Make(2, "b", "c"));
  more.push_back(Make(2, "d", "w"));  // between the two of level 3
  EXPECT_EQ(AreBottommost(more), (std::vector<bool>{false, false, false, true, true, false, true}));
}

TEST(AreBottommost, InLevel0TheOldestOnlyWhereverItsKeysLie) {
  const std::vector<Table> tables = {Make(0, "a", "c", 9), Make(0, "x", "z", 5)};
  EXPECT_EQ(AreBottommost(tables), (std::vector<bool>{false, true}));
}

TEST(AreBottommost, NotWithOneKeyInTheRangeOfADeeperTable) {
  const std::vector<Table> tables = {Make(1, "a", "c"), Make(1, "x", "z"), Make(2, "c", "f"),
                                     Make(2, "t", "x")};
  EXPECT_EQ(AreBottommost(tables), (std::vector<bool>{false, false, true, true}));
}

}  // namespace
}  // namespace exactbloom::model
