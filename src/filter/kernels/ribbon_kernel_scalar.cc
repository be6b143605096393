// The Ribbon kernel in portable code.
#include "ribbon_solver.h"

namespace exactbloom::filter {
namespace {

__attribute__((noinline, flatten)) bool MayContainOtherKey(const PreparedRibbon& filter,
                                                           std::string_view key) {
  return ribbon::Holds(filter,
                       ribbon::MakeEquation(filter, HashMostlyShortKey(key, filter.hash_seed)));
}

bool MayContain(const void* prepared, std::string_view key) {
  const auto& filter = *static_cast<const PreparedRibbon*>(prepared);
  if (__builtin_expect(!HasMiddleSize(key), 0)) return MayContainOtherKey(filter, key);
  const std::uint64_t hash = HashMiddleKey(key, filter.low_flip, filter.high_flip);
  return ribbon::Holds(filter, ribbon::MakeEquation(filter, hash));
}

void MayContainBatch(const PreparedRibbon& filter, const std::uint64_t* hashes, std::size_t count,
                     bool* results) {
  ribbon::MayContainBatch(filter, hashes, count, results);
}

void CountBuckets(const ShardHashing& hashing, const std::uint64_t* hashes, std::size_t count,
                  std::uint32_t* counts) {
  ribbon::CountBuckets(hashing, hashes, count, counts);
}

void WriteEquations(const ShardHashing& hashing, const std::int32_t* starts,
                    const std::uint64_t* hashes, std::size_t count, std::uint64_t* coefficients,
                    std::uint64_t* starts_and_results) {
  ribbon::WriteEquations(hashing, starts, hashes, count, coefficients, starts_and_results);
}

bool Eliminate(const ShardSystem& system, std::size_t count) {
  return ribbon::Eliminate(system, count);
}

void Substitute(const ShardSystem& system, std::uint32_t first_slot, std::uint32_t slots,
                const ColumnPlaces& places, unsigned char* columns) {
  ribbon::Substitute(system, first_slot, slots, places, columns);
}

constexpr RibbonKernel kKernel = {MayContain,     MayContainBatch, CountBuckets,
                                  WriteEquations, Eliminate,       Substitute};

}  // namespace

const RibbonKernel& ScalarRibbonKernel() { return kKernel; }

}  // namespace exactbloom::filter
