// The AVX-512 kernels (F and DQ; Skylake-X, Zen 4 and later).
#if defined(__x86_64__)

#include <immintrin.h>

#include "equal_fields.h"
#include "kernel.h"
#include "key_hash.h"
#include "line_fields.h"

#define EXACTBLOOM_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,bmi,bmi2")))

namespace exactbloom::filter {
namespace {

// Masked forms with all lanes are the plain instructions, without the plain intrinsics' warnings of
// uninitialised variables (GCC bug 105593).
constexpr __mmask8 kAllLanes = 0xff;

EXACTBLOOM_TARGET inline __m512i Load(const void* line) { return _mm512_loadu_si512(line); }

// The eight 64-bit words of the line are one register. Lane i holds field i of the hash word: the
// permutation takes the three high bits of the field, the rotation of 1 its six low bits, and both
// ignore the bits above.
EXACTBLOOM_TARGET inline bool AllSet(const unsigned char* line, std::uint64_t word, int used) {
  const __m512i bit_shifts = _mm512_setr_epi64(0, 9, 18, 27, 36, 45, 54, 63);
  const __m512i index_shifts = _mm512_setr_epi64(6, 15, 24, 33, 42, 51, 60, 63);
  const __m512i words = _mm512_set1_epi64(static_cast<long long>(word));
  const __m512i bits = _mm512_maskz_rolv_epi64(
      kAllLanes, _mm512_set1_epi64(1), _mm512_maskz_srlv_epi64(kAllLanes, words, bit_shifts));
  const __m512i values = _mm512_maskz_permutexvar_epi64(
      kAllLanes, _mm512_maskz_srlv_epi64(kAllLanes, words, index_shifts), Load(line));
  const auto mask = static_cast<__mmask8>((1U << used) - 1);
  return _mm512_mask_testn_epi64_mask(mask, values, bits) == 0;
}

EXACTBLOOM_TARGET inline void SetFields(unsigned char* line, std::uint64_t word, int used,
                                        std::uint64_t next_word, int next_used) {
  __m512i bits = Load(line);
  for (int i = 0; i < used; ++i) {
    bits = _mm512_or_si512(bits, Load(&kOneHotLines[Field(word, i)]));
  }
  for (int i = 0; i < next_used; ++i) {
    bits = _mm512_or_si512(bits, Load(&kOneHotLines[Field(next_word, i)]));
  }
  _mm512_storeu_si512(line, bits);
}

EXACTBLOOM_TARGET inline __m256i Load(const internal::SelfTurns* turns) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(turns));
}

#include "equal_fields_avx.inc"
#include "line_kernel.inc"

}  // namespace

const Kernel& Avx512Kernel(const FilterDescription& filter) {
  return filter.layout.lines == 0 ? Avx512DrawKernel(filter) : LineKernelFor(filter);
}

}  // namespace exactbloom::filter

#endif
