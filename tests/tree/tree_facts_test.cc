// The tree of a column family by itself: events in every order that the threads of RocksDB can
// produce, lost ones, failed jobs and failing allocations, compared with what is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tree_world.h"

namespace {

// Allocations until one fails; 0: none does.
thread_local std::uint64_t allocations_left = 0;

void* Allocate(std::size_t bytes) {
  if (allocations_left != 0 && --allocations_left == 0) throw std::bad_alloc();
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }

namespace exactbloom::tree {
namespace {

// What one thread does. A step is taken when it is ready, and steps of one actor in their order.
struct Step {
  std::string name;
  std::function<void(World&)> take;
  std::function<bool(const World&)> is_ready = [](const World&) { return true; };
};
using Actor = std::vector<Step>;

struct JobPlan {
  JobId id = 1;
  bool is_flush = false;
  std::vector<std::uint64_t> inputs;
  int input_level = 0;
  std::vector<std::uint64_t> outputs;
  int output_level = 0;
  bool fails = false;
  bool is_told = true;                       // begins and ends with an event
  std::map<std::uint64_t, int> levels = {};  // of inputs that are not of the input level

  NamedFiles InputFiles() const {
    NamedFiles files = FilesOf(inputs, input_level);
    for (NamedFile& file : files) {
      if (levels.count(file.number) != 0) file.level = levels.at(file.number);
    }
    return files;
  }
};

void AddTable(const JobPlan& job, std::uint64_t number, Actor& actor) {
  const JobId id = job.id;
  actor.push_back({"start", [=](World& world) { world.tree.StartTable(number, id); }});
  actor.push_back({"filter", [=](World& world) {
                     Reserve(world.tables, number, FactsOf(number).filter_bytes);
                   }});
  actor.push_back(
      {"finish", [=](World& world) { world.tree.FinishTable(number, id, FactsOf(number)); }});
}

Actor ActorOf(const JobPlan& job) {
  Actor actor;
  const auto has_inputs = [=](const World& world) {
    return std::all_of(job.inputs.begin(), job.inputs.end(),
                       [&](std::uint64_t n) { return world.version.count(n) != 0; });
  };
  const auto begin = [=](World& world) {
    if (!job.is_told) {
      world.is_told_all = false;
      return;
    }
    world.tree.BeginJob({job.id, job.is_flush, job.output_level, static_cast<unsigned>(job.id)}, 0,
                        job.InputFiles());
  };
  actor.push_back({"begin", begin, has_inputs});
  for (const std::uint64_t number : job.outputs) AddTable(job, number, actor);
  if (job.fails) {
    if (job.is_told && !job.is_flush) {
      actor.push_back({"cancel", [=](World& world) { world.tree.CancelJob(job.id); }});
    }
    for (const std::uint64_t number : job.outputs) {
      actor.push_back({"drop", [=](World& world) { world.tables.Drop(number); }});
    }
    return actor;
  }
  actor.push_back({"install", [=](World& world) {
                     for (const std::uint64_t number : job.inputs) world.version.erase(number);
                     for (const std::uint64_t number : job.outputs) {
                       world.version[number] = job.output_level;
                     }
                   }});
  if (job.is_told) {
    actor.push_back({"end", [=](World& world) {
                       world.tree.EndJob(job.id, job.InputFiles(),
                                         FilesOf(job.outputs, job.output_level));
                     }});
  }
  return actor;
}

// Deletes tables when they have left the version.
//   sees   whether they have still to come into it
Actor DeleterOf(const std::vector<std::uint64_t>& numbers, bool sees = true) {
  Actor actor;
  for (const std::uint64_t number : numbers) {
    const auto is_there = [=](const World& world) { return world.version.count(number) != 0; };
    if (sees) actor.push_back({"see", [](World&) {}, is_there});
    actor.push_back({"delete", [=](World& world) { world.tables.Drop(number); },
                     [=](const World& world) { return !is_there(world); }});
  }
  return actor;
}

Actor Lister() {
  return {{"begin listing", [](World& world) { world.tables.BeginListing(); }},
          {"list", [](World& world) { world.listed = world.version; }},
          {"replace", [](World& world) { world.Replace(world.listed); }}};
}

// Whether the filters that are there count at every moment. So a budget holds.
void ExpectCounted(const World& world, const std::string& path) {
  if (!world.is_told_all) return;
  EXPECT_GE(world.tree.All().filter_bytes, world.FilterBytes()) << path;
}

void ExpectTrueInTheEnd(World& world, const std::string& path) {
  if (world.is_told_all) {
    EXPECT_EQ(world.FindDifference(), "") << path;
  }
  world.List();
  EXPECT_EQ(world.FindDifference(), "") << path << "after a listing";
}

using Path = std::vector<const Step*>;

// Takes the steps from the beginning, since a tree is not copied.
std::unique_ptr<World> Walk(const Version& start, const Path& path) {
  auto world = std::make_unique<World>();
  Begin(*world, start);
  for (const Step* step : path) step->take(*world);
  return world;
}

std::string Describe(const Path& path) {
  std::string text;
  for (const Step* step : path) text += step->name + ", ";
  return text;
}

// Every order of the actors' steps.
void TryAll(const Version& start, const std::vector<Actor>& actors, std::vector<std::size_t> places,
            Path path, std::uint64_t* ends) {
  if (testing::Test::HasFailure()) return;
  const std::unique_ptr<World> world = Walk(start, path);
  ExpectCounted(*world, Describe(path));
  bool is_over = true;
  for (std::size_t i = 0; i < actors.size(); ++i) {
    if (places[i] == actors[i].size()) continue;
    const Step& step = actors[i][places[i]];
    if (!step.is_ready(*world)) continue;
    is_over = false;
    ++places[i];
    path.push_back(&step);
    TryAll(start, actors, places, path, ends);
    path.pop_back();
    --places[i];
  }
  if (!is_over) return;
  ++*ends;
  ExpectTrueInTheEnd(*world, Describe(path));
}

std::uint64_t TryAll(const std::vector<Actor>& actors, const Version& start = {}) {
  std::uint64_t ends = 0;
  TryAll(start, actors, std::vector<std::size_t>(actors.size(), 0), {}, &ends);
  return ends;
}

JobPlan FlushOf(JobId id, std::uint64_t number) { return {id, true, {}, 0, {number}, 0}; }

TEST(TreeFacts, AFlushAndTheCompactionOfItsTable) {
  const JobPlan compaction = {2, false, {1}, 0, {2}, 1};
  EXPECT_GT(TryAll({ActorOf(FlushOf(1, 1)), ActorOf(compaction), DeleterOf({1})}), 50U);
  EXPECT_GT(TryAll({ActorOf(FlushOf(1, 1)), ActorOf(compaction), Lister()}), 1'000U);
}

TEST(TreeFacts, TwoCompactionsOfWhichTheSecondReadsWhatTheFirstWrote) {
  const JobPlan first = {1, false, {1}, 0, {2}, 1};
  const JobPlan second = {2, false, {2}, 1, {3}, 2};
  EXPECT_GT(TryAll({ActorOf(first), ActorOf(second), DeleterOf({1, 2})}, {{1, 0}}), 50U);
  EXPECT_GT(TryAll({ActorOf(first), ActorOf(second), Lister()}, {{1, 0}}), 1'000U);
}

TEST(TreeFacts, FailedJobs) {
  for (const bool is_flush : {false, true}) {
    JobPlan failed = {1, is_flush, {}, 0, {5}, is_flush ? 0 : 1};
    if (!is_flush) failed.inputs = {1};
    failed.fails = true;
    EXPECT_GT(TryAll({ActorOf(failed), Lister()}, {{1, 0}}), 10U);
    EXPECT_GT(TryAll({ActorOf(failed), ActorOf(FlushOf(2, 6))}, {{1, 0}}), 10U);
  }
}

TEST(TreeFacts, JobsWithoutEvents) {
  JobPlan unknown = {7, false, {1}, 0, {2}, 1};
  unknown.is_told = false;
  EXPECT_GT(TryAll({ActorOf(unknown), Lister(), DeleterOf({1})}, {{1, 0}}), 100U);
}

TEST(TreeFacts, ATableThatMovesIsTheSame) {
  Actor move = {
      {"install", [](World& world) { world.version[1] = 3; }},
      {"end", [](World& world) { world.tree.EndJob(9, FilesOf({1}, 0), FilesOf({1}, 3)); }}};
  EXPECT_GT(TryAll({move, Lister()}, {{1, 0}, {2, 1}}), 5U);
}

// A flush may be told of after the move of its table.
TEST(TreeFacts, ALateEventMovesNoTableUp) {
  const auto is_there = [](const World& world) { return world.version.count(1) != 0; };
  Actor move = {
      {"install", [](World& world) { world.version[1] = 3; }, is_there},
      {"end", [](World& world) { world.tree.EndJob(9, FilesOf({1}, 0), FilesOf({1}, 3)); }}};
  EXPECT_GT(TryAll({ActorOf(FlushOf(1, 1)), move}), 2U);
}

// A database at random: jobs begin by what is there, some fail, some are not told, some events are
// lost, and an allocation fails in some.
class RandomHistory {
 public:
  RandomHistory(std::uint64_t seed, bool loses, bool lacks_memory)
      : random_(seed), loses_(loses), lacks_memory_(lacks_memory) {}

  void Run(int steps) {
    for (int i = 0; i < steps; ++i) {
      while (actors_.size() < 4) Begin();
      TakeOne();
      ExpectCounted(world_, path_);
      if (testing::Test::HasFailure()) return;
    }
    while (!actors_.empty()) TakeOne();
    ExpectTrueInTheEnd(world_, path_);
  }

 private:
  std::uint64_t Choose(std::uint64_t count) { return random_() % count; }

  void Begin() {
    switch (Choose(8)) {
      case 0:
        if (!is_listing_) actors_.push_back({Lister(), 0, {}});
        is_listing_ = true;
        return;
      case 1:
      case 2:
      case 3:
        return BeginCompaction();
      default: {
        JobPlan flush = FlushOf(next_job_++, next_table_++);
        flush.fails = Choose(8) == 0;
        actors_.push_back({ActorOf(flush), 0, {}});
      }
    }
  }

  void BeginCompaction() {
    JobPlan job;
    job.id = next_job_++;
    for (const auto& [number, level] : world_.version) {
      if (taken_.count(number) == 0 && Choose(2) == 0) job.inputs.push_back(number);
      job.levels[number] = level;
    }
    if (job.inputs.empty()) return;
    taken_.insert(job.inputs.begin(), job.inputs.end());
    job.output_level = 7;
    job.outputs = {next_table_++, next_table_++};
    job.fails = Choose(6) == 0;
    job.is_told = !loses_ || Choose(6) != 0;
    actors_.push_back({ActorOf(job), 0, job.inputs});
    if (!job.fails) actors_.push_back({DeleterOf(job.inputs, false), 0, {}});
  }

  void TakeOne() {
    const std::size_t i = Choose(actors_.size());
    Running& running = actors_[i];
    const Step& step = running.steps[running.place];
    if (!step.is_ready(world_)) return;
    path_ += step.name + ", ";
    Take(step);
    if (++running.place < running.steps.size()) return;
    if (running.steps[0].name == "begin listing") is_listing_ = false;
    for (const std::uint64_t number : running.inputs) taken_.erase(number);
    actors_.erase(actors_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  void Take(const Step& step) {
    const bool is_event = step.name != "install" && step.name != "list" && step.name != "see";
    if (is_event && loses_ && Choose(20) == 0) {
      world_.is_told_all = false;
      if (step.name != "delete" && step.name != "drop") return;
    }
    if (is_event && lacks_memory_ && Choose(10) == 0) allocations_left = 1 + Choose(12);
    try {
      step.take(world_);
    } catch (const std::bad_alloc&) {
      world_.is_told_all = false;
    }
    allocations_left = 0;
  }

  struct Running {
    Actor steps;
    std::size_t place = 0;
    std::vector<std::uint64_t> inputs;
  };

  std::mt19937_64 random_;
  const bool loses_;
  const bool lacks_memory_;
  World world_;
  std::vector<Running> actors_;
  std::set<std::uint64_t> taken_;  // inputs of jobs
  JobId next_job_ = 1;
  std::uint64_t next_table_ = 1;
  bool is_listing_ = false;
  std::string path_;
};

TEST(TreeFacts, LongHistories) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const bool loses : {false, true}) {
      for (const bool lacks_memory : {false, true}) {
        SCOPED_TRACE(testing::Message() << seed << " " << loses << " " << lacks_memory);
        RandomHistory(seed, loses, lacks_memory).Run(200);
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

// Of a compaction, each allocation in turn; then the job fails, or ends, and a later one replaces
// what it read.
TEST(TreeFacts, AnAllocationThatFailsLeavesATreeThatAListingRepairs) {
  for (const bool fails : {false, true}) {
    bool was_enough = false;
    for (std::uint64_t n = 1; !was_enough; ++n) {
      World world;
      Begin(world, {{1, 0}, {2, 0}});
      allocations_left = n;
      try {
        world.tree.BeginJob({1, false, 1, 1}, 0, FilesOf({1, 2}, 0));
        world.tree.StartTable(3, 1);
        Reserve(world.tables, 3, 375);
        world.tree.FinishTable(3, 1, FactsOf(3));
        if (!fails) world.tree.EndJob(1, FilesOf({1, 2}, 0), FilesOf({3}, 1));
        was_enough = true;
      } catch (const std::bad_alloc&) {
      }
      allocations_left = 0;
      if (fails) {
        world.tree.CancelJob(1);
      } else {
        world.tree.EndJob(1, FilesOf({1, 2}, 0), FilesOf({3}, 1));
        world.version = {{3, 1}};
      }
      world.tables.Drop(3 - 2 * static_cast<std::uint64_t>(!fails));
      world.List();
      EXPECT_EQ(world.FindDifference(), "") << n << " " << fails;
      ASSERT_LT(n, 100U);
    }
  }
}

}  // namespace
}  // namespace exactbloom::tree
