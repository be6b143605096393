// The Ribbon kernel with AVX2: the portable code, compiled for its instructions, and substitution
// of four columns at a time.
#if defined(__x86_64__)

#include <immintrin.h>

#include <utility>

#include "ribbon_solver.h"

#define EXACTBLOOM_RIBBON_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

namespace exactbloom::filter {
namespace {

constexpr std::uint32_t kLanes = 4;

// The parity of each lane, in its lowest bit. Others have no meaning.
EXACTBLOOM_RIBBON_TARGET inline __m256i Parities(__m256i words) {
  const __m256i nibbles = _mm256_set1_epi8(0x0f);
  const __m256i parity_of_nibble =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0));
  words = _mm256_and_si256(_mm256_xor_si256(words, _mm256_srli_epi64(words, 4)), nibbles);
  return _mm256_sad_epu8(_mm256_shuffle_epi8(parity_of_nibble, words), _mm256_setzero_si256());
}

// Whether the equation fails in each of four columns from the first of the words on, in the lowest
// bits of lanes.
EXACTBLOOM_RIBBON_TARGET inline __m256i FailuresIn(const unsigned char* low,
                                                   const unsigned char* high, unsigned shift,
                                                   __m256i coefficients, __m256i results) {
  // A shift by 64 makes zero.
  const __m256i slots =
      _mm256_or_si256(_mm256_srl_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(low)),
                                       _mm_cvtsi32_si128(static_cast<int>(shift))),
                      _mm256_sll_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(high)),
                                       _mm_cvtsi32_si128(static_cast<int>(kRowBits - shift))));
  const __m256i columns = _mm256_setr_epi64x(0, 1, 2, 3);
  return _mm256_xor_si256(Parities(_mm256_and_si256(slots, coefficients)),
                          _mm256_srlv_epi64(results, columns));
}

// Tests eight columns at once, and then the others. All words of four columns are read together,
// which needs that many, and those of whole groups.
EXACTBLOOM_RIBBON_TARGET inline bool VectorHolds(const PreparedRibbon& filter,
                                                 const ribbon::Equation& equation) {
  constexpr std::uint32_t kAtOnce = 2 * kLanes;
  constexpr std::size_t kVectorBytes = kLanes * sizeof(std::uint64_t);
  if (__builtin_expect(equation.passes, 0)) return true;
  const ribbon::WordPair words = ribbon::FindWords(filter, equation.start);
  if (words.columns < kAtOnce || words.high_bytes != sizeof(std::uint64_t)) {
    return ribbon::HoldsFrom(0, words, equation);
  }
  const __m256i coefficients = _mm256_set1_epi64x(static_cast<long long>(equation.coefficients));
  const __m256i results = _mm256_set1_epi64x(equation.results);
  const __m256i failures =
      _mm256_or_si256(FailuresIn(words.low, words.high, words.shift, coefficients, results),
                      FailuresIn(words.low + kVectorBytes, words.high + kVectorBytes, words.shift,
                                 coefficients, _mm256_srli_epi64(results, kLanes)));
  if (_mm256_testz_si256(failures, _mm256_set1_epi64x(1)) == 0) return false;
  return ribbon::HoldsFrom(kAtOnce, words, equation);
}

EXACTBLOOM_RIBBON_TARGET __attribute__((noinline, flatten)) bool MayContainOtherKey(
    const PreparedRibbon& filter, std::string_view key) {
  const std::uint64_t hash = HashMostlyShortKey(key, filter.hash_seed);
  return VectorHolds(filter, ribbon::MakeEquation(filter, hash));
}

EXACTBLOOM_RIBBON_TARGET bool MayContain(const void* prepared, std::string_view key) {
  const auto& filter = *static_cast<const PreparedRibbon*>(prepared);
  if (__builtin_expect(!HasMiddleSize(key), 0)) return MayContainOtherKey(filter, key);
  const std::uint64_t hash = HashMiddleKey(key, filter.low_flip, filter.high_flip);
  return VectorHolds(filter, ribbon::MakeEquation(filter, hash));
}

EXACTBLOOM_RIBBON_TARGET void MayContainBatch(const PreparedRibbon& filter,
                                              const std::uint64_t* hashes, std::size_t count,
                                              bool* results) {
  ribbon::Equation equations[kBatchKeys];
  ribbon::FindEquations(filter, hashes, count, equations);
  for (std::size_t i = 0; i < count; ++i) results[i] = VectorHolds(filter, equations[i]);
}

EXACTBLOOM_RIBBON_TARGET void CountBuckets(const ShardHashing& hashing, const std::uint64_t* hashes,
                                           std::size_t count, std::uint32_t* counts) {
  ribbon::CountBuckets(hashing, hashes, count, counts);
}

EXACTBLOOM_RIBBON_TARGET void AddEquations(const ShardHashing& hashing, const std::int32_t* starts,
                                           const std::uint64_t* hashes, std::size_t count,
                                           ShardSystem& system) {
  ribbon::AddEquations(hashing, starts, hashes, count, system);
}

EXACTBLOOM_RIBBON_TARGET void Eliminate(ShardSystem& system) { ribbon::Eliminate(system); }

// The windows of four columns.
struct Windows {
  __m256i words;
  __m256i result_shifts;  // to the columns' results in a row's place
};

EXACTBLOOM_RIBBON_TARGET inline __m256i Broadcast(const std::uint64_t& word) {
  return _mm256_set1_epi64x(static_cast<long long>(word));
}

// Moves the windows to the slot before and solves for it.
EXACTBLOOM_RIBBON_TARGET inline __attribute__((always_inline)) void SolveSlot(Windows& windows,
                                                                              const ShardRow& row) {
  const __m256i moved = _mm256_add_epi64(windows.words, windows.words);
  const __m256i sums = Parities(_mm256_and_si256(moved, Broadcast(row.coefficients)));
  const __m256i results = _mm256_srlv_epi64(Broadcast(row.place), windows.result_shifts);
  const __m256i bits = _mm256_and_si256(_mm256_xor_si256(sums, results), _mm256_set1_epi64x(1));
  windows.words = _mm256_or_si256(moved, bits);
}

// Without a loop, so that all windows stay in registers.
template <std::size_t... kIndices>
EXACTBLOOM_RIBBON_TARGET inline __attribute__((always_inline)) void SolveSlotOfAll(
    Windows* windows, const ShardRow& row, std::index_sequence<kIndices...> /*of them*/) {
  (SolveSlot(windows[kIndices], row), ...);
}

template <std::uint32_t kVectors>
EXACTBLOOM_RIBBON_TARGET void SubstituteVectors(const ShardSystem& system, std::uint32_t first_slot,
                                                std::uint32_t slots, const ColumnPlaces& places,
                                                unsigned char* columns) {
  Windows windows[kVectors];
  for (std::uint32_t i = 0; i < kVectors; ++i) {
    const int first = kResultsShift + static_cast<int>(kLanes * i);
    windows[i] = {_mm256_setzero_si256(),
                  _mm256_setr_epi64x(first, first + 1, first + 2, first + 3)};
  }
  for (std::uint32_t end = first_slot + slots; end > first_slot;) {
    const std::uint32_t block = (end - 1) / kRowBits;
    const std::uint32_t begin = std::max(first_slot, block * kRowBits);
    for (std::uint32_t slot = end; slot-- > begin;) {
      const ShardRow row = system.RowOf(slot - first_slot);
      SolveSlotOfAll(windows, row, std::make_index_sequence<kVectors>());
    }
    std::uint64_t solution[kVectors * kLanes];
    for (std::uint32_t i = 0; i < kVectors; ++i) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(solution + kLanes * i), windows[i].words);
    }
    ribbon::AddToBlock(places, block, begin % kRowBits, solution, columns);
    end = begin;
  }
}

constexpr std::uint32_t kMostVectors = kMostColumns / kLanes;
using SubstituteFunction = decltype(RibbonKernel::substitute);
constexpr SubstituteFunction kSubstitute[kMostVectors] = {
    SubstituteVectors<1>, SubstituteVectors<2>, SubstituteVectors<3>, SubstituteVectors<4>,
    SubstituteVectors<5>, SubstituteVectors<6>, SubstituteVectors<7>, SubstituteVectors<8>};

void Substitute(const ShardSystem& system, std::uint32_t first_slot, std::uint32_t slots,
                const ColumnPlaces& places, unsigned char* columns) {
  const std::uint32_t count = places.ColumnsOf((first_slot + slots - 1) / kRowBits);
  if (count == 0) return;
  kSubstitute[(count - 1) / kLanes](system, first_slot, slots, places, columns);
}

constexpr RibbonKernel kKernel = {MayContain,   MayContainBatch, CountBuckets,
                                  AddEquations, Eliminate,       Substitute};

}  // namespace

const RibbonKernel& Avx2RibbonKernel() { return kKernel; }

}  // namespace exactbloom::filter

#endif
