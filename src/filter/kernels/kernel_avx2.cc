// The AVX2 kernels.
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>

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

// Lane i of eight takes the two bytes of the hash word that hold field i, and moves the field to
// its end. What is above the field is not cleared.
EXACTBLOOM_TARGET inline __m256i FieldsOf(std::uint64_t word) {
  const __m256i bytes = _mm256_setr_epi8(0, 1, -1, -1, 1, 2, -1, -1, 2, 3, -1, -1, 3, 4, -1, -1, 4,
                                         5, -1, -1, 5, 6, -1, -1, 6, 7, -1, -1, 7, -1, -1, -1);
  const __m256i words = _mm256_set1_epi64x(static_cast<long long>(word));
  return _mm256_srlv_epi32(_mm256_shuffle_epi8(words, bytes),
                           _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// The 32-bit words that the lanes' fields select in both halves of a line. A field's highest bit
// selects the half, the next three bits the word, the others the bit of the word.
struct Halves {
  __m256i low;
  __m256i high;
};

EXACTBLOOM_TARGET inline Halves LookUp(const unsigned char* line, __m256i fields) {
  const __m256i index = _mm256_srli_epi32(fields, 5);
  return {_mm256_permutevar8x32_epi32(Load(line), index),
          _mm256_permutevar8x32_epi32(Load(line + sizeof(__m256i)), index)};
}

EXACTBLOOM_TARGET inline __m256i ChooseHalf(const Halves& words, __m256i fields) {
  return _mm256_castps_si256(
      _mm256_blendv_ps(_mm256_castsi256_ps(words.low), _mm256_castsi256_ps(words.high),
                       _mm256_castsi256_ps(_mm256_slli_epi32(fields, 31 - 8))));
}

EXACTBLOOM_TARGET inline bool AllSet(const unsigned char* line, std::uint64_t word, int used) {
  const __m256i fields = FieldsOf(word);
  const __m256i values = ChooseHalf(LookUp(line, fields), fields);
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i in_use = _mm256_srli_epi32(_mm256_sub_epi32(lanes, _mm256_set1_epi32(used)), 31);
  const __m256i bits = _mm256_sllv_epi32(in_use, _mm256_and_si256(fields, _mm256_set1_epi32(31)));
  return _mm256_testc_si256(values, bits) != 0;
}

// A line's worth of bits, none set at first.
struct LineBits {
  __m256i low;
  __m256i high;

  EXACTBLOOM_TARGET LineBits() : low(_mm256_setzero_si256()), high(low) {}

  EXACTBLOOM_TARGET inline void Add(const OneHotLine& one_hot) {
    low = _mm256_or_si256(low, Load(one_hot.bytes));
    high = _mm256_or_si256(high, Load(one_hot.bytes + sizeof(__m256i)));
  }

  // Adds the bits of a word's first fields.
  EXACTBLOOM_TARGET inline void Add(std::uint64_t word, int used) {
#pragma GCC unroll 7
    for (int i = 0; i < 7; ++i) {
      if (i >= used) break;
      Add(kOneHotLines[Field(word, i)]);
    }
  }

  EXACTBLOOM_TARGET inline void StoreTo(void* line) const {
    _mm256_storeu_si256(static_cast<__m256i*>(line), low);
    _mm256_storeu_si256(static_cast<__m256i*>(line) + 1, high);
  }

  // Sets these bits of a line.
  EXACTBLOOM_TARGET inline void AddTo(unsigned char* line) {
    low = _mm256_or_si256(low, Load(line));
    high = _mm256_or_si256(high, Load(line + sizeof(__m256i)));
    StoreTo(line);
  }
};

EXACTBLOOM_TARGET inline void SetFields(unsigned char* line, std::uint64_t word, int used,
                                        std::uint64_t next_word, int next_used) {
  LineBits bits;
  bits.Add(word, used);
  bits.Add(next_word, next_used);
  bits.AddTo(line);
}

EXACTBLOOM_TARGET inline bool AllSet(const unsigned char* line, std::uint64_t first,
                                     std::uint64_t second, int used) {
  return (static_cast<int>(AllSet(line, first, kFieldsOfWord)) &
          static_cast<int>(AllSet(line, second, used))) != 0;
}

// The fields of two words and the first one of a third, in 16-bit lanes: a field begins at bit i of
// its bytes, and is moved up by 7 - i bits and then to the lane's end. Lanes that hold neither a
// field in use nor the one behind these get numbers of their own, above all fields.
struct SixteenLanes {
  alignas(32) std::array<std::uint8_t, 32> bytes{};
  alignas(32) std::array<std::uint16_t, 16> factors{};
  alignas(32) std::array<std::array<std::uint16_t, 16>, kFieldsOfWord + 1> unused{};

  constexpr SixteenLanes() {
    for (int lane = 0; lane < 16; ++lane) {
      const int place = lane % 8;
      const bool is_of_third = lane == 8 + kFieldsOfWord;
      const int field = is_of_third ? 0 : place % kFieldsOfWord;
      factors[internal::Index(lane)] = static_cast<std::uint16_t>(1 << (7 - field));
      for (int byte = 0; byte < 2; ++byte) {
        bytes[internal::Index(2 * lane + byte)] =
            static_cast<std::uint8_t>((is_of_third ? 8 : 0) + field + byte);
      }
      for (int used = 0; used <= kFieldsOfWord; ++used) {
        const bool is_used = lane < 8 ? place < kFieldsOfWord : place <= used;
        unused[internal::Index(used)][internal::Index(lane)] =
            static_cast<std::uint16_t>(is_used ? 0 : (lane + 1) << kFieldBits);
      }
    }
  }
};

inline constexpr SixteenLanes kSixteenLanes;

EXACTBLOOM_TARGET inline __m128i LoadHalf(const void* bytes) {
  return _mm_load_si128(static_cast<const __m128i*>(bytes));
}

// Lanes equal to the one `kTurn` further on in the same half of `others`.
template <int kTurn>
EXACTBLOOM_TARGET inline __m256i EqualTurned(__m256i lanes, __m256i others) {
  return _mm256_cmpeq_epi16(lanes, _mm256_alignr_epi8(others, others, 2 * kTurn));
}

EXACTBLOOM_TARGET inline __m256i Either(__m256i a, __m256i b) { return _mm256_or_si256(a, b); }

// Of the bits of a mask of bytes.
constexpr std::uint32_t kOneBitOfEachLane = 0x55555555U;

// A bit for each pair of equal lanes.
EXACTBLOOM_TARGET inline std::uint32_t EqualPairs(__m256i lanes) {
  const __m256i swapped = _mm256_permute4x64_epi64(lanes, 0x4e);
  const __m256i once =
      Either(Either(Either(EqualTurned<1>(lanes, lanes), EqualTurned<2>(lanes, lanes)),
                    Either(EqualTurned<3>(lanes, lanes), EqualTurned<1>(lanes, swapped))),
             Either(EqualTurned<2>(lanes, swapped), EqualTurned<3>(lanes, swapped)));
  // These turns meet each pair twice: within a half, in the other quarter, and between halves.
  const __m256i in_quarters =
      _mm256_and_si256(EqualTurned<4>(lanes, lanes), _mm256_setr_epi64x(-1, 0, -1, 0));
  const __m256i in_halves =
      _mm256_and_si256(Either(_mm256_cmpeq_epi16(lanes, swapped), EqualTurned<4>(lanes, swapped)),
                       _mm256_setr_epi64x(-1, -1, 0, 0));
  return static_cast<std::uint32_t>(
             _mm256_movemask_epi8(Either(once, Either(in_quarters, in_halves)))) &
         kOneBitOfEachLane;
}

// The same of half as many lanes.
EXACTBLOOM_TARGET inline std::uint32_t EqualPairs(__m128i lanes) {
  const __m128i one = _mm_cmpeq_epi16(lanes, _mm_alignr_epi8(lanes, lanes, 2));
  const __m128i two = _mm_cmpeq_epi16(lanes, _mm_alignr_epi8(lanes, lanes, 4));
  const __m128i three = _mm_cmpeq_epi16(lanes, _mm_alignr_epi8(lanes, lanes, 6));
  const __m128i four = _mm_and_si128(_mm_cmpeq_epi16(lanes, _mm_alignr_epi8(lanes, lanes, 8)),
                                     _mm_set_epi64x(0, -1));
  const __m128i equal = _mm_or_si128(_mm_or_si128(one, two), _mm_or_si128(three, four));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(equal)) & kOneBitOfEachLane;
}

// If two fields are equal, the field that replaces one of them is the next one, unless that is
// equal to yet another. So the lanes hold the fields in use and the next one, all pairs are
// compared, and there is no branch on whether one pair is equal, which would often be mispredicted.
// If that pair contains the next field, its bit is known to be set.
EXACTBLOOM_TARGET inline bool ReplacementsSet(const unsigned char* line, std::uint64_t word,
                                              std::uint64_t next, int used) {
  const SixteenLanes& lanes = kSixteenLanes;
  const __m128i words = _mm_set_epi64x(static_cast<long long>(next), static_cast<long long>(word));
  const __m128i above = _mm_mullo_epi16(_mm_shuffle_epi8(words, LoadHalf(&lanes.bytes[16])),
                                        LoadHalf(&lanes.factors[8]));
  const __m128i fields =
      _mm_or_si128(_mm_srli_epi16(above, 7), LoadHalf(&lanes.unused[internal::Index(used)][8]));
  const std::uint32_t equal = EqualPairs(fields);
  if ((equal & (equal - 1)) != 0) {
    return ReplacementFieldsSet(line, word, used);
  }
  const unsigned replacement = used < kFieldsOfWord ? Field(word, used) : Field(next, 0);
  return (static_cast<int>(equal == 0) | static_cast<int>(TestBit(line, replacement))) != 0;
}

EXACTBLOOM_TARGET inline bool ReplacementsSet(const unsigned char* line, std::uint64_t first,
                                              std::uint64_t second, std::uint64_t third, int used) {
  const SixteenLanes& lanes = kSixteenLanes;
  const __m256i words =
      _mm256_setr_epi64x(static_cast<long long>(first), static_cast<long long>(first),
                         static_cast<long long>(second), static_cast<long long>(third));
  const __m256i above = _mm256_mullo_epi16(_mm256_shuffle_epi8(words, Load(lanes.bytes.data())),
                                           Load(lanes.factors.data()));
  const __m256i fields = _mm256_or_si256(_mm256_srli_epi16(above, 7),
                                         Load(lanes.unused[internal::Index(used)].data()));
  const std::uint32_t equal = EqualPairs(fields);
  if ((equal & (equal - 1)) != 0) {
    return ReplacementFieldsSet(line, first, kFieldsOfWord + used);
  }
  const unsigned replacement = used < kFieldsOfWord ? Field(second, used) : Field(third, 0);
  return (static_cast<int>(equal == 0) | static_cast<int>(TestBit(line, replacement))) != 0;
}

EXACTBLOOM_TARGET inline std::uint32_t Signs(__m256i lanes) {
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
}

// The lanes whose positions are set, given the words of the line that they are in.
EXACTBLOOM_TARGET inline std::uint32_t SetLanes(__m256i words, __m256i fields) {
  return Signs(_mm256_sllv_epi32(words, _mm256_andnot_si256(fields, _mm256_set1_epi32(31))));
}

EXACTBLOOM_TARGET inline std::uint32_t SetLanes(const unsigned char* line, __m256i fields) {
  return SetLanes(ChooseHalf(LookUp(line, fields), fields), fields);
}

EXACTBLOOM_TARGET inline bool LanesSet(const unsigned char* line, std::uint64_t word,
                                       FieldsInUse in_use) {
  return _andn_u32(SetLanes(line, FieldsOf(word)), in_use.lanes) == 0;
}

// By the number of fields that are compared, numbers above all fields for the other lanes.
struct UnusedLanes {
  alignas(32) std::array<std::array<std::uint32_t, 8>, kFieldsOfWord + 1> numbers{};

  constexpr UnusedLanes() {
    for (std::size_t lane = 0; lane < 8; ++lane) {
      const auto number = static_cast<std::uint32_t>((lane + 1) << kFieldBits);
      for (std::size_t used = 0; used <= lane; ++used) numbers[used][lane] = number;
    }
  }
};
inline constexpr UnusedLanes kUnusedLanes;

EXACTBLOOM_TARGET inline __m256i Comparable(__m256i fields,
                                            const std::array<std::uint32_t, 8>& unused) {
  return _mm256_or_si256(_mm256_and_si256(fields, _mm256_set1_epi32((1 << kFieldBits) - 1)),
                         Load(unused.data()));
}

EXACTBLOOM_TARGET inline __m256i EqualToTurned(__m256i fields, __m256i turn) {
  return _mm256_cmpeq_epi32(fields, _mm256_permutevar8x32_epi32(fields, turn));
}

// The lanes that are equal to one of the three behind them. Seven lanes turn, so each pair of them
// meets once; the eighth holds no field and meets the first, to which it is not equal.
EXACTBLOOM_TARGET inline std::uint32_t EqualLanes(__m256i fields) {
  const __m256i one = EqualToTurned(fields, _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 0, 0));
  const __m256i two = EqualToTurned(fields, _mm256_setr_epi32(2, 3, 4, 5, 6, 0, 1, 0));
  const __m256i three = EqualToTurned(fields, _mm256_setr_epi32(3, 4, 5, 6, 0, 1, 2, 0));
  return Signs(Either(Either(one, two), three));
}

// If two fields are equal, the one behind those in use is tested as well. There is no branch on
// that, which would often be mispredicted, but one on more equal fields, which take two lanes.
EXACTBLOOM_TARGET inline bool DistinctSet(const unsigned char* line, std::uint64_t word,
                                          FieldsInUse in_use) {
  const __m256i fields = FieldsOf(word);
  const std::uint32_t set = SetLanes(line, fields);
  if (_andn_u32(set, in_use.lanes) != 0) return false;
  const auto compared = internal::Index(in_use.count + 1);
  const std::uint32_t equal = EqualLanes(Comparable(fields, kUnusedLanes.numbers[compared]));
  if (__builtin_expect((equal & (equal - 1)) != 0, 0)) {
    return ReplacementFieldsSet(line, word, in_use.count);
  }
  return (static_cast<int>(equal == 0) | static_cast<int>((set & (in_use.lanes + 1)) != 0)) != 0;
}

EXACTBLOOM_TARGET inline bool AnyEqual(std::uint64_t word) {
  return EqualLanes(Comparable(FieldsOf(word), kUnusedLanes.numbers[kFieldsOfWord])) != 0;
}

// Four keys at once, one in each lane.
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

#include "group_words-inl.h"
#include "key_hash_group-inl.h"
#include "line_kernel-inl.h"

}  // namespace

void Avx2HashKeys(const KeyBatch& keys, std::size_t count, std::uint64_t seed,
                  std::uint64_t* hashes) {
  HashKeysInGroups(keys, count, seed, hashes);
}

const Kernel& Avx2Kernel(const FilterDescription& filter) {
  return filter.layout.InLines() ? LineKernelFor(filter) : Avx2DrawKernel(filter);
}

}  // namespace exactbloom::filter

#endif
