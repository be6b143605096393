// A file system whose operations fail, fall short or corrupt data: by chance, or because the disk
// is full.
#pragma once

#include <rocksdb/env.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>

namespace exactbloom::faults {

enum class FileKind { kTable, kLog, kManifest, kOther };  // a log is a write-ahead log
enum class Operation { kRead, kWrite, kSync, kCreate };

// kShorten: a read returns fewer bytes without an error; a write leaves its first bytes in the
// file, and fails. kCorrupt: one bit of what was read or written changes without an error.
enum class Fault { kFail, kShorten, kCorrupt };

using Probabilities = std::map<std::tuple<FileKind, Operation, Fault>, double>;

// Decides which operations fail. May be used by several threads at once.
class FaultSource {
 public:
  // While faults are on, each operation meets a fault with its probability.
  explicit FaultSource(std::uint64_t seed = 0, Probabilities probabilities = {})
      : random_(seed), probabilities_(std::move(probabilities)) {}

  void Switch(bool on) { on_ = on; }

  // Decides the fate of an operation.
  std::optional<Fault> Draw(FileKind file, Operation operation) {
    if (!on_) return std::nullopt;
    const std::lock_guard<std::mutex> lock(mutex_);
    double number = std::uniform_real_distribution<double>()(random_);
    for (const Fault fault : {Fault::kFail, Fault::kShorten, Fault::kCorrupt}) {
      const auto probability = probabilities_.find({file, operation, fault});
      if (probability == probabilities_.end()) continue;
      if (number < probability->second) {
        ++faults_;
        return fault;
      }
      number -= probability->second;
    }
    return std::nullopt;
  }

  // A random number below `end`, above zero.
  std::size_t Choose(std::size_t end) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  // From now on all files together can grow by this many bytes.
  void LeaveSpace(std::uint64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    space_ = bytes;
  }
  void MakeRoom() { LeaveSpace(kRoom); }
  // Takes space for `bytes`; returns how many of them there was space for.
  std::uint64_t TakeSpace(std::uint64_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (space_ == kRoom) return bytes;
    const std::uint64_t taken = std::min(bytes, space_);
    space_ -= taken;
    return taken;
  }

  std::uint64_t Faults() const { return faults_; }

 private:
  static constexpr std::uint64_t kRoom = std::numeric_limits<std::uint64_t>::max();

  std::mutex mutex_;
  std::mt19937_64 random_;
  Probabilities probabilities_;
  std::atomic<bool> on_ = false;
  std::atomic<std::uint64_t> faults_ = 0;
  std::uint64_t space_ = kRoom;
};

// An environment over the real file system. Written data are in the page cache at once, where they
// survive the end of a process, so syncs are not passed on. RocksDB's sleep of a second after each
// background error takes a millisecond.
std::unique_ptr<rocksdb::Env> NewFaultyEnv(FaultSource& faults);

}  // namespace exactbloom::faults
