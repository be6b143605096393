// The AVX2 kernels, for filters of less than 2^32 bits.
#if defined(__x86_64__)

#include <array>
#include <cstring>
#include <string_view>

#include "code_word.h"
#include "draws_avx2.h"
#include "kernel.h"
#include "key_hash.h"

namespace exactbloom::filter {
namespace avx2 {
namespace {

// The draws that a batch tests for all of its keys: with a filter half full, one absent key in four
// passes. The other draws are tested, and in large filters prefetched, only for those that pass.
constexpr std::size_t kFirstDraws = 2;

// Batches prefetch arrays above this size. Smaller ones are read from a third-level cache in less
// time than the prefetches take.
constexpr std::size_t kFetchedArrayBytes = 4 * kSecondLevelCacheBytes;

// Bit i becomes results[i]: eight bits at a time are spread over eight bytes.
inline void WriteResults(std::uint32_t hits, std::size_t count, bool* results) {
  constexpr std::uint64_t kOneInEachByte = 0x0101010101010101U;
  constexpr std::uint64_t kBitOfEachByte = 0x8040201008040201U;
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= count; i += sizeof(std::uint64_t)) {
    const std::uint64_t bits = (hits >> i & 0xff) * kOneInEachByte & kBitOfEachByte;
    const std::uint64_t bytes = (bits + 0x7f * kOneInEachByte) >> 7 & kOneInEachByte;
    std::memcpy(results + i, &bytes, sizeof bytes);
  }
  for (; i < count; ++i) results[i] = (hits >> i & 1) != 0;
}

// A query of one key makes its first kAtOnce draws one by one, without a branch between them: that
// takes fewer instructions than a register of draws, and four refuse 15 absent keys of 16.
template <BloomKind kKind, std::size_t kAtOnce, int kVectors>
struct DrawKernel {
  static constexpr bool kClassic = kKind == BloomKind::kClassic;

  // Draw i of each of eight keys.
  EXACTBLOOM_INLINE static __m256i DrawOf(Keys keys, std::size_t i, std::uint64_t first_range) {
    return Draws(keys, internal::kMultiplierPowers[i], kClassic ? first_range + i : first_range);
  }

  // Which of up to eight keys, whose first draws hit, have all bits set.
  EXACTBLOOM_TARGET static unsigned RestSet(const unsigned char* array,
                                            const BloomDescription& filter,
                                            const std::uint64_t* hashes, std::size_t count) {
    const auto probes = static_cast<std::size_t>(filter.probes);
    const std::uint64_t first_range = FirstDrawRange(kKind, filter);
    const Keys keys = LoadKeys(hashes, count);
    __m256i draws[kMostProbes];
    unsigned lanes = _bzhi_u32(kAllLanes, static_cast<unsigned>(count));
    std::size_t i = kFirstDraws;
    for (; i + 1 < probes; i += 2) {
      draws[i] = DrawOf(keys, i, first_range);
      draws[i + 1] = DrawOf(keys, i + 1, first_range);
      lanes &= SetLanes(array, draws[i], draws[i + 1]);
    }
    if (i < probes) {
      draws[i] = DrawOf(keys, i, first_range);
      lanes &= SetLanes(array, draws[i]);
    }
    if (!kClassic || lanes == 0) return lanes;
    for (std::size_t j = 0; j < kFirstDraws; ++j) draws[j] = DrawOf(keys, j, first_range);
    for (unsigned equal = EqualLanes(draws, probes) & lanes; equal != 0; equal &= equal - 1) {
      const unsigned lane = equal & -equal;
      if (!CodeWordSet(array, filter, hashes[__builtin_ctz(equal)])) lanes &= ~lane;
    }
    return lanes;
  }

  // Of a group of keys, of which `left` are left.
  EXACTBLOOM_INLINE static std::size_t KeysOfGroup(std::size_t left) {
    return left < kLanes ? left : kLanes;
  }

  EXACTBLOOM_TARGET static void MayContainBatch(const unsigned char* array,
                                                const BloomDescription& filter,
                                                const std::uint64_t* hashes, std::size_t count,
                                                bool* results) {
    const std::uint64_t first_range = FirstDrawRange(kKind, filter);
    const bool fetches = filter.bits / 8 > kFetchedArrayBytes;
    __m256i draws[kBatchKeys / kLanes][kFirstDraws];
    for (std::size_t i = 0; i < count; i += kLanes) {
      const Keys keys = LoadKeys(hashes + i, KeysOfGroup(count - i));
      for (std::size_t draw = 0; draw < kFirstDraws; ++draw) {
        draws[i / kLanes][draw] = DrawOf(keys, draw, first_range);
        if (fetches) Fetch(array, draws[i / kLanes][draw]);
      }
    }
    alignas(64) std::array<std::uint64_t, kBatchKeys + kLanes> survivors;
    std::size_t survivor_count = 0;
    std::uint32_t hits = 0;
    for (std::size_t i = 0; i < count; i += kLanes) {
      unsigned lanes = SetLanes(array, draws[i / kLanes][0], draws[i / kLanes][1]);
      lanes = _bzhi_u32(lanes, static_cast<unsigned>(count - i));
      hits |= lanes << i;
      Compress(LoadKeys(hashes + i, KeysOfGroup(count - i)), lanes, &survivors[survivor_count]);
      survivor_count += static_cast<std::size_t>(__builtin_popcount(lanes));
    }
    if (fetches) {
      for (std::size_t i = 0; i < survivor_count; i += kLanes) {
        const Keys keys = LoadKeys(&survivors[i], KeysOfGroup(survivor_count - i));
        for (std::size_t draw = kFirstDraws; draw < static_cast<std::size_t>(filter.probes);
             ++draw) {
          Fetch(array, DrawOf(keys, draw, first_range));
        }
      }
    }
    std::uint32_t survivor_hits = 0;
    for (std::size_t i = 0; i < survivor_count; i += kLanes) {
      survivor_hits |= RestSet(array, filter, &survivors[i], KeysOfGroup(survivor_count - i)) << i;
    }
    hits = _pdep_u32(survivor_hits, hits);
    WriteResults(hits, count, results);
  }

  // By the definition: for keys with equal draws, and for groups that do not fill a register.
  __attribute__((noinline)) static void LocateByDefinition(const BloomDescription& filter,
                                                           std::uint64_t hash,
                                                           std::uint64_t* positions,
                                                           std::size_t stride) {
    const CodeWord word = MakeCodeWord(filter.kind, hash, filter.bits, filter.probes);
    for (std::size_t i = 0; i < static_cast<std::size_t>(word.size); ++i) {
      positions[i * stride] = word.positions[i];
    }
  }

  EXACTBLOOM_TARGET static void Locate(const BloomDescription& filter, const std::uint64_t* hashes,
                                       std::size_t count, std::uint64_t* positions) {
    const auto probes = static_cast<std::size_t>(filter.probes);
    if (count < kLocateKeys) {
      for (std::size_t i = 0; i < count; ++i) {
        LocateByDefinition(filter, hashes[i], positions + i * probes, 1);
      }
      return;
    }
    const std::uint64_t first_range = FirstDrawRange(kKind, filter);
    const Keys keys = LoadKeys(hashes);
    __m256i draws[kMostProbes];
    for (std::size_t i = 0; i < probes; ++i) {
      draws[i] = DrawOf(keys, i, first_range);
      StoreWide(draws[i], positions + i * kLanes);
    }
    if (!kClassic) return;
    for (unsigned equal = EqualLanes(draws, probes); equal != 0; equal &= equal - 1) {
      const auto lane = static_cast<std::size_t>(__builtin_ctz(equal));
      LocateByDefinition(filter, hashes[lane], positions + lane, kLanes);
    }
  }

  // Draws begin to begin + 7 of one key.
  EXACTBLOOM_INLINE static __m256i KeyDrawsOf(std::uint64_t hash, std::size_t begin,
                                              std::uint64_t first_range) {
    const std::uint64_t range = kClassic ? first_range + begin : first_range;
    return KeyDraws(hash, &internal::kMultiplierPowers[begin], range, kClassic);
  }

  EXACTBLOOM_INLINE static bool FirstDrawsSet(const unsigned char* array, std::uint64_t first_range,
                                              std::uint64_t hash) {
    std::uint32_t hit = 1;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      const std::uint64_t position =
          Draw(hash, static_cast<int>(i), kClassic ? first_range + i : first_range);
      std::uint32_t word;
      std::memcpy(&word, array + position / 32 * 4, sizeof word);
      hit &= word >> (position & 31);
    }
    return hit != 0;
  }

  // Whether the bits of the lanes kBegin to `used` - 1 are set, and perhaps of those before; the
  // lanes behind take the first one's position.
  template <std::size_t kBegin>
  EXACTBLOOM_INLINE static bool LanesSet(const unsigned char* array, __m256i positions, int used) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i first = _mm256_broadcastd_epi32(_mm256_castsi256_si128(positions));
    positions =
        _mm256_blendv_epi8(first, positions, _mm256_cmpgt_epi32(_mm256_set1_epi32(used), lanes));
    return AllSetByLoads<kBegin>(array, positions);
  }

  // After the first draws: the others, and the positions that replace equal ones.
  EXACTBLOOM_TARGET __attribute__((noinline)) static bool RestOfKeySet(const PreparedFilter& filter,
                                                                       std::uint64_t hash) {
    const unsigned char* array = filter.array;
    const int probes = filter.description.probes;
    const __m256i draws = KeyDrawsOf(hash, 0, filter.range);
    if (!LanesSet<kAtOnce>(array, draws, probes)) return false;
    if (kVectors == 1) {
      return !kClassic || !MayHaveEqual(draws) || CodeWordSet(array, filter.description, hash);
    }
    const __m256i more = KeyDrawsOf(hash, kLanes, filter.range);
    if (!LanesSet<0>(array, more, probes - static_cast<int>(kLanes))) return false;
    return !kClassic || !MayHaveEqual(draws, more) || CodeWordSet(array, filter.description, hash);
  }

  EXACTBLOOM_INLINE static bool MayContainHash(const PreparedFilter& filter, std::uint64_t hash) {
    return FirstDrawsSet(filter.array, filter.range, hash) && RestOfKeySet(filter, hash);
  }

  EXACTBLOOM_TARGET __attribute__((noinline, flatten)) static bool MayContainOtherKey(
      const PreparedFilter& filter, std::string_view key) {
    return MayContainHash(filter, HashMostlyShortKey(key, filter.description.hash_seed));
  }

  EXACTBLOOM_TARGET static bool MayContain(const void* prepared, std::string_view key) {
    const auto& filter = *static_cast<const PreparedFilter*>(prepared);
    if (__builtin_expect(!HasMiddleSize(key), 0)) return MayContainOtherKey(filter, key);
    return MayContainHash(filter, HashMiddleKey(key, filter.low_flip, filter.high_flip));
  }

  static constexpr Kernel kKernel = {MayContain, MayContainBatch, Locate};
};

template <BloomKind kKind>
const Kernel& KernelOf(std::size_t probes) {
  constexpr std::size_t kAtOnce = kLanes / 2;
  if (probes < kAtOnce) return DrawKernel<kKind, kFirstDraws, 1>::kKernel;
  return probes <= kLanes ? DrawKernel<kKind, kAtOnce, 1>::kKernel
                          : DrawKernel<kKind, kAtOnce, 2>::kKernel;
}

}  // namespace
}  // namespace avx2

// The scalar kernel where these do not fit.
const Kernel& Avx2Kernel(const BloomDescription& filter) {
  const auto probes = static_cast<std::size_t>(filter.probes);
  const bool fits =
      filter.bits >> 32 == 0 && probes >= avx2::kFirstDraws && probes <= avx2::kMostProbes;
  if (!fits) return ScalarKernel(filter);
  return filter.kind == BloomKind::kClassic ? avx2::KernelOf<BloomKind::kClassic>(probes)
                                            : avx2::KernelOf<BloomKind::kStandard>(probes);
}

}  // namespace exactbloom::filter

#endif
