// One policy shared by the column families of two databases, which are written, compacted and read
// at once.
//
// The installed librocksdb is not instrumented. The thread sanitizer sees the order that its
// mutexes impose, but neither its memory nor its atomics, and by default reports races within
// RocksDB. ctest therefore runs this program with ignore_noninstrumented_modules: only the reads
// and writes of ExactBloom's code and of inline functions of RocksDB's headers are checked.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeysOfTable = 400;
constexpr std::uint64_t kTables = 6;  // of a column family, before they are compacted
constexpr int kReaders = 3;           // of a database
constexpr int kBackgroundThreads = 4;

// Two column families, and how much of them has been written.
class SharedDatabase {
 public:
  explicit SharedDatabase(const PolicyPointer& policy) {
    rocksdb::BlockBasedTableOptions table_options;
    table_options.filter_policy = policy;
    table_options.optimize_filters_for_memory = true;
    table_options.detect_filter_construct_corruption = true;
    table_options.cache_index_and_filter_blocks = true;
    rocksdb::Options options = OptionsWith(table_options);
    // Flushes and compactions of all families at once.
    options.max_background_jobs = 4 * kBackgroundThreads;
    options.env->SetBackgroundThreads(kBackgroundThreads, rocksdb::Env::HIGH);
    options.env->SetBackgroundThreads(kBackgroundThreads, rocksdb::Env::LOW);
    db_ = Open(options, directory_.path("db"));
    EXPECT_TRUE(db_->CreateColumnFamily(options, "more", &more_).ok());
  }

  ~SharedDatabase() { EXPECT_TRUE(db_->DestroyColumnFamilyHandle(more_).ok()); }

  // Both families at once: each in its own thread.
  void Write() {
    std::thread other([this] { WriteFamily(more_); });
    WriteFamily(db_->DefaultColumnFamily());
    other.join();
    written_all_ = true;
  }

  // Looks up what was written so far, until everything is written.
  void Read() {
    bool last = false;
    while (!last) {
      last = written_all_;
      for (std::uint64_t i = 0; i < safe_keys_; i += 7) {
        std::string value;
        EXPECT_TRUE(db_->Get({}, KeyOf(2 * i), &value).ok()) << i;
      }
    }
  }

  // The filters' counters for the keys of both families and as many absent ones.
  FilterCounts ReadAll() {
    FilterCounts sum;
    for (rocksdb::ColumnFamilyHandle* family : {db_->DefaultColumnFamily(), more_}) {
      ExpectPresent(*db_, kTables * kKeysOfTable, "value", 0, family);
      TakeCounts(*db_);
      sum.useful += AskAbsent(*db_, kTables * kKeysOfTable - 1, family).useful;
    }
    return sum;
  }

 private:
  void WriteFamily(rocksdb::ColumnFamilyHandle* family) {
    for (std::uint64_t table = 0; table < kTables; ++table) {
      PutAndFlush(*db_, kKeysOfTable, "value", table * kKeysOfTable, family);
      if (family == db_->DefaultColumnFamily()) safe_keys_ = (table + 1) * kKeysOfTable;
      if (table % 3 != 2) continue;
      EXPECT_TRUE(db_->CompactRange({}, family, nullptr, nullptr).ok());
    }
  }

  TemporaryDirectory directory_;
  Database db_;
  rocksdb::ColumnFamilyHandle* more_ = nullptr;
  std::atomic<std::uint64_t> safe_keys_{0};
  std::atomic<bool> written_all_{false};
};

class DatabaseConcurrent : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Policies, DatabaseConcurrent,
                         testing::Values("classic_bloom:10", "{id=standard_bloom;fpr=0.01;lines=1}",
                                         "{id=classic_bloom;level_bits=12:10;bottommost=ribbon}"));

TEST_P(DatabaseConcurrent, OnePolicyServesAllFamiliesOfTwoDatabases) {
  RegisterFilterPolicies();
  PolicyPointer policy;
  ASSERT_TRUE(rocksdb::FilterPolicy::CreateFromString({}, GetParam(), &policy).ok());
  SharedDatabase first(policy);
  SharedDatabase second(policy);
  std::vector<std::thread> threads;
  for (SharedDatabase* database : {&first, &second}) {
    threads.emplace_back([database] { database->Write(); });
    for (int i = 0; i < kReaders; ++i) threads.emplace_back([database] { database->Read(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (SharedDatabase* database : {&first, &second}) {
    EXPECT_GT(database->ReadAll().useful, 2 * kTables * kKeysOfTable * 95 / 100);
  }
}

}  // namespace
}  // namespace exactbloom
