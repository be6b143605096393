// Two databases of ten column families, with the same policy, in use while their files fail, fall
// short and are corrupted, and while the disk is full: acknowledged writes are never lost, and each
// answer is correct or an error.
// EXACTBLOOM_TEST_LARGE=1 (make stress) runs many times as long.
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/listener.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "configurations.h"
#include "expected_contents.h"
#include "family_database.h"
#include "faulty_file_system.h"
#include "sample_database.h"

namespace exactbloom::faults {
namespace {

using rocksdb::Status;

constexpr std::uint64_t kKeys = 512;  // of a database
constexpr int kMostOpenings = 5;

bool IsLarge() { return std::getenv("EXACTBLOOM_TEST_LARGE") != nullptr; }

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

struct Subject {
  explicit Subject(std::string its_path) : path(std::move(its_path)) {}

  std::string path;
  ExpectedContents expected{kKeys};
  FamilyDatabase db;
};

// Closing a database of RocksDB 7.8 may wait for ever for its own recovery from a full disk.
class NoOwnRecovery : public rocksdb::EventListener {
 public:
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }
};

class RandomFaults : public testing::TestWithParam<Configuration> {
 protected:
  RandomFaults() {
    options_ = GetParam().Options();
    options_.env = env_.get();
    options_.paranoid_file_checks = true;   // finds corrupted writes while the log still exists
    options_.max_bgerror_resume_count = 0;  // Recover() does it
    options_.listeners.push_back(std::make_shared<NoOwnRecovery>());
    options_.info_log_level = rocksdb::FATAL_LEVEL;
  }

  // Opens the database, with faults if possible, and expects its contents to be right.
  void Reopen(Subject& subject) {
    subject.db.Close();
    for (int opening = 0; !subject.db.IsOpen(); ++opening) {
      if (opening == kMostOpenings) faults_.Switch(false);
      const Status status = subject.db.Open({options_}, subject.path);
      ASSERT_TRUE(status.ok() || opening < kMostOpenings) << status.ToString();
    }
    faults_.Switch(false);
    EXPECT_EQ(subject.expected.Settle(subject.db), "");
    faults_.Switch(true);
  }

  void Recover(Subject& subject) {
    if (Draw(2) == 0 || !subject.db->Resume().ok()) Reopen(subject);
  }

  void Write(Subject& subject) {
    Writes writes;
    rocksdb::WriteBatch batch;
    for (std::uint64_t i = 0; i < 1 + Draw(8); ++i) {
      const std::uint64_t key = Draw(kKeys);
      Value value;
      if (Draw(5) != 0) value = std::to_string(++writes_) + std::string(100 + Draw(300), 'v');
      const std::string text = KeyOf(2 * key);
      auto* family = subject.db.HandleOf(2 * key);
      EXPECT_TRUE((value ? batch.Put(family, text, *value) : batch.Delete(family, text)).ok());
      writes.emplace_back(key, value);
    }
    rocksdb::WriteOptions synced;
    synced.sync = true;
    const bool acknowledged = subject.db->Write(synced, &batch).ok();
    acknowledged ? subject.expected.Acknowledge(writes) : subject.expected.Attempt(writes);
    if (!acknowledged) Recover(subject);
  }

  static void Accept(const Subject& subject, const char* operation, std::uint64_t key,
                     const Status& status, const std::string& value) {
    EXPECT_TRUE(key % 2 == 1 ? !status.ok() : subject.expected.Allows(key / 2, status, value))
        << operation << " of " << KeyOf(key) << ": " << status.ToString() << " " << value;
  }

  void Get(Subject& subject) {
    const std::uint64_t key = Draw(2 * kKeys);
    std::string value;
    const Status status = subject.db->Get({}, subject.db.HandleOf(key), KeyOf(key), &value);
    Accept(subject, "Get", key, status, value);
  }

  void MultiGet(Subject& subject) {
    std::vector<std::uint64_t> numbers;
    std::vector<std::string> texts;
    std::vector<rocksdb::ColumnFamilyHandle*> families;
    for (int i = 0; i < 32; ++i) {
      numbers.push_back(Draw(2 * kKeys));
      texts.push_back(KeyOf(numbers.back()));
      families.push_back(subject.db.HandleOf(numbers.back()));
    }
    const std::vector<rocksdb::Slice> keys(texts.begin(), texts.end());
    std::vector<rocksdb::PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    subject.db->MultiGet({}, keys.size(), families.data(), keys.data(), values.data(),
                         statuses.data());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      Accept(subject, "MultiGet", numbers[i], statuses[i], values[i].ToString());
    }
  }

  // A range of the keys of a family; those skipped without an error must be absent.
  void Iterate(Subject& subject) {
    // When they look for range deletions, iterators of RocksDB before 8.6 skip a table whose
    // beginning cannot be read, without an error (RocksDB's pull request 11782).
    rocksdb::ReadOptions read_options;
    read_options.ignore_range_deletions = true;
    std::uint64_t key = Draw(kKeys);
    const std::unique_ptr<rocksdb::Iterator> iterator(
        subject.db->NewIterator(read_options, subject.db.HandleOf(2 * key)));
    for (iterator->Seek(KeyOf(2 * key)); key < kKeys && !HasFailure();
         key += FamilyDatabase::kFamilies) {
      const bool is_here = iterator->Valid() && iterator->key() == KeyOf(2 * key);
      const std::string value = is_here ? iterator->value().ToString() : "";
      const Status status = iterator->Valid() || iterator->status().ok()
                                ? (is_here ? Status::OK() : Status::NotFound())
                                : iterator->status();
      Accept(subject, "iterator", 2 * key, status, value);
      if (is_here) iterator->Next();
    }
  }

  void Work() {
    const int operations = IsLarge() ? 300 : 150;
    for (int i = 0; i < operations && !HasFailure(); ++i) {
      Subject& subject = subjects_[Draw(subjects_.size())];
      const std::uint64_t choice = Draw(200);
      if (choice < 70) {
        Write(subject);
      } else if (choice < 150) {
        Get(subject);
      } else if (choice < 185) {
        MultiGet(subject);
      } else if (choice < 195) {
        Iterate(subject);
      } else {
        Maintain(subject, /*flush=*/choice < 198);
      }
    }
  }

  // At times with less space than the tables take.
  void Maintain(Subject& subject, bool flush) {
    if (Draw(3) == 0) faults_.LeaveSpace(Draw(16'000));
    rocksdb::DB& db = *subject.db;
    auto* family = subject.db.HandleOf(Draw(kKeys));
    const Status status =
        flush ? db.Flush({}, subject.db.handles()) : db.CompactRange({}, family, nullptr, nullptr);
    faults_.MakeRoom();
    full_ += status.IsNoSpace() ? 1 : 0;
    if (!status.ok()) Recover(subject);
  }

  // Without faults, either in the same database, if it can resume, or reopened.
  void Verify(Subject& subject) {
    faults_.Switch(false);
    if (Draw(2) == 0 || !subject.db->Resume().ok()) return Reopen(subject);
    EXPECT_EQ(subject.expected.FindDifference(subject.db), "");
    faults_.Switch(true);
  }

  std::uint64_t Draw(std::uint64_t end) { return random_() % end; }

  TemporaryDirectory directory_;
  std::mt19937_64 random_{std::hash<std::string>()(GetParam().Name())};
  FaultSource faults_{random_(), ChosenProbabilities()};
  std::unique_ptr<rocksdb::Env> env_ = NewFaultyEnv(faults_);
  rocksdb::Options options_;
  std::array<Subject, 2> subjects_ = {Subject(directory_.path("a")), Subject(directory_.path("b"))};
  std::uint64_t writes_ = 0;
  int full_ = 0;  // failures for want of space
};

INSTANTIATE_TEST_SUITE_P(All, RandomFaults, testing::ValuesIn(AllConfigurations()),
                         [](const auto& test) { return test.param.Name(); });

TEST_P(RandomFaults, NothingIsLostAndNoKeyIsMissedWithoutAnError) {
  for (Subject& subject : subjects_) Reopen(subject);
  const int rounds = IsLarge() ? 60 : 2;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    Work();
    for (Subject& subject : subjects_) {
      if (!HasFailure()) Verify(subject);
    }
  }
  EXPECT_GT(faults_.Faults(), 0U);
  if (IsLarge()) {
    EXPECT_GT(full_, 0);
  }
  EXPECT_GT(options_.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL), 0U);
  faults_.Switch(false);
}

}  // namespace
}  // namespace exactbloom::faults
