// A process that writes until it is killed: what it writes, and its messages.
#pragma once

#include <cstdint>
#include <string>

#include "configurations.h"
#include "expected_contents.h"

namespace exactbloom::faults {

inline constexpr std::uint64_t kSequenceKeys = 4096;

// The key whose value is the number of the last batch that was written.
inline constexpr std::uint64_t kLastBatchKey = 0;

// The writes of one batch, in order; batches count from one.
Writes BatchOf(std::uint64_t number);

// The options of both processes, in the cycle of that number; each cycle wants another filter than
// the one before, so that there is something to rebuild.
Configuration ConfigurationOf(std::uint64_t cycle);
rocksdb::Options OptionsOf(std::uint64_t cycle);

enum class Phase : char { kOpening, kWriting, kFlush, kCompaction, kRebuild };
inline constexpr int kPhases = 5;

// One message on the pipe, in one write.
struct Message {
  enum class Kind : char { kBegins, kEnds, kAcknowledged };
  Kind kind;
  Phase phase;           // of the first two
  std::uint64_t number;  // of the batch that was acknowledged
};

// Writes one synced batch after the other from `first_batch` on, and at the same time flushes,
// compacts or rebuilds. Writes to the pipe what begins, what ends and what was acknowledged.
[[noreturn]] void WriteUntilKilled(const std::string& directory, std::uint64_t cycle,
                                   std::uint64_t first_batch, Phase phase, int pipe);

}  // namespace exactbloom::faults
