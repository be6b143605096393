// The process that is killed: killed_writer DIRECTORY CYCLE FIRST_BATCH PHASE PIPE
// Writes one synced batch after the other, and at the same time flushes, compacts or rebuilds,
// until it is killed. Writes to the pipe what begins, what ends and what was acknowledged.
#include <fmt/format.h>
#include <rocksdb/listener.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "exactbloom/rebuild_filters.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"
#include "written_sequence.h"

namespace exactbloom::faults {
namespace {

using rocksdb::Status;

[[noreturn]] void Fail(const char* what, const Status& status) {
  fmt::print(stderr, "killed_writer: {}: {}\n", what, status.ToString());
  std::_Exit(1);
}

class Pipe {
 public:
  explicit Pipe(int descriptor) : descriptor_(descriptor) {}

  void Begin(Phase phase) const { Send({Message::Kind::kBegins, phase, 0}); }
  void End(Phase phase) const { Send({Message::Kind::kEnds, phase, 0}); }
  void Acknowledge(std::uint64_t batch) const {
    Send({Message::Kind::kAcknowledged, Phase::kWriting, batch});
  }

 private:
  void Send(const Message& message) const {
    if (write(descriptor_, &message, sizeof(message)) != sizeof(message)) std::_Exit(1);
  }

  int descriptor_;
};

class PhaseListener : public rocksdb::EventListener {
 public:
  explicit PhaseListener(const Pipe& pipe) : pipe_(pipe) {}

  void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override {
    pipe_.Begin(Phase::kFlush);
  }
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo&) override {
    pipe_.End(Phase::kFlush);
  }
  void OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override {
    pipe_.Begin(Phase::kCompaction);
  }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override {
    pipe_.End(Phase::kCompaction);
  }

 private:
  const Pipe& pipe_;
};

void Maintain(rocksdb::DB& db, Phase phase, const Pipe& pipe) {
  Status status;
  if (phase == Phase::kRebuild) {
    pipe.Begin(phase);
    RebuildResult result;
    status = RebuildFilters(db, {}, &result);
    pipe.End(phase);
  }
  while (status.ok()) {
    if (phase == Phase::kFlush) {
      status = db.Flush({});
    } else {
      rocksdb::CompactRangeOptions options;
      options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      status = db.CompactRange(options, nullptr, nullptr);
    }
  }
  Fail("maintenance", status);
}

[[noreturn]] void Write(rocksdb::DB& db, std::uint64_t first, const Pipe& pipe) {
  rocksdb::WriteOptions synced;
  synced.sync = true;
  for (std::uint64_t number = first;; ++number) {
    rocksdb::WriteBatch batch;
    for (const auto& [key, value] : BatchOf(number)) {
      const std::string text = KeyOf(2 * key);
      const Status status = value ? batch.Put(text, *value) : batch.Delete(text);
      if (!status.ok()) Fail("batch", status);
    }
    const Status status = db.Write(synced, &batch);
    if (!status.ok()) Fail("write", status);
    pipe.Acknowledge(number);
  }
}

}  // namespace
}  // namespace exactbloom::faults

int main(int argc, char** argv) {
  using namespace exactbloom;
  using namespace exactbloom::faults;
  if (argc != 6) return 2;
  const Pipe pipe(std::atoi(argv[5]));
  rocksdb::Options options = OptionsOf(std::strtoull(argv[2], nullptr, 10));
  options.listeners.push_back(std::make_shared<PhaseListener>(pipe));
  pipe.Begin(Phase::kOpening);
  std::unique_ptr<rocksdb::DB> db;
  const rocksdb::Status status = rocksdb::DB::Open(options, argv[1], Receive(&db));
  if (!status.ok()) Fail("open", status);
  pipe.End(Phase::kOpening);
  std::thread([&] { Maintain(*db, static_cast<Phase>(std::atoi(argv[4])), pipe); }).detach();
  Write(*db, std::strtoull(argv[3], nullptr, 10), pipe);
}
