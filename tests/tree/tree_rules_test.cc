// The rules of the tree of a column family, each by itself.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "tree_world.h"

namespace exactbloom::tree {
namespace {

// Events of a job that RocksDB never ends: a thread runs one job at a time. Another thread may have
// committed the flush, so a listing decides.
TEST(TreeRules, TheTablesOfALostFlushStayUntilAListingDecides) {
  for (const bool is_listed : {false, true}) {
    World world;
    world.tables.BeginListing();
    world.tree.BeginJob({1, true, 0, 5}, 0, {});
    world.tree.StartTable(1, 1);
    Reserve(world.tables, 1, 125);
    world.tree.BeginJob({2, true, 0, 5}, 0, {});
    EXPECT_FALSE(world.tree.IsRunning(1));
    EXPECT_TRUE(world.tables.IsStale());
    EXPECT_EQ(world.tree.All().filter_bytes, 125U);
    if (is_listed) world.version[1] = 0;
    world.List();
    EXPECT_EQ(world.FindDifference(), "");
  }
}

// The table is listed, and nobody has read its properties.
void ExpectKnownOnceListed(World& world, std::uint64_t number, int level) {
  world.version = {{number, level}};
  world.tables.BeginListing();
  world.tables.TakeOver({number, level, TableFacts{99, 0, 0, 0, Source::kAssumed}}, world.tree,
                        /*is_being_compacted=*/false);
  world.Sweep();
  EXPECT_EQ(world.FindDifference(), "");
}

// The end of a flush may be told before another thread has committed it.
TEST(TreeRules, WhatIsKnownOfATableOutlivesAListingWithoutIt) {
  World world;
  world.tree.BeginJob({1, true, 0, 5}, 0, {});
  world.tree.EndJob(1, {}, FilesOf({1}, 0));
  world.List();
  EXPECT_EQ(world.tree.All().filter_bytes, 0U);
  ExpectKnownOnceListed(world, 1, 0);
}

// The version may be installed before what the job fails by.
TEST(TreeRules, WhatIsKnownOfATableOutlivesItsFailedJob) {
  World world;
  Begin(world, {{1, 0}});
  world.tree.BeginJob({1, false, 1, 5}, 0, FilesOf({1}, 0));
  world.tree.StartTable(2, 1);
  world.tree.FinishTable(2, 1, FactsOf(2));
  world.tree.CancelJob(1);
  ExpectKnownOnceListed(world, 2, 1);
}

// It was not committed when the tables were listed.
TEST(TreeRules, AFlushThatWasTakenForLostMayEnd) {
  World world;
  world.tree.BeginJob({1, true, 0, 5}, 0, {});
  world.tree.StartTable(1, 1);
  Reserve(world.tables, 1, 125);
  world.tree.BeginJob({2, true, 0, 5}, 0, {});
  world.List();
  world.tree.EndJob(1, {}, FilesOf({1}, 0));
  world.version[1] = 0;
  EXPECT_EQ(world.FindDifference(), "");
}

TEST(TreeRules, AReservationCountsUntilTheTableIsWrittenOrDropped) {
  World world;
  world.tree.StartTable(1, 1);
  world.tables.Reserve(1, Amount(200, 200), true);
  EXPECT_EQ(world.tree.All().filter_bytes, 200U);
  EXPECT_EQ(world.tree.All().floor_bytes, 200U);
  world.tables.Reserve(1, Amount(100), true);
  EXPECT_EQ(world.tree.All().filter_bits, 800U);
  world.tree.FinishTable(1, 1, FactsOf(1));
  world.tables.Reserve(1, Amount(100), true);
  EXPECT_EQ(world.tree.All().filter_bytes, 125U);
  world.tables.Drop(1);
  world.tables.Reserve(1, Amount(100), true);
  EXPECT_EQ(world.tree.All().filter_bytes, 0U);
}

std::uint64_t KeysOf(const Tree& tree) {
  std::uint64_t keys = 0;
  for (const auto& [place, sum] : tree.ListAll()) keys += sum.keys;
  return keys;
}

NamedFile Listed(std::uint64_t number, int level, std::uint64_t keys) {
  return {number, level, TableFacts{keys, 0, 0, 0, Source::kAssumed}};
}

//   read   tables that are being compacted
void List(World& world, const NamedFiles& listing, const std::set<std::uint64_t>& read = {}) {
  world.tables.BeginListing();
  for (const NamedFile& file : listing) {
    world.tables.TakeOver(file, world.tree, read.count(file.number) != 0);
  }
  world.Sweep();
}

// A compaction service's tables come without properties. They count as their inputs do, until they
// are read.
TEST(TreeRules, TablesThatNothingIsToldOfCountAsTheirInputs) {
  World world;
  List(world, {Listed(1, 0, 100), Listed(2, 0, 300)});
  const NamedFiles inputs = {{1, 0, TableFacts{100, 125, 0, 0}},
                             {2, 0, TableFacts{300, 375, 0, 0}}};
  world.tree.BeginJob({1, false, 1, 5}, 0, inputs);
  EXPECT_FALSE(world.tables.IsStale());
  world.tree.EndJob(1, inputs, {{3, 1, {}}, {4, 1, {}}});
  EXPECT_TRUE(world.tables.IsStale());
  EXPECT_EQ(KeysOf(world.tree), 400U);
  EXPECT_EQ(world.tree.All().filter_bytes, 500U);
  NamedFiles listing = {Listed(3, 1, 150), Listed(4, 1, 350)};
  List(world, listing);
  EXPECT_EQ(KeysOf(world.tree), 400U);
  for (NamedFile& file : listing) file.facts->source = Source::kProperties;
  List(world, listing);
  EXPECT_EQ(KeysOf(world.tree), 500U);
}

// The event by which they are finished may be lost.
TEST(TreeRules, AnOutputWithoutPropertiesAsksForAListing) {
  for (const bool is_told : {false, true}) {
    World world;
    Begin(world, {{1, 0}});
    world.tree.BeginJob({1, false, 1, 5}, 0, FilesOf({1}, 0));
    world.tree.StartTable(2, 1, 1);
    if (is_told) world.tree.FinishTable(2, 1, FactsOf(2));
    world.tree.EndJob(1, FilesOf({1}, 0), is_told ? FilesOf({2}, 1) : NamedFiles{{2, 1, {}}});
    EXPECT_EQ(world.tables.IsStale(), !is_told);
  }
}

// The first listing has tables that the tree has never heard of.
TEST(TreeRules, ATableThatIsDeletedWhileItIsListedStaysGone) {
  World world;
  world.tables.BeginListing();
  world.tables.Drop(1);
  world.tables.TakeOver(Listed(1, 0, 100), world.tree, false);
  EXPECT_EQ(world.tree.All().filter_bytes, 0U);
}

// An ingested table that is deleted before a listing is not counted for ever.
TEST(TreeRules, AnIngestedTableCountsUntilItIsListedOrDeleted) {
  for (const bool is_deleted : {false, true}) {
    World world;
    world.List();
    world.tree.FinishTable(1, kNoJob, FactsOf(1));
    EXPECT_TRUE(world.tables.IsStale());
    EXPECT_EQ(world.tree.All().filter_bytes, 125U);
    EXPECT_EQ(KeysOf(world.tree), 0U) << "it has no level";
    if (is_deleted) world.tables.Drop(1);
    if (!is_deleted) world.version[1] = 6;
    world.List();
    EXPECT_EQ(world.FindDifference(), "");
  }
  // The event of the deletion is lost.
  World world;
  world.tree.FinishTable(1, kNoJob, FactsOf(1));
  world.List();
  EXPECT_EQ(world.tree.All().filter_bytes, 0U);
  // It came when the listing had begun.
  world.tables.BeginListing();
  world.tree.FinishTable(2, kNoJob, FactsOf(2));
  world.Replace({});
  EXPECT_EQ(world.tree.All().filter_bytes, 250U);
}

// CompactFiles fires no events of its job.
TEST(TreeRules, WhatCompactFilesWritesIsLiveAtOnceAndSurvivesListingsWhileItRuns) {
  for (const bool fails : {false, true}) {
    World world;
    const NamedFiles inputs = FilesOf({1, 2}, 0);
    List(world, inputs);
    EXPECT_FALSE(world.tables.IsStale());
    world.tree.StartTable(3, 9, 1);
    world.tree.FinishTable(3, 9, FactsOf(3));
    EXPECT_TRUE(world.tables.IsStale());
    List(world, inputs, {1, 2});
    EXPECT_TRUE(world.tables.IsStale()) << "it is not listed";
    EXPECT_EQ(KeysOf(world.tree), 600U);
    if (fails) {
      world.version = {{1, 0}, {2, 0}};
    } else {
      world.tables.Drop(1);
      world.tables.Drop(2);
      world.version = {{3, 1}};
    }
    for (int i = 0; i < 2; ++i) world.List();
    EXPECT_EQ(world.FindDifference(), "");
    EXPECT_FALSE(world.tables.IsStale());
    world.version = {};
    world.List();
    EXPECT_EQ(world.FindDifference(), "");
  }
}

// A listing marks the inputs of CompactFiles; without one they are those of its level.
TEST(TreeRules, TablesOfCompactFilesBelongToTheRunOfTheirLevel) {
  World world;
  const auto facts = [](std::uint64_t keys) { return TableFacts{keys, keys, 0, 0}; };
  const NamedFiles listing = {
      {1, 0, facts(1'000)}, {2, 5, facts(20'000)}, {3, 6, facts(100'000)}, {4, 6, facts(100'000)}};
  List(world, listing);
  TreeView view = world.tree.For(9, 5, 100);
  EXPECT_EQ(view.own_keys, 20'000.0);
  EXPECT_EQ(view.other_runs.size(), 2U);
  world.tree.BeginJob({7, false, 6, 7}, 6, {{3, 6, {}}});
  List(world, listing, {2, 3});
  view = world.tree.For(9, 6, 100);
  EXPECT_EQ(view.keys_to_write, 20'000.0);
  EXPECT_EQ(view.own_keys, 220'000.0);
  EXPECT_EQ(view.other_runs.size(), 1U);
  world.tree.StartTable(5, 9, 6);
  world.tree.FinishTable(5, 9, facts(15'000));
  view = world.tree.For(9, 6, 100);
  EXPECT_EQ(view.keys_to_write, 5'000.0);
  EXPECT_EQ(view.own_keys, 220'000.0);
}

// CompactRange with change_level moves tables without an event.
TEST(TreeRules, AnInputOutsideTheLevelsOfItsCompactionAsksForAListing) {
  const auto is_stale = [](int known_level, int first_level) {
    World world;
    List(world, {Listed(1, known_level, 100)});
    world.tree.BeginJob({1, false, 3, 5}, first_level, {{1, first_level, {}}});
    return world.tables.IsStale();
  };
  EXPECT_FALSE(is_stale(2, 2));
  EXPECT_TRUE(is_stale(1, 2)) << "it was moved down";
  EXPECT_TRUE(is_stale(4, 2)) << "it was moved up";
}

// The ends of two moves may be told in the other order.
TEST(TreeRules, ATableMovesFromTheInputLevelOfItsJobOnly) {
  World world;
  Begin(world, {{1, 1}});
  world.tree.EndJob(8, FilesOf({1}, 2), FilesOf({1}, 3));
  world.tree.EndJob(7, FilesOf({1}, 1), FilesOf({1}, 2));
  world.version[1] = 2;
  EXPECT_EQ(world.FindDifference(), "");
  EXPECT_TRUE(world.tables.IsStale());
  world.tree.EndJob(9, FilesOf({1}, 1), FilesOf({1}, 2));
  EXPECT_EQ(world.FindDifference(), "");
  // The input level is not known.
  world.tree.EndJob(10, FilesOf({1}, 4), FilesOf({1}, 4));
  world.version[1] = 4;
  EXPECT_EQ(world.FindDifference(), "");
}

// Of universal compaction, whose inputs may be in the output level already.
TEST(TreeRules, AJobThatMovesTablesDeletesNone) {
  World world;
  Begin(world, {{1, 0}, {2, 6}});
  world.tree.BeginJob({1, false, 6, 5}, 0, {{1, 0, FactsOf(1)}, {2, 6, FactsOf(2)}});
  world.tree.EndJob(1, {{1, 0, FactsOf(1)}, {2, 6, FactsOf(2)}}, FilesOf({1}, 6));
  world.version[1] = 6;
  EXPECT_EQ(world.FindDifference(), "");
  EXPECT_FALSE(world.tables.IsStale());
}

// The partitions of a flush are sized for as many keys as recent flushes had, the last one most.
TEST(TreeRules, RecentFlushesTellTheKeysOfTheNext) {
  World world;
  std::vector<std::uint64_t> keys;
  for (const std::uint64_t written : {100U, 300U, 600U}) {
    const auto job = static_cast<JobId>(written);
    world.tree.BeginJob({job, true, 0, 5}, 0, {});
    world.tree.EndJob(job, {}, {{written, 0, TableFacts{written, written, 0, 0}}});
    keys.push_back(world.tree.FlushKeys());
  }
  EXPECT_EQ(keys, (std::vector<std::uint64_t>{100, 200, 400}));
}

// DeleteFilesInRange fires no events of a job.
TEST(TreeRules, ALiveTableThatIsDeletedAsksForAListingUnlessAJobReadsIt) {
  World world;
  Begin(world, {{1, 0}, {2, 0}, {4, 0}});
  world.tree.BeginJob({1, false, 1, 5}, 0, {{1, 0, {}}, {4, 0, {}}});
  world.tables.Drop(4);
  world.tree.EndJob(1, {{1, 0, {}}, {4, 0, {}}}, {{3, 1, FactsOf(3)}});
  world.tables.Drop(1);
  EXPECT_TRUE(world.tables.IsStale()) << "nobody has announced 3";
  world.List();
  EXPECT_FALSE(world.tables.IsStale());
  world.tables.Drop(2);
  EXPECT_TRUE(world.tables.IsStale());
}

// The division counts what it gave, or what the bytes of a filter tell without trailer and
// rounding.
TEST(TreeRules, TheDivisionCountsNeitherTrailersNorRounding) {
  const auto bits_of = [](const TableFacts& facts) {
    World world;
    world.tree.SetOptions({kBits, true});
    world.tree.FinishTable(1, kNoJob, facts);
    return world.tree.All().filter_bits;
  };
  EXPECT_EQ(bits_of({17, 84, 0, 20}), 170U);
  EXPECT_EQ(bits_of({250, 340, 0, 20}), 2'500U);
  EXPECT_EQ(bits_of({1'000, 1'270, 0, 20}), 10'000U);
  EXPECT_EQ(bits_of({1'000, 1'770, 0, 520}), 10'000U);
  World world;
  world.tree.StartTable(1, 1);
  Reserve(world.tables, 1, 100);
  world.tree.FinishTable(1, 1, {17, 76, 0, 0});
  EXPECT_EQ(world.tree.All().filter_bits, 800U);
  EXPECT_EQ(world.tree.All().filter_bytes, 76U);
}

// Another thread may take over a later listing before the end of a move is told.
TEST(TreeRules, ALateEndOfAMoveDoesNotTakeATableBack) {
  World world;
  Begin(world, {{7, 1}});
  world.tree.BeginJob({1, false, 2, 11}, 1, FilesOf({7}, 1));
  world.version[7] = 3;
  world.List();
  world.tree.EndJob(1, FilesOf({7}, 1), FilesOf({7}, 2));
  EXPECT_EQ(world.FindDifference(), "");
}

TEST(TreeRules, AMoveTellsNothingOfThePartOfKeysThatCompactionsKeep) {
  World world;
  const TableFacts facts = {1'000, 1'250, 60, 0};
  List(world, {{1, 1, facts}, {2, 1, facts}, {3, 1, facts}});
  world.tree.BeginJob({1, false, 2, 5}, 1, {{1, 1, facts}});
  world.tree.EndJob(1, {{1, 1, facts}}, {{10, 2, TableFacts{500, 625, 60, 0}}});
  world.tree.EndJob(2, {{2, 1, facts}}, {{2, 2, facts}});
  world.tree.BeginJob({3, false, 2, 5}, 1, {{3, 1, facts}});
  EXPECT_EQ(world.tree.For(3, 2, 0).keys_to_write, 500.0);
}

TEST(TreeRules, TheInputsTellTheIndexBytesOfWhatIsWritten) {
  World world;
  List(world, {{1, 1, TableFacts{1'000, 1'250, 60'000, 0}},
               {2, 3, TableFacts{100'000, 125'000, 100'000, 0}}});
  world.tree.BeginJob({1, false, 2, 5}, 1, {{1, 1, {}}});
  EXPECT_EQ(world.tree.For(1, 2, 0).index_bytes_per_key, 60.0);
}

TEST(TreeRules, ALaterEstimateReplacesAnEarlierOne) {
  World world;
  for (const std::uint64_t keys : {1'000U, 700U}) {
    List(world, {{7, 1, TableFacts{keys, keys, 0, 0, Source::kSampled}}});
    EXPECT_EQ(KeysOf(world.tree), keys);
  }
}

// A block that lets all keys pass has six bytes, which are half a bit for each of 96 keys.
TEST(TreeRules, ATableOfFewKeysMayBeWithoutAFilter) {
  World world;
  List(world, {{1, 0, TableFacts{60, 6, 0, 6}}, {2, 0, TableFacts{60, 84, 0, 20}}});
  EXPECT_EQ(world.tree.All().without_filter, 1U);
}

// CompactFiles may begin a table that it does not keep, and that no event tells of again.
TEST(TreeRules, ATableThatAnUnknownJobDoesNotKeepGoesAfterSomeListings) {
  World world;
  Begin(world, {{1, 0}, {2, 0}});
  world.tree.StartTable(3, 9, 1);
  for (int i = 0; i < 4; ++i) world.List();
  EXPECT_FALSE(world.tables.IsStale());
  EXPECT_EQ(world.tables.Find(3), nullptr);
  world.tree.FinishTable(3, 9, FactsOf(3));  // it was still being written
  world.version[3] = kUnplaced;
  EXPECT_EQ(world.tree.All().filter_bytes, world.FilterBytes());
}

// A database with two listeners tells each event twice.
TEST(TreeRules, TheEndOfAJobThatIsToldAgainAsksForNoListing) {
  World world;
  Begin(world, {{1, 0}});
  for (JobId job = 1; job < 40; ++job) {
    const auto number = static_cast<std::uint64_t>(job) + 1;
    for (int listener = 0; listener < 2; ++listener) {
      world.tree.BeginJob({job, true, 0, 5}, 0, {});
    }
    world.tree.StartTable(number, job);
    world.tree.FinishTable(number, job, FactsOf(number));
    for (int listener = 0; listener < 2; ++listener)
      world.tree.EndJob(job, {}, FilesOf({number}, 0));
    world.version[number] = 0;
    EXPECT_FALSE(world.tables.IsStale()) << job;
  }
  EXPECT_EQ(world.FindDifference(), "");
  world.tree.EndJob(60, {}, {});
  EXPECT_TRUE(world.tables.IsStale());
}

// A policy that is known after the listing tells the bytes of filters that nobody has read.
TEST(TreeRules, ThePolicyTellsWhatIsAssumed) {
  World world;
  List(world, {Listed(1, 0, 800)});
  EXPECT_EQ(world.tree.All().filter_bytes, 1'000U);
  world.tree.SetOptions({20.0, true});
  EXPECT_EQ(world.tree.All().filter_bytes, 2'000U);
  EXPECT_EQ(world.tree.All().filter_bits, 16'000U);
}

}  // namespace
}  // namespace exactbloom::tree
