// The AVX2 kernels.
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>

#include "equal_fields.h"
#include "kernel.h"
#include "key_hash.h"
#include "line_fields.h"

#define EXACTBLOOM_TARGET __attribute__((target("avx2,bmi,bmi2")))

namespace exactbloom::filter {
namespace {

EXACTBLOOM_TARGET inline __m256i Load(const void* bytes) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(bytes));
}

// Lane i of eight takes the two bytes of the hash word that hold field i, which begins at bit i of
// them. A field's high bit says in which half of the line the position is, the next three which
// 32-bit word of it, the others which bit of that.
EXACTBLOOM_TARGET inline bool AllSet(const unsigned char* line, std::uint64_t word, int used) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i field_bytes =
      _mm256_setr_epi8(0, 1, -1, -1, 1, 2, -1, -1, 2, 3, -1, -1, 3, 4, -1, -1, 4, 5, -1, -1, 5, 6,
                       -1, -1, 6, 7, -1, -1, 7, -1, -1, -1);
  const __m256i words = _mm256_set1_epi64x(static_cast<long long>(word));
  const __m256i fields = _mm256_srlv_epi32(_mm256_shuffle_epi8(words, field_bytes), lanes);
  const __m256i index = _mm256_srli_epi32(fields, 5);
  const __m256i low = _mm256_permutevar8x32_epi32(Load(line), index);
  const __m256i high = _mm256_permutevar8x32_epi32(Load(line + sizeof(__m256i)), index);
  const __m256 values = _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high),
                                         _mm256_castsi256_ps(_mm256_slli_epi32(fields, 31 - 8)));
  const __m256i in_use = _mm256_srli_epi32(_mm256_sub_epi32(lanes, _mm256_set1_epi32(used)), 31);
  const __m256i bits = _mm256_sllv_epi32(in_use, _mm256_and_si256(fields, _mm256_set1_epi32(31)));
  return _mm256_testc_si256(_mm256_castps_si256(values), bits) != 0;
}

EXACTBLOOM_TARGET inline void SetFields(unsigned char* line, std::uint64_t word, int used,
                                        std::uint64_t next_word, int next_used) {
  __m256i low = Load(line);
  __m256i high = Load(line + sizeof(__m256i));
  const auto set = [&](unsigned field) EXACTBLOOM_TARGET {
    const unsigned char* one_hot = kOneHotLines[field].bytes;
    low = _mm256_or_si256(low, Load(one_hot));
    high = _mm256_or_si256(high, Load(one_hot + sizeof(__m256i)));
  };
  for (int i = 0; i < used; ++i) set(Field(word, i));
  for (int i = 0; i < next_used; ++i) set(Field(next_word, i));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(line), low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(line) + 1, high);
}

#include "equal_fields_avx-inl.h"
#include "group_of_one-inl.h"
#include "line_kernel-inl.h"

}  // namespace

const Kernel& Avx2Kernel(const FilterDescription& filter) {
  return filter.layout.InLines() ? LineKernelFor(filter) : Avx2DrawKernel(filter);
}

}  // namespace exactbloom::filter

#endif
