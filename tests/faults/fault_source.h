// Decides which file operations fail, and how: by chance, or because the disk is full.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <random>
#include <string>

namespace exactbloom::faults {

enum class FileKind { kTable, kLog, kManifest, kOther };
enum class Operation { kRead, kWrite, kSync, kCreate };

// kShorten: a read returns fewer bytes, without an error; a write leaves its first bytes in the
// file, and fails. kCorrupt: one bit of what was read or written is another, without an error.
enum class Fault { kFail, kShorten, kCorrupt };

inline constexpr std::size_t kFileKinds = 4;
inline constexpr std::size_t kOperations = 4;
inline constexpr std::size_t kFaults = 3;

// A number for each fault of each operation on each kind of file.
template <typename Number>
class FaultTable {
 public:
  Number& At(FileKind file, Operation operation, Fault fault) {
    return numbers_[static_cast<std::size_t>(file)][static_cast<std::size_t>(operation)]
                   [static_cast<std::size_t>(fault)];
  }

 private:
  std::array<std::array<std::array<Number, kFaults>, kOperations>, kFileKinds> numbers_{};
};

// A table, a write-ahead log, a MANIFEST, or something else, by the name of the file.
FileKind FileKindOf(const std::string& path);

// May be used by several threads at once.
class FaultSource {
 public:
  // Each operation meets a fault with its probability, as long as faults are on.
  FaultSource(std::uint64_t seed, const FaultTable<double>& probabilities)
      : random_(seed), probabilities_(probabilities) {}
  // None but a full disk.
  FaultSource() : FaultSource(0, {}) {}

  void Switch(bool on);

  // Decides, and counts, what happens to an operation.
  std::optional<Fault> Draw(FileKind file, Operation operation);

  // A random number below `end`, above zero.
  std::size_t Choose(std::size_t end);

  // From now on this many bytes can be written, to all files together.
  void LeaveSpace(std::uint64_t bytes);
  void MakeRoom() { LeaveSpace(std::numeric_limits<std::uint64_t>::max()); }
  // Takes space for `bytes`; returns how many bytes there was space for.
  std::uint64_t TakeSpace(std::uint64_t bytes);

  // What happened so far.
  FaultTable<std::uint64_t> Counts();
  std::uint64_t FullWrites();

 private:
  std::mutex mutex_;
  std::mt19937_64 random_;
  FaultTable<double> probabilities_;
  bool on_ = false;
  FaultTable<std::uint64_t> counts_;
  std::uint64_t space_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t full_writes_ = 0;
};

}  // namespace exactbloom::faults
