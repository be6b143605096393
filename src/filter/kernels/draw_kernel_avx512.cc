// The AVX-512 kernels for lines = 0 and filters of less than 2^32 bits. Draws come eight at a time:
// of one key for a single query, and of eight keys for a batch or when a filter is built.
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "code_word.h"
#include "kernel.h"
#include "key_hash.h"
#include "line_fields.h"

#define EXACTBLOOM_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,bmi,bmi2")))
#define EXACTBLOOM_INLINE EXACTBLOOM_TARGET __attribute__((always_inline)) inline

namespace exactbloom::filter {
namespace {

constexpr std::size_t kLanes = 8;

// The most probes for which there are kernels here: enough for 22 bits per key.
constexpr std::size_t kMostProbes = 2 * kLanes;

using Draws = __m256i[kMostProbes];

// Masked forms with all lanes are the plain instructions, without the plain intrinsics' warnings of
// uninitialised variables (GCC bug 105593).
constexpr __mmask8 kAllLanes = 0xff;
constexpr __mmask16 kAllWords = 0xffff;

EXACTBLOOM_TARGET inline __m512i Broadcast(std::uint64_t value) {
  return _mm512_set1_epi64(static_cast<long long>(value));
}

EXACTBLOOM_TARGET inline __m512i Load(const std::uint64_t* values) {
  return _mm512_loadu_si512(values);
}

EXACTBLOOM_TARGET inline __m512i Permute(__m512i index, __m512i words) {
  return _mm512_maskz_permutexvar_epi32(kAllWords, index, words);
}

EXACTBLOOM_TARGET inline __m512i Product(__m512i a, __m512i b) {
  return _mm512_maskz_mullo_epi64(kAllLanes, a, b);
}

// The high halves of the products of a lane and a number below 2^32.
EXACTBLOOM_TARGET inline __m512i MultiplyHigh(__m512i values, __m512i ranges) {
  const __m512i low = _mm512_maskz_mul_epu32(kAllLanes, values, ranges);
  const __m512i high =
      _mm512_maskz_mul_epu32(kAllLanes, _mm512_maskz_srli_epi64(kAllLanes, values, 32), ranges);
  return _mm512_maskz_srli_epi64(
      kAllLanes, _mm512_add_epi64(high, _mm512_maskz_srli_epi64(kAllLanes, low, 32)), 32);
}

EXACTBLOOM_TARGET inline __m256i Low(__m512i positions) {
  return _mm512_maskz_cvtepi64_epi32(kAllLanes, positions);
}

// Which lanes' bits are set. Reads whole 32-bit words of the array, of which the last may reach
// into the block's trailer.
EXACTBLOOM_INLINE unsigned SetLanes(const unsigned char* array, __m256i positions) {
  const __m256i words = _mm256_i32gather_epi32(reinterpret_cast<const int*>(array),
                                               _mm256_srli_epi32(positions, 5), 4);
  const __m256i bits =
      _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(positions, _mm256_set1_epi32(31)));
  return _mm256_test_epi32_mask(words, bits);
}

// How the words of one key's lanes are read: by a gather, or by loads, one by one.
enum class Reading { kGather, kLoads };

EXACTBLOOM_INLINE bool AllSetByLoads(const unsigned char* array, __m256i positions) {
  alignas(32) std::uint32_t words[kLanes];
  alignas(32) std::uint32_t bits[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(words), _mm256_srli_epi32(positions, 5));
  _mm256_store_si256(reinterpret_cast<__m256i*>(bits), positions);
  // Otherwise the compiler would extract the lanes from the registers, which takes longer.
  asm("" : "+m"(words), "+m"(bits));
  std::uint32_t hit = 1;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; ++i) {
    std::uint32_t word;
    std::memcpy(&word, array + std::size_t{words[i]} * 4, sizeof word);
    hit &= word >> (bits[i] & 31);
    if (i == 3 && hit == 0) return false;
  }
  return hit != 0;
}

// Whether the bits of the lanes in use, of which the first is one, are set.
template <Reading kReading>
EXACTBLOOM_INLINE bool LanesSet(const unsigned char* array, __m256i positions, unsigned used) {
  const __m256i lanes =
      _mm256_mask_mov_epi32(_mm256_broadcastd_epi32(_mm256_castsi256_si128(positions)),
                            static_cast<__mmask8>(used), positions);
  return kReading == Reading::kGather ? SetLanes(array, lanes) == kAllLanes
                                      : AllSetByLoads(array, lanes);
}

// The keys of which two of the first kCount draws are equal.
template <std::size_t kCount>
EXACTBLOOM_TARGET unsigned EqualLanes(const __m256i* draws) {
  __m256i equal = _mm256_setzero_si256();
#pragma GCC unroll 16
  for (std::size_t i = 1; i < kCount; ++i) {
#pragma GCC unroll 16
    for (std::size_t j = 0; j < i; ++j) {
      equal = _mm256_or_si256(equal, _mm256_cmpeq_epi32(draws[i], draws[j]));
    }
  }
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(equal)));
}

// The same, by the number of draws.
template <std::size_t... kCounts>
EXACTBLOOM_TARGET inline unsigned EqualLanes(const __m256i* draws, std::size_t count,
                                             std::index_sequence<kCounts...>) {
  static constexpr unsigned (*kByCount[])(const __m256i*) = {EqualLanes<kCounts>...};
  return kByCount[count](draws);
}

EXACTBLOOM_TARGET inline unsigned EqualLanes(const __m256i* draws, std::size_t count) {
  return EqualLanes(draws, count, std::make_index_sequence<kMostProbes + 1>());
}

template <FilterKind kKind, int kVectors, Reading kReading>
struct BatchDraws {
  static constexpr bool kClassic = kKind == FilterKind::kClassic;

  // Draw i of each of eight keys.
  EXACTBLOOM_TARGET static inline __m512i DrawOf(__m512i hashes, std::size_t i,
                                                 std::uint64_t first_range) {
    return MultiplyHigh(Product(hashes, Broadcast(internal::kMultiplierPowers[i])),
                        Broadcast(kClassic ? first_range + i : first_range));
  }

  // Which of eight keys have all bits set, of those whose first draws hit.
  EXACTBLOOM_TARGET static unsigned RestSet(const unsigned char* array,
                                            const FilterDescription& filter,
                                            std::uint64_t first_range, const std::uint64_t* hashes,
                                            unsigned lanes, std::size_t first) {
    const auto probes = static_cast<std::size_t>(filter.probes);
    const __m512i keys = Load(hashes);
    Draws draws;
    for (std::size_t i = first; i < probes; ++i) {
      draws[i] = Low(DrawOf(keys, i, first_range));
      lanes &= SetLanes(array, draws[i]);
    }
    if (!kClassic || lanes == 0) return lanes;
    for (std::size_t i = 0; i < first; ++i) draws[i] = Low(DrawOf(keys, i, first_range));
    for (unsigned equal = EqualLanes(draws, probes) & lanes; equal != 0; equal &= equal - 1) {
      const unsigned lane = equal & -equal;
      if (!CodeWordSet(array, filter, hashes[__builtin_ctz(equal)])) lanes &= ~lane;
    }
    return lanes;
  }

  EXACTBLOOM_TARGET static void MayContainBatch(const unsigned char* array,
                                                const FilterDescription& filter,
                                                const std::uint64_t* hashes, std::size_t count,
                                                bool* results) {
    const std::uint64_t first_range = FirstRange(filter);
    const auto first =
        static_cast<std::size_t>(filter.probes < kDrawsAtOnce ? filter.probes : kDrawsAtOnce);
    alignas(64) std::array<std::uint64_t, kBatchKeys + kLanes> survivors;
    std::size_t survivor_count = 0;
    std::uint32_t hits = 0;
    for (std::size_t i = 0; i < count; i += kLanes) {
      const std::size_t left = count - i;
      const auto used = static_cast<__mmask8>(left >= kLanes ? kAllLanes : (1U << left) - 1);
      const __m512i keys = _mm512_maskz_loadu_epi64(used, hashes + i);
      unsigned lanes = used;
      for (std::size_t draw = 0; draw < first; ++draw) {
        lanes &= SetLanes(array, Low(DrawOf(keys, draw, first_range)));
      }
      hits |= lanes << i;
      _mm512_storeu_si512(&survivors[survivor_count],
                          _mm512_maskz_compress_epi64(static_cast<__mmask8>(lanes), keys));
      survivor_count += static_cast<std::size_t>(__builtin_popcount(lanes));
    }
    _mm512_storeu_si512(&survivors[survivor_count], _mm512_setzero_si512());
    std::uint32_t survivor_hits = 0;
    for (std::size_t s = 0; s < survivor_count; s += kLanes) {
      const std::size_t left = survivor_count - s;
      const unsigned lanes = left >= kLanes ? kAllLanes : (1U << left) - 1;
      survivor_hits |= RestSet(array, filter, first_range, &survivors[s], lanes, first) << s;
    }
    hits = _pdep_u32(survivor_hits, hits);
    WriteResults(hits, count, results);
  }

  // The definition, where draws are equal, and for what does not fill a vector.
  __attribute__((noinline)) static void LocateByDefinition(const FilterDescription& filter,
                                                           std::uint64_t hash,
                                                           std::uint64_t* positions,
                                                           std::size_t stride) {
    const CodeWord word = MakeCodeWord(filter.layout, hash, filter.bits, filter.probes);
    for (std::size_t i = 0; i < static_cast<std::size_t>(word.size); ++i) {
      positions[i * stride] = word.positions[i];
    }
  }

  EXACTBLOOM_TARGET static void Locate(const FilterDescription& filter, const std::uint64_t* hashes,
                                       std::size_t count, std::uint64_t* positions) {
    const auto probes = static_cast<std::size_t>(filter.probes);
    if (count < kLocateKeys) {
      for (std::size_t i = 0; i < count; ++i) {
        LocateByDefinition(filter, hashes[i], positions + i * probes, 1);
      }
      return;
    }
    const std::uint64_t first_range = FirstRange(filter);
    const __m512i keys = Load(hashes);
    Draws draws;
    for (std::size_t i = 0; i < probes; ++i) {
      const __m512i draw = DrawOf(keys, i, first_range);
      _mm512_storeu_si512(positions + i * kLanes, draw);
      draws[i] = Low(draw);
    }
    if (!kClassic) return;
    for (unsigned equal = EqualLanes(draws, probes); equal != 0; equal &= equal - 1) {
      const auto lane = static_cast<std::size_t>(__builtin_ctz(equal));
      LocateByDefinition(filter, hashes[lane], positions + lane, kLanes);
    }
  }

  EXACTBLOOM_TARGET static void Add(unsigned char* array, const FilterDescription& filter,
                                    const std::uint64_t* hashes, std::size_t count) {
    AddDraws(array, filter, hashes, count, Locate);
  }

  static std::uint64_t FirstRange(const FilterDescription& filter) {
    return kClassic ? filter.bits - static_cast<std::uint64_t>(filter.probes) + 1 : filter.bits;
  }

  // One key: its first eight draws are one vector, the next eight another.
  EXACTBLOOM_TARGET static inline __m256i KeyDraws(std::uint64_t hash, std::size_t begin,
                                                   std::uint64_t first_range) {
    const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    const __m512i ranges = Broadcast(first_range + begin);
    return Low(MultiplyHigh(Product(Broadcast(hash), Load(&internal::kMultiplierPowers[begin])),
                            kClassic ? _mm512_add_epi64(ranges, lanes) : Broadcast(first_range)));
  }

  // Whether two of eight draws, or of sixteen, may be equal: each is compared with those that lie
  // up to half of the vector behind it. Those that the filter does not use are compared as well,
  // and are hardly ever equal.
  EXACTBLOOM_TARGET static inline bool MayHaveEqual(__m256i draws) {
    const __m512i twice =
        _mm512_maskz_inserti64x4(kAllLanes, _mm512_castsi256_si512(draws), draws, 1);
    const __m512i by_one_and_two =
        _mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0, 2, 3, 4, 5, 6, 7, 0, 1);
    const __m512i by_three_and_four =
        _mm512_setr_epi32(3, 4, 5, 6, 7, 0, 1, 2, 4, 5, 6, 7, 0, 1, 2, 3);
    const __mmask16 different = _mm512_cmpneq_epi32_mask(twice, Permute(by_one_and_two, twice));
    return _mm512_mask_cmpneq_epi32_mask(different, twice, Permute(by_three_and_four, twice)) !=
           kAllWords;
  }

  // The lanes of `from` in which the draws differ from those kLag behind.
  template <int kLag>
  EXACTBLOOM_TARGET static inline __mmask16 DifferAtLag(__mmask16 from, __m512i draws) {
    return _mm512_mask_cmpneq_epi32_mask(from, draws,
                                         _mm512_maskz_alignr_epi32(kAllWords, draws, draws, kLag));
  }

  EXACTBLOOM_TARGET static inline bool MayHaveEqual(__m256i first, __m256i second) {
    const __m512i draws =
        _mm512_maskz_inserti64x4(kAllLanes, _mm512_castsi256_si512(first), second, 1);
    const __mmask16 nearer = DifferAtLag<4>(
        DifferAtLag<3>(DifferAtLag<2>(DifferAtLag<1>(kAllWords, draws), draws), draws), draws);
    const __mmask16 farther = DifferAtLag<8>(
        DifferAtLag<7>(DifferAtLag<6>(DifferAtLag<5>(kAllWords, draws), draws), draws), draws);
    return (nearer & farther) != kAllWords;
  }

  EXACTBLOOM_INLINE static bool MayContainHash(const unsigned char* array,
                                               const FilterDescription& filter,
                                               std::uint64_t hash) {
    const std::uint64_t first_range = FirstRange(filter);
    const __m256i draws = KeyDraws(hash, 0, first_range);
    const unsigned used = (1U << filter.probes) - 1;
    if (!LanesSet<kReading>(array, draws, used & kAllLanes)) return false;
    if (kVectors == 1) {
      return !kClassic || !MayHaveEqual(draws) || CodeWordSet(array, filter, hash);
    }
    const __m256i more = KeyDraws(hash, kLanes, first_range);
    if (!LanesSet<kReading>(array, more, used >> kLanes)) return false;
    return !kClassic || !MayHaveEqual(draws, more) || CodeWordSet(array, filter, hash);
  }

  EXACTBLOOM_TARGET __attribute__((noinline)) static bool MayContainLongKey(
      const unsigned char* array, const FilterDescription& filter, std::string_view key) {
    return MayContainHash(array, filter, HashKey(key, filter.hash_seed));
  }

  EXACTBLOOM_TARGET __attribute__((flatten)) static bool MayContain(const unsigned char* array,
                                                                    const FilterDescription& filter,
                                                                    std::string_view key) {
    if (key.size() > kShortKeyBytes) return MayContainLongKey(array, filter, key);
    return MayContainHash(array, filter, HashKey(key, filter.hash_seed));
  }

  static constexpr Kernel kKernel = {MayContain, MayContainBatch, Add, Locate};
};

template <FilterKind kKind, Reading kReading>
const Kernel& VectorKernelFor(int probes) {
  return probes <= static_cast<int>(kLanes) ? BatchDraws<kKind, 1, kReading>::kKernel
                                            : BatchDraws<kKind, 2, kReading>::kKernel;
}

template <FilterKind kKind>
const Kernel& VectorKernelFor(int probes, bool gathers) {
  return gathers ? VectorKernelFor<kKind, Reading::kGather>(probes)
                 : VectorKernelFor<kKind, Reading::kLoads>(probes);
}

}  // namespace

const Kernel& Avx512DrawKernel(const FilterDescription& filter, bool gathers) {
  const bool fits = filter.bits >> 32 == 0 && filter.probes <= static_cast<int>(kMostProbes);
  if (!fits) return DrawKernelFor(filter);
  return filter.layout.kind == FilterKind::kClassic
             ? VectorKernelFor<FilterKind::kClassic>(filter.probes, gathers)
             : VectorKernelFor<FilterKind::kStandard>(filter.probes, gathers);
}

}  // namespace exactbloom::filter

#endif
