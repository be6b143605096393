#include "operation.h"

#include <benchmark/benchmark.h>

#include <algorithm>

namespace exactbloom::filter_benchmark {
namespace {

// Nothing after this begins before everything before it has ended.
#if defined(__x86_64__)
inline void Fence() { asm volatile("lfence" ::: "memory"); }
#elif defined(__aarch64__)
inline void Fence() { asm volatile("dsb ish\n\tisb" ::: "memory"); }
#else
inline void Fence() { benchmark::ClobberMemory(); }
#endif

// Fetches a key into the first-level cache before it is looked up, so the fence does not wait for
// it.
void FetchKey(const KeyBlock& keys, std::size_t i) {
  constexpr std::size_t kKeysAhead = 16;
  if (i + kKeysAhead >= keys.size()) return;
  const rocksdb::Slice* slice = keys.slices() + i;
  __builtin_prefetch(slice + kKeysAhead);
  __builtin_prefetch(slice->data() + kKeysAhead * kKeyBytes);
}

}  // namespace

std::uint64_t AskFenced(rocksdb::FilterBitsReader& reader, KeyBlock& keys) {
  std::uint64_t positive = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    FetchKey(keys, i);
    Fence();
    positive += reader.MayMatch(keys.slices()[i]) ? 1U : 0U;
  }
  Fence();
  return positive;
}

std::uint64_t AskInTurn(rocksdb::FilterBitsReader& reader, KeyBlock& keys) {
  std::uint64_t positive = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (reader.MayMatch(keys.slices()[i])) {
      benchmark::DoNotOptimize(++positive);  // keeps the branch a branch
    }
  }
  return positive;
}

std::uint64_t AskInBatches(rocksdb::FilterBitsReader& reader, KeyBlock& keys) {
  std::uint64_t positive = 0;
  std::array<bool, kBatch> may_match{};
  for (std::size_t i = 0; i < keys.size(); i += kBatch) {
    const std::size_t count = std::min(kBatch, keys.size() - i);
    reader.MayMatch(static_cast<int>(count), keys.pointers() + i, may_match.data());
    for (std::size_t j = 0; j < count; ++j) positive += may_match[j] ? 1U : 0U;
  }
  return positive;
}

}  // namespace exactbloom::filter_benchmark
