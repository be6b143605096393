// A process dies repeatedly while it opens two databases of ten column families, flushes or
// compacts. After each kill they hold exactly what was acknowledged, and no filter denies a key of
// its table.
// EXACTBLOOM_TEST_LARGE=1 (make stress) runs a hundred cycles.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/listener.h>
#include <rocksdb/write_batch.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "configurations.h"
#include "exactbloom/tree_listener.h"
#include "expected_contents.h"
#include "family_database.h"
#include "sample_database.h"
#include "sst/block_description.h"
#include "tool/database/database_files.h"
#include "tool/verify/table_verification.h"

namespace exactbloom::faults {
namespace {

using rocksdb::Status;
using Microseconds = std::chrono::microseconds;

constexpr std::uint64_t kDatabases = 2;
constexpr std::uint64_t kKeys = 2048;  // of a database

// The key whose value is the number of the last batch that was written.
constexpr std::uint64_t kLastBatchKey = 0;

// The writes of one batch, in order, to the families of one database. Batches count from one, and
// the databases take turns.
Writes BatchOf(std::uint64_t number) {
  constexpr int kWrites = 40;
  constexpr std::size_t kPadding = 100;
  constexpr std::uint64_t kDeletedOneIn = 8;
  std::mt19937_64 random(number);
  Writes writes = {{kLastBatchKey, std::to_string(number)}};
  for (int i = 0; i < kWrites; ++i) {
    const std::uint64_t key = 1 + random() % (kKeys - 1);
    Value value;
    if (random() % kDeletedOneIn != 0)
      value = std::to_string(random()) + std::string(kPadding, 'v');
    writes.emplace_back(key, value);
  }
  return writes;
}

// Those of the families, all filters at once. In each cycle a family gets another one.
std::vector<rocksdb::Options> OptionsOf(std::uint64_t cycle) {
  std::vector<rocksdb::Options> all;
  for (const Configuration& configuration : AllConfigurations()) {
    rocksdb::Options& options = all.emplace_back(configuration.Options());
    options.write_buffer_size = 256 << 10;
    options.max_bytes_for_level_base = 512 << 10;
    options.max_open_files = -1;
    options.listeners = {NewTreeListener()};
  }
  const auto turn = static_cast<std::ptrdiff_t>(cycle % all.size());
  std::rotate(all.begin(), all.begin() + turn, all.end());
  return all;
}

// The process that is killed.

enum Phase { kOpening, kFlush, kCompaction, kPhases };

// The contents of the file of notes.
struct Notes {
  std::uint64_t last_acknowledged = 0;
  std::array<int, kPhases> open{};  // how many have begun and not ended
};

struct Mission {
  std::string directory;  // of the databases
  std::string notes;      // the file
  std::uint64_t cycle;
  std::uint64_t first_batch;
  Phase last_phase;
  Microseconds delay;
};

[[noreturn]] void Fail(const char* what, const Status& status) {
  std::fprintf(stderr, "kill_test: %s: %s\n", what, status.ToString().c_str());
  std::_Exit(1);
}

void KillAfter(Microseconds delay) {
  std::thread([delay] {
    std::this_thread::sleep_for(delay);
    kill(getpid(), SIGKILL);
  }).detach();
}

// Keeps the notes in their file, whose bytes survive the process, and kills it in time.
class Recorder : public rocksdb::EventListener {
 public:
  explicit Recorder(const Mission& mission)
      : mission_(mission), file_(open(mission.notes.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600)) {
    KillAfter(std::chrono::seconds(20));  // if the last phase never begins
    Write();
  }

  void Begin(Phase phase) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++notes_.open[phase];
    Write();
    if (phase != mission_.last_phase || dies_) return;
    dies_ = true;
    KillAfter(mission_.delay);
  }
  void End(Phase phase) {
    const std::lock_guard<std::mutex> lock(mutex_);
    --notes_.open[phase];
    Write();
  }
  void Acknowledge(std::uint64_t batch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    notes_.last_acknowledged = batch;
    Write();
  }

  void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { Begin(kFlush); }
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { End(kFlush); }
  void OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override {
    Begin(kCompaction);
  }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override {
    End(kCompaction);
  }

 private:
  void Write() const {
    if (pwrite(file_, &notes_, sizeof notes_, 0) != sizeof notes_) std::_Exit(1);
  }

  const Mission& mission_;
  int file_;
  std::mutex mutex_;
  Notes notes_;
  bool dies_ = false;
};

Status CompactAll(const FamilyDatabase& db) {
  for (auto* family : db.handles()) {
    const Status status = ForceCompaction(*db, family);
    if (!status.ok()) return status;
  }
  return Status::OK();
}

void Maintain(const FamilyDatabase& db, Phase phase) {
  Status status;
  while (status.ok()) status = phase == kFlush ? db->Flush({}, db.handles()) : CompactAll(db);
  Fail("maintenance", status);
}

using Databases = std::array<FamilyDatabase, kDatabases>;

[[noreturn]] void Write(const Databases& databases, std::uint64_t first, Recorder& recorder) {
  rocksdb::WriteOptions synced;
  synced.sync = true;
  for (std::uint64_t number = first;; ++number) {
    const FamilyDatabase& db = databases[number % kDatabases];
    rocksdb::WriteBatch batch;
    for (const auto& [key, value] : BatchOf(number)) {
      const std::string text = KeyOf(2 * key);
      auto* family = db.HandleOf(2 * key);
      const Status status = value ? batch.Put(family, text, *value) : batch.Delete(family, text);
      if (!status.ok()) Fail("batch", status);
    }
    const Status status = db->Write(synced, &batch);
    if (!status.ok()) Fail("write", status);
    recorder.Acknowledge(number);
  }
}

std::string PathOf(const std::string& directory, std::uint64_t database) {
  return directory + std::to_string(database);
}

// Writes one synced batch after the other, and at the same time flushes or compacts.
// Kills the process when the delay has passed since the last phase began.
[[noreturn]] void WriteUntilKilled(const Mission& mission) {
  const auto recorder = std::make_shared<Recorder>(mission);
  std::vector<rocksdb::Options> options = OptionsOf(mission.cycle);
  options.front().listeners.push_back(recorder);
  Databases databases;
  recorder->Begin(kOpening);
  for (std::uint64_t i = 0; i < kDatabases; ++i) {
    const Status status = databases[i].Open(options, PathOf(mission.directory, i));
    if (!status.ok()) Fail("open", status);
  }
  recorder->End(kOpening);
  for (const FamilyDatabase& db : databases) {
    std::thread([&] { Maintain(db, mission.last_phase); }).detach();
  }
  Write(databases, mission.first_batch, *recorder);
}

// Runs this program again on the mission, and returns the notes. The process must not end by
// itself.
Notes RunUntilKilled(const Mission& mission) {
  const std::string command = fmt::format(
      "exec {} {} {} {} {} {} {}", std::filesystem::read_symlink("/proc/self/exe").string(),
      mission.directory, mission.notes, mission.cycle, mission.first_batch,
      static_cast<int>(mission.last_phase), mission.delay.count());
  EXPECT_TRUE(WIFSIGNALED(std::system(command.c_str()))) << "it ended by itself";
  Notes notes;
  std::ifstream(mission.notes, std::ios::binary)
      .read(reinterpret_cast<char*>(&notes), sizeof notes);
  return notes;
}

// Asks each filter for every key of its table. Returns the number of keys. A filter lets every key
// pass where the memory budget was spent.
std::uint64_t VerifyFilters(const std::string& directory) {
  std::uint64_t keys = 0;
  for (const tool::TableLocation& table : tool::ListTables({directory}).tables) {
    const tool::TableVerification result = tool::VerifyTable(table, {});
    EXPECT_TRUE(result.status.ok()) << table.path << ": " << result.status.ToString();
    EXPECT_EQ(result.false_negatives, 0U) << table.path;
    EXPECT_TRUE(result.unchecked.empty() || result.unchecked == kLetsAllPass)
        << table.path << ": " << result.unchecked;
    keys += result.keys_checked;
  }
  return keys;
}

// Reopens the databases after a kill, and returns the number of their last batch.
std::uint64_t VerifyContents(const std::string& directory, std::uint64_t cycle, std::uint64_t known,
                             std::uint64_t acknowledged,
                             std::array<ExpectedContents, kDatabases>* expected) {
  const std::vector<rocksdb::Options> options = OptionsOf(cycle);
  std::uint64_t newest = known;
  for (std::uint64_t i = 0; i < kDatabases; ++i) {
    FamilyDatabase db;
    const Status opened = db.Open(options, PathOf(directory, i));
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    if (!opened.ok()) continue;
    std::string last = "0";
    const Status status =
        db->Get({}, db.HandleOf(2 * kLastBatchKey), KeyOf(2 * kLastBatchKey), &last);
    EXPECT_TRUE(status.ok() || (status.IsNotFound() && acknowledged < kDatabases))
        << status.ToString();
    const std::uint64_t found = std::stoull(last);
    EXPECT_GT(found + kDatabases, acknowledged) << "lost";
    EXPECT_LE(found, acknowledged + 1);
    for (std::uint64_t number = known + 1; number <= found; ++number) {
      if (number % kDatabases == i) (*expected)[i].Acknowledge(BatchOf(number));
    }
    EXPECT_EQ((*expected)[i].FindDifference(db), "");
    newest = std::max(newest, found);
  }
  return newest;
}

TEST(Kill, NothingAcknowledgedIsLost) {
  const bool large = std::getenv("EXACTBLOOM_TEST_LARGE") != nullptr;
  const std::uint64_t cycles = large ? 100 : 8;
  // The phase to kill in, and the most time after its beginning.
  constexpr std::array<std::pair<Phase, std::uint64_t>, 3> kAims = {
      {{kFlush, 10'000}, {kCompaction, 30'000}, {kOpening, 50'000}}};
  const TemporaryDirectory directory;
  const std::string path = directory.path("db");
  std::array<ExpectedContents, kDatabases> expected = {ExpectedContents(kKeys),
                                                       ExpectedContents(kKeys)};
  std::mt19937_64 random(cycles);
  std::array<std::uint64_t, kPhases> kills{};  // within the phase that was aimed at
  std::uint64_t keys_of_tables = 0;
  // First, tables to compact.
  Mission mission = {path, directory.path("notes"), 0, 1, kFlush, Microseconds(500'000)};
  Notes notes = RunUntilKilled(mission);
  std::uint64_t last = VerifyContents(path, 0, 0, notes.last_acknowledged, &expected);
  for (std::uint64_t cycle = 1; cycle <= cycles && !HasFailure(); ++cycle) {
    SCOPED_TRACE(fmt::format("cycle {}", cycle));
    const auto [phase, most] = kAims[cycle % kAims.size()];
    mission = {path, mission.notes, cycle, last + 1, phase, Microseconds(random() % most)};
    notes = RunUntilKilled(mission);
    kills[phase] += notes.open[phase] > 0 ? 1 : 0;
    const std::uint64_t acknowledged = std::max(last, notes.last_acknowledged);
    last = VerifyContents(path, cycle, last, acknowledged, &expected);
    for (std::uint64_t i = 0; i < kDatabases; ++i) keys_of_tables += VerifyFilters(PathOf(path, i));
  }
  // How many keys there are depends on how far the victims came.
  EXPECT_GT(keys_of_tables, cycles * kKeys / 8);
  if (!large) return;
  for (const Phase phase : {kFlush, kCompaction}) EXPECT_GE(kills[phase], 5U);
}

}  // namespace
}  // namespace exactbloom::faults

int main(int argc, char** argv) {
  using namespace exactbloom::faults;
  testing::InitGoogleTest(&argc, argv);
  if (argc != 7) return RUN_ALL_TESTS();
  WriteUntilKilled({argv[1], argv[2], std::stoull(argv[3]), std::stoull(argv[4]),
                    static_cast<Phase>(std::stoi(argv[5])), Microseconds(std::stoull(argv[6]))});
}
