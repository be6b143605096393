// A database in use while its files fail, fall short and are corrupted: acknowledged writes are
// never lost, and each answer is correct or an error. EXACTBLOOM_TEST_LARGE=1 (make stress) runs
// many times as long.
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "configurations.h"
#include "expected_contents.h"
#include "faulty_file_system.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom::faults {
namespace {

using rocksdb::Status;

constexpr std::uint64_t kKeys = 512;
constexpr int kOperationsOfRound = 300;
constexpr int kMostOpenings = 5;

int Rounds() { return std::getenv("EXACTBLOOM_TEST_LARGE") == nullptr ? 2 : 60; }

// Reads of logs are never short or corrupted, because RocksDB takes an early end of a log for its
// real end (docs/reliability.md).
Probabilities ChosenProbabilities() {
  Probabilities chosen;
  for (const FileKind file : {FileKind::kTable, FileKind::kLog, FileKind::kManifest}) {
    const double writes = file == FileKind::kLog ? 0.002 : 0.02;  // logs have many
    chosen[{file, Operation::kRead, Fault::kFail}] = 0.005;
    chosen[{file, Operation::kWrite, Fault::kFail}] = writes;
    chosen[{file, Operation::kWrite, Fault::kShorten}] = writes;
    chosen[{file, Operation::kSync, Fault::kFail}] = writes;
    chosen[{file, Operation::kCreate, Fault::kFail}] = 0.02;
  }
  chosen[{FileKind::kTable, Operation::kRead, Fault::kShorten}] = 0.005;
  chosen[{FileKind::kTable, Operation::kRead, Fault::kCorrupt}] = 0.01;
  chosen[{FileKind::kTable, Operation::kWrite, Fault::kCorrupt}] = 0.02;
  return chosen;
}

class RandomFaults : public testing::TestWithParam<Configuration> {
 protected:
  RandomFaults() {
    options_ = GetParam().Options();
    options_.env = env_.get();
    options_.paranoid_file_checks = true;   // finds corrupted writes while the log still exists
    options_.max_bgerror_resume_count = 0;  // Recover() does it
    options_.info_log_level = rocksdb::FATAL_LEVEL;
  }

  // Opens the database, with faults if possible, and expects its contents to be right.
  void Reopen() {
    db_.reset();
    for (int opening = 0; db_ == nullptr; ++opening) {
      if (opening == kMostOpenings) faults_.Switch(false);
      const Status status = rocksdb::DB::Open(options_, directory_.path("db"), Receive(&db_));
      ASSERT_TRUE(status.ok() || opening < kMostOpenings) << status.ToString();
    }
    faults_.Switch(false);
    EXPECT_EQ(expected_.Settle(*db_), "");
    faults_.Switch(true);
  }

  void Recover() {
    if (Draw(2) == 0 || !db_->Resume().ok()) Reopen();
  }

  void Write() {
    Writes writes;
    rocksdb::WriteBatch batch;
    for (std::uint64_t i = 0; i < 1 + Draw(8); ++i) {
      const std::uint64_t key = Draw(kKeys);
      Value value;
      if (Draw(5) != 0) value = std::to_string(++writes_) + std::string(100 + Draw(300), 'v');
      EXPECT_TRUE((value ? batch.Put(KeyOf(2 * key), *value) : batch.Delete(KeyOf(2 * key))).ok());
      writes.emplace_back(key, value);
    }
    rocksdb::WriteOptions synced;
    synced.sync = true;
    const bool acknowledged = db_->Write(synced, &batch).ok();
    acknowledged ? expected_.Acknowledge(writes) : expected_.Attempt(writes);
    if (!acknowledged) Recover();
  }

  void Accept(const char* operation, std::uint64_t key, const Status& status,
              const std::string& value) {
    EXPECT_TRUE(key % 2 == 1 ? !status.ok() : expected_.Allows(key / 2, status, value))
        << operation << " of " << KeyOf(key) << ": " << status.ToString() << " " << value;
  }

  void Get() {
    const std::uint64_t key = Draw(2 * kKeys);
    std::string value;
    const Status status = db_->Get({}, KeyOf(key), &value);
    Accept("Get", key, status, value);
  }

  void MultiGet() {
    std::vector<std::uint64_t> numbers;
    std::vector<std::string> texts;
    for (int i = 0; i < 32; ++i) {
      numbers.push_back(Draw(2 * kKeys));
      texts.push_back(KeyOf(numbers.back()));
    }
    const std::vector<rocksdb::Slice> keys(texts.begin(), texts.end());
    std::vector<rocksdb::PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    db_->MultiGet({}, db_->DefaultColumnFamily(), keys.size(), keys.data(), values.data(),
                  statuses.data());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      Accept("MultiGet", numbers[i], statuses[i], values[i].ToString());
    }
  }

  // A range of keys; those skipped without an error must be absent.
  void Iterate() {
    // When they look for range deletions, iterators of RocksDB before 8.6 skip a table whose
    // beginning cannot be read, without an error (RocksDB's pull request 11782).
    rocksdb::ReadOptions read_options;
    read_options.ignore_range_deletions = true;
    const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read_options));
    std::uint64_t key = Draw(kKeys);
    const std::uint64_t end = std::min<std::uint64_t>(key + 200, kKeys);
    for (iterator->Seek(KeyOf(2 * key)); key < end && !HasFailure(); ++key) {
      const bool is_here = iterator->Valid() && iterator->key() == KeyOf(2 * key);
      const std::string value = is_here ? iterator->value().ToString() : "";
      const Status status = iterator->Valid() || iterator->status().ok()
                                ? (is_here ? Status::OK() : Status::NotFound())
                                : iterator->status();
      Accept("iterator", 2 * key, status, value);
      if (is_here) iterator->Next();
    }
  }

  void Work() {
    for (int i = 0; i < kOperationsOfRound && !HasFailure(); ++i) {
      const std::uint64_t choice = Draw(200);
      if (choice < 70) {
        Write();
      } else if (choice < 150) {
        Get();
      } else if (choice < 185) {
        MultiGet();
      } else if (choice < 195) {
        Iterate();
      } else {
        const bool flush = choice < 198;
        const Status status = flush ? db_->Flush({}) : db_->CompactRange({}, nullptr, nullptr);
        if (!status.ok()) Recover();
      }
    }
  }

  // Without faults, either in the same database, if it can resume, or reopened.
  void Verify() {
    faults_.Switch(false);
    if (Draw(2) == 0 || !db_->Resume().ok()) return Reopen();
    EXPECT_EQ(expected_.FindDifference(*db_), "");
    faults_.Switch(true);
  }

  std::uint64_t Draw(std::uint64_t end) { return random_() % end; }

  TemporaryDirectory directory_;
  std::mt19937_64 random_{std::hash<std::string>()(GetParam().Name())};
  FaultSource faults_{random_(), ChosenProbabilities()};
  std::unique_ptr<rocksdb::Env> env_ = NewFaultyEnv(faults_);
  rocksdb::Options options_;
  ExpectedContents expected_{kKeys};
  Database db_;
  std::uint64_t writes_ = 0;
};

INSTANTIATE_TEST_SUITE_P(All, RandomFaults, testing::ValuesIn(AllConfigurations()),
                         [](const auto& test) { return test.param.Name(); });

TEST_P(RandomFaults, NothingIsLostAndNoKeyIsMissedWithoutAnError) {
  Reopen();
  for (int round = 0; round < Rounds() && !HasFailure(); ++round) {
    Work();
    if (!HasFailure()) Verify();
  }
  EXPECT_GT(faults_.Faults(), 0U);
  EXPECT_GT(options_.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL), 0U);
  faults_.Switch(false);
}

}  // namespace
}  // namespace exactbloom::faults
