// Draws with AVX2: of eight keys in a register, of a batch or when a filter is built, or eight
// draws of one key, for a single query. Positions are eight lanes of 32 bits, so filters have less
// than 2^32 bits. There are no 64-bit products; they come from those of 32 bits, four at a time.
#pragma once

#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#define EXACTBLOOM_TARGET __attribute__((target("avx2,bmi,bmi2")))
#define EXACTBLOOM_INLINE EXACTBLOOM_TARGET __attribute__((always_inline)) inline

namespace exactbloom::filter::avx2 {

inline constexpr std::size_t kLanes = 8;
inline constexpr std::size_t kHalf = kLanes / 2;

// Eight words of 64 bits. They are in this order because then the shuffle of 32-bit words within
// halves of registers, which takes the high halves of all, brings them into theirs.
struct Keys {
  __m256i first;   // 0, 1, 4, 5
  __m256i second;  // 2, 3, 6, 7
};

EXACTBLOOM_INLINE __m256i Broadcast(std::uint64_t value) {
  return _mm256_set1_epi64x(static_cast<long long>(value));
}

EXACTBLOOM_INLINE __m256i Load(const std::uint64_t* words) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words));
}

EXACTBLOOM_INLINE Keys InOrder(__m256i low, __m256i high) {
  return {_mm256_permute2x128_si256(low, high, 0x20), _mm256_permute2x128_si256(low, high, 0x31)};
}

EXACTBLOOM_INLINE Keys LoadKeys(const std::uint64_t* words) {
  return InOrder(Load(words), Load(words + kHalf));
}

EXACTBLOOM_INLINE Keys LoadKeys(const std::uint64_t* words, std::size_t count) {
  const __m256i lanes = _mm256_setr_epi64x(0, 1, 2, 3);
  const auto load = [&](std::size_t begin) EXACTBLOOM_TARGET {
    const __m256i used =
        _mm256_cmpgt_epi64(_mm256_sub_epi64(Broadcast(count), Broadcast(begin)), lanes);
    return _mm256_maskload_epi64(reinterpret_cast<const long long*>(words + begin), used);
  };
  return InOrder(load(0), load(kHalf));
}

// The draws of four words, in the high halves of the lanes.
EXACTBLOOM_INLINE __m256i HighDraws(__m256i words, __m256i multipliers, __m256i ranges) {
  const __m256i low = _mm256_mul_epu32(words, multipliers);
  const __m256i cross =
      _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(words, 32), multipliers),
                       _mm256_mul_epu32(words, _mm256_srli_epi64(multipliers, 32)));
  // The product's high half, in the low half of the lane. What is above it is not used.
  const __m256i high = _mm256_add_epi64(_mm256_srli_epi64(low, 32), cross);
  return _mm256_add_epi64(_mm256_mul_epu32(high, ranges),
                          _mm256_srli_epi64(_mm256_mul_epu32(low, ranges), 32));
}

EXACTBLOOM_INLINE __m256i HighHalves(__m256i first, __m256i second) {
  return _mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castsi256_ps(first), _mm256_castsi256_ps(second), 0b11011101));
}

EXACTBLOOM_INLINE __m256i Draws(const Keys& keys, std::uint64_t multiplier, std::uint64_t range) {
  const __m256i multipliers = Broadcast(multiplier);
  const __m256i ranges = Broadcast(range);
  return HighHalves(HighDraws(keys.first, multipliers, ranges),
                    HighDraws(keys.second, multipliers, ranges));
}

EXACTBLOOM_INLINE __m256i KeyDraws(std::uint64_t hash, const std::uint64_t* multipliers,
                                   std::uint64_t range, bool grows) {
  const Keys powers = LoadKeys(multipliers);
  const __m256i first = _mm256_setr_epi64x(0, 1, 4, 5);
  const __m256i second = _mm256_setr_epi64x(2, 3, 6, 7);
  const auto ranges = [&](__m256i lanes) EXACTBLOOM_TARGET {
    return !grows ? Broadcast(range) : _mm256_add_epi64(Broadcast(range), lanes);
  };
  return HighHalves(HighDraws(Broadcast(hash), powers.first, ranges(first)),
                    HighDraws(Broadcast(hash), powers.second, ranges(second)));
}

EXACTBLOOM_INLINE void StoreWide(__m256i positions, std::uint64_t* wide) {
  auto* begin = reinterpret_cast<__m256i*>(wide);
  _mm256_storeu_si256(begin, _mm256_cvtepu32_epi64(_mm256_castsi256_si128(positions)));
  _mm256_storeu_si256(begin + 1, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(positions, 1)));
}

// The 32-bit words of the array in which the positions lie. Loads one by one: gathers are slow on
// older processors, and with the microcode that makes them safe on others.
EXACTBLOOM_INLINE __m256i WordsAt(const unsigned char* array, __m256i positions) {
  alignas(32) std::uint32_t index[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(index), _mm256_srli_epi32(positions, 5));
  // Otherwise the compiler would extract the lanes from the registers, which takes longer.
  asm("" : "+m"(index));
  const auto word = [&](std::size_t i) EXACTBLOOM_TARGET {
    int value;
    std::memcpy(&value, array + std::size_t{index[i]} * 4, sizeof value);
    return value;
  };
  return _mm256_setr_epi32(word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7));
}

EXACTBLOOM_INLINE __m256i BitsAsSigns(const unsigned char* array, __m256i positions) {
  return _mm256_sllv_epi32(WordsAt(array, positions),
                           _mm256_andnot_si256(positions, _mm256_set1_epi32(31)));
}

EXACTBLOOM_INLINE unsigned Signs(__m256i lanes) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
}

EXACTBLOOM_INLINE unsigned SetLanes(const unsigned char* array, __m256i positions) {
  return Signs(BitsAsSigns(array, positions));
}

EXACTBLOOM_INLINE unsigned SetLanes(const unsigned char* array, __m256i positions, __m256i others) {
  return Signs(_mm256_and_si256(BitsAsSigns(array, positions), BitsAsSigns(array, others)));
}

// By the lanes to keep of four: their 32-bit words, then any.
struct alignas(32) KeptWords {
  std::array<std::uint32_t, kLanes> words;
};

constexpr std::array<KeptWords, 1U << kHalf> AllKeptWords() {
  std::array<KeptWords, 1U << kHalf> all{};
  for (unsigned kept = 0; kept < all.size(); ++kept) {
    std::size_t next = 0;
    for (unsigned lane = 0; lane < kHalf; ++lane) {
      if ((kept >> lane & 1) == 0) continue;
      all[kept].words[next++] = 2 * lane;
      all[kept].words[next++] = 2 * lane + 1;
    }
  }
  return all;
}

inline constexpr std::array<KeptWords, 1U << kHalf> kKeptWords = AllKeptWords();

EXACTBLOOM_INLINE void CompressHalf(__m256i keys, unsigned lanes, std::uint64_t* to) {
  const auto* kept = reinterpret_cast<const __m256i*>(&kKeptWords[lanes]);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm256_permutevar8x32_epi32(keys, _mm256_load_si256(kept)));
}

EXACTBLOOM_INLINE void Compress(const Keys& keys, unsigned lanes, std::uint64_t* to) {
  const unsigned low = lanes & 0xf;
  CompressHalf(_mm256_permute2x128_si256(keys.first, keys.second, 0x20), low, to);
  CompressHalf(_mm256_permute2x128_si256(keys.first, keys.second, 0x31), lanes >> kHalf,
               to + __builtin_popcount(low));
}

EXACTBLOOM_INLINE __m256i Turned(__m256i draws, int by) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_permutevar8x32_epi32(draws, _mm256_add_epi32(lanes, _mm256_set1_epi32(by)));
}

EXACTBLOOM_INLINE __m256i EqualToTurned(__m256i draws) {
  const auto equal = [&](int by)
                         EXACTBLOOM_TARGET { return _mm256_cmpeq_epi32(draws, Turned(draws, by)); };
  return _mm256_or_si256(_mm256_or_si256(equal(1), equal(2)), _mm256_or_si256(equal(3), equal(4)));
}

EXACTBLOOM_INLINE bool MayHaveEqual(__m256i draws) { return Signs(EqualToTurned(draws)) != 0; }

EXACTBLOOM_INLINE bool MayHaveEqual(__m256i first, __m256i second) {
  __m256i equal = _mm256_or_si256(EqualToTurned(first), EqualToTurned(second));
#pragma GCC unroll 8
  for (int by = 0; by < static_cast<int>(kLanes); ++by) {
    equal = _mm256_or_si256(equal, _mm256_cmpeq_epi32(first, Turned(second, by)));
  }
  return Signs(equal) != 0;
}

// The most probes for which there are kernels here: enough for 22 bits per key.
inline constexpr std::size_t kMostProbes = 2 * kLanes;

inline constexpr unsigned kAllLanes = (1U << kLanes) - 1;

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

// Whether the bits of the lanes from kBegin on are set.
template <std::size_t kBegin>
EXACTBLOOM_INLINE bool AllSetByLoads(const unsigned char* array, __m256i positions) {
  alignas(32) std::uint32_t words[kLanes];
  alignas(32) std::uint32_t bits[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(words), _mm256_srli_epi32(positions, 5));
  _mm256_store_si256(reinterpret_cast<__m256i*>(bits), positions);
  // Otherwise the compiler would extract the lanes from the registers, which takes longer.
  asm("" : "+m"(words), "+m"(bits));
  std::uint32_t hit = 1;
#pragma GCC unroll 8
  for (std::size_t i = kBegin; i < kLanes; ++i) {
    std::uint32_t word;
    std::memcpy(&word, array + std::size_t{words[i]} * 4, sizeof word);
    hit &= word >> (bits[i] & 31);
  }
  return hit != 0;
}

EXACTBLOOM_INLINE void Fetch(const unsigned char* array, __m256i positions) {
  alignas(32) std::uint32_t bytes[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(bytes), _mm256_srli_epi32(positions, 3));
  // As above.
  asm("" : "+m"(bytes));
#pragma GCC unroll 8
  for (const std::uint32_t byte : bytes) __builtin_prefetch(array + byte);
}

}  // namespace exactbloom::filter::avx2
