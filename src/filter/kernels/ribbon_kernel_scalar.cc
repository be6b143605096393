// The Ribbon kernel in portable code.
#include "ribbon_solver.h"

namespace exactbloom::filter {
namespace {

__attribute__((noinline, flatten)) bool MayContainOtherKey(const PreparedRibbon& filter,
                                                           std::string_view key) {
  const std::uint64_t hash = HashMostlyShortKey(key, filter.hash_seed);
  return ribbon::Holds(filter, ribbon::MakeEquation(filter, hash));
}

bool MayContain(const void* prepared, std::string_view key) {
  const auto& filter = *static_cast<const PreparedRibbon*>(prepared);
  if (__builtin_expect(!HasMiddleSize(key), 0)) return MayContainOtherKey(filter, key);
  const std::uint64_t hash = HashMiddleKey(key, filter.low_flip, filter.high_flip);
  return ribbon::Holds(filter, ribbon::MakeEquation(filter, hash));
}

void MayContainBatch(const PreparedRibbon& filter, const std::uint64_t* hashes, std::size_t count,
                     bool* results) {
  ribbon::Equation equations[kBatchKeys];
  ribbon::FindEquations(filter, hashes, count, equations);
  for (std::size_t i = 0; i < count; ++i) results[i] = ribbon::Holds(filter, equations[i]);
}

void CountBuckets(const ShardHashing& hashing, const std::uint64_t* hashes, std::size_t count,
                  std::uint32_t* counts) {
  ribbon::CountBuckets(hashing, hashes, count, counts);
}

void AddEquations(const ShardHashing& hashing, const std::int32_t* starts,
                  const std::uint64_t* hashes, std::size_t count, ShardSystem& system) {
  ribbon::AddEquations(hashing, starts, hashes, count, system);
}

void Eliminate(ShardSystem& system) { ribbon::Eliminate(system); }

void Substitute(const ShardSystem& system, std::uint32_t first_slot, std::uint32_t slots,
                const ColumnPlaces& places, unsigned char* columns) {
  ribbon::Substitute(system, first_slot, slots, places, columns);
}

constexpr RibbonKernel kKernel = {MayContain,   MayContainBatch, CountBuckets,
                                  AddEquations, Eliminate,       Substitute};

}  // namespace

const RibbonKernel& ScalarRibbonKernel() { return kKernel; }

}  // namespace exactbloom::filter
