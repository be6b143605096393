// Two databases that share a policy, a budget and a listener, with concurrent flushes and
// compactions of several families, while other databases are closed.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exactbloom/tree_listener.h"
#include "followed_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeysOfTable = 300;
constexpr std::uint64_t kTables = 10;  // of a family
constexpr int kBackgroundThreads = 4;

rocksdb::Options ConcurrentOptions(const BloomFilterPolicyOptions& policy,
                                   const ListenerPointer& listener) {
  rocksdb::Options options = FollowingOptions(PolicyOf(policy), listener);
  options.max_background_jobs = 2 * kBackgroundThreads;
  options.max_subcompactions = 2;
  options.env->SetBackgroundThreads(kBackgroundThreads, rocksdb::Env::HIGH);
  options.env->SetBackgroundThreads(kBackgroundThreads, rocksdb::Env::LOW);
  return options;
}

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
    std::vector<std::thread> threads;
    for (rocksdb::ColumnFamilyHandle* family : {db_->DefaultColumnFamily(), more_}) {
      threads.emplace_back([this, family] { Write(family); });
    }
    threads.emplace_back([this] { CreateAndDrop(); });
    std::thread reader([this] { Read(); });
    for (std::thread& thread : threads) thread.join();
    is_done_ = true;
    reader.join();
    for (rocksdb::ColumnFamilyHandle* family : {db_->DefaultColumnFamily(), more_}) {
      ExpectPresent(*db_, kTables * kKeysOfTable, "value", 0, family);
    }
  }

 private:
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
      std::this_thread::yield();
    }
  }

  rocksdb::Options options_;
  Database db_;
  rocksdb::ColumnFamilyHandle* more_ = nullptr;
  std::atomic<std::uint64_t> written_{0};
  std::atomic<bool> is_done_{false};
};

class TreeListenerConcurrent : public testing::TestWithParam<BloomFilterPolicyOptions> {};

BloomFilterPolicyOptions AutoWithRibbon() {
  BloomFilterPolicyOptions options = AutoOptions();
  options.bottommost = BottommostFilter::kRibbon;
  return options;
}

INSTANTIATE_TEST_SUITE_P(Policies, TreeListenerConcurrent,
                         testing::Values(AutoOptions(), AutoWithRibbon(), BudgetOptions(10'000)),
                         [](const auto& test) {
                           if (test.param.memory_budget != 0) return "Budget";
                           return test.param.bottommost == BottommostFilter::kRibbon ? "Ribbon"
                                                                                     : "Auto";
                         });

TEST_P(TreeListenerConcurrent, OneListenerFollowsAllFamiliesOfTwoDatabases) {
  const TemporaryDirectory directory;
  const ListenerPointer listener = NewTreeListener();
  const rocksdb::Options options = ConcurrentOptions(GetParam(), listener);
  BusyDatabase first(options, directory.path("first"));
  BusyDatabase second(options, directory.path("second"));
  std::thread other([&second] { second.Work(); });
  first.Work();
  other.join();
  ExpectTrueShape(first.db(), listener);
  ExpectTrueShape(second.db(), listener);
}

TEST_P(TreeListenerConcurrent, ADatabaseIsClosedWhileAnotherGoesOn) {
  const TemporaryDirectory directory;
  const ListenerPointer listener = NewTreeListener();
  const rocksdb::Options options = ConcurrentOptions(GetParam(), listener);
  BusyDatabase lasting(options, directory.path("lasting"));
  std::thread other([&lasting] { lasting.Work(); });
  for (std::uint64_t i = 0; i < 3; ++i) {
    // Closed with whatever still runs.
    const Database db = Open(options, directory.path("closed"));
    PutAndFlush(*db, kKeysOfTable, "value", i * kKeysOfTable);
    ExpectPresent(*db, (i + 1) * kKeysOfTable);
  }
  other.join();
  ExpectTrueShape(lasting.db(), listener);
}

}  // namespace
}  // namespace exactbloom
