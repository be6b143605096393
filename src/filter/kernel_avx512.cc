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

EXACTBLOOM_TARGET inline __m512i Load(const void* line) { return _mm512_loadu_si512(line); }

// Lane i of eight takes the two bytes of the hash word that hold field i, which begins at bit i of
// them. The four high bits of a field say which 32-bit word of the line its position is in, the
// others which bit of that. Two loads of half a line cross fewer cache lines than one of all.
EXACTBLOOM_TARGET inline bool AllSet(const unsigned char* line, std::uint64_t word, int used) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i field_bytes =
      _mm256_setr_epi8(0, 1, -1, -1, 1, 2, -1, -1, 2, 3, -1, -1, 3, 4, -1, -1, 4, 5, -1, -1, 5, 6,
                       -1, -1, 6, 7, -1, -1, 7, -1, -1, -1);
  const __m256i words = _mm256_set1_epi64x(static_cast<long long>(word));
  const __m256i fields = _mm256_srlv_epi32(_mm256_shuffle_epi8(words, field_bytes), lanes);
  const auto* halves = reinterpret_cast<const __m256i*>(line);
  const __m256i values = _mm256_permutex2var_epi32(
      _mm256_loadu_si256(halves), _mm256_srli_epi32(fields, 5), _mm256_loadu_si256(halves + 1));
  const __m256i bits =
      _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(fields, _mm256_set1_epi32(31)));
  const auto mask = static_cast<__mmask8>((1U << used) - 1);
  return _mm256_mask_testn_epi32_mask(mask, values, bits) == 0;
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
