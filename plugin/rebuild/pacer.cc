#include "pacer.h"

#include <algorithm>

namespace exactbloom {

Pacer::Pacer(rocksdb::Env& env, std::uint64_t bytes_per_second)
    : env_(env), bytes_per_second_(bytes_per_second), start_(env.NowMicros()) {}

void Pacer::WaitFor(std::uint64_t bytes, const std::function<bool()>& cancelled) const {
  if (bytes_per_second_ == 0) return;
  constexpr double kMicrosPerSecond = 1e6;
  constexpr std::uint64_t kNapMicros = 50000;  // how often a cancellation is checked for
  const double seconds = static_cast<double>(bytes) / static_cast<double>(bytes_per_second_);
  const auto due = start_ + static_cast<std::uint64_t>(seconds * kMicrosPerSecond);
  for (std::uint64_t now = env_.NowMicros(); now < due && !cancelled(); now = env_.NowMicros()) {
    env_.SleepForMicroseconds(static_cast<int>(std::min(due - now, kNapMicros)));
  }
}

}  // namespace exactbloom
