// The AVX-512 kernels (F, BW, CD, DQ and VL; Skylake-X, Zen 4 and later).
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "equal_fields.h"
#include "kernel.h"
#include "key_hash.h"
#include "line_fields.h"

#define EXACTBLOOM_TARGET \
  __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi,bmi2,popcnt")))

namespace exactbloom::filter {
namespace {

// GCC 12 wrongly warns of the unmasked forms of some intrinsics.
constexpr __mmask8 kAll8 = 0xff;
constexpr __mmask16 kAll16 = 0xffff;

EXACTBLOOM_TARGET inline __m512i Load(const void* line) { return _mm512_loadu_si512(line); }

EXACTBLOOM_TARGET inline std::uint32_t FirstLanes(int count) {
  return _bzhi_u32(~std::uint32_t{0}, static_cast<std::uint32_t>(count));
}

// Lane i of eight takes the two bytes of a word that hold field i, and moves the field to its end.
// Of the fields' bits, the highest say which 32-bit word of the line the position is in, the others
// which bit of that. Instructions that look at these alone need not clear what is above the field.
EXACTBLOOM_TARGET inline __m256i FieldsOf(std::uint64_t word) {
  const __m256i bytes = _mm256_setr_epi8(0, 1, -1, -1, 1, 2, -1, -1, 2, 3, -1, -1, 3, 4, -1, -1, 4,
                                         5, -1, -1, 5, 6, -1, -1, 6, 7, -1, -1, 7, -1, -1, -1);
  const __m256i words = _mm256_set1_epi64x(static_cast<long long>(word));
  return _mm256_srlv_epi32(_mm256_shuffle_epi8(words, bytes),
                           _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// The lanes whose positions are not set.
EXACTBLOOM_TARGET inline std::uint32_t UnsetLanes(std::uint32_t lanes, const unsigned char* line,
                                                  __m256i fields) {
  const auto* halves = reinterpret_cast<const __m256i*>(line);
  const __m256i words = _mm256_permutex2var_epi32(
      _mm256_loadu_si256(halves), _mm256_srli_epi32(fields, 5), _mm256_loadu_si256(halves + 1));
  const __m256i bits = _mm256_rolv_epi32(_mm256_set1_epi32(1), fields);
  return _mm256_mask_testn_epi32_mask(static_cast<__mmask8>(lanes), words, bits);
}

EXACTBLOOM_TARGET inline bool AllSet(const unsigned char* line, std::uint64_t word, int used) {
  return UnsetLanes(FirstLanes(used), line, FieldsOf(word)) == 0;
}

// The same in 16 lanes, of the fields of two words and the first fields of a third.
struct LaneBytes {
  // Field i of a word begins at bit i of its byte i. A block of four lanes holds two words.
  alignas(64) std::array<std::uint8_t, 64> bytes{};
  alignas(64) std::array<std::uint32_t, 16> shifts{};
  // The blocks' words that are the second and the third one.
  std::uint8_t second = 0;
  std::uint8_t third = 0;

  constexpr LaneBytes() {
    std::array<int, 8> words{};
    for (int block = 0; block < 4; ++block) {
      words[internal::Index(2 * block)] = 4 * block / kFieldsOfWord;
      words[internal::Index(2 * block + 1)] = (4 * block + 3) / kFieldsOfWord;
    }
    for (int i = 0; i < 8; ++i) {
      if (words[internal::Index(i)] == 1) second = static_cast<std::uint8_t>(second | 1U << i);
      if (words[internal::Index(i)] == 2) third = static_cast<std::uint8_t>(third | 1U << i);
    }
    for (int lane = 0; lane < 16; ++lane) {
      const int half = words[internal::Index(lane / 4 * 2)] == lane / kFieldsOfWord ? 0 : 8;
      const int field = lane % kFieldsOfWord;
      shifts[internal::Index(lane)] = static_cast<std::uint32_t>(field);
      for (int byte = 0; byte < 4; ++byte) {
        bytes[internal::Index(4 * lane + byte)] =
            static_cast<std::uint8_t>(byte < 2 ? half + field + byte : 0x80);
      }
    }
  }
};

inline constexpr LaneBytes kLaneBytes;

EXACTBLOOM_TARGET inline __m512i FieldsOf(std::uint64_t first, std::uint64_t second,
                                          std::uint64_t third) {
  const LaneBytes& lanes = kLaneBytes;
  __m512i words = _mm512_set1_epi64(static_cast<long long>(first));
  words = _mm512_mask_set1_epi64(words, lanes.second, static_cast<long long>(second));
  words = _mm512_mask_set1_epi64(words, lanes.third, static_cast<long long>(third));
  return _mm512_maskz_srlv_epi32(kAll16, _mm512_shuffle_epi8(words, Load(lanes.bytes.data())),
                                 Load(lanes.shifts.data()));
}

EXACTBLOOM_TARGET inline std::uint32_t UnsetLanes(std::uint32_t lanes, const unsigned char* line,
                                                  __m512i fields) {
  const __m512i values = _mm512_maskz_permutexvar_epi32(
      kAll16, _mm512_maskz_srli_epi32(kAll16, fields, 5), Load(line));
  const __m512i bits = _mm512_maskz_rolv_epi32(kAll16, _mm512_set1_epi32(1), fields);
  return _mm512_mask_testn_epi32_mask(static_cast<__mmask16>(lanes), values, bits);
}

EXACTBLOOM_TARGET inline bool AllSet(const unsigned char* line, std::uint64_t first,
                                     std::uint64_t second, int used) {
  return UnsetLanes(FirstLanes(kFieldsOfWord + used), line, FieldsOf(first, second, second)) == 0;
}

// The lanes of the first `used` different fields. A lane is new if no lane before it is equal.
// There are fewer if the lanes hold fewer.
EXACTBLOOM_TARGET inline std::uint32_t FirstNewLanes(__m256i fields, int used) {
  const __m256i equal = _mm256_conflict_epi32(fields);
  return _pdep_u32(FirstLanes(used), _mm256_testn_epi32_mask(equal, equal));
}

EXACTBLOOM_TARGET inline std::uint32_t FirstNewLanes(__m512i fields, int used) {
  const __m512i equal = _mm512_conflict_epi32(fields);
  return _pdep_u32(FirstLanes(used), _mm512_testn_epi32_mask(equal, equal));
}

constexpr int kFieldMask = (1 << kFieldBits) - 1;

// The fields of a word and the first field of the next.
EXACTBLOOM_TARGET inline __m256i FieldsOf(std::uint64_t word, std::uint64_t next) {
  constexpr __mmask8 kLastLane = 1U << kFieldsOfWord;
  const __m256i fields = _mm256_mask_set1_epi32(FieldsOf(word), kLastLane, static_cast<int>(next));
  return _mm256_and_si256(fields, _mm256_set1_epi32(kFieldMask));
}

// Without a branch on whether fields are equal, which would often be mispredicted.
EXACTBLOOM_TARGET inline bool ReplacementsSet(const unsigned char* line, std::uint64_t word,
                                              std::uint64_t next, int used) {
  const __m256i fields = FieldsOf(word, next);
  const std::uint32_t lanes = FirstNewLanes(fields, used);
  if (__builtin_expect(_mm_popcnt_u32(lanes) != used, 0)) {
    return ReplacementFieldsSet(line, word, used);
  }
  return UnsetLanes(lanes, line, fields) == 0;
}

EXACTBLOOM_TARGET inline bool LanesSet(const unsigned char* line, std::uint64_t word,
                                       FieldsInUse in_use) {
  return UnsetLanes(in_use.lanes, line, FieldsOf(word)) == 0;
}

// The lanes, of those given, that are equal to one before them.
EXACTBLOOM_TARGET inline std::uint32_t EqualLanes(std::uint32_t lanes, __m256i fields) {
  const __m256i equal = _mm256_conflict_epi32(fields);
  return _mm256_mask_test_epi32_mask(static_cast<__mmask8>(lanes), equal, equal);
}

// If two fields are equal, the one behind those in use is tested as well. There is no branch on
// that, which would often be mispredicted, but one on more equal fields.
EXACTBLOOM_TARGET inline bool DistinctSet(const unsigned char* line, std::uint64_t word,
                                          FieldsInUse in_use) {
  const __m256i fields = FieldsOf(word);
  const std::uint32_t unset = UnsetLanes(kAll8, line, fields);
  if ((unset & in_use.lanes) != 0) return false;
  const std::uint32_t equal =
      EqualLanes(2 * in_use.lanes + 1, _mm256_and_si256(fields, _mm256_set1_epi32(kFieldMask)));
  if (__builtin_expect((equal & (equal - 1)) != 0, 0)) {
    return ReplacementFieldsSet(line, word, in_use.count);
  }
  return (static_cast<int>(equal == 0) | static_cast<int>((unset & (in_use.lanes + 1)) == 0)) != 0;
}

EXACTBLOOM_TARGET inline bool AnyEqual(std::uint64_t word) {
  const __m256i fields = _mm256_and_si256(FieldsOf(word), _mm256_set1_epi32(kFieldMask));
  return EqualLanes((1U << kFieldsOfWord) - 1, fields) != 0;
}

EXACTBLOOM_TARGET inline bool ReplacementsSet(const unsigned char* line, std::uint64_t first,
                                              std::uint64_t second, std::uint64_t third, int used) {
  const __m512i fields =
      _mm512_and_si512(FieldsOf(first, second, third), _mm512_set1_epi32(kFieldMask));
  const std::uint32_t lanes = FirstNewLanes(fields, kFieldsOfWord + used);
  if (__builtin_expect(_mm_popcnt_u32(lanes) != kFieldsOfWord + used, 0)) {
    return ReplacementFieldsSet(line, first, kFieldsOfWord + used);
  }
  return UnsetLanes(lanes, line, fields) == 0;
}

// The bits of a word's first fields, in a line.
EXACTBLOOM_TARGET inline __m512i OneHot(std::uint64_t word, int i) {
  return Load(&kOneHotLines[Field(word, i)]);
}

EXACTBLOOM_TARGET inline __m512i BitsOf(std::uint64_t word, int used) {
  __m512i bits = _mm512_setzero_si512();
#pragma GCC unroll 7
  for (int i = 0; i < 7; ++i) {
    if (i >= used) break;
    bits = _mm512_or_si512(bits, OneHot(word, i));
  }
  return bits;
}

EXACTBLOOM_TARGET inline void SetFields(unsigned char* line, std::uint64_t word, int used,
                                        std::uint64_t next_word, int next_used) {
  const __m512i bits = _mm512_or_si512(BitsOf(word, used), BitsOf(next_word, next_used));
  _mm512_storeu_si512(line, _mm512_or_si512(Load(line), bits));
}

// Eight keys at once, one in each lane.
constexpr std::size_t kGroupKeys = 8;
using GroupWords = std::uint64_t __attribute__((vector_size(kGroupKeys * sizeof(std::uint64_t))));

EXACTBLOOM_TARGET inline GroupWords LowProducts(GroupWords a, GroupWords b) {
  return reinterpret_cast<GroupWords>(
      _mm512_maskz_mul_epu32(kAll8, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}

EXACTBLOOM_TARGET inline GroupWords SwapBytes(GroupWords words) {
  const __m512i bytes = _mm512_maskz_broadcast_i32x4(
      kAll16, _mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
  return reinterpret_cast<GroupWords>(_mm512_shuffle_epi8(reinterpret_cast<__m512i>(words), bytes));
}

EXACTBLOOM_TARGET inline std::uint32_t NonzeroLanes(GroupWords words) {
  const auto lanes = reinterpret_cast<__m512i>(words);
  return _mm512_test_epi64_mask(lanes, lanes);
}

template <typename Word>
EXACTBLOOM_TARGET inline GroupWords GatherGroup(Word word) {
  return GroupWords{word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7)};
}

#include "group_words-inl.h"
#include "key_hash_group-inl.h"
#include "line_kernel-inl.h"

// A gather of eight words is faster than eight loads on Intel processors, and was slower on Zen 4.
bool GathersFast() {
  static const bool is_intel = __builtin_cpu_is("intel") != 0;
  return is_intel;
}

}  // namespace

void Avx512HashKeys(const KeyBatch& keys, std::size_t count, std::uint64_t seed,
                    std::uint64_t* hashes) {
  HashKeysInGroups(keys, count, seed, hashes);
}

const Kernel& Avx512Kernel(const FilterDescription& filter) {
  return filter.layout.InLines() ? LineKernelFor(filter) : Avx512DrawKernel(filter, GathersFast());
}

}  // namespace exactbloom::filter

#endif
