// Which tables a lookup asks, and which lie at the bottom, from their ranges.
#include "src/model/sorted_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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

// "k0" is as far from "k" as a fraction that ends with a zero from the one without.
TEST(ChancesAsked, OfATableWhoseKeysAreOneNumber) {
  const std::vector<Table> tables = {Make(1, "k", "k0"), Make(2, "a", "j")};
  ExpectNear(Chances(tables, {4, 0}), {1.0, 0.0});
}

TEST(ChancesAsked, OfDigitsWhereAnotherKeyHasNone) {
  const std::vector<Table> tables = {Make(1, "5", "7"), Make(2, "!", "9")};
  ExpectNear(Chances(tables, {0, 10}), {2.0 / ('9' - '!'), 1.0});
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

TEST(ChancesAsked, OfGivenKeysNeedAKnownOrder) {
  const std::vector<Table> tables = {Make(1, "b", "d"), Make(1, "e", "g")};
  ExpectNear(Chances(tables, {1, 3}, {"bb", "cc"}, nullptr), {0.25, 0.75});
}

TEST(SizeClasses, AreOfRunsThatDifferByLessThanATenth) {
  EXPECT_EQ(SizeClass(0.0), 0);
  double smallest = 0.0;
  for (double keys = 1.0; keys < 100'000.0; ++keys) {
    const bool is_next = SizeClass(keys) != SizeClass(smallest);
    if (is_next) smallest = keys;
    EXPECT_GE(SizeClass(keys), SizeClass(keys - 1.0));
    EXPECT_LT(keys, 1.1 * smallest);
    EXPECT_EQ(SizeClass(0, keys), SizeClass(keys));
    EXPECT_EQ(SizeClass(1, keys), 0);
  }
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

// As where the versions of a key are in several tables.
TEST(SortedRuns, OfTablesThatBeginWithOneKeyAreInTheOrderOfTheirFiles) {
  std::vector<Table> tables = {Make(1, "k", "z"), Make(1, "k", "k"), Make(1, "a", "k")};
  for (std::size_t i = 0; i < tables.size(); ++i) tables[i].number = 9 - i;
  const SortedRuns runs(tables, {1, 1, 1}, CompareBytes);
  EXPECT_EQ(runs.Runs(), (std::vector<std::vector<std::size_t>>{{2, 1, 0}}));
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

TEST(AreBottommost, OfTheLastRunOnlyWithoutAKnownOrder) {
  const std::vector<Table> tables = {Make(1, "a", "c"), Make(2, "x", "y"), Make(2, "d", "e")};
  EXPECT_EQ(AreBottommost(tables, nullptr), (std::vector<bool>{false, true, true}));
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

TEST(KeyScale, HasTheBaseOfTheSymbolsOfAPosition) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += Byte(byte);
  for (const std::string& symbols :
       {std::string("0123456789"), std::string("0123456789abcdef"), std::string("0123456789ABCDEF"),
        std::string("abcdefghijklmnopqrstuvwxyz"), bytes}) {
    SCOPED_TRACE(symbols.size());
    const std::string common(40, 'k');
    std::vector<std::string> keys;
    for (const char first : symbols) {
      for (const char second : symbols) keys.push_back(common + first + second);
    }
    KeyScale scale;
    for (const std::string& key : keys) scale.Look(key);
    const KeyScale::Range range = scale.RangeOf(keys.front(), keys.back());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      KeyScale::Place place(keys[i]);
      const double expected = static_cast<double>(i) / static_cast<double>(keys.size() - 1);
      EXPECT_NEAR(scale.PartBefore(place, range), expected, 1e-12) << i;
    }
  }
}

TEST(KeyScale, TakesAKeyThatEndsForOneWithZeros) {
  KeyScale scale;
  for (const char* key : {"1", "15", "2"}) scale.Look(key);
  KeyScale::Place place("15");
  EXPECT_NEAR(scale.PartBefore(place, scale.RangeOf("1", "2")), 0.5, 1e-12);
}

TEST(KeyScale, KnowsThePositionsOfLongerKeysAfterAShortOne) {
  KeyScale scale;
  for (const char* key : {"5z", "5", "50", "55"}) scale.Look(key);
  KeyScale::Place place("55");
  EXPECT_NEAR(scale.PartBefore(place, scale.RangeOf("50", "5z")), 5.0 / ('z' - '0'), 1e-12);
}

TEST(KeyScale, PlacesWhatIsOutsideARangeAtItsEnd) {
  KeyScale scale;
  for (const char* key : {"k2", "k4", "k6", "k8"}) scale.Look(key);
  const KeyScale::Range range = scale.RangeOf("k4", "k6");
  KeyScale::Place before("k2");
  KeyScale::Place behind("k8");
  EXPECT_EQ(scale.PartBefore(before, range), 0.0);
  EXPECT_EQ(scale.PartBefore(behind, range), 1.0);
}

// Of two bytes that are neither digits nor letters, so that a key's number is that of its bytes.
class RandomTree {
 public:
  explicit RandomTree(std::mt19937& random) : random_(random), is_reversed_(Below(2) == 1) {
    for (const int first : {128, 129, 131}) {
      for (const int second : {128, 140, 200, 255}) keys_.push_back(Byte(first) + Byte(second));
    }
    if (is_reversed_) std::reverse(keys_.begin(), keys_.end());
    for (std::uint64_t i = Below(5); i > 0; --i) AddRange(0, Below(keys_.size()), keys_.size());
    const int levels = Below(4) == 0 ? 0 : 2;  // below level 0
    for (int level = 1; level <= levels; ++level) {
      for (std::size_t next = Below(4); next < keys_.size(); next += 1 + Below(4)) {
        next = AddRange(level, next, std::min(next + 4, keys_.size()));
      }
    }
    std::shuffle(tables_.begin(), tables_.end(), random_);
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      counts_.push_back(static_cast<double>(1 + Below(9)));
    }
    for (const double count : counts_) all_ += count;
  }

  KeyOrder Order() const { return is_reversed_ ? CompareReversed : CompareBytes; }
  const std::vector<std::string>& Keys() const { return keys_; }
  const std::vector<Table>& Tables() const { return tables_; }
  const std::vector<double>& Counts() const { return counts_; }

  bool Has(const Table& table, const std::string& key) const {
    return Number(table.smallest) <= Number(key) && Number(key) <= Number(table.largest);
  }

  static bool IsOlder(const Table& one, const Table& than) {
    if (one.level != than.level) return one.level > than.level;
    return one.level == 0 && one.largest_sequence < than.largest_sequence;
  }

  bool IsBottommost(const Table& table) const {
    return std::none_of(tables_.begin(), tables_.end(), [&](const Table& other) {
      const bool overlaps = Has(other, table.smallest) || Has(table, other.smallest);
      return IsOlder(other, table) && (table.level == 0 || overlaps);
    });
  }

  bool AreAllAsked() const {
    return tables_.size() <= 3 && std::all_of(tables_.begin(), tables_.end(),
                                              [](const Table& each) { return each.level == 0; });
  }

  Asked Ask(const Table& table) const {
    Asked asked{0.0, 0.0};
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const double part = AreAllAsked() ? 1.0 : PartWithin(tables_[i], table);
      asked.absent += part * counts_[i] / all_;
      if (IsOlder(tables_[i], table)) asked.present += part * counts_[i] / all_;
    }
    return asked;
  }

  double Counted(const Table& table, const std::vector<std::string>& lookups) const {
    const auto found = std::count_if(lookups.begin(), lookups.end(),
                                     [&](const std::string& key) { return Has(table, key); });
    return AreAllAsked() ? 1.0 : static_cast<double>(found) / static_cast<double>(lookups.size());
  }

 private:
  std::uint64_t Below(std::uint64_t end) { return random_() % end; }

  double Number(const std::string& key) const {
    const int number =
        256 * static_cast<unsigned char>(key[0]) + static_cast<unsigned char>(key[1]);
    return is_reversed_ ? -number : number;
  }

  // The part of a table's keys, spread evenly over its range, in the range of another.
  double PartWithin(const Table& table, const Table& range) const {
    if (table.smallest == table.largest) return Has(range, table.smallest) ? 1.0 : 0.0;
    const double begin = std::max(Number(table.smallest), Number(range.smallest));
    const double end = std::min(Number(table.largest), Number(range.largest));
    return std::max(0.0, end - begin) / (Number(table.largest) - Number(table.smallest));
  }

  // Adds a table from the key at a place to one before the end; returns the place of that one.
  std::size_t AddRange(int level, std::size_t begin, std::size_t end) {
    const std::size_t last = begin + Below(end - begin);
    tables_.push_back(Make(level, keys_[begin], keys_[last], 100 + tables_.size()));
    return last;
  }

  std::mt19937& random_;
  bool is_reversed_;
  std::vector<std::string> keys_;
  std::vector<Table> tables_;
  std::vector<double> counts_;
  double all_ = 0.0;
};

TEST(SortedRuns, OfRandomTreesAreWhatTheRangesOfTheirTablesSay) {
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    SCOPED_TRACE(i);
    const RandomTree tree(random);
    SortedRuns runs(tree.Tables(), tree.Counts(), tree.Order());
    EXPECT_EQ(runs.AreAllAsked(), tree.AreAllAsked());
    for (std::size_t t = 0; t < tree.Tables().size(); ++t) {
      const Table& table = tree.Tables()[t];
      EXPECT_EQ(runs.IsBottommost(t), tree.IsBottommost(table));
      EXPECT_NEAR(runs.Ask(t).absent, tree.Ask(table).absent, 1e-9);
      EXPECT_NEAR(runs.Ask(t).present, tree.Ask(table).present, 1e-9);
    }
    const std::vector<std::string> lookups(tree.Keys().begin() + 3, tree.Keys().end());
    runs.SetLookups(lookups);
    for (std::size_t t = 0; t < tree.Tables().size(); ++t) {
      const Table& table = tree.Tables()[t];
      EXPECT_NEAR(runs.Ask(t).absent, tree.Counted(table, lookups), 1e-9);
      EXPECT_NEAR(runs.Ask(t).present, tree.Ask(table).present, 1e-9);
    }
    for (std::size_t run = 0; run < runs.Runs().size(); ++run) {
      for (const std::string& key : tree.Keys()) {
        std::optional<std::size_t> expected;
        for (const std::size_t t : runs.Runs()[run]) {
          if (tree.Has(tree.Tables()[t], key)) expected = t;
        }
        EXPECT_EQ(runs.Find(run, key), expected);
      }
    }
  }
}

}  // namespace
}  // namespace exactbloom::model
