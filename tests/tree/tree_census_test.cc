// The census of a tree by itself: events in order, out of order and missing.
#include "plugin/tree/tree_census.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace exactbloom::tree {
namespace {

using Families = std::map<std::string, std::vector<LiveTable>>;

constexpr char kDefault[] = "default";
constexpr char kSession[] = "session";

LiveTable TableAt(int level, std::uint64_t number, std::uint64_t keys) {
  return {level, number, {keys, 2 * keys}};
}

// A census that was looked at.
class Census : public TreeCensus {
 public:
  explicit Census(const Families& families = {{kDefault, {}}}) { LookAgain(families); }

  void LookAgain(const Families& families) {
    EXPECT_TRUE(Look(Changes(), kSession, families));
    EXPECT_TRUE(IsOf(kSession));
    EXPECT_FALSE(IsDoubtful());
  }

  void Flush(JobId job, std::uint64_t number, std::uint64_t keys,
             const std::string& family = kDefault) {
    BeginFlush(family, job);
    EndJob(family, job, {TableAt(0, number, keys)});
  }

  // Of the levels that have any.
  std::map<int, std::uint64_t> KeysByLevel(const std::string& family = kDefault) const {
    std::map<int, std::uint64_t> keys;
    const std::vector<Sum> levels = Levels(family);
    for (std::size_t level = 0; level < levels.size(); ++level) {
      EXPECT_EQ(levels[level].filter_bytes + levels[level].unknown_keys, 2 * levels[level].keys);
      EXPECT_EQ(levels[level].tables == 0, levels[level].keys == 0);
      if (levels[level].tables != 0) keys[static_cast<int>(level)] = levels[level].keys;
    }
    return keys;
  }
};

using Keys = std::map<int, std::uint64_t>;

TEST(TreeCensus, KnowsNothingBeforeALook) {
  TreeCensus census;
  census.BeginFlush(kDefault, 1);
  EXPECT_FALSE(census.View(kDefault, 1, 0));
  EXPECT_FALSE(census.IsOf(kSession));
  EXPECT_EQ(census.TotalOf(TreeCensus::kNoOwner).keys, 0.0);
}

TEST(TreeCensus, ALookThatAnEventOvertookChangesNothing) {
  Census census;
  const std::uint64_t before = census.Changes();
  census.Flush(1, 10, 100);
  EXPECT_FALSE(census.Look(before, kSession, {{kDefault, {}}}));
  EXPECT_EQ(census.KeysByLevel(), (Keys{{0, 100}}));
}

TEST(TreeCensus, CountsFlushesAndCompactions) {
  Census census;
  census.Flush(1, 10, 100);
  census.Flush(2, 11, 50);
  EXPECT_EQ(census.KeysByLevel(), (Keys{{0, 150}}));
  census.BeginCompaction(kDefault, 3, 1, {TableAt(0, 10, 100), TableAt(0, 11, 50)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{0, 150}}));
  census.EndJob(kDefault, 3, {TableAt(1, 12, 140)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{1, 140}}));
  census.Delete(10);
  census.Delete(11);
  EXPECT_EQ(census.KeysByLevel(), (Keys{{1, 140}}));
  EXPECT_FALSE(census.IsDoubtful());
}

TEST(TreeCensus, ALevel0CompactionStaysInLevel0) {
  Census census;
  census.Flush(1, 10, 100);
  census.Flush(2, 11, 50);
  census.BeginCompaction(kDefault, 3, 0, {TableAt(0, 10, 100), TableAt(0, 11, 50)});
  census.EndJob(kDefault, 3, {TableAt(0, 12, 140)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{0, 140}}));
  const auto view = census.View(kDefault, 9, 0);
  ASSERT_TRUE(view);
  ASSERT_EQ(view->other_runs.size(), 1U);
  EXPECT_EQ(view->other_runs[0].keys, 140.0);
  EXPECT_EQ(view->other_runs[0].count, 1.0);
}

TEST(TreeCensus, ATrivialMoveTakesTheTableAlong) {
  Census census;
  census.Flush(1, 10, 100);
  for (int level = 1; level < 4; ++level) {
    census.BeginCompaction(kDefault, 1 + level, level, {TableAt(0, 10, 100)});
    census.EndJob(kDefault, 1 + level, {TableAt(level, 10, 100)});
    EXPECT_EQ(census.KeysByLevel(), (Keys{{level, 100}}));
  }
}

// The events of different threads overtake each other.
TEST(TreeCensus, ATableMayBeTakenInBeforeItsFlushWasHeardToEnd) {
  Census census;
  census.BeginFlush(kDefault, 1);
  census.BeginCompaction(kDefault, 2, 1, {TableAt(0, 10, 100)});
  census.EndJob(kDefault, 2, {TableAt(1, 11, 100)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{1, 100}}));
  census.EndJob(kDefault, 1, {TableAt(0, 10, 100)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{1, 100}}));
}

TEST(TreeCensus, ATableMayBeMovedBeforeItsFlushWasHeardToEnd) {
  Census census;
  census.BeginFlush(kDefault, 1);
  census.BeginCompaction(kDefault, 2, 1, {TableAt(0, 10, 100)});
  census.EndJob(kDefault, 2, {TableAt(1, 10, 100)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{1, 100}}));
  census.EndJob(kDefault, 1, {TableAt(0, 10, 100)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{1, 100}}));
  census.BeginCompaction(kDefault, 3, 2, {TableAt(1, 10, 100)});
  census.EndJob(kDefault, 3, {TableAt(2, 10, 100)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{2, 100}}));
}

TEST(TreeCensus, ATableThatWasMovedEarlyAndTakenInDoesNotComeBack) {
  Census census;
  census.BeginFlush(kDefault, 1);
  census.BeginCompaction(kDefault, 2, 1, {TableAt(0, 10, 100)});
  census.EndJob(kDefault, 2, {TableAt(1, 10, 100)});
  census.BeginCompaction(kDefault, 3, 2, {TableAt(1, 10, 100)});
  census.EndJob(kDefault, 3, {TableAt(2, 11, 100)});
  census.Delete(10);
  census.EndJob(kDefault, 1, {TableAt(0, 10, 100)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{2, 100}}));
}

TEST(TreeCensus, ALookKnowsNoLessThanTheEventsThatFollow) {
  Census census;
  census.BeginFlush(kDefault, 1);
  // Flushed, but not heard of: moved down twice, once before the look.
  census.BeginCompaction(kDefault, 2, 1, {TableAt(0, 10, 100)});
  census.LookAgain({{kDefault, {TableAt(1, 10, 100)}}});
  census.EndJob(kDefault, 2, {TableAt(1, 10, 100)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{1, 100}}));
  census.BeginCompaction(kDefault, 3, 2, {TableAt(1, 10, 100)});
  census.EndJob(kDefault, 3, {TableAt(2, 10, 100)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{2, 100}}));
}

TEST(TreeCensus, WhatWasGoneAtALookDoesNotComeBack) {
  Census census;
  census.BeginFlush(kDefault, 1);
  census.BeginCompaction(kDefault, 2, 1, {TableAt(0, 10, 100)});
  census.EndJob(kDefault, 2, {TableAt(1, 11, 100)});
  EXPECT_TRUE(census.IsDoubtful());
  census.LookAgain({{kDefault, {TableAt(1, 11, 100)}}});
  census.EndJob(kDefault, 1, {TableAt(0, 10, 100)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{1, 100}}));
}

// A look found it before its maker was heard to end, and the next one missed it.
TEST(TreeCensus, WhatALookKnewAndTheNextMissedDoesNotComeBack) {
  Census census({{kDefault, {TableAt(0, 9, 100)}}});
  census.BeginCompaction(kDefault, 1, 0, {TableAt(0, 9, 100)});
  census.LookAgain({{kDefault, {TableAt(0, 10, 100)}}});
  census.BeginCompaction(kDefault, 2, 1, {TableAt(0, 10, 100)});
  census.LookAgain({{kDefault, {TableAt(1, 11, 100)}}});
  census.EndJob(kDefault, 2, {TableAt(1, 11, 100)});
  census.EndJob(kDefault, 1, {TableAt(0, 10, 100)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{1, 100}}));
}

// A table that only a look found, whose move the look had missed, is moved again.
TEST(TreeCensus, ATableIsNotLostBetweenALookAndItsMoves) {
  Census census;
  census.BeginCompaction(kDefault, 2, 1, {TableAt(0, 10, 100)});
  census.EndJob(kDefault, 2, {TableAt(1, 10, 100)});
  census.LookAgain({{kDefault, {TableAt(1, 10, 100)}}});
  census.BeginCompaction(kDefault, 3, 2, {TableAt(1, 10, 100)});
  census.EndJob(kDefault, 3, {TableAt(2, 10, 100)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{2, 100}}));
}

TEST(TreeCensus, ACancelledJobChangesNothing) {
  Census census;
  census.Flush(1, 10, 100);
  census.BeginCompaction(kDefault, 2, 1, {TableAt(0, 10, 100)});
  census.AddWritten(kDefault, 2, {100, 500});
  census.CancelJob(kDefault, 2);
  EXPECT_EQ(census.KeysByLevel(), (Keys{{0, 100}}));
  EXPECT_EQ(census.TotalOf(TreeCensus::kNoOwner).filter_bytes, 200.0);
  EXPECT_FALSE(census.AddWritten(kDefault, 2, {100, 500}));
}

TEST(TreeCensus, DoubtsWhatEventsDoNotTell) {
  Census census({{kDefault, {TableAt(0, 10, 100), TableAt(3, 11, 1000)}}});
  census.Delete(99);
  EXPECT_FALSE(census.IsDoubtful());
  census.Delete(11);
  EXPECT_TRUE(census.IsDoubtful());
  EXPECT_EQ(census.KeysByLevel(), (Keys{{0, 100}}));

  census.LookAgain({{kDefault, {TableAt(0, 10, 100)}}});
  census.AddIngested(kDefault, 12, {70, 140});
  EXPECT_TRUE(census.IsDoubtful());
  EXPECT_EQ(census.TotalOf(TreeCensus::kNoOwner).keys, 170.0);

  census.LookAgain({{kDefault, {TableAt(0, 10, 100)}}});
  census.BeginFlush("imported", 4);
  EXPECT_TRUE(census.IsDoubtful());

  census.LookAgain({{kDefault, {TableAt(0, 10, 100)}}});
  census.EndJob(kDefault, 5, {TableAt(1, 13, 100)});  // whose inputs are not known
  EXPECT_TRUE(census.IsDoubtful());

  census.LookAgain({{kDefault, {TableAt(1, 10, 100)}}});
  census.BeginCompaction(kDefault, 6, 2, {TableAt(1, 10, 100)});
  EXPECT_FALSE(census.IsDoubtful());
  census.BeginCompaction(kDefault, 6, 4, {TableAt(3, 10, 100)});  // moved since
  EXPECT_TRUE(census.IsDoubtful());
}

// CompactFiles tells of no beginning and no end.
TEST(TreeCensus, CountsTheTablesOfUnheardJobs) {
  Census census({{kDefault, {TableAt(0, 10, 100), TableAt(3, 11, 1000), TableAt(3, 12, 1000)}}});
  const auto before = census.View(kDefault, 7, 3);
  ASSERT_TRUE(before);
  EXPECT_FALSE(before->is_flush);
  EXPECT_EQ(before->output_keys, 2000.0);
  // Without those of a table of its level that is taken in.
  EXPECT_EQ(before->other_filter_bytes, 2.0 * 1100.0);
  EXPECT_EQ(before->keys_to_write, 1000.0);

  EXPECT_FALSE(census.AddWritten(kDefault, 7, {990, 1980}));
  census.AddUnheard(kDefault, 7, TableAt(3, 13, 990));
  EXPECT_EQ(census.KeysByLevel(), (Keys{{0, 100}, {3, 2990}}));
  const auto next = census.View(kDefault, 7, 3);
  ASSERT_TRUE(next);
  // What it wrote is counted once, and about as much again is taken in.
  EXPECT_NEAR(next->other_filter_bytes, 2.0 * 1100.0, 50.0);
  census.Delete(11);
  EXPECT_EQ(census.KeysByLevel(), (Keys{{0, 100}, {3, 1990}}));
  EXPECT_TRUE(census.IsDoubtful());

  const auto in_level0 = census.View(kDefault, 8, 0);
  ASSERT_TRUE(in_level0);
  EXPECT_TRUE(in_level0->is_flush);
  for (TreeCensus::JobId job = 100; job < 200; ++job) {
    census.AddUnheard(kDefault, job, TableAt(3, 1000U + static_cast<unsigned>(job), 10));
  }
  EXPECT_EQ(census.KeysByLevel(), (Keys{{0, 100}, {3, 2990}}));
  EXPECT_EQ(census.TotalOf(TreeCensus::kNoOwner).filter_bytes, 2.0 * 3090.0);
}

TEST(TreeCensus, AJobOfTwoFamiliesIsTwoJobs) {
  Census census({{kDefault, {}}, {"more", {}}});
  census.BeginFlush(kDefault, 1);
  census.BeginFlush("more", 1);
  census.AddWritten(kDefault, 1, {10, 20});
  census.EndJob("more", 1, {TableAt(0, 10, 30)});
  EXPECT_EQ(census.KeysByLevel("more"), (Keys{{0, 30}}));
  EXPECT_EQ(census.KeysByLevel(), Keys());
  EXPECT_EQ(census.TotalOf(TreeCensus::kNoOwner).filter_bytes, 80.0);
  census.EndJob(kDefault, 1, {TableAt(0, 11, 10)});
  EXPECT_EQ(census.KeysByLevel(), (Keys{{0, 10}}));
}

TEST(TreeCensus, ForgetsDroppedFamiliesAtALook) {
  Census census({{kDefault, {}}, {"dropped", {TableAt(0, 10, 30)}}});
  census.BeginFlush("dropped", 1);
  census.AddWritten("dropped", 1, {10, 20});
  census.LookAgain({{kDefault, {}}});
  EXPECT_EQ(census.TotalOf(TreeCensus::kNoOwner).filter_bytes, 0.0);
  EXPECT_FALSE(census.View("dropped", 1, 0));
}

TEST(TreeCensus, AnUnheardJobIntoAnEmptyLevelTakesAllAbove) {
  Census census({{kDefault, {TableAt(0, 10, 100), TableAt(1, 11, 200), TableAt(4, 12, 5000)}}});
  EXPECT_EQ(census.View(kDefault, 7, 3)->output_keys, 300.0);
  census.AddUnheard(kDefault, 7, TableAt(3, 13, 150));
  EXPECT_EQ(census.View(kDefault, 7, 3)->output_keys, 300.0);
  EXPECT_EQ(census.View(kDefault, 8, 4)->output_keys, 5000.0);
}

TEST(TreeCensus, ANewSessionForgetsTheJobsOfTheOldOne) {
  Census census;
  census.Flush(1, 10, 100);
  census.BeginCompaction(kDefault, 2, 1, {TableAt(0, 10, 100)});
  census.Close();
  EXPECT_FALSE(census.IsOf(kSession));
  EXPECT_EQ(census.TotalOf(TreeCensus::kNoOwner).keys, 0.0);
  // It was another database of the listener: jobs go on.
  ASSERT_TRUE(census.View(kDefault, 2, 1));
  EXPECT_EQ(census.View(kDefault, 2, 1)->output_keys, 100.0);
  census.LookAgain({{kDefault, {TableAt(0, 10, 100)}}});
  EXPECT_EQ(census.View(kDefault, 2, 1)->output_keys, 100.0);
  EXPECT_EQ(census.TotalOf(TreeCensus::kNoOwner).keys, 100.0);

  census.Close();
  ASSERT_TRUE(census.Look(census.Changes(), "next", {{kDefault, {TableAt(1, 10, 300)}}}));
  EXPECT_TRUE(census.IsOf("next"));
  ASSERT_TRUE(census.View(kDefault, 2, 1));
  EXPECT_EQ(census.View(kDefault, 2, 1)->output_keys, 300.0);
}

TEST(TreeCensus, TakesAFlushIntoAnEmptyLevel0ForAQuarterOfTheSmallestRun) {
  Census census({{kDefault, {TableAt(4, 1, 800), TableAt(5, 2, 9000)}}, {"empty", {}}});
  census.BeginFlush(kDefault, 1);
  EXPECT_EQ(census.View(kDefault, 1, 0)->typical_flush_keys, 200.0);
  census.BeginFlush("empty", 2);
  EXPECT_EQ(census.View("empty", 2, 0)->typical_flush_keys, 0.0);
}

TEST(TreeCensus, ViewsOfAFlushAndOfACompaction) {
  Census census({{kDefault,
                  {TableAt(0, 1, 100), TableAt(0, 2, 100), TableAt(1, 3, 500), TableAt(1, 4, 300),
                   TableAt(2, 5, 9000)}},
                 {"same", {TableAt(0, 6, 40)}},
                 {"other", {TableAt(0, 7, 70)}}});
  constexpr TreeCensus::OwnerId kOwner = 17;
  census.SetOwner(kDefault, kOwner);
  census.SetOwner("same", kOwner);
  census.SetOwner("other", TreeCensus::kOtherOwner);

  census.BeginFlush(kDefault, 1);
  const auto flush = census.View(kDefault, 1, 0);
  ASSERT_TRUE(flush);
  EXPECT_TRUE(flush->is_flush);
  EXPECT_EQ(flush->typical_flush_keys, 100.0);
  EXPECT_EQ(flush->live_keys, 10000.0);
  EXPECT_EQ(flush->other_filter_bytes, 20000.0);
  EXPECT_EQ(flush->shared_keys, 40.0);
  EXPECT_EQ(flush->shared_filter_bytes, 80.0);
  ASSERT_EQ(flush->other_runs.size(), 3U);
  EXPECT_EQ(flush->other_runs[0].count, 2.0);
  EXPECT_EQ(flush->other_runs[2].keys, 9000.0);

  census.BeginCompaction(kDefault, 2, 2, {TableAt(1, 4, 300), TableAt(2, 5, 9000)});
  census.AddWritten(kDefault, 2, {1000, 1500});
  const auto compaction = census.View(kDefault, 2, 2);
  ASSERT_TRUE(compaction);
  EXPECT_FALSE(compaction->is_flush);
  EXPECT_EQ(compaction->output_keys, 9300.0);
  EXPECT_EQ(compaction->keys_to_write, 8300.0);
  EXPECT_EQ(compaction->other_filter_bytes, 20000.0 - 2.0 * 9300.0 + 1500.0);
  // For others it is as if the job never ended, if that is more.
  EXPECT_EQ(census.TotalOf(kOwner).filter_bytes, 20080.0);
  census.AddWritten(kDefault, 2, {8000, 25000});
  EXPECT_EQ(census.TotalOf(kOwner).filter_bytes, 20080.0 + 26500.0 - 18600.0);
  EXPECT_EQ(census.TotalOf(kOwner).keys, 10040.0);
}

TEST(TreeCensus, KeepsTheKeysOfFiltersOfUnknownSize) {
  Census census;
  census.BeginFlush(kDefault, 1);
  census.EndJob(kDefault, 1, {{0, 10, {100, std::nullopt}}});
  ASSERT_EQ(census.Levels(kDefault).size(), 1U);
  EXPECT_EQ(census.Levels(kDefault)[0].unknown_keys, 100U);
  EXPECT_EQ(census.View(kDefault, 9, 0)->other_filter_bytes, 0.0);
  census.Delete(10);
  EXPECT_EQ(census.Levels(kDefault)[0].unknown_keys, 0U);
}

TEST(TreeCensus, ForgetsFlushesThatWroteNothing) {
  Census census;
  for (TreeCensus::JobId job = 1; job <= 1000; ++job) {
    census.BeginFlush(kDefault, job);
    census.AddWritten(kDefault, job, {10, 20});
  }
  EXPECT_LE(census.TotalOf(TreeCensus::kNoOwner).filter_bytes, 16 * 20.0);
  EXPECT_TRUE(census.View(kDefault, 1000, 0));
}

// A tree whose jobs run and end at random. Each job's end is told some time after it happened.
class RandomTree {
 public:
  explicit RandomTree(std::uint64_t seed) : random_(seed) {}

  void Step() {
    const std::uint64_t choice = random_() % 12;
    if (choice < 3) BeginFlush();
    if (choice >= 3 && choice < 6) BeginCompaction();
    if (choice >= 6 && choice < 9) EndJob();
    if (choice >= 9) TellAnEnd();
    if (choice == 9 && random_() % 8 == 0) DeleteOne();
    if (choice == 10 && random_() % 8 == 0) Look();
    if (choice == 11 && random_() % 8 == 0) CancelOne();
  }

  void Settle() {
    while (!running_.empty()) EndJob();
    while (!untold_.empty()) TellAnEnd();
  }

  // Nothing, or what is wrong.
  std::string FindDifference() const {
    for (const auto& [name, tables] : live_) {
      std::map<int, std::uint64_t> expected;
      for (const auto& [number, table] : tables) expected[table.level] += table.count.keys;
      if (census_.KeysByLevel(name) != expected) return name;
    }
    return "";
  }

  bool IsDoubtful() const { return census_.IsDoubtful(); }
  void LookIfDoubtful() {
    if (IsDoubtful()) Look();
  }

 private:
  struct Job {
    std::string family;
    TreeCensus::JobId id;
    bool is_flush;
    bool is_move;
    int output_level;
    std::vector<LiveTable> inputs;
    std::vector<LiveTable> outputs;
  };

  std::string AFamily() { return random_() % 3 == 0 ? "more" : kDefault; }

  void BeginFlush() {
    running_.push_back({AFamily(), ++last_job_, true, false, 0, {}, {}});
    census_.BeginFlush(running_.back().family, last_job_);
  }

  // Takes tables of a level that no other job has taken.
  void BeginCompaction() {
    Job job{AFamily(), ++last_job_, false, random_() % 3 == 0, 0, {}, {}};
    const int level = static_cast<int>(random_() % 3);
    for (const auto& [number, table] : live_[job.family]) {
      if (table.level != level || taken_.count(number) != 0 || job.inputs.size() == 3) continue;
      job.inputs.push_back(table);
    }
    if (job.inputs.empty()) return;
    for (const LiveTable& input : job.inputs) taken_.insert(input.number);
    job.output_level = level + (job.is_move || level > 0 || random_() % 2 == 0 ? 1 : 0);
    census_.BeginCompaction(job.family, job.id, job.output_level, job.inputs);
    running_.push_back(job);
  }

  // It happens, untold.
  void EndJob() {
    if (running_.empty()) return;
    const std::size_t chosen = random_() % running_.size();
    Job job = running_[chosen];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(chosen));
    auto& tables = live_[job.family];
    for (const LiveTable& input : job.inputs) {
      tables.erase(input.number);
      taken_.erase(input.number);
      if (!job.is_move) continue;
      job.outputs.push_back(input);
      job.outputs.back().level = job.output_level;
    }
    const std::uint64_t outputs = job.is_move ? 0 : 1 + (job.is_flush ? 0 : random_() % 3);
    for (std::uint64_t i = 0; i < outputs; ++i) {
      job.outputs.push_back(TableAt(job.output_level, ++last_number_, 1 + random_() % 1000));
    }
    for (const LiveTable& output : job.outputs) tables[output.number] = output;
    untold_.push_back(job);
  }

  // Not in the order in which it happened, but moves of one table keep theirs.
  void TellAnEnd() {
    if (untold_.empty()) return;
    const std::size_t chosen = random_() % std::min<std::size_t>(untold_.size(), 3);
    const Job job = untold_[chosen];
    for (std::size_t before = 0; before < chosen; ++before) {
      if (job.is_move && untold_[before].is_move) return;
    }
    untold_.erase(untold_.begin() + static_cast<std::ptrdiff_t>(chosen));
    census_.EndJob(job.family, job.id, job.outputs);
    if (job.is_move) return;
    for (const LiveTable& input : job.inputs) census_.Delete(input.number);
  }

  void DeleteOne() {
    if (!untold_.empty()) return;
    auto& tables = live_[AFamily()];
    for (auto table = tables.begin(); table != tables.end(); ++table) {
      if (taken_.count(table->first) != 0) continue;
      census_.Delete(table->first);
      tables.erase(table);
      return;
    }
  }

  void CancelOne() {
    if (running_.empty()) return;
    const Job job = running_.back();
    running_.pop_back();
    for (const LiveTable& input : job.inputs) taken_.erase(input.number);
    census_.CancelJob(job.family, job.id);
  }

  void Look() {
    Families families;
    for (const std::string family : {"default", "more"}) {
      for (const auto& [number, table] : live_[family]) families[family].push_back(table);
      families[family];
    }
    census_.LookAgain(families);
  }

  std::mt19937_64 random_;
  Census census_{{{kDefault, {}}, {"more", {}}}};
  std::map<std::string, std::map<std::uint64_t, LiveTable>> live_;
  std::set<std::uint64_t> taken_;
  std::vector<Job> running_;
  std::vector<Job> untold_;  // that happened
  TreeCensus::JobId last_job_ = 0;
  std::uint64_t last_number_ = 0;
};

TEST(TreeCensus, OfARandomTreeIsRightWhenAllIsTold) {
  std::uint64_t doubted = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    RandomTree tree(seed);
    for (int phase = 0; phase < 5; ++phase) {
      for (int i = 0; i < 40; ++i) tree.Step();
      tree.Settle();
      doubted += tree.IsDoubtful() ? 1 : 0;
      if (phase % 2 == 0) tree.LookIfDoubtful();
      ASSERT_EQ(tree.FindDifference(), "") << phase;
    }
  }
  EXPECT_GT(doubted, 0U);
}

}  // namespace
}  // namespace exactbloom::tree
