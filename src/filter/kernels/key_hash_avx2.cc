// The hashes of many keys (key_hash.h) with AVX2: keys that XXH3 hashes in one step without a
// branch are hashed four at a time, one in each 64-bit lane of a register.
#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

#include "kernel.h"
#include "key_hash.h"

#define EXACTBLOOM_TARGET __attribute__((target("avx2")))

namespace exactbloom::filter {
namespace {

constexpr std::size_t kGroupKeys = 4;
using GroupWords = std::uint64_t __attribute__((vector_size(kGroupKeys * sizeof(std::uint64_t))));

EXACTBLOOM_TARGET inline GroupWords LowProducts(GroupWords a, GroupWords b) {
  return reinterpret_cast<GroupWords>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}

EXACTBLOOM_TARGET inline GroupWords SwapBytes(GroupWords words) {
  const __m256i bytes = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
  return reinterpret_cast<GroupWords>(_mm256_shuffle_epi8(reinterpret_cast<__m256i>(words), bytes));
}

EXACTBLOOM_TARGET inline std::uint32_t NonzeroLanes(GroupWords words) {
  const __m256i zero = _mm256_cmpeq_epi64(reinterpret_cast<__m256i>(words), _mm256_setzero_si256());
  return ~static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(zero))) & 0xf;
}

template <typename Word>
EXACTBLOOM_TARGET inline GroupWords GatherGroup(Word word) {
  return GroupWords{word(0), word(1), word(2), word(3)};
}

EXACTBLOOM_TARGET inline GroupWords LoadGroup(const std::uint64_t* words) {
  GroupWords group;
  std::memcpy(&group, words, sizeof group);
  return group;
}

EXACTBLOOM_TARGET inline void StoreGroup(std::uint64_t* words, GroupWords group) {
  std::memcpy(words, &group, sizeof group);
}

// floor(a b / 2^64) xor (a b mod 2^64), of the products of halves.
EXACTBLOOM_TARGET inline GroupWords FoldedProducts(GroupWords a, GroupWords b) {
  constexpr std::uint64_t kLowHalf = 0xffffffffU;
  const GroupWords low = LowProducts(a, b);
  const GroupWords cross = LowProducts(a, b >> 32);
  const GroupWords middle = (low >> 32) + (cross & kLowHalf) + LowProducts(a >> 32, b);
  const GroupWords high = LowProducts(a >> 32, b >> 32) + (cross >> 32) + (middle >> 32);
  return high ^ ((middle << 32) | (low & kLowHalf));
}

// The same for `low` and `high`, the first and the last eight bytes of keys of these sizes.
EXACTBLOOM_TARGET inline GroupWords HashGroup(GroupWords low, GroupWords high, GroupWords sizes,
                                              std::uint64_t seed) {
  low ^= kLowFlip + seed;
  high ^= kHighFlip - seed;
  GroupWords hash = sizes + SwapBytes(low) + high + FoldedProducts(low, high);
  hash = (hash ^ (hash >> 37)) * kAvalancheMultiplier;
  return hash ^ (hash >> 32);
}

}  // namespace

EXACTBLOOM_TARGET void Avx2HashKeys(const KeyBatch& keys, std::size_t count, std::uint64_t seed,
                                    std::uint64_t* hashes) {
  std::size_t i = 0;
  for (; i + kGroupKeys <= count; i += kGroupKeys) {
    const GroupWords sizes = LoadGroup(&keys.sizes[i]);
    if (NonzeroLanes((sizes - kLeastMiddleBytes) & ~(kMiddleSizes - 1)) != 0) {
      HashKeyRange(keys, i, i + kGroupKeys, seed, hashes);
      continue;
    }
    const auto low = [&](std::size_t j) EXACTBLOOM_TARGET { return EightBytes(keys.data[i + j]); };
    const auto high = [&](std::size_t j) EXACTBLOOM_TARGET {
      return EightBytes(keys.data[i + j] + keys.sizes[i + j] - 8);
    };
    StoreGroup(hashes + i, HashGroup(GatherGroup(low), GatherGroup(high), sizes, seed));
  }
  HashKeyRange(keys, i, count, seed, hashes);
}

}  // namespace exactbloom::filter

#endif
