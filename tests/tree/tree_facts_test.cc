// The tree of a column family by itself: events in every order that the threads of RocksDB can
// produce, lost ones, failed jobs and failing allocations, compared with what is there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plugin/live_tree/tree.h"

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

constexpr double kBits = 10.0;

TableFacts FactsOf(std::uint64_t number) { return {100 * number, 125 * number}; }

// What RocksDB has, and what the tree was told.
struct World {
  Tree tree;
  std::map<std::uint64_t, int> version;  // levels, by number
  std::map<std::uint64_t, int> listed;   // by the listing that is taken
  bool is_told_all = true;               // no event was lost, and no job was unknown

  std::uint64_t FilterBytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [number, level] : version) bytes += FactsOf(number).filter_bytes;
    return bytes;
  }

  // Lists the tables, with the properties of all.
  void List() {
    tree.BeginListing();
    Listing listing = ListingOf(version);
    tree.Replace(listing, kBits);
    for (Listing::File& file : listing.files) file.facts = FactsOf(file.number);
    tree.Learn(listing, kBits);
  }

  static Listing ListingOf(const std::map<std::uint64_t, int>& tables) {
    Listing listing;
    for (const auto& [number, level] : tables) {
      listing.files.push_back({number, level, 100 * number, 1000 * number, std::nullopt});
    }
    return listing;
  }

  // Nothing, or where the tree differs from the version.
  std::string FindDifference() const {
    std::map<int, TableSum> truth;
    for (const auto& [number, level] : version) {
      truth[level].tables += 1;
      truth[level].keys += FactsOf(number).keys;
      truth[level].filter_bytes += FactsOf(number).filter_bytes;
    }
    std::map<int, TableSum> known;
    for (const Tree::ListedTables& run : tree.ListAll()) {
      known[run.level].tables += run.sum.tables;
      known[run.level].keys += run.sum.keys;
      known[run.level].filter_bytes += run.sum.filter_bytes;
    }
    std::string text;
    for (int level = 0; level < 8; ++level) {
      const TableSum& is = known[level];
      const TableSum& should = truth[level];
      if (is.tables == should.tables && is.keys == should.keys &&
          is.filter_bytes == should.filter_bytes) {
        continue;
      }
      text += "level " + std::to_string(level) + ": " + std::to_string(is.tables) + " tables, " +
              std::to_string(is.keys) + " keys instead of " + std::to_string(should.tables) +
              " and " + std::to_string(should.keys) + "; ";
    }
    if (tree.FilterBytes().all != FilterBytes()) {
      text += std::to_string(tree.FilterBytes().all) + " bytes instead of " +
              std::to_string(FilterBytes());
    }
    return text;
  }
};

// What one thread does. A step is taken when it is ready, and steps of one actor in their order.
struct Step {
  std::string name;
  std::function<void(World&)> take;
  std::function<bool(const World&)> is_ready = [](const World&) { return true; };
};
using Actor = std::vector<Step>;

std::vector<EventFile> FilesOf(const std::vector<std::uint64_t>& numbers, int level) {
  std::vector<EventFile> files;
  for (const std::uint64_t number : numbers) files.push_back({number, level, FactsOf(number)});
  return files;
}

struct JobPlan {
  JobId id = 1;
  bool is_flush = false;
  std::vector<std::uint64_t> inputs;
  int input_level = 0;
  std::vector<std::uint64_t> outputs;
  int output_level = 0;
  bool fails = false;
  bool is_told = true;  // begins and ends with an event
};

void AddTable(const JobPlan& job, std::uint64_t number, Actor& actor) {
  const JobId id = job.id;
  actor.push_back({"start", [=](World& world) { world.tree.StartTable(number, id); }});
  actor.push_back({"filter", [=](World& world) {
                     world.tree.SetFilter(number, FactsOf(number).filter_bytes, true, false);
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
                        FilesOf(job.inputs, job.input_level));
  };
  actor.push_back({"begin", begin, has_inputs});
  for (const std::uint64_t number : job.outputs) AddTable(job, number, actor);
  if (job.fails) {
    if (job.is_told && !job.is_flush) {
      actor.push_back({"cancel", [=](World& world) { world.tree.CancelJob(job.id); }});
    }
    for (const std::uint64_t number : job.outputs) {
      actor.push_back({"drop", [=](World& world) { world.tree.Drop(number); }});
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
                       world.tree.EndJob(job.id, FilesOf(job.inputs, job.input_level),
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
    actor.push_back({"delete", [=](World& world) { world.tree.Drop(number); },
                     [=](const World& world) { return !is_there(world); }});
  }
  return actor;
}

Actor Lister() {
  return {{"begin listing", [](World& world) { world.tree.BeginListing(); }},
          {"list", [](World& world) { world.listed = world.version; }},
          {"replace", [](World& world) {
             Listing listing = World::ListingOf(world.listed);
             world.tree.Replace(listing, kBits);
             for (Listing::File& file : listing.files) file.facts = FactsOf(file.number);
             world.tree.Learn(listing, kBits);
           }}};
}

// Whether the filters that are there count at every moment. So a budget holds.
void ExpectCounted(const World& world, const std::string& path) {
  if (!world.is_told_all) return;
  EXPECT_GE(world.tree.FilterBytes().all, world.FilterBytes()) << path;
}

void ExpectTrueInTheEnd(World world, const std::string& path) {
  if (world.is_told_all) {
    EXPECT_EQ(world.FindDifference(), "") << path;
  }
  world.List();
  EXPECT_EQ(world.FindDifference(), "") << path << "after a listing";
}

// Every order of the actors' steps.
void TryAll(const World& world, const std::vector<Actor>& actors, std::vector<std::size_t> places,
            const std::string& path, std::uint64_t* ends) {
  if (testing::Test::HasFailure()) return;
  bool is_over = true;
  for (std::size_t i = 0; i < actors.size(); ++i) {
    if (places[i] == actors[i].size()) continue;
    const Step& step = actors[i][places[i]];
    if (!step.is_ready(world)) continue;
    is_over = false;
    World next = world;
    step.take(next);
    const std::string to = path + std::to_string(i) + " " + step.name + ", ";
    ExpectCounted(next, to);
    ++places[i];
    TryAll(next, actors, places, to, ends);
    --places[i];
  }
  if (!is_over) return;
  ++*ends;
  ExpectTrueInTheEnd(world, path);
}

std::uint64_t TryAll(const std::vector<Actor>& actors, const World& start = {}) {
  std::uint64_t ends = 0;
  TryAll(start, actors, std::vector<std::size_t>(actors.size(), 0), "", &ends);
  return ends;
}

JobPlan FlushOf(JobId id, std::uint64_t number) { return {id, true, {}, 0, {number}, 0}; }

World WorldWith(const std::map<std::uint64_t, int>& version) {
  World world;
  world.version = version;
  world.List();
  return world;
}

TEST(TreeFacts, AFlushAndTheCompactionOfItsTable) {
  const JobPlan compaction = {2, false, {1}, 0, {2}, 1};
  EXPECT_GT(TryAll({ActorOf(FlushOf(1, 1)), ActorOf(compaction), DeleterOf({1})}), 50U);
  EXPECT_GT(TryAll({ActorOf(FlushOf(1, 1)), ActorOf(compaction), Lister()}), 1'000U);
}

TEST(TreeFacts, TwoCompactionsOfWhichTheSecondReadsWhatTheFirstWrote) {
  const JobPlan first = {1, false, {1}, 0, {2}, 1};
  const JobPlan second = {2, false, {2}, 1, {3}, 2};
  EXPECT_GT(TryAll({ActorOf(first), ActorOf(second), DeleterOf({1, 2})}, WorldWith({{1, 0}})), 50U);
  EXPECT_GT(TryAll({ActorOf(first), ActorOf(second), Lister()}, WorldWith({{1, 0}})), 1'000U);
}

TEST(TreeFacts, FailedJobs) {
  for (const bool is_flush : {false, true}) {
    JobPlan failed = {1, is_flush, {}, 0, {5}, is_flush ? 0 : 1};
    if (!is_flush) failed.inputs = {1};
    failed.fails = true;
    EXPECT_GT(TryAll({ActorOf(failed), Lister()}, WorldWith({{1, 0}})), 10U);
    EXPECT_GT(TryAll({ActorOf(failed), ActorOf(FlushOf(2, 6))}, WorldWith({{1, 0}})), 10U);
  }
}

TEST(TreeFacts, JobsWithoutEvents) {
  JobPlan unknown = {7, false, {1}, 0, {2}, 1};
  unknown.is_told = false;
  EXPECT_GT(TryAll({ActorOf(unknown), Lister(), DeleterOf({1})}, WorldWith({{1, 0}})), 100U);
}

TEST(TreeFacts, ATableThatMovesIsTheSame) {
  Actor move = {
      {"install", [](World& world) { world.version[1] = 3; }},
      {"end", [](World& world) { world.tree.EndJob(9, FilesOf({1}, 0), FilesOf({1}, 3)); }}};
  EXPECT_GT(TryAll({move, Lister()}, WorldWith({{1, 0}, {2, 1}})), 5U);
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
      job.input_level = level;
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
      World world = WorldWith({{1, 0}, {2, 0}});
      allocations_left = n;
      try {
        world.tree.BeginJob({1, false, 1, 1}, 0, FilesOf({1, 2}, 0));
        world.tree.StartTable(3, 1);
        world.tree.SetFilter(3, 375, false, false);
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
      world.tree.Drop(3 - 2 * static_cast<std::uint64_t>(!fails));
      world.List();
      EXPECT_EQ(world.FindDifference(), "") << n << " " << fails;
      ASSERT_LT(n, 100U);
    }
  }
}

// A budget counts a family's runs again when its live tables have changed.
TEST(TreeFacts, TablesInTheMakingDoNotChangeTheLiveOnes) {
  Tree tree;
  tree.BeginJob({1, true, 0, 5}, 0, {});
  const std::uint64_t before = tree.LiveChange();
  tree.StartTable(1, 1);
  tree.SetFilter(1, 125, true, false);
  tree.FinishTable(1, 1, FactsOf(1));
  EXPECT_EQ(tree.LiveChange(), before);
  tree.EndJob(1, {}, FilesOf({1}, 0));
  EXPECT_NE(tree.LiveChange(), before);
}

// Events of a job that RocksDB never ends: a thread runs one job at a time.
TEST(TreeFacts, ALostFlushIsForgotten) {
  Tree tree;
  tree.BeginJob({1, true, 0, 5}, 0, {});
  tree.StartTable(1, 1);
  tree.SetFilter(1, 125, true, false);
  EXPECT_EQ(tree.FilterBytes().all, 125U);
  tree.BeginJob({2, true, 0, 5}, 0, {});
  EXPECT_EQ(tree.FilterBytes().all, 0U);
  EXPECT_FALSE(tree.IsRunning(1));
}

// Another thread may tell of the end of a flush, after its own has begun the next one.
TEST(TreeFacts, AFlushThatWasTakenForLostMayEnd) {
  for (const bool is_told : {false, true}) {
    Tree tree;
    tree.BeginJob({1, true, 0, 5}, 0, {});
    tree.StartTable(1, 1);
    tree.SetFilter(1, 125, true, false);
    tree.BeginJob({2, true, 0, 5}, 0, {});
    if (is_told) tree.EndJob(1, {}, FilesOf({1}, 0));
    tree.BeginListing();
    tree.Replace({{{1, 0, 100, 1'000, std::nullopt}}}, kBits);
    EXPECT_EQ(tree.FilterBytes().all, 125U) << is_told;
  }
}

std::uint64_t KeysOf(const Tree& tree) {
  std::uint64_t keys = 0;
  for (const auto& run : tree.ListAll()) keys += run.sum.keys;
  return keys;
}

// A compaction service's tables come without properties. They count as their inputs do, until a
// listing.
TEST(TreeFacts, TablesThatNothingIsToldOfCountAsTheirInputs) {
  Tree tree;
  tree.BeginListing();
  tree.Replace({}, kBits);
  const EventFiles inputs = {{1, 0, TableFacts{100, 125}}, {2, 0, TableFacts{300, 375}}};
  tree.BeginJob({1, false, 1, 5}, 0, inputs);
  EXPECT_FALSE(tree.IsStale());
  tree.EndJob(1, inputs, {{3, 1, {}}, {4, 1, {}}});
  EXPECT_TRUE(tree.IsStale());
  EXPECT_EQ(KeysOf(tree), 400U);
  EXPECT_EQ(tree.FilterBytes().all, 500U);
  tree.BeginListing();
  tree.Replace({{{3, 1, 100, 1'000, std::nullopt}, {4, 1, 300, 3'000, std::nullopt}}}, 20.0);
  EXPECT_EQ(KeysOf(tree), 400U);
  EXPECT_EQ(tree.FilterBytes().all, 1'000U);
}

// The first listing has tables that the tree has never heard of.
TEST(TreeFacts, ATableThatIsDeletedWhileItIsListedStaysGone) {
  Tree tree;
  tree.BeginListing();
  tree.Drop(1);
  tree.Replace({{{1, 0, 100, 1'000, std::nullopt}}}, kBits);
  EXPECT_EQ(tree.FilterBytes().all, 0U);
}

// CompactRange with change_level moves tables without an event.
TEST(TreeFacts, AnInputOutsideTheLevelsOfItsCompactionAsksForAListing) {
  const auto is_stale = [](int known_level, int first_level) {
    Tree tree;
    tree.BeginListing();
    tree.Replace({{{1, known_level, 100, 1'000, std::nullopt}}}, kBits);
    tree.BeginJob({1, false, 3, 5}, first_level, {{1, first_level, {}}});
    return tree.IsStale();
  };
  EXPECT_FALSE(is_stale(2, 2));
  EXPECT_TRUE(is_stale(1, 2)) << "it was moved down";
  EXPECT_TRUE(is_stale(4, 2)) << "it was moved up";
}

// The partitions of a flush are sized for as many keys as recent flushes had, the last one most.
TEST(TreeFacts, RecentFlushesTellTheKeysOfTheNext) {
  Tree tree;
  std::vector<std::uint64_t> keys;
  for (const std::uint64_t written : {100U, 300U, 600U}) {
    const auto job = static_cast<JobId>(written);
    tree.BeginJob({job, true, 0, 5}, 0, {});
    tree.EndJob(job, {}, {{written, 0, TableFacts{written, written}}});
    keys.push_back(tree.FlushKeys());
  }
  EXPECT_EQ(keys, (std::vector<std::uint64_t>{100, 200, 400}));
}

// CompactFiles fires no events of a job; of another database of the same path its tables may be.
TEST(TreeFacts, ALiveTableThatIsDeletedWasReplacedByUnknownOnes) {
  Tree tree;
  tree.BeginListing();
  tree.Replace({{{1, 0, 100, 1'000, std::nullopt}, {2, 0, 100, 1'000, std::nullopt}}}, 10.0);
  tree.BeginJob({1, false, 1, 5}, 0, {{1, 0, {}}});
  tree.EndJob(1, {{1, 0, {}}}, {{3, 1, TableFacts{100, 125}}});
  tree.Drop(1);
  EXPECT_FALSE(tree.IsStale());
  tree.Drop(2);
  EXPECT_TRUE(tree.IsStale());
}

}  // namespace
}  // namespace exactbloom::tree
