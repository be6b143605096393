#include "killed_writer.h"

#include <rocksdb/listener.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>

#include "exactbloom/rebuild_filters.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom::faults {
namespace {

using rocksdb::Status;

[[noreturn]] void Fail(const char* what, const Status& status) {
  std::fprintf(stderr, "killed_writer: %s: %s\n", what, status.ToString().c_str());
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

Writes BatchOf(std::uint64_t number) {
  constexpr int kWrites = 40;
  constexpr std::size_t kPadding = 100;
  constexpr std::uint64_t kDeletedOneIn = 8;
  std::mt19937_64 random(number);
  Writes writes = {{kLastBatchKey, std::to_string(number)}};
  for (int i = 0; i < kWrites; ++i) {
    const std::uint64_t key = 1 + random() % (kSequenceKeys - 1);
    Value value;
    if (random() % kDeletedOneIn != 0)
      value = std::to_string(random()) + std::string(kPadding, 'v');
    writes.emplace_back(key, value);
  }
  return writes;
}

Configuration ConfigurationOf(std::uint64_t cycle) {
  const std::vector<Configuration> all = AllConfigurations();
  return all[cycle % all.size()];
}

rocksdb::Options OptionsOf(std::uint64_t cycle) {
  rocksdb::Options options = ConfigurationOf(cycle).Options();
  options.write_buffer_size = 256 << 10;
  options.max_bytes_for_level_base = 512 << 10;
  options.max_open_files = -1;
  return options;
}

void WriteUntilKilled(const std::string& directory, std::uint64_t cycle, std::uint64_t first_batch,
                      Phase phase, int pipe_descriptor) {
  const Pipe pipe(pipe_descriptor);
  rocksdb::Options options = OptionsOf(cycle);
  options.listeners.push_back(std::make_shared<PhaseListener>(pipe));
  pipe.Begin(Phase::kOpening);
  std::unique_ptr<rocksdb::DB> db;
  const Status status = rocksdb::DB::Open(options, directory, Receive(&db));
  if (!status.ok()) Fail("open", status);
  pipe.End(Phase::kOpening);
  std::thread([&] { Maintain(*db, phase, pipe); }).detach();
  Write(*db, first_batch, pipe);
}

}  // namespace exactbloom::faults
