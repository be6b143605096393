// The shape of a tree by itself: events in order, out of order and missing.
#include "plugin/tree/lsm_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace exactbloom::tree {
namespace {

using Families = std::map<std::string, std::vector<LiveTable>>;
using Keys = std::map<int, std::uint64_t>;  // by level

constexpr char kDefault[] = "default";

LiveTable TableAt(int level, std::uint64_t number, std::uint64_t keys = 100) {
  return {level, number, {keys, 2 * keys}};
}

class Shape : public LsmShape {
 public:
  explicit Shape(const Families& families = {{kDefault, {}}}) { Rescan(families); }

  void Rescan(const Families& families) {
    EXPECT_TRUE(Refresh(Changes(), families));
    EXPECT_TRUE(IsLoaded());
    EXPECT_FALSE(IsStale());
  }

  void Flush(JobId job, std::uint64_t number, std::uint64_t keys = 100) {
    BeginFlush(kDefault, job);
    EXPECT_TRUE(AddWritten(kDefault, job, number, {keys, 2 * keys}));
    EndJob(kDefault, job, {TableAt(0, number, keys)});
  }

  Keys KeysByLevel(const std::string& family = kDefault) const {
    Keys keys;
    for (const auto& [run, tally] : TalliesOf(family)) {
      EXPECT_EQ(tally.filter_bytes + tally.unknown_keys, 2 * tally.keys);
      EXPECT_NE(tally.tables, 0U);
      keys[run.first] += tally.keys;
    }
    return keys;
  }
};

TEST(LsmShape, HasNoViewBeforeAScan) {
  LsmShape shape;
  shape.BeginFlush(kDefault, 1);
  EXPECT_FALSE(shape.IsLoaded());
  EXPECT_FALSE(shape.View(kDefault, 1, 0));
  EXPECT_EQ(shape.TotalOf(LsmShape::kNoPolicy).keys, 0.0);
}

TEST(LsmShape, RefusesAScanThatAnEventOvertookAndCountsATableOnceWhoseJobIsStillToEnd) {
  Shape shape;
  const std::uint64_t before = shape.Changes();
  shape.Flush(1, 10);
  EXPECT_FALSE(shape.Refresh(before, {{kDefault, {}}}));
  EXPECT_EQ(shape.KeysByLevel(), (Keys{{0, 100}}));
  shape.BeginFlush(kDefault, 2);
  shape.AddWritten(kDefault, 2, 11, {100, 200});
  shape.Rescan({{kDefault, {TableAt(0, 10), TableAt(0, 11)}}});
  EXPECT_EQ(shape.TotalOf(LsmShape::kNoPolicy).filter_bytes, 400.0);
}

TEST(LsmShape, CountsTheKeysAndTheBytesOfTablesThatOtherJobsFinished) {
  Shape shape({{kDefault, {TableAt(1, 10, 1000)}}});
  shape.BeginFlush(kDefault, 1);
  shape.AddWritten(kDefault, 1, 11, {100, 200});
  shape.BeginCompaction(kDefault, 2, 1, {TableAt(1, 10, 1000)});
  const auto view = shape.View(kDefault, 2, 1);
  EXPECT_EQ(view->live_keys, 1100.0);
  EXPECT_EQ(view->other_filter_bytes, 200.0);
}

// Such as those of the bottommost level under optimize_filters_for_hits.
TEST(LsmShape, LeavesOutTablesWithoutFiltersThatTheJobDoesNotRewrite) {
  const LiveTable unfiltered = {2, 12, {5000, 0}};
  Shape shape;
  shape.LsmShape::Refresh(shape.Changes(), {{kDefault, {TableAt(1, 10, 1000), unfiltered}}});
  shape.BeginFlush(kDefault, 1);
  EXPECT_EQ(shape.View(kDefault, 1, 0)->live_keys, 1000.0);
  shape.BeginCompaction(kDefault, 2, 2, {TableAt(1, 10, 1000), unfiltered});
  EXPECT_EQ(shape.View(kDefault, 2, 2)->live_keys, 6000.0);
}

TEST(LsmShape, IsStaleAfterWhatEventsDoNotReport) {
  Shape shape({{kDefault, {TableAt(0, 10, 100), TableAt(3, 11, 1000)}}});
  shape.Delete(99);
  EXPECT_FALSE(shape.IsStale());
  shape.Delete(11);  // by DeleteFilesInRange, say
  EXPECT_TRUE(shape.IsStale());
  EXPECT_EQ(shape.KeysByLevel(), (Keys{{0, 100}}));

  shape.Rescan({{kDefault, {TableAt(0, 10)}}});
  shape.AddIngested(kDefault, 12, {70, 140});
  EXPECT_TRUE(shape.IsStale());
  EXPECT_EQ(shape.TotalOf(LsmShape::kNoPolicy).keys, 170.0);

  shape.Rescan({{kDefault, {TableAt(0, 10)}}});
  shape.BeginFlush("imported", 4);
  EXPECT_TRUE(shape.IsStale());

  shape.Rescan({{kDefault, {TableAt(0, 10)}}});
  shape.EndJob(kDefault, 5, {TableAt(1, 13)});  // of unknown inputs
  EXPECT_TRUE(shape.IsStale());

  shape.Rescan({{kDefault, {TableAt(1, 10)}}});
  shape.BeginCompaction(kDefault, 6, 4, {TableAt(3, 10)});  // moved without an event
  EXPECT_TRUE(shape.IsStale());
  EXPECT_EQ(shape.KeysByLevel(), (Keys{{3, 100}}));
}

TEST(LsmShape, CountsTheTablesOfUnreportedJobs) {
  Shape shape({{kDefault, {TableAt(0, 10, 100), TableAt(3, 11, 1000), TableAt(3, 12, 1000)}}});
  const auto before = shape.View(kDefault, 7, 3);
  ASSERT_TRUE(before);
  EXPECT_FALSE(before->is_flush);
  EXPECT_EQ(before->output_keys, 2000.0);
  // Without the filters of one table of its level, which it is assumed to replace.
  EXPECT_EQ(before->other_filter_bytes, 2.0 * 1100.0);
  EXPECT_EQ(before->keys_to_write, 1000.0);

  EXPECT_FALSE(shape.AddWritten(kDefault, 7, 13, {990, 1980}));
  shape.AddUnreported(kDefault, 7, TableAt(3, 13, 990));
  EXPECT_EQ(shape.KeysByLevel(), (Keys{{0, 100}, {3, 2990}}));
  const auto next = shape.View(kDefault, 7, 3);
  ASSERT_TRUE(next);
  // Its table counts once, and inputs of about as many keys are about to leave.
  EXPECT_NEAR(next->other_filter_bytes, 2.0 * 1100.0, 50.0);
  shape.Delete(11);
  EXPECT_EQ(shape.KeysByLevel(), (Keys{{0, 100}, {3, 1990}}));
  EXPECT_TRUE(shape.IsStale());

  const auto in_level0 = shape.View(kDefault, 8, 0);
  ASSERT_TRUE(in_level0);
  EXPECT_TRUE(in_level0->is_flush);
}

TEST(LsmShape, AnUnreportedJobIntoAnEmptyLevelReplacesAllAbove) {
  Shape shape({{kDefault, {TableAt(0, 10, 100), TableAt(1, 11, 200), TableAt(4, 12, 5000)}}});
  EXPECT_EQ(shape.View(kDefault, 7, 3)->output_keys, 300.0);
  shape.AddUnreported(kDefault, 7, TableAt(3, 13, 150));
  EXPECT_EQ(shape.View(kDefault, 7, 3)->output_keys, 300.0);
  EXPECT_EQ(shape.View(kDefault, 8, 4)->output_keys, 5000.0);
}

TEST(LsmShape, AJobMayFlushTwoFamiliesAndARescanForgetsADroppedOne) {
  Shape shape({{kDefault, {}}, {"more", {}}});
  shape.BeginFlush(kDefault, 1);
  shape.BeginFlush("more", 1);
  shape.AddWritten(kDefault, 1, 11, {10, 20});
  shape.EndJob("more", 1, {TableAt(0, 10, 30)});
  EXPECT_EQ(shape.KeysByLevel("more"), (Keys{{0, 30}}));
  EXPECT_EQ(shape.KeysByLevel(), Keys());
  EXPECT_EQ(shape.TotalOf(LsmShape::kNoPolicy).filter_bytes, 80.0);
  shape.EndJob(kDefault, 1, {TableAt(0, 11, 10)});
  EXPECT_EQ(shape.KeysByLevel(), (Keys{{0, 10}}));

  shape.BeginFlush("more", 2);
  shape.AddWritten("more", 2, 12, {10, 20});
  shape.Rescan({{kDefault, {TableAt(0, 11, 10)}}});
  EXPECT_EQ(shape.TotalOf(LsmShape::kNoPolicy).filter_bytes, 20.0);
  EXPECT_FALSE(shape.View("more", 2, 0));
  EXPECT_EQ(shape.PendingEntries(), 0U);
}

TEST(LsmShape, AFlushIntoAnEmptyLevel0IsAQuarterOfTheSmallestRun) {
  Shape shape({{kDefault, {TableAt(4, 1, 800), TableAt(5, 2, 9000)}}, {"empty", {}}});
  shape.BeginFlush(kDefault, 1);
  EXPECT_EQ(shape.View(kDefault, 1, 0)->typical_flush_keys, 200.0);
  shape.BeginFlush("empty", 2);
  EXPECT_EQ(shape.View("empty", 2, 0)->typical_flush_keys, 0.0);
}

TEST(LsmShape, ViewsOfAFlushAndOfACompaction) {
  Shape shape({{kDefault,
                {TableAt(0, 1, 100), TableAt(0, 2, 100), TableAt(1, 3, 500), TableAt(1, 4, 300),
                 TableAt(2, 5, 9000)}},
               {"same", {TableAt(0, 6, 40)}},
               {"other", {TableAt(0, 7, 70)}}});
  constexpr LsmShape::PolicyId kPolicy = 17;
  shape.SetPolicy(kDefault, kPolicy);
  shape.SetPolicy("same", kPolicy);
  shape.SetPolicy("other", LsmShape::kForeignPolicy);

  shape.BeginFlush(kDefault, 1);
  const auto flush = shape.View(kDefault, 1, 0);
  ASSERT_TRUE(flush);
  EXPECT_TRUE(flush->is_flush);
  EXPECT_EQ(flush->typical_flush_keys, 100.0);
  EXPECT_EQ(flush->live_keys, 10000.0);
  EXPECT_EQ(flush->other_filter_bytes, 20000.0);
  EXPECT_EQ(flush->held_filter_bytes, 20080.0);
  ASSERT_EQ(flush->shared_runs.size(), 1U);
  EXPECT_EQ(flush->shared_runs[0].keys, 40.0);
  EXPECT_TRUE(flush->shared_runs[0].is_large);
  ASSERT_EQ(flush->other_runs.size(), 3U);
  EXPECT_EQ(flush->other_runs[0].count, 2.0);
  EXPECT_EQ(flush->other_runs[2].keys, 9000.0);

  shape.BeginCompaction(kDefault, 2, 2, {TableAt(1, 4, 300), TableAt(2, 5, 9000)});
  shape.AddWritten(kDefault, 2, 20, {1000, 1500});
  const auto compaction = shape.View(kDefault, 2, 2);
  ASSERT_TRUE(compaction);
  EXPECT_FALSE(compaction->is_flush);
  EXPECT_EQ(compaction->output_keys, 9300.0);
  EXPECT_EQ(compaction->keys_to_write, 8300.0);
  EXPECT_EQ(compaction->other_filter_bytes, 20000.0 - 2.0 * 9300.0 + 1500.0);
  ASSERT_EQ(compaction->other_runs.size(), 2U);
  // Of the 300 keys that are compacted, 0.4 exist on average.
  EXPECT_EQ(compaction->other_runs[1].keys, 500.0 + 0.4 * 300.0);
  EXPECT_EQ(compaction->other_runs[1].filter_bytes, 1000.0);
  // For a budget the old tables count beside the new ones, and beside what is promised.
  EXPECT_EQ(compaction->held_filter_bytes, 20080.0 + 1500.0);
  shape.SetPromised(kDefault, 2, 20'000.0);
  EXPECT_EQ(shape.View(kDefault, 2, 2)->held_filter_bytes, 20080.0 + 1500.0);
  EXPECT_EQ(shape.View(kDefault, 2, 2)->promised_bytes, 20'000.0);
  EXPECT_EQ(shape.View(kDefault, 1, 0)->held_filter_bytes, 20080.0 + 1500.0 + 20'000.0);
  shape.AddWritten(kDefault, 2, 21, {8000, 15'000});
  EXPECT_EQ(shape.TotalOf(kPolicy).filter_bytes, 20080.0 + 1500.0 + 20'000.0);
  EXPECT_EQ(shape.TotalOf(kPolicy).keys, 10040.0);
  shape.CancelJob(kDefault, 2);
  EXPECT_EQ(shape.TotalOf(kPolicy).filter_bytes, 20080.0);
  // Of a job that fires no events, only until its table is there.
  const auto before = shape.View(kDefault, 99, 1);
  shape.SetPromised(kDefault, 99, 500.0);
  EXPECT_EQ(shape.TotalOf(kPolicy).filter_bytes, 20580.0);
  EXPECT_EQ(shape.View(kDefault, 99, 1)->keys_to_write, before->keys_to_write);
  shape.AddUnreported(kDefault, 99, {1, 30, {100, 400}});
  EXPECT_EQ(shape.TotalOf(kPolicy).filter_bytes, 20480.0);
}

TEST(LsmShape, KeepsTheKeysOfFiltersOfUnknownSize) {
  Shape shape;
  shape.BeginFlush(kDefault, 1);
  shape.EndJob(kDefault, 1, {{0, 10, {100, std::nullopt}}});
  EXPECT_EQ(TallyOfAll(shape.TalliesOf(kDefault)).unknown_keys, 100U);
  EXPECT_EQ(shape.TotalOf(LsmShape::kNoPolicy).unknown_keys, 100.0);
  EXPECT_EQ(shape.View(kDefault, 9, 0)->other_filter_bytes, 0.0);
  shape.Delete(10);
  EXPECT_EQ(TallyOfAll(shape.TalliesOf(kDefault)).unknown_keys, 0U);
}

// A tree whose jobs run and end at random, and fail unless all is reported. The end of a job is
// reported some time after it happened, so that events are in another order than they happened in.
class RandomTree {
 public:
  RandomTree(std::uint64_t seed, bool reports_all) : random_(seed), reports_all_(reports_all) {}

  void Step() {
    const std::uint64_t choice = random_() % 12;
    if (choice < 3) BeginFlush();
    if (choice >= 3 && choice < 6) BeginCompaction();
    if (choice >= 6 && choice < 9) EndJob();
    if (choice >= 9) ReportAnEnd();
    if (choice == 10 && random_() % 8 == 0) Rescan();
    if (reports_all_) return;
    if (choice == 11 && random_() % 8 == 0) FailOne();
    if (choice == 11 && random_() % 8 == 0) CompactFiles();
  }

  void Settle() {
    while (!running_.empty()) EndJob();
    while (!unreported_.empty()) ReportAnEnd();
  }

  Keys LiveKeys() const {
    Keys keys;
    for (const auto& [number, table] : live_) keys[table.level] += table.count.keys;
    return keys;
  }

  Families Live() const {
    Families families{{kDefault, {}}};
    for (const auto& [number, table] : live_) families[kDefault].push_back(table);
    return families;
  }

  void Rescan() { shape_.Rescan(Live()); }

  Shape& shape() { return shape_; }

 private:
  static constexpr int kDeepest = 3;

  struct Job {
    LsmShape::JobId id;
    bool is_move;
    int output_level;
    std::vector<LiveTable> inputs;  // of a flush none
    std::vector<LiveTable> outputs;
  };

  LiveTable NewTable(int level) { return TableAt(level, ++last_number_, 1 + random_() % 1000); }

  void BeginFlush() {
    const Job job{++last_job_, false, 0, {}, {}};
    shape_.BeginFlush(kDefault, job.id);
    // Others write nothing.
    if (reports_all_ || random_() % 16 != 0) running_.push_back(job);
  }

  // Takes tables of a level that no other job has taken.
  void BeginCompaction() {
    Job job{++last_job_, false, 0, {}, {}};
    const int level = static_cast<int>(random_() % (kDeepest + 1));
    job.is_move = level != kDeepest && random_() % 3 == 0;
    for (const auto& [number, table] : live_) {
      if (table.level != level || taken_.count(number) != 0 || job.inputs.size() == 8) continue;
      job.inputs.push_back(table);
      taken_.insert(number);
    }
    if (job.inputs.empty()) return;
    const bool stays = level == kDeepest || (level == 0 && !job.is_move && random_() % 2 == 0);
    job.output_level = stays ? level : level + 1;
    shape_.BeginCompaction(kDefault, job.id, job.output_level, job.inputs);
    running_.push_back(job);
  }

  Job Remove(std::vector<Job>& jobs) {
    const auto chosen = jobs.begin() + static_cast<std::ptrdiff_t>(random_() % jobs.size());
    Job job = *chosen;
    jobs.erase(chosen);
    return job;
  }

  void Write(Job& job) {
    const std::uint64_t outputs = job.is_move ? 0 : 1 + (job.inputs.empty() ? 0 : random_() % 2);
    for (std::uint64_t i = 0; i < outputs; ++i) {
      job.outputs.push_back(NewTable(job.output_level));
      const LiveTable& output = job.outputs.back();
      shape_.AddWritten(kDefault, job.id, output.number, output.count);
    }
  }

  void EndJob() {
    if (running_.empty()) return;
    Job job = Remove(running_);
    Write(job);
    for (const LiveTable& input : job.inputs) {
      live_.erase(input.number);
      taken_.erase(input.number);
      if (!job.is_move) continue;
      job.outputs.push_back(input);
      job.outputs.back().level = job.output_level;
    }
    for (const LiveTable& output : job.outputs) live_[output.number] = output;
    unreported_.push_back(job);
  }

  void ReportAnEnd() {
    if (unreported_.empty()) return;
    const Job job = Remove(unreported_);
    const bool deletes_first = random_() % 4 == 0;
    if (!job.is_move && deletes_first) DeleteInputs(job);
    shape_.EndJob(kDefault, job.id, job.outputs);
    if (!job.is_move && !deletes_first) DeleteInputs(job);
  }

  void DeleteInputs(const Job& job) {
    for (const LiveTable& input : job.inputs) shape_.Delete(input.number);
  }

  // A flush fails without an end event.
  void FailOne() {
    if (running_.empty()) return;
    Job job = Remove(running_);
    Write(job);
    for (const LiveTable& input : job.inputs) taken_.erase(input.number);
    if (job.inputs.empty()) {
      for (const LiveTable& output : job.outputs) shape_.Delete(output.number);
    } else {
      shape_.CancelJob(kDefault, job.id);
    }
  }

  void CompactFiles() {
    const LiveTable output = NewTable(kDeepest);
    shape_.AddUnreported(kDefault, ++last_job_, output);
    const auto input = std::find_if(live_.begin(), live_.end(), [this](const auto& table) {
      return taken_.count(table.first) == 0;
    });
    if (input != live_.end()) {
      shape_.Delete(input->first);
      live_.erase(input);
    }
    live_[output.number] = output;
  }

  std::mt19937_64 random_;
  bool reports_all_;
  Shape shape_;
  std::map<std::uint64_t, LiveTable> live_;  // by number
  std::set<std::uint64_t> taken_;
  std::vector<Job> running_;
  std::vector<Job> unreported_;  // that happened
  LsmShape::JobId last_job_ = 0;
  std::uint64_t last_number_ = 0;
};

TEST(LsmShape, OfARandomTreeIsRightUnlessItIsStaleForADayOfEvents) {
  constexpr int kPhases = 5'000;
  for (const bool reports_all : {false, true}) {
    RandomTree tree(17, reports_all);
    int stale = 0;
    for (int phase = 0; phase < kPhases; ++phase) {
      for (int i = 0; i < 40; ++i) tree.Step();
      tree.Settle();
      if (tree.shape().IsStale()) {
        ++stale;
        tree.Rescan();
      }
      ASSERT_EQ(tree.shape().KeysByLevel(), tree.LiveKeys()) << phase;
      // Jobs without an end event leave nothing behind.
      ASSERT_LE(tree.shape().PendingEntries(), reports_all ? 0U : 200U) << phase;
    }
    EXPECT_EQ(stale > kPhases / 5, !reports_all);
    EXPECT_LT(stale, reports_all ? 1 : kPhases * 4 / 5);
    tree.Rescan();
    EXPECT_EQ(tree.shape().TotalOf(LsmShape::kNoPolicy).filter_bytes,
              Shape(tree.Live()).TotalOf(LsmShape::kNoPolicy).filter_bytes);
  }
}

}  // namespace
}  // namespace exactbloom::tree
