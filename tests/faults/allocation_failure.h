// Makes memory run out where a test says. Linking this replaces the program's operator new, also
// for RocksDB's shared library.
#pragma once

#include <cstdint>

namespace exactbloom::faults {

// Whether only the chosen allocation fails, or all from it on.
enum class Shortage { kOneAllocation, kAllThatFollow };

// What is thrown then: any other exception stands for what a standard library or a program's own
// object may throw in the same place.
enum class Thrown { kBadAlloc, kOther };
struct OtherException {};

class AllocationFailure {
 public:
  // The allocation of that number fails, counted from one within Run, on the calling thread.
  AllocationFailure(std::uint64_t number, Shortage shortage, Thrown thrown = Thrown::kBadAlloc)
      : number_(number), shortage_(shortage), thrown_(thrown) {}
  AllocationFailure(const AllocationFailure&) = delete;
  AllocationFailure& operator=(const AllocationFailure&) = delete;

  template <typename Function>
  auto Run(Function function) {
    const Switch on(this);
    return function();
  }

  // Whether an allocation failed so far.
  bool HasHappened() const { return count_ >= number_; }

  std::uint64_t Allocations() const { return count_; }

  // Counts one more allocation of this thread; true if it is to fail.
  static bool Strikes();

 private:
  class Switch {
   public:
    explicit Switch(AllocationFailure* failure);
    ~Switch();
    Switch(const Switch&) = delete;
    Switch& operator=(const Switch&) = delete;
  };

  static void Throw();

  std::uint64_t number_;
  Shortage shortage_;
  Thrown thrown_;
  std::uint64_t count_ = 0;
};

// Calls `function` without any memory.
template <typename Function>
auto Starve(Function function) {
  AllocationFailure failure(1, Shortage::kAllThatFollow);
  return failure.Run(function);
}

// Calls `attempt` with the first allocation failing, with the second, and so on until none fails;
// beyond `each` in growing steps. Returns how many attempts met a failure.
template <typename Attempt>
std::uint64_t FailEachAllocation(Attempt attempt, std::uint64_t each, Shortage shortage,
                                 Thrown thrown) {
  constexpr std::uint64_t kStepsPerFactor = 3;
  std::uint64_t failures = 0;
  for (std::uint64_t number = 1;; ++failures) {
    AllocationFailure failure(number, shortage, thrown);
    attempt(failure);
    if (!failure.HasHappened()) return failures;
    number += number < each ? 1 : number / kStepsPerFactor;
  }
}

// The same: first each fails alone, then all that follow as well.
template <typename Attempt>
std::uint64_t FailEachAllocation(Attempt attempt, std::uint64_t each = 64) {
  return FailEachAllocation(attempt, each, Shortage::kOneAllocation, Thrown::kBadAlloc) +
         FailEachAllocation(attempt, each, Shortage::kAllThatFollow, Thrown::kBadAlloc);
}

// And then each throws another exception.
template <typename Attempt>
std::uint64_t ThrowAtEachAllocation(Attempt attempt, std::uint64_t each = 64) {
  return FailEachAllocation(attempt, each) +
         FailEachAllocation(attempt, each, Shortage::kOneAllocation, Thrown::kOther);
}

}  // namespace exactbloom::faults
