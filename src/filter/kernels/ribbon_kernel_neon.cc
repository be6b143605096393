// The Ribbon kernel with NEON: the portable code, queries of eight columns at once, and
// substitution of two columns a register. NEON counts the bits of bytes, so parities are sums of
// counts.
#if defined(__AARCH64EL__)

#include <arm_neon.h>

#include <array>
#include <utility>

#include "ribbon_solver.h"

namespace exactbloom::filter {
namespace {

constexpr std::uint32_t kLanes = 2;
constexpr std::uint32_t kColumnsOfSums = 8;

inline uint8x16_t CountsOfBytes(uint64x2_t words) { return vcntq_u8(vreinterpretq_u8_u64(words)); }

// The sums of eight words' counts, in a byte each.
inline uint8x8_t Sums(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
  const uint8x16_t quarters = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
  return vpadd_u8(vget_low_u8(quarters), vget_high_u8(quarters));
}

// Byte i has all bits of 1 if bit i of `bits` is 1.
inline uint8x8_t SpreadBits(std::uint64_t bits) {
  constexpr std::uint64_t kBitOfEachByte = 0x8040201008040201U;
  return vtst_u8(vdup_n_u8(static_cast<std::uint8_t>(bits)), vcreate_u8(kBitOfEachByte));
}

// What the equation chooses of the columns `column` and `column` + 1, counted.
inline uint8x16_t Chosen(const ribbon::WordPair& words, std::uint32_t column) {
  const auto load = [column](const unsigned char* first) {
    return vreinterpretq_u64_u8(vld1q_u8(first + sizeof(std::uint64_t) * column));
  };
  return CountsOfBytes(
      veorq_u64(vandq_u64(load(words.low), vdupq_n_u64(words.low_coefficients)),
                vandq_u64(load(words.high), vdupq_n_u64(words.high_coefficients))));
}

// Whether the equation fails in one of the four columns from `a` or from `b` on.
inline bool FailsInFours(const ribbon::WordPair& words, std::uint32_t results, std::uint32_t a,
                         std::uint32_t b) {
  const uint8x8_t sums = Sums(Chosen(words, a), Chosen(words, a + kLanes), Chosen(words, b),
                              Chosen(words, b + kLanes));
  const uint8x8_t wanted = SpreadBits((results >> a & 15) | results >> b << 4);
  const uint8x8_t failures = veor_u8(vtst_u8(sums, vdup_n_u8(1)), wanted);
  return vget_lane_u64(vreinterpret_u64_u8(failures), 0) != 0;
}

// Out of line, since it is rarely called and would take registers from the fast code.
__attribute__((noinline)) bool HoldsAtTheEnd(const PreparedRibbon& filter,
                                             ribbon::Equation equation) {
  return ribbon::Holds(filter, equation);
}

// As with AVX2: up to eight columns at once, and then four at a time, of which the last ones may be
// tested again. The words of two columns are read together, which needs those of whole blocks.
EXACTBLOOM_RIBBON_INLINE bool VectorHolds(const PreparedRibbon& filter,
                                          const ribbon::Equation& equation) {
  constexpr std::uint32_t kFour = 2 * kLanes;
  if (__builtin_expect(!ribbon::LiesInWholeBlocks(filter, equation), 0)) {
    return HoldsAtTheEnd(filter, equation);
  }
  const ribbon::WordPair words = ribbon::FindWords(filter, equation);
  if (__builtin_expect(words.columns < kFour, 0)) {
    return ribbon::HoldsInFewColumns(words, equation.results);
  }
  const std::uint32_t last = words.columns - kFour;
  if (FailsInFours(words, equation.results, 0, std::min(kFour, last))) return false;
  for (std::uint32_t column = 2 * kFour; column < words.columns; column += kFour) {
    const std::uint32_t first = std::min(column, last);
    if (FailsInFours(words, equation.results, first, first)) return false;
  }
  return true;
}

__attribute__((noinline, flatten)) bool MayContainOtherKey(const PreparedRibbon& filter,
                                                           std::string_view key) {
  const std::uint64_t hash = HashMostlyShortKey(key, filter.hash_seed);
  return VectorHolds(filter, ribbon::MakeEquation(filter, hash));
}

bool MayContain(const void* prepared, std::string_view key) {
  const auto& filter = *static_cast<const PreparedRibbon*>(prepared);
  if (__builtin_expect(!HasMiddleSize(key), 0)) return MayContainOtherKey(filter, key);
  const std::uint64_t hash = HashMiddleKey(key, filter.low_flip, filter.high_flip);
  return VectorHolds(filter, ribbon::MakeEquation(filter, hash));
}

void MayContainBatch(const PreparedRibbon& filter, const std::uint64_t* hashes, std::size_t count,
                     bool* results) {
  ribbon::Equation equations[kBatchKeys];
  ribbon::FindEquations(filter, hashes, count, equations);
  for (std::size_t i = 0; i < count; ++i) results[i] = VectorHolds(filter, equations[i]);
}

// What a row chooses of the windows of two columns, counted; nothing beyond the last ones.
template <std::size_t kVectors>
EXACTBLOOM_RIBBON_INLINE uint8x16_t ChosenOf(const uint64x2_t* windows, std::size_t vector,
                                             uint64x2_t coefficients) {
  if (vector >= kVectors) return vdupq_n_u8(0);
  return CountsOfBytes(vandq_u64(windows[vector], coefficients));
}

// The solution of eight columns from 8 `group` on for a slot, in a byte each.
template <std::size_t kVectors>
EXACTBLOOM_RIBBON_INLINE uint8x8_t SolutionOf(const uint64x2_t* windows, std::size_t group,
                                              uint64x2_t coefficients, std::uint64_t results) {
  const std::size_t first = kColumnsOfSums / kLanes * group;
  if (first >= kVectors) return vdup_n_u8(0);
  const uint8x8_t sums = Sums(ChosenOf<kVectors>(windows, first, coefficients),
                              ChosenOf<kVectors>(windows, first + 1, coefficients),
                              ChosenOf<kVectors>(windows, first + 2, coefficients),
                              ChosenOf<kVectors>(windows, first + 3, coefficients));
  const uint8x8_t wanted = SpreadBits(results >> (kColumnsOfSums * group));
  return vand_u8(veor_u8(sums, wanted), vdup_n_u8(1));
}

// Bytes 2 `vector` and 2 `vector` + 1 of sixteen, as words.
EXACTBLOOM_RIBBON_INLINE uint64x2_t TwoOf(uint8x16_t bytes, std::size_t vector) {
  constexpr std::uint64_t kZeros = 0xffffffffffffff00U;  // out of range, which gives zeros
  const std::uint64_t first = kZeros | kLanes * vector;
  const uint64x2_t places = vcombine_u64(vcreate_u64(first), vcreate_u64(first + 1));
  return vreinterpretq_u64_u8(vqtbl1q_u8(bytes, vreinterpretq_u8_u64(places)));
}

// Moves all windows to the slot before and solves for it. Without a loop, so that they stay in
// registers.
template <std::size_t... kIndices>
EXACTBLOOM_RIBBON_INLINE void SolveSlot(uint64x2_t* windows, const ShardRow& row,
                                        std::index_sequence<kIndices...> /*of them*/) {
  constexpr std::size_t kVectors = sizeof...(kIndices);
  const uint64x2_t coefficients = vdupq_n_u64(row.coefficients);
  const std::uint64_t results = row.place >> kResultsShift;
  ((windows[kIndices] = vaddq_u64(windows[kIndices], windows[kIndices])), ...);
  const uint8x16_t low = vcombine_u8(SolutionOf<kVectors>(windows, 0, coefficients, results),
                                     SolutionOf<kVectors>(windows, 1, coefficients, results));
  const uint8x16_t high = vcombine_u8(SolutionOf<kVectors>(windows, 2, coefficients, results),
                                      SolutionOf<kVectors>(windows, 3, coefficients, results));
  ((windows[kIndices] =
        vorrq_u64(windows[kIndices], TwoOf(kIndices < 8 ? low : high, kIndices % 8))),
   ...);
}

template <std::size_t kVectors>
void SubstituteVectors(const ShardSystem& system, std::uint32_t first_slot, std::uint32_t slots,
                       const ColumnPlaces& places, unsigned char* columns) {
  uint64x2_t windows[kVectors] = {};
  for (std::uint32_t end = first_slot + slots; end > first_slot;) {
    const std::uint32_t block = (end - 1) / kRowBits;
    const std::uint32_t begin = std::max(first_slot, block * kRowBits);
    for (std::uint32_t slot = end; slot-- > begin;) {
      const ShardRow row = system.RowOf(slot - first_slot);
      SolveSlot(windows, row, std::make_index_sequence<kVectors>());
    }
    std::uint64_t solution[kVectors * kLanes];
    for (std::size_t i = 0; i < kVectors; ++i) vst1q_u64(solution + kLanes * i, windows[i]);
    ribbon::AddToBlock(places, block, begin % kRowBits, solution, columns);
    end = begin;
  }
}

using SubstituteFunction = decltype(RibbonKernel::substitute);
template <std::size_t... kIndices>
constexpr std::array<SubstituteFunction, sizeof...(kIndices)> SubstituteFunctions(
    std::index_sequence<kIndices...> /*of them*/) {
  return {SubstituteVectors<kIndices + 1>...};
}

void Substitute(const ShardSystem& system, std::uint32_t first_slot, std::uint32_t slots,
                const ColumnPlaces& places, unsigned char* columns) {
  static constexpr auto kFunctions =
      SubstituteFunctions(std::make_index_sequence<kMostColumns / kLanes>());
  const std::uint32_t count = places.ColumnsOf((first_slot + slots - 1) / kRowBits);
  if (count == 0) return;
  kFunctions[(count - 1) / kLanes](system, first_slot, slots, places, columns);
}

}  // namespace

// The portable code is compiled for NEON, too, so the kernel takes the rest from there.
const RibbonKernel& NeonRibbonKernel() {
  static const RibbonKernel kernel = [] {
    RibbonKernel neon = ScalarRibbonKernel();
    neon.may_contain = MayContain;
    neon.may_contain_batch = MayContainBatch;
    neon.substitute = Substitute;
    return neon;
  }();
  return kernel;
}

}  // namespace exactbloom::filter

#endif
