// The AVX-512 kernels for lines = 0 and filters of less than 2^32 bits (draw_kernel_avx-inl.h).
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
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

// Masked forms with all lanes are the plain instructions, without the plain intrinsics' warnings of
// uninitialised variables (GCC bug 105593).
constexpr __mmask8 kAllMask = 0xff;
constexpr __mmask16 kAllWords = 0xffff;

using Keys = __m512i;

EXACTBLOOM_INLINE __m512i Broadcast(std::uint64_t value) {
  return _mm512_set1_epi64(static_cast<long long>(value));
}

EXACTBLOOM_INLINE Keys LoadKeys(const std::uint64_t* hashes) { return _mm512_loadu_si512(hashes); }

EXACTBLOOM_INLINE Keys LoadKeys(const std::uint64_t* hashes, std::size_t count) {
  return _mm512_maskz_loadu_epi64(static_cast<__mmask8>((1U << count) - 1), hashes);
}

EXACTBLOOM_INLINE __m512i ShiftRight(__m512i words, unsigned by) {
  return _mm512_maskz_srli_epi64(kAllMask, words, by);
}

// The ranges are below 2^32.
EXACTBLOOM_INLINE __m256i Draws(__m512i words, __m512i multipliers, __m512i ranges) {
  const __m512i products = _mm512_maskz_mullo_epi64(kAllMask, words, multipliers);
  const __m512i low = _mm512_maskz_mul_epu32(kAllMask, products, ranges);
  const __m512i high = _mm512_maskz_mul_epu32(kAllMask, ShiftRight(products, 32), ranges);
  return _mm512_maskz_cvtepi64_epi32(kAllMask,
                                     ShiftRight(_mm512_add_epi64(high, ShiftRight(low, 32)), 32));
}

EXACTBLOOM_INLINE __m256i Draws(Keys keys, std::uint64_t multiplier, std::uint64_t range) {
  return Draws(keys, Broadcast(multiplier), Broadcast(range));
}

EXACTBLOOM_INLINE __m256i KeyDraws(std::uint64_t hash, const std::uint64_t* multipliers,
                                   std::uint64_t range, bool grows) {
  const __m512i lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  const __m512i ranges = !grows ? Broadcast(range) : _mm512_add_epi64(Broadcast(range), lanes);
  return Draws(Broadcast(hash), _mm512_loadu_si512(multipliers), ranges);
}

EXACTBLOOM_INLINE void StoreWide(__m256i positions, std::uint64_t* wide) {
  _mm512_storeu_si512(wide, _mm512_maskz_cvtepu32_epi64(kAllMask, positions));
}

// The 32-bit words that are gathered may reach into the block's trailer.
EXACTBLOOM_INLINE unsigned SetLanes(const unsigned char* array, __m256i positions) {
  const __m256i words = _mm256_i32gather_epi32(reinterpret_cast<const int*>(array),
                                               _mm256_srli_epi32(positions, 5), 4);
  const __m256i bits =
      _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(positions, _mm256_set1_epi32(31)));
  return _mm256_test_epi32_mask(words, bits);
}

EXACTBLOOM_INLINE __m512i Both(__m256i low, __m256i high) {
  return _mm512_maskz_inserti64x4(kAllMask, _mm512_castsi256_si512(low), high, 1);
}

EXACTBLOOM_INLINE unsigned SetLanes(const unsigned char* array, __m256i positions, __m256i others) {
  const __m512i all = Both(positions, others);
  const __m512i words = _mm512_mask_i32gather_epi32(
      _mm512_setzero_si512(), kAllWords, _mm512_maskz_srli_epi32(kAllWords, all, 5), array, 4);
  const __m512i bits = _mm512_maskz_sllv_epi32(kAllWords, _mm512_set1_epi32(1),
                                               _mm512_and_si512(all, _mm512_set1_epi32(31)));
  const unsigned set = _mm512_test_epi32_mask(words, bits);
  return set & (set >> kLanes);
}

EXACTBLOOM_INLINE void Compress(Keys keys, unsigned lanes, std::uint64_t* to) {
  _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(static_cast<__mmask8>(lanes), keys));
}

// Each of eight draws, or of sixteen, is compared with those that lie up to half of them behind it.
EXACTBLOOM_INLINE __m512i Permute(__m512i index, __m512i words) {
  return _mm512_maskz_permutexvar_epi32(kAllWords, index, words);
}

EXACTBLOOM_INLINE bool MayHaveEqual(__m256i draws) {
  const __m512i twice = Both(draws, draws);
  const __m512i by_one_and_two = _mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0, 2, 3, 4, 5, 6, 7, 0, 1);
  const __m512i by_three_and_four =
      _mm512_setr_epi32(3, 4, 5, 6, 7, 0, 1, 2, 4, 5, 6, 7, 0, 1, 2, 3);
  const __mmask16 different = _mm512_cmpneq_epi32_mask(twice, Permute(by_one_and_two, twice));
  return _mm512_mask_cmpneq_epi32_mask(different, twice, Permute(by_three_and_four, twice)) !=
         kAllWords;
}

// The lanes of `from` in which the draws differ from those kLag behind.
template <int kLag>
EXACTBLOOM_INLINE __mmask16 DifferAtLag(__mmask16 from, __m512i draws) {
  return _mm512_mask_cmpneq_epi32_mask(from, draws,
                                       _mm512_maskz_alignr_epi32(kAllWords, draws, draws, kLag));
}

EXACTBLOOM_INLINE bool MayHaveEqual(__m256i first, __m256i second) {
  const __m512i draws = Both(first, second);
  const __mmask16 nearer = DifferAtLag<4>(
      DifferAtLag<3>(DifferAtLag<2>(DifferAtLag<1>(kAllWords, draws), draws), draws), draws);
  const __mmask16 farther = DifferAtLag<8>(
      DifferAtLag<7>(DifferAtLag<6>(DifferAtLag<5>(kAllWords, draws), draws), draws), draws);
  return (nearer & farther) != kAllWords;
}

#include "draw_kernel_avx-inl.h"

}  // namespace

const Kernel& Avx512DrawKernel(const FilterDescription& filter, bool gathers) {
  return gathers ? VectorKernelFor<Reading::kGather>(filter)
                 : VectorKernelFor<Reading::kLoads>(filter);
}

}  // namespace exactbloom::filter

#endif
