// The AVX-512 kernels (F and DQ; Skylake-X, Zen 4 and later).
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>

#include "equal_fields.h"
#include "kernel.h"
#include "key_hash.h"
#include "line_fields.h"

#define EXACTBLOOM_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,bmi,bmi2")))

namespace exactbloom::filter {
namespace {

constexpr __mmask8 kAllLanes = 0xff;
constexpr std::size_t kGroupKeys = 8;

EXACTBLOOM_TARGET inline __m512i Load(const void* line) { return _mm512_loadu_si512(line); }

// Lane i of eight takes field i, whose high bits say which 64-bit word of the line its position is
// in, and the others which bit of that.
EXACTBLOOM_TARGET inline bool AllSet(const unsigned char* line, std::uint64_t word, int used) {
  const __m512i begins =
      _mm512_setr_epi64(0, kFieldBits, 2 * kFieldBits, 3 * kFieldBits, 4 * kFieldBits,
                        5 * kFieldBits, 6 * kFieldBits, 7 * kFieldBits);
  const __m512i words = _mm512_set1_epi64(static_cast<long long>(word));
  const __m512i fields = _mm512_maskz_srlv_epi64(kAllLanes, words, begins);
  const __m512i values = _mm512_maskz_permutexvar_epi64(
      kAllLanes, _mm512_maskz_srli_epi64(kAllLanes, fields, 6), Load(line));
  const __m512i bits = _mm512_maskz_rolv_epi64(kAllLanes, _mm512_set1_epi64(1), fields);
  const auto lanes = static_cast<__mmask8>((1U << used) - 1);
  return _mm512_mask_testn_epi64_mask(lanes, values, bits) == 0;
}

// The bits of a word's first fields, in a line.
EXACTBLOOM_TARGET inline __m512i OneHot(std::uint64_t word, int i) {
  return Load(&kOneHotLines[Field(word, i)]);
}

EXACTBLOOM_TARGET inline __m512i BitsOf(std::uint64_t word, int used) {
  __m512i bits = _mm512_setzero_si512();
  switch (used) {
    case 7:
      bits = _mm512_or_si512(bits, OneHot(word, 6));
      [[fallthrough]];
    case 6:
      bits = _mm512_or_si512(bits, OneHot(word, 5));
      [[fallthrough]];
    case 5:
      bits = _mm512_or_si512(bits, OneHot(word, 4));
      [[fallthrough]];
    case 4:
      bits = _mm512_or_si512(bits, OneHot(word, 3));
      [[fallthrough]];
    case 3:
      bits = _mm512_or_si512(bits, OneHot(word, 2));
      [[fallthrough]];
    case 2:
      bits = _mm512_or_si512(bits, OneHot(word, 1));
      [[fallthrough]];
    case 1:
      bits = _mm512_or_si512(bits, OneHot(word, 0));
      [[fallthrough]];
    default:
      return bits;
  }
}

EXACTBLOOM_TARGET inline void SetFields(unsigned char* line, std::uint64_t word, int used,
                                        std::uint64_t next_word, int next_used) {
  const __m512i bits = _mm512_or_si512(BitsOf(word, used), BitsOf(next_word, next_used));
  _mm512_storeu_si512(line, _mm512_or_si512(Load(line), bits));
}

EXACTBLOOM_TARGET inline __m256i Load(const internal::SelfTurns* turns) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(turns));
}

#include "equal_fields_avx-inl.h"

// What group_of_one-inl.h says, of eight keys at once, one in each lane (equal_fields.h).
using GroupWords = std::uint64_t __attribute__((vector_size(kGroupKeys * sizeof(std::uint64_t))));

EXACTBLOOM_TARGET inline GroupWords ToAll(std::uint64_t word) { return GroupWords{} + word; }

template <int kFields>
EXACTBLOOM_TARGET inline GroupWords GroupZeroFields(GroupWords different) {
  return (different - ToAll(EqualFields<kFields>::kOnes)) & ~different;
}

// Bits above the fields do not matter: only the fields' high bits are tested, and a difference
// borrows only from below.
template <int kFields>
EXACTBLOOM_TARGET inline GroupWords GroupTurned(GroupWords fields, int turn) {
  const int by = turn * kFieldBits;
  return turn == 0 ? fields : (fields << by) | (fields >> (EqualFields<kFields>::kBits - by));
}

template <int kFields>
EXACTBLOOM_TARGET inline GroupWords GroupSelfZeroFields(GroupWords fields, int used) {
  const auto& unused = EqualFields<kFields>::kUnusedTurns[internal::Index(used)].fields;
  GroupWords zero = {};
#pragma GCC unroll 4
  for (int turn = 1; turn <= kFields / 2; ++turn) {
    zero |= GroupZeroFields<kFields>((fields ^ GroupTurned<kFields>(fields, turn)) |
                                     ToAll(unused[internal::Index(turn - 1)]));
  }
  return zero;
}

// The keys, as lanes that are not zero, of which two of the word's first `used` fields are equal.
template <int kFields>
EXACTBLOOM_TARGET inline GroupWords EqualFieldsIn(GroupWords words, int used) {
  return GroupSelfZeroFields<kFields>(words & ToAll(EqualFields<kFields>::kAllFields), used) &
         ToAll(EqualFields<kFields>::kHighs);
}

// The same for all fields of the first word and `used` fields of the second.
template <int kFields>
EXACTBLOOM_TARGET inline GroupWords EqualFieldsIn(GroupWords first, GroupWords second, int used) {
  const GroupWords all = ToAll(EqualFields<kFields>::kAllFields);
  const GroupWords unused = ToAll(EqualFields<kFields>::kUnused[internal::Index(used)]);
  first &= all;
  second &= all;
  GroupWords zero = GroupSelfZeroFields<kFields>(first, kFields);
  zero |= GroupSelfZeroFields<kFields>(second, used);
#pragma GCC unroll 8
  for (int turn = 0; turn < kFields; ++turn) {
    zero |= GroupZeroFields<kFields>((second ^ GroupTurned<kFields>(first, turn)) | unused);
  }
  return zero & ToAll(EqualFields<kFields>::kHighs);
}

EXACTBLOOM_TARGET inline GroupWords FirstWords(const std::uint64_t* hashes, std::size_t count) {
  const auto lanes = static_cast<__mmask8>(count < kGroupKeys ? (1U << count) - 1 : kAllLanes);
  return reinterpret_cast<GroupWords>(_mm512_maskz_loadu_epi64(lanes, hashes)) * kDrawMultiplier;
}

EXACTBLOOM_TARGET inline GroupWords NextWords(GroupWords words) {
  return (words ^ (words >> 32)) * kDrawMultiplier;
}

EXACTBLOOM_TARGET inline std::uint32_t NonzeroLanes(GroupWords words) {
  const auto lanes = reinterpret_cast<__m512i>(words);
  return _mm512_test_epi64_mask(lanes, lanes);
}

#include "line_kernel-inl.h"

// A gather of eight words is faster than eight loads on Intel processors, and was slower on Zen 4.
bool GathersFast() {
  static const bool is_intel = __builtin_cpu_is("intel") != 0;
  return is_intel;
}

}  // namespace

const Kernel& Avx512Kernel(const FilterDescription& filter) {
  return filter.layout.InLines() ? LineKernelFor(filter) : Avx512DrawKernel(filter, GathersFast());
}

}  // namespace exactbloom::filter

#endif
