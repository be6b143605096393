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

EXACTBLOOM_RIBBON_TARGET inline __m256i Broadcast(std::uint64_t word) {
  return _mm256_set1_epi64x(static_cast<long long>(word));
}

EXACTBLOOM_RIBBON_TARGET inline __m256i LoadVector(const unsigned char* bytes) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
}

// Whether the equation fails in each of four columns from `column` on, in the lowest bits of lanes.
EXACTBLOOM_RIBBON_TARGET inline __m256i FailuresIn(const ribbon::WordPair& words,
                                                   std::uint32_t column, std::uint32_t results) {
  const std::size_t offset = sizeof(std::uint64_t) * column;
  const __m256i chosen = _mm256_xor_si256(
      _mm256_and_si256(LoadVector(words.low + offset), Broadcast(words.low_coefficients)),
      _mm256_and_si256(LoadVector(words.high + offset), Broadcast(words.high_coefficients)));
  const __m256i results_of_lanes =
      _mm256_srlv_epi64(Broadcast(results >> column), _mm256_setr_epi64x(0, 1, 2, 3));
  return _mm256_xor_si256(Parities(chosen), results_of_lanes);
}

EXACTBLOOM_RIBBON_TARGET inline bool AnyFails(__m256i failures) {
  return _mm256_testz_si256(failures, _mm256_set1_epi64x(1)) == 0;
}

// Out of line, since it is rarely called and would take registers from the fast code.
EXACTBLOOM_RIBBON_TARGET __attribute__((noinline)) bool HoldsAtTheEnd(const PreparedRibbon& filter,
                                                                      ribbon::Equation equation) {
  return ribbon::Holds(filter, equation);
}

// Tests up to eight columns at once, and then four at a time; where columns are no multiple of
// four, the last vector has columns of the one before. The words of four columns are read together,
// which needs those of whole blocks. That condition stands before all else, and so GCC keeps no
// value on the stack (README.md).
EXACTBLOOM_RIBBON_TARGET EXACTBLOOM_RIBBON_INLINE bool VectorHolds(
    const PreparedRibbon& filter, const ribbon::Equation& equation) {
  if (__builtin_expect(!ribbon::LiesInWholeBlocks(filter, equation), 0)) {
    return HoldsAtTheEnd(filter, equation);
  }
  const ribbon::WordPair words = ribbon::FindWords(filter, equation);
  if (__builtin_expect(words.columns < kLanes, 0)) {
    return ribbon::HoldsInFewColumns(words, equation.results);
  }
  const std::uint32_t last = words.columns - kLanes;
  if (AnyFails(_mm256_or_si256(FailuresIn(words, 0, equation.results),
                               FailuresIn(words, std::min(kLanes, last), equation.results)))) {
    return false;
  }
  for (std::uint32_t column = 2 * kLanes; column < words.columns; column += kLanes) {
    if (AnyFails(FailuresIn(words, std::min(column, last), equation.results))) return false;
  }
  return true;
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
