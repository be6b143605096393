// Keeps work to a rate.
#pragma once

#include <rocksdb/env.h>

#include <cstdint>
#include <functional>

namespace exactbloom {

// Counts time from its construction on, by the clock of `env`.
class Pacer {
 public:
  // `bytes_per_second` 0: no limit.
  Pacer(rocksdb::Env& env, std::uint64_t bytes_per_second);

  // Sleeps until `bytes` since the start are within the rate, or `cancelled` returns true.
  void WaitFor(std::uint64_t bytes, const std::function<bool()>& cancelled) const;

 private:
  rocksdb::Env& env_;
  std::uint64_t bytes_per_second_;
  std::uint64_t start_;
};

}  // namespace exactbloom
