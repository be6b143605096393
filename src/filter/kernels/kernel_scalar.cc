// The kernels in portable code.
#include <algorithm>
#include <array>

#include "code_word.h"
#include "kernel.h"
#include "key_hash.h"

namespace exactbloom::filter {
namespace {

// Draws that a query tests without a branch between them: with a filter half full, the one
// well-predicted branch after them rejects seven absent keys of eight.
constexpr int kDrawsAtOnce = 3;

typedef std::uint32_t Four __attribute__((vector_size(16)));
constexpr std::size_t kFour = 4;

// Whether any of the first `count` draws may be equal, draw i being draw_of(i): yes if any are, and
// hardly ever otherwise. Compares their low halves, four with the four of every turn of four
// others. Computes the draws again, in registers, since loading a vector from values just stored
// one by one would stall. Draws that the filter does not use fill up the last four.
template <typename DrawOf>
bool MayHaveEqual(int count, DrawOf draw_of) {
  const auto size = static_cast<std::size_t>(count);
  const std::size_t vectors = (size + kFour - 1) / kFour;
  std::array<Four, kMaxProbes / kFour> before;
  Four equal = {};
  for (std::size_t v = 0; v < vectors; ++v) {
    const auto low = [&](std::size_t i) {
      return static_cast<std::uint32_t>(draw_of(static_cast<int>(v * kFour + i)));
    };
    const Four draws = {low(0), low(1), low(2), low(3)};
    const Four turned = {draws[1], draws[2], draws[3], draws[0]};
    const Four turned_twice = {draws[2], draws[3], draws[0], draws[1]};
    const Four turned_back = {draws[3], draws[0], draws[1], draws[2]};
    equal |=
        reinterpret_cast<Four>(draws == turned) | reinterpret_cast<Four>(draws == turned_twice);
    for (std::size_t other = 0; other < v; ++other) {
      equal |= reinterpret_cast<Four>(before[other] == draws) |
               reinterpret_cast<Four>(before[other] == turned) |
               reinterpret_cast<Four>(before[other] == turned_twice) |
               reinterpret_cast<Four>(before[other] == turned_back);
    }
    before[v] = draws;
  }
  return (equal[0] | equal[1] | equal[2] | equal[3]) != 0;
}

// `kAtOnce` draws are tested without a branch between them; the filter has at least as many probes.
template <BloomKind kKind, int kAtOnce>
struct DrawKernel {
  static constexpr bool kClassic = kKind == BloomKind::kClassic;

  static std::uint64_t DrawOf(std::uint64_t hash, int i, std::uint64_t first_range) {
    return Draw(hash, i, kClassic ? first_range + static_cast<std::uint64_t>(i) : first_range);
  }

  static bool FirstDrawsSet(const unsigned char* array, std::uint64_t first_range,
                            std::uint64_t hash) {
    unsigned hit = 1;
    for (int i = 0; i < kAtOnce; ++i) {
      hit &= TestBit(array, DrawOf(hash, i, first_range)) ? 1U : 0U;
    }
    return hit != 0;
  }

  static bool HasEqualDraws(const BloomDescription& filter, std::uint64_t first_range,
                            std::uint64_t hash) {
    return MayHaveEqual(filter.probes, [=](int i) { return DrawOf(hash, i, first_range); });
  }

  // After the first draws: the others, and the positions that replace equal ones.
  __attribute__((noinline)) static bool RestSet(const unsigned char* array,
                                                const BloomDescription& filter,
                                                std::uint64_t first_range, std::uint64_t hash) {
    for (int i = kAtOnce; i < filter.probes; ++i) {
      if (!TestBit(array, DrawOf(hash, i, first_range))) return false;
    }
    return !kClassic || !HasEqualDraws(filter, first_range, hash) ||
           CodeWordSet(array, filter, hash);
  }

  static bool MayContainHash(const PreparedFilter& filter, std::uint64_t hash) {
    return FirstDrawsSet(filter.array, filter.range, hash) &&
           RestSet(filter.array, filter.description, filter.range, hash);
  }

  __attribute__((noinline, flatten)) static bool MayContainOtherKey(const PreparedFilter& filter,
                                                                    std::string_view key) {
    return MayContainHash(filter, HashMostlyShortKey(key, filter.description.hash_seed));
  }

  static bool MayContain(const void* prepared, std::string_view key) {
    const auto& filter = *static_cast<const PreparedFilter*>(prepared);
    if (__builtin_expect(!HasMiddleSize(key), 0)) return MayContainOtherKey(filter, key);
    return MayContainHash(filter, HashMiddleKey(key, filter.low_flip, filter.high_flip));
  }

  // The memory of all keys' first draws is fetched before one of them is tested. The keys that
  // survive these are collected, and all of their memory is fetched, before one of them is looked
  // at again.
  static void MayContainBatch(const unsigned char* array, const BloomDescription& filter,
                              const std::uint64_t* hashes, std::size_t count, bool* results) {
    const std::uint64_t first_range = FirstDrawRange(kKind, filter);
    std::array<std::size_t, kBatchKeys> survivors;
    std::size_t survivor_count = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (int draw = 0; draw < kAtOnce; ++draw) {
        __builtin_prefetch(array + DrawOf(hashes[i], draw, first_range) / 8);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      results[i] = FirstDrawsSet(array, first_range, hashes[i]);
      survivors[survivor_count] = i;
      survivor_count += results[i] ? 1 : 0;
    }
    for (std::size_t s = 0; s < survivor_count; ++s) {
      for (int i = kAtOnce; i < filter.probes; ++i) {
        __builtin_prefetch(array + DrawOf(hashes[survivors[s]], i, first_range) / 8);
      }
    }
    for (std::size_t s = 0; s < survivor_count; ++s) {
      const std::size_t i = survivors[s];
      results[i] = RestSet(array, filter, first_range, hashes[i]);
    }
  }

  static void Locate(const BloomDescription& filter, std::uint64_t hash, std::uint64_t* positions) {
    const std::uint64_t first_range = FirstDrawRange(kKind, filter);
    for (int i = 0; i < filter.probes; ++i) positions[i] = DrawOf(hash, i, first_range);
    if (!kClassic || !HasEqualDraws(filter, first_range, hash)) return;
    const CodeWord word = MakeCodeWord(filter.kind, hash, filter.bits, filter.probes);
    std::copy_n(word.positions.begin(), word.size, positions);
  }

  static void LocateAll(const BloomDescription& filter, const std::uint64_t* hashes,
                        std::size_t count, std::uint64_t* positions) {
    for (std::size_t h = 0; h < count; ++h, positions += filter.probes) {
      Locate(filter, hashes[h], positions);
    }
  }

  static constexpr Kernel kKernel = {MayContain, MayContainBatch, LocateAll};
};

template <BloomKind kKind>
const Kernel& KernelOf(int probes) {
  if (probes >= kDrawsAtOnce) return DrawKernel<kKind, kDrawsAtOnce>::kKernel;
  return DrawKernel<kKind, 1>::kKernel;
}

}  // namespace

__attribute__((flatten)) void HashKeyRange(const KeyBatch& keys, std::size_t begin, std::size_t end,
                                           std::uint64_t seed, std::uint64_t* hashes) {
  for (std::size_t i = begin; i < end; ++i) {
    hashes[i] = HashMostlyShortKey({keys.data[i], keys.sizes[i]}, seed);
  }
}

const Kernel& ScalarKernel(const BloomDescription& filter) {
  return filter.kind == BloomKind::kClassic ? KernelOf<BloomKind::kClassic>(filter.probes)
                                            : KernelOf<BloomKind::kStandard>(filter.probes);
}

}  // namespace exactbloom::filter
