// Several databases of a process that are changed at random, all at once: after each step all keys
// are found, what is known of the trees equals the files, filters have the bits that they should,
// and budgets hold, at every moment. After closing nothing is left.
//
// EXACTBLOOM_TEST_LARGE=1 (make stress) runs it for EXACTBLOOM_TEST_SECONDS, 600 unless set, and
// EXACTBLOOM_TEST_SEED is the first seed. Which changes are made follows from the seed, but not how
// the jobs of RocksDB overlap.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exactbloom/memory_budget.h"
#include "exactbloom/tree_listener.h"
#include "plugin/live_tree/registry.h"
#include "random_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kBounds[] = {15'000, 60'000};

std::uint64_t NumberIn(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Expects after each event that no budget is exceeded, or further than it was.
class WatchOfBudgets : public rocksdb::EventListener {
 public:
  explicit WatchOfBudgets(std::vector<std::string> budgets) : budgets_(std::move(budgets)) {}

  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& /*info*/) override {
    ++tables_;
    Look();
  }
  void OnFlushCompleted(rocksdb::DB* /*db*/, const rocksdb::FlushJobInfo& /*info*/) override {
    Look();
  }
  void OnCompactionCompleted(rocksdb::DB* /*db*/,
                             const rocksdb::CompactionJobInfo& /*info*/) override {
    Look();
  }

  void ExpectMore() { expects_more_ = true; }

  // What there is in a quiet moment may be there on.
  void Settle(std::uint64_t tables, std::uint64_t bytes_of_table, bool expects_more) {
    Look();
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::string& name : budgets_) seen_[name].allowed = 0;
    tables_ = tables;
    bytes_of_table_ = bytes_of_table;
    expects_more_ = expects_more;
  }

 private:
  struct Seen {
    std::set<std::pair<std::string, std::string>> families;
    std::uint64_t allowed = 0;
  };

  void Look() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const std::string& name : budgets_) {
      const MemoryBudgetUse use = GetMemoryBudgetUse(name);
      Seen& seen = seen_[name];
      bool has_new = false;
      for (const auto& family : use.families) {
        has_new |= seen.families.emplace(family.database, family.column_family).second;
      }
      if (use.bound == 0 || has_new || expects_more_ || seen.allowed == 0) {
        seen.allowed = std::max(use.bound, use.used);
        continue;
      }
      // Blocks that let all keys pass.
      EXPECT_LE(use.used, std::max(use.bound, seen.allowed) + bytes_of_table_ * tables_)
          << name << ", bound " << use.bound;
      seen.allowed = std::max(use.bound, std::min(seen.allowed, use.used));
    }
  }

  const std::vector<std::string> budgets_;
  std::atomic<std::uint64_t> tables_ = 0;
  std::atomic<bool> expects_more_ = true;
  std::mutex mutex_;
  std::uint64_t bytes_of_table_ = 6;
  std::map<std::string, Seen> seen_;
};

class RandomProcess : public RandomSurroundings {
 public:
  explicit RandomProcess(std::uint64_t seed) : random_(seed), seed_(seed) {
    for (const std::uint64_t bound : kBounds) {
      budgets_.push_back("random_" + std::to_string(seed) + "_" + std::to_string(bound));
    }
    watch_ = std::make_shared<WatchOfBudgets>(budgets_);
    watch_listener_ = watch_;
    constexpr double kBits[] = {8.0, 10.0, 14.0};
    for (const bool ribbon : {false, true}) {
      for (std::size_t i = 0; i < 4; ++i) {
        ExactBloomOptions options = AutoOptions(kBits[random_() % 3]);
        options.ribbon = ribbon;
        if (i >= 2) options.budget = budgets_[i - 2];
        if (i >= 2) options.memory_budget = kBounds[i - 2];
        policies_.push_back({options, PolicyOf(options), true});
      }
    }
    policies_.push_back({AutoOptions(10.0), NewPolicy(FilterKind::kClassic), false});
    policies_.push_back(
        {AutoOptions(14.0), PolicyPointer(rocksdb::NewBloomFilterPolicy(14)), false});
    const std::uint64_t databases = 2 + random_() % 2;
    for (std::uint64_t i = 0; i < databases; ++i) {
      paths_.push_back(directory_.path("db" + std::to_string(i)));
      databases_.push_back(std::make_unique<RandomDatabase>(random_(), paths_.back(), *this));
    }
  }

  const std::vector<RandomPolicy>& Policies() const override { return policies_; }
  const ListenerPointer& SharedListener() const override { return listener_; }
  const ListenerPointer& BudgetWatch() const override { return watch_listener_; }
  void ExpectMore() override { watch_->ExpectMore(); }

  void Step(bool is_last) {
    ChangeABound();
    std::vector<std::thread> threads;
    for (const auto& database : databases_) {
      if (random_() % 4 != 0) threads.emplace_back([&database] { database->Change(); });
    }
    for (std::thread& thread : threads) thread.join();
    if (testing::Test::HasFailure()) return;
    for (const auto& database : databases_) database->ExpectRight(is_last);
    ExpectBudgets();
  }

  void ExpectNothingIsLeft() {
    databases_.clear();
    tree::Registry& registry = tree::Registry::Get();
    const auto lock = registry.Lock();
    for (const std::string& path : paths_) {
      for (const std::string& of : {path, path + ".checkpoint"}) {
        EXPECT_EQ(registry.Find(of, "default", tree::kNoJob, of + "/000001.sst"), nullptr) << of;
      }
    }
    for (const std::string& name : budgets_) {
      const tree::Budget* const budget = registry.FindBudget(name);
      EXPECT_EQ(budget->held().all, 0U);
      EXPECT_TRUE(budget->families().empty());
    }
  }

  std::string Describe() const {
    std::string text = "EXACTBLOOM_TEST_SEED=" + std::to_string(seed_);
    for (const auto& database : databases_)
      text += "\n" + database->path() + ": " + database->steps();
    return text;
  }

 private:
  void ChangeABound() {
    if (random_() % 12 != 0) return;
    const std::size_t which = random_() % 2;
    const std::uint64_t bound = kBounds[which] / (1 + random_() % 3);
    EXPECT_TRUE(SetMemoryBudget(budgets_[which], std::to_string(bound)).ok());
  }

  void ExpectBudgets() {
    std::uint64_t tables = 0;
    bool has_unknown = false;
    bool is_partitioned = false;
    for (const auto& database : databases_) {
      tables += SumOf(TreesOf(database->db())).tables;
      has_unknown |= database->HasUnknownFilters();
      is_partitioned |= database->is_partitioned();
    }
    for (const std::string& name : budgets_) {
      const MemoryBudgetUse use = GetMemoryBudgetUse(name);
      std::uint64_t sum = 0;
      for (const auto& family : use.families) sum += family.filter_bytes;
      EXPECT_EQ(use.used, sum);
    }
    watch_->Settle(tables, is_partitioned ? 100 : 6, has_unknown);
  }

  std::mt19937_64 random_;
  const std::uint64_t seed_;
  TemporaryDirectory directory_;
  std::vector<std::string> budgets_;
  std::shared_ptr<WatchOfBudgets> watch_;
  ListenerPointer watch_listener_;
  ListenerPointer listener_ = NewTreeListener();
  std::vector<RandomPolicy> policies_;
  std::vector<std::string> paths_;
  std::vector<std::unique_ptr<RandomDatabase>> databases_;
};

TEST(TreeRandom, HoldsWhateverHappensToDatabases) {
  constexpr std::uint64_t kSeeds = 16;
  using Clock = std::chrono::steady_clock;
  const bool is_large = std::getenv("EXACTBLOOM_TEST_LARGE") != nullptr;
  const int steps = is_large ? 60 : 25;
  const std::uint64_t first = NumberIn("EXACTBLOOM_TEST_SEED", 0);
  const Clock::time_point end =
      Clock::now() + std::chrono::seconds(NumberIn("EXACTBLOOM_TEST_SECONDS", 600));
  for (std::uint64_t seed = first; is_large ? Clock::now() < end : seed < first + kSeeds; ++seed) {
    RandomProcess process(seed);
    for (int i = 1; i <= steps && !HasFailure(); ++i) process.Step(i == steps);
    ASSERT_FALSE(HasFailure()) << process.Describe();
    process.ExpectNothingIsLeft();
    ASSERT_FALSE(HasFailure()) << "EXACTBLOOM_TEST_SEED=" << seed;
  }
}

}  // namespace
}  // namespace exactbloom
