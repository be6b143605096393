// Several databases of a process that are changed at random and read, all at once: at any time the
// keys that they keep are found, and absent ones are not; after each step all keys are found, what
// is known of the trees equals the files, and filters have the bits that they should, and filter.
// Budgets hold at every moment. After closing nothing is left.
//
// EXACTBLOOM_TEST_LARGE=1 (make stress) runs it for EXACTBLOOM_TEST_SECONDS, 600 unless set, and
// EXACTBLOOM_TEST_SEED is the first seed. Which changes are made follows from the seed, but not how
// the jobs of RocksDB overlap.
//
// The installed librocksdb is not instrumented. The thread sanitizer sees the order that its
// mutexes impose, but neither its memory nor its atomics, and by default reports races within
// RocksDB. ctest therefore runs this program with ignore_noninstrumented_modules: only the reads
// and writes of ExactBloom's code and of inline functions of RocksDB's headers are checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "exactbloom/memory_budget.h"
#include "exactbloom/tree_listener.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/filter_bits_interface.h"
#include "plugin/live_tree/registry.h"
#include "random_database.h"

namespace exactbloom {
namespace {

std::uint64_t NumberIn(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

RandomPolicy OwnPolicy(int bits_per_key, bool ribbon, const std::string& budget = "",
                       std::uint64_t bound = 0) {
  std::string text = "{id=exactbloom;bits_per_key=" + std::to_string(bits_per_key) +
                     ";ribbon=" + (ribbon ? "true" : "false");
  if (bound != 0) text += ";memory_budget=" + std::to_string(bound) + ";budget=" + budget;
  return {text + "}", static_cast<double>(bits_per_key), ribbon, budget};
}

// In every fourth process many trees that only grow share a budget, also with partitions or with
// files that must not be deleted: then the filters of all files are within it at every moment.
struct Crowd {
  std::uint64_t databases;
  std::uint64_t families;  // of each
};
constexpr Crowd kCrowds[] = {{12, 1}, {2, 20}, {4, 5}};

class RandomProcess {
 public:
  explicit RandomProcess(std::uint64_t seed)
      : random_(seed), seed_(seed), is_crowd_(seed % 4 == 3) {
    const Crowd crowd = kCrowds[seed / 4 % 3];
    const std::uint64_t databases = is_crowd_ ? crowd.databases : 2 + random_() % 2;
    if (is_crowd_) {
      constexpr std::uint64_t kBytesOfFamily = 3'000;
      surroundings_.only_grows = true;
      surroundings_.families = crowd.families;
      AddBudget(databases * crowd.families * kBytesOfFamily);
      surroundings_.policies.push_back(
          OwnPolicy(20, random_() % 2 == 0, budgets_[0].name, budgets_[0].bound));
    } else {
      for (const std::uint64_t bound : {15'000, 60'000}) AddBudget(bound);
      AddPolicies();
    }
    surroundings_.listener = NewTreeListener();
    std::vector<std::string> names;
    for (const NamedBudget& budget : budgets_) names.push_back(budget.name);
    surroundings_.watch = std::make_shared<BudgetWatch>(names, is_crowd_);
    for (std::uint64_t i = 0; i < databases; ++i) {
      paths_.push_back(directory_.path("db" + std::to_string(i)));
      databases_.push_back(
          std::make_unique<RandomDatabase>(random_(), paths_.back(), surroundings_));
    }
    if (is_crowd_) ExpectBudgets();
  }

  int Steps(bool is_large) const { return is_crowd_ ? 8 : is_large ? 60 : 18; }
  std::size_t Databases() const { return databases_.size(); }

  void Step(bool is_last) {
    if (!is_crowd_) ChangeABound();
    std::vector<std::thread> threads;
    for (const auto& database : databases_) {
      if (random_() % 4 != 0) threads.emplace_back([&database] { database->Change(); });
    }
    for (std::thread& thread : threads) thread.join();
    if (testing::Test::HasFailure()) return;
    for (const auto& database : databases_) database->ExpectRight(is_last);
    ExpectBudgets();
    if (!is_crowd_) return;
    // While a database is closed, others may take its part.
    EXPECT_TRUE(databases_[random_() % databases_.size()]->Reopen().ok());
    ExpectBudgets();
  }

  void ExpectNothingIsLeft() {
    databases_.clear();
    tree::Registry& registry = tree::Registry::Get();
    for (const std::string& path : paths_) {
      for (const std::string& of : {path, path + ".checkpoint"}) {
        EXPECT_TRUE(registry.OfPath(of).empty()) << of;
      }
    }
    const auto lock = registry.Lock();
    for (const NamedBudget& named : budgets_) {
      const tree::Budget* const budget = registry.FindBudget(named.name);
      EXPECT_EQ(budget->held().tables + budget->held().filter_bytes, 0U);
      EXPECT_TRUE(budget->families().empty());
    }
    if (is_crowd_) {
      EXPECT_GT(surroundings_.watch->MostBytesOfFiles(), budgets_[0].bound / 3);
    }
  }

  std::string Describe() const {
    std::string text = "EXACTBLOOM_TEST_SEED=" + std::to_string(seed_);
    for (const auto& database : databases_)
      text += "\n" + database->path() + ": " + database->steps();
    return text;
  }

 private:
  struct NamedBudget {
    std::string name;
    std::uint64_t bound;
  };

  void AddBudget(std::uint64_t bound) {
    budgets_.push_back({"random_" + std::to_string(seed_) + "_" + std::to_string(bound), bound});
  }

  void AddPolicies() {
    constexpr int kBits[] = {8, 10, 14};
    std::vector<RandomPolicy>& policies = surroundings_.policies;
    for (const bool ribbon : {false, true}) {
      for (int i = 0; i < 2; ++i) policies.push_back(OwnPolicy(kBits[random_() % 3], ribbon));
      for (const auto& [name, bound] : budgets_) {
        policies.push_back(OwnPolicy(kBits[random_() % 3], ribbon, name, bound));
      }
    }
    policies.emplace_back("classic_bloom:10", 10.0);
    policies.emplace_back("{id=standard_bloom;fpr=0.01}", 12.0);
    policies.emplace_back("classic_bloom:12", 12.0);
    policies.emplace_back("bloomfilter:14:false", 14.0);
  }

  void ChangeABound() {
    if (random_() % 12 != 0) return;
    const auto& [name, most] = budgets_[random_() % budgets_.size()];
    const std::uint64_t bound = most / (1 + random_() % 3);
    EXPECT_TRUE(SetMemoryBudget(name, std::to_string(bound)).ok());
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
    for (const NamedBudget& budget : budgets_) {
      const MemoryBudgetUse use = GetMemoryBudgetUse(budget.name);
      std::uint64_t sum = 0;
      for (const auto& family : use.families) sum += family.filter_bytes;
      EXPECT_EQ(use.used_bytes, sum);
    }
    surroundings_.watch->Settle(tables, is_partitioned ? 100 : 6, has_unknown);
  }

  std::mt19937_64 random_;
  const std::uint64_t seed_;
  const bool is_crowd_;
  TemporaryDirectory directory_;
  std::vector<NamedBudget> budgets_;
  RandomSurroundings surroundings_;
  std::vector<std::string> paths_;
  std::vector<std::unique_ptr<RandomDatabase>> databases_;
};

TEST(TreeRandom, HoldsWhateverHappensToDatabases) {
  constexpr std::uint64_t kSeeds = 12;  // with each crowd
  using Clock = std::chrono::steady_clock;
  const bool is_large = std::getenv("EXACTBLOOM_TEST_LARGE") != nullptr;
  const std::uint64_t first = NumberIn("EXACTBLOOM_TEST_SEED", 0);
  const Clock::time_point end =
      Clock::now() + std::chrono::seconds(NumberIn("EXACTBLOOM_TEST_SECONDS", 600));
  std::uint64_t databases = 0;
  std::uint64_t steps = 0;
  for (std::uint64_t seed = first; is_large ? Clock::now() < end : seed < first + kSeeds; ++seed) {
    RandomProcess process(seed);
    databases += process.Databases();
    const int count = process.Steps(is_large);
    for (int i = 1; i <= count && !HasFailure(); ++i, ++steps) process.Step(i == count);
    ASSERT_FALSE(HasFailure()) << process.Describe();
    process.ExpectNothingIsLeft();
    ASSERT_FALSE(HasFailure()) << "EXACTBLOOM_TEST_SEED=" << seed;
  }
  std::printf("%llu steps of %llu databases\n", static_cast<unsigned long long>(steps),
              static_cast<unsigned long long>(databases));
}

// One policy, as column families share it.
TEST(PolicyConcurrent, FirstFiltersMayBeBuiltInParallel) {
  constexpr int kBuilders = 8;
  constexpr std::uint64_t kKeys = 3'000;
  const PolicyOptions options(PolicyKind::kExactBloom);
  for (const int level : {0, 6}) {
    const BloomFilterPolicy policy(options);
    std::vector<std::string> blocks(kBuilders);
    std::vector<std::thread> threads;
    for (std::string& block : blocks) {
      threads.emplace_back([&policy, &block, level] {
        const rocksdb::BlockBasedTableOptions tables = PlannedSizes();
        rocksdb::FilterBuildingContext context(tables);
        context.level_at_creation = level;
        const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
            policy.GetBuilderWithContext(context));
        for (std::uint64_t i = 0; i < kKeys; ++i) builder->AddKey(KeyOf(i));
        std::unique_ptr<const char[]> buffer;
        block = builder->Finish(&buffer).ToString();
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::count(blocks.begin(), blocks.end(), blocks.front()), kBuilders);
  }
}

}  // namespace
}  // namespace exactbloom
