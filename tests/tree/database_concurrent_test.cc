// One policy shared by the column families of two databases, which are written, compacted and read
// at once, while families are created and dropped, and databases opened and closed. Policies that
// follow the tree share a listener and a budget, too.
//
// The installed librocksdb is not instrumented. The thread sanitizer sees the order that its
// mutexes impose, but neither its memory nor its atomics, and by default reports races within
// RocksDB. ctest therefore runs this program with ignore_noninstrumented_modules: only the reads
// and writes of ExactBloom's code and of inline functions of RocksDB's headers are checked.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeysOfTable = 300;
constexpr std::uint64_t kTables = 10;  // of a family
constexpr std::uint64_t kKeys = kTables * kKeysOfTable;
constexpr int kReaders = 3;  // of a database
constexpr int kBackgroundThreads = 4;

// Two families that are written and read at once.
class BusyDatabase {
 public:
  BusyDatabase(const rocksdb::Options& options, const std::string& path)
      : options_(options), db_(Open(options, path)) {
    EXPECT_TRUE(db_->CreateColumnFamily(options, "more", &more_).ok());
  }
  ~BusyDatabase() { EXPECT_TRUE(db_->DestroyColumnFamilyHandle(more_).ok()); }
  BusyDatabase(const BusyDatabase&) = delete;
  BusyDatabase& operator=(const BusyDatabase&) = delete;

  rocksdb::DB& db() { return *db_; }

  void Work() {
    std::vector<std::thread> writers;
    for (rocksdb::ColumnFamilyHandle* family : Families()) {
      writers.emplace_back([this, family] { Write(family); });
    }
    writers.emplace_back([this] { CreateAndDrop(); });
    std::vector<std::thread> readers;
    for (int i = 0; i < kReaders; ++i) readers.emplace_back([this] { Read(); });
    for (std::thread& thread : writers) thread.join();
    is_done_ = true;
    for (std::thread& thread : readers) thread.join();
  }

  // Expects all keys of both families, and returns how many lookups of absent ones filters stop.
  std::uint64_t ReadAll() {
    std::uint64_t stopped = 0;
    for (rocksdb::ColumnFamilyHandle* family : Families()) {
      ExpectPresent(*db_, kKeys, "value", 0, family);
      stopped += AskAbsent(*db_, kKeys - 1, family).useful;
    }
    return stopped;
  }

 private:
  std::vector<rocksdb::ColumnFamilyHandle*> Families() {
    return {db_->DefaultColumnFamily(), more_};
  }

  void Write(rocksdb::ColumnFamilyHandle* family) {
    for (std::uint64_t table = 0; table < kTables; ++table) {
      PutAndFlush(*db_, kKeysOfTable, "value", table * kKeysOfTable, family);
      if (family == db_->DefaultColumnFamily()) written_ = (table + 1) * kKeysOfTable;
      if (table % 4 != 3) continue;
      EXPECT_TRUE(db_->CompactRange({}, family, nullptr, nullptr).ok());
    }
  }

  void CreateAndDrop() {
    for (int i = 0; i < 3; ++i) {
      rocksdb::ColumnFamilyHandle* family = nullptr;
      ASSERT_TRUE(db_->CreateColumnFamily(options_, "short", &family).ok());
      PutAndFlush(*db_, kKeysOfTable, "value", 0, family);
      ASSERT_TRUE(db_->DropColumnFamily(family).ok());
      ASSERT_TRUE(db_->DestroyColumnFamilyHandle(family).ok());
    }
  }

  void Read() {
    while (!is_done_) {
      for (std::uint64_t i = 0; i < written_; i += 11) {
        std::string value;
        EXPECT_TRUE(db_->Get({}, KeyOf(2 * i), &value).ok()) << i;
      }
      if (written_ != 0) MultiGetAll(*db_, kKeysOfTable);
      std::this_thread::yield();
    }
  }

  rocksdb::Options options_;
  Database db_;
  rocksdb::ColumnFamilyHandle* more_ = nullptr;
  std::atomic<std::uint64_t> written_{0};
  std::atomic<bool> is_done_{false};
};

struct Case {
  const char* name;
  std::string policy;
  bool follows = false;
  double least_stopped = 0.95;  // of the lookups of absent keys
};

class DatabaseConcurrent : public testing::TestWithParam<Case> {
 protected:
  rocksdb::Options Options() const {
    RegisterFilterPolicies();
    rocksdb::BlockBasedTableOptions tables;
    EXPECT_TRUE(
        rocksdb::FilterPolicy::CreateFromString({}, GetParam().policy, &tables.filter_policy).ok());
    tables.optimize_filters_for_memory = true;
    tables.detect_filter_construct_corruption = true;
    tables.cache_index_and_filter_blocks = true;
    tables.cache_usage_options.options_overrides[rocksdb::CacheEntryRole::kFilterConstruction]
        .charged = rocksdb::CacheEntryRoleOptions::Decision::kEnabled;
    rocksdb::Options options = FollowingOptions(tables.filter_policy, listener_);
    if (!GetParam().follows) options.listeners.clear();
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(tables));
    options.max_background_jobs = 4 * kBackgroundThreads;
    options.max_subcompactions = 2;
    options.env->SetBackgroundThreads(kBackgroundThreads, rocksdb::Env::HIGH);
    options.env->SetBackgroundThreads(kBackgroundThreads, rocksdb::Env::LOW);
    return options;
  }

  void ExpectRight(BusyDatabase& database) {
    EXPECT_GE(static_cast<double>(database.ReadAll()),
              GetParam().least_stopped * 2 * static_cast<double>(kKeys - 1));
    if (GetParam().follows) ExpectKnownTrees(database.db());
  }

  TemporaryDirectory directory_;
  ListenerPointer listener_ = NewTreeListener();
};

INSTANTIATE_TEST_SUITE_P(
    Policies, DatabaseConcurrent,
    testing::Values(Case{"Classic", "classic_bloom:10"},
                    Case{"StandardByRate", "{id=standard_bloom;fpr=0.01}"},
                    Case{"LevelBits", "{id=classic_bloom;level_bits=12:10}"},
                    Case{"Auto", "{id=exactbloom;ribbon=false}", true},
                    Case{"AutoWithRibbon", "exactbloom", true},
                    // Too little for all keys.
                    Case{"Budget",
                         "{id=exactbloom;ribbon=false;bits_per_key=20;memory_budget=10000}", true,
                         0.0}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_P(DatabaseConcurrent, OnePolicyServesAllFamiliesOfTwoDatabases) {
  const rocksdb::Options options = Options();
  BusyDatabase first(options, directory_.path("first"));
  BusyDatabase second(options, directory_.path("second"));
  std::thread other([&second] { second.Work(); });
  first.Work();
  other.join();
  ExpectRight(first);
  ExpectRight(second);
}

TEST_P(DatabaseConcurrent, ADatabaseIsClosedWhileAnotherGoesOn) {
  const rocksdb::Options options = Options();
  BusyDatabase lasting(options, directory_.path("lasting"));
  std::thread other([&lasting] { lasting.Work(); });
  for (std::uint64_t i = 0; i < 3; ++i) {
    // Closed with whatever still runs.
    const Database db = Open(options, directory_.path("closed"));
    PutAndFlush(*db, kKeysOfTable, "value", i * kKeysOfTable);
    ExpectPresent(*db, (i + 1) * kKeysOfTable);
  }
  other.join();
  ExpectRight(lasting);
}

// One policy, as column families share it.
TEST(PolicyConcurrent, FirstFiltersMayBeBuiltInParallel) {
  constexpr int kBuilders = 8;
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
