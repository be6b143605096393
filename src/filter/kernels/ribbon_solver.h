// The portable code of Ribbon kernels. Each kernel compiles it for its own instructions, so all of
// it is inlined.
//
// What costs time in solving is branch prediction: how many rows an equation meets before it finds
// a free slot is random, and a loop per equation takes 45 to 100 ns per key. So equations are taken
// in rounds. A round moves each of them by one step, and those that have not found a slot to the
// front, without a branch: their steps do not depend on each other and overlap.
#pragma once

#include "key_hash.h"
#include "ribbon_kernel.h"

#define EXACTBLOOM_RIBBON_INLINE __attribute__((always_inline)) inline

namespace exactbloom::filter::ribbon {

// Columns that are tested without a branch between them: an absent key passes one in 32 times.
inline constexpr std::uint32_t kColumnsAtOnce = 5;

// Without coefficients and results it holds in every filter.
struct Equation {
  std::uint64_t coefficients;
  std::uint32_t results;
  std::uint32_t start;
};

EXACTBLOOM_RIBBON_INLINE Equation MakeEquation(const PreparedRibbon& filter, std::uint64_t hash) {
  ShardOfHash place = FindShard(hash, filter.shards);
  const unsigned char* record = filter.records + place.shard * RecordBytes(filter.buckets);
  const unsigned seed = record[kShardSeedOffset];
  if (__builtin_expect(seed != 0, 0)) {
    if (seed == kPassingShard) return {0, 0, 0};
    hash = Reseeded(hash, seed);
    place.rest = hash * filter.shards;
  }
  const auto [bucket, fraction] = FindBucket(place.rest, filter.buckets);
  const std::uint64_t scale =
      EvenScale(LoadWord<std::uint16_t>(record + kStartCountOffset), filter.bucket_inverse);
  const auto* deviations = reinterpret_cast<const signed char*>(record + kDeviationsOffset);
  const std::int32_t first = EvenStart(bucket, scale) + kStartStep * deviations[bucket];
  const std::int32_t next = EvenStart(bucket + 1, scale) + kStartStep * deviations[bucket + 1];
  const std::uint32_t start = LoadWord<std::uint32_t>(record) + StartBetween(first, next, fraction);
  return {Coefficients(hash), Results(hash), std::min(start, filter.last_start)};
}

// The words in which the 64 slots of an equation lie, those of its first column, and its
// coefficients, shifted to the slots of each: coefficients are shifted once, columns not at all.
struct WordPair {
  const unsigned char* low;
  const unsigned char* high;
  std::uint64_t low_coefficients;
  std::uint64_t high_coefficients;
  std::uint32_t columns;
};

EXACTBLOOM_RIBBON_INLINE WordPair FindWords(const PreparedRibbon& filter,
                                            const Equation& equation) {
  const std::uint32_t block = equation.start / kRowBits;
  const std::uint32_t columns = filter.places.ColumnsOf(block);
  const unsigned char* low = filter.columns + filter.places.OffsetOf(block);
  const std::uint32_t steps_to_high = ~equation.start % kRowBits;  // one less
  return {low, low + sizeof(std::uint64_t) * columns,
          equation.coefficients << equation.start % kRowBits,
          equation.coefficients >> 1 >> steps_to_high, columns};
}

// Bit 0 is whether the equation fails in this column; other bits are of no meaning. The high words
// of columns are `high_bytes` apart.
EXACTBLOOM_RIBBON_INLINE std::uint32_t FailsIn(const WordPair& words, std::size_t high_bytes,
                                               std::uint32_t results, std::uint32_t column) {
  const auto low = LoadWord<std::uint64_t>(words.low + sizeof(std::uint64_t) * column);
  const auto high = LoadWord<std::uint64_t>(words.high + high_bytes * column);
  const std::uint64_t chosen = (low & words.low_coefficients) ^ (high & words.high_coefficients);
  return static_cast<std::uint32_t>(__builtin_parityll(chosen)) ^ results >> column;
}

EXACTBLOOM_RIBBON_INLINE bool Holds(const PreparedRibbon& filter, const Equation& equation) {
  WordPair words = FindWords(filter, equation);
  const std::uint32_t results = equation.results;
  const std::uint32_t block = equation.start / kRowBits;
  const std::size_t high_bytes = filter.places.WordBytesOf(block + 1);
  // The last block has no high words, and an equation in it no high coefficients.
  if (block == filter.places.last_block) words.high = words.low;
  std::uint32_t column = 0;
  for (; column + kColumnsAtOnce <= words.columns; column += kColumnsAtOnce) {
    const std::uint32_t fails = FailsIn(words, high_bytes, results, column) |
                                FailsIn(words, high_bytes, results, column + 1) |
                                FailsIn(words, high_bytes, results, column + 2) |
                                FailsIn(words, high_bytes, results, column + 3) |
                                FailsIn(words, high_bytes, results, column + 4);
    if ((fails & 1) != 0) return false;
  }
  for (; column < words.columns; ++column) {
    if ((FailsIn(words, high_bytes, results, column) & 1) != 0) return false;
  }
  return true;
}

// Whether both words of each column are those of whole blocks, so that vectors can be read of them.
EXACTBLOOM_RIBBON_INLINE bool LiesInWholeBlocks(const PreparedRibbon& filter,
                                                const Equation& equation) {
  return (equation.start | (kRowBits - 1)) < filter.last_start;
}

// In whole blocks of fewer columns than a kernel tests together.
EXACTBLOOM_RIBBON_INLINE bool HoldsInFewColumns(const WordPair& words, std::uint32_t results) {
  std::uint32_t fails = 0;
  for (std::uint32_t column = 0; column < words.columns; ++column) {
    fails |= FailsIn(words, sizeof(std::uint64_t), results, column);
  }
  return (fails & 1) == 0;
}

EXACTBLOOM_RIBBON_INLINE void Fetch(const PreparedRibbon& filter, const Equation& equation) {
  constexpr std::size_t kLineBytes = 64;
  const WordPair words = FindWords(filter, equation);
  const std::size_t bytes = 2 * sizeof(std::uint64_t) * words.columns;
  for (std::size_t offset = 0; offset < bytes; offset += kLineBytes) {
    __builtin_prefetch(words.low + offset);
  }
  __builtin_prefetch(words.low + bytes - 1);
}

EXACTBLOOM_RIBBON_INLINE std::uint64_t RestOf(const ShardHashing& hashing, std::uint64_t& hash) {
  if (hashing.seed != 0) hash = Reseeded(hash, hashing.seed);
  return hash * hashing.shards;
}

EXACTBLOOM_RIBBON_INLINE void CountBuckets(const ShardHashing& hashing, const std::uint64_t* hashes,
                                           std::size_t count, std::uint32_t* counts) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t hash = hashes[i];
    ++counts[FindBucket(RestOf(hashing, hash), hashing.buckets).bucket];
  }
}

// One step of an equation: it takes the row of its slot if that is free, and otherwise adds the row
// and goes on to its next coefficient, as the equation waiting at `left`. Returns how many wait
// then. Arithmetic in place of conditions, of which compilers make branches: an equation that takes
// no row is written to row 0.
EXACTBLOOM_RIBBON_INLINE std::size_t Step(ShardSystem& system, std::uint64_t coefficients,
                                          std::uint64_t place, std::size_t left) {
  const std::uint64_t index = static_cast<std::uint32_t>(place);
  const std::uint64_t row = system.row_words[index];
  const std::uint64_t row_place = system.row_words[index + 1];
  const std::uint64_t if_free = row == 0 ? ~std::uint64_t{0} : 0;
  std::uint64_t* const taken = system.row_words + (index & if_free);
  taken[0] = coefficients;
  taken[1] = place;
  coefficients ^= row;
  place ^= row_place;                            // the lower halves were equal
  if (__builtin_expect(coefficients == 0, 0)) {  // a duplicate, or a sum of others
    system.contradicts |= place >> kResultsShift != 0;
    return left;
  }
  const auto zeros = static_cast<unsigned>(__builtin_ctzll(coefficients));
  system.waiting_coefficients[left] = coefficients >> zeros;
  system.waiting_places[left] = place + (index + kRowWords * zeros);
  return left + (row != 0 ? 1 : 0);
}

// Each equation makes its first step.
EXACTBLOOM_RIBBON_INLINE void AddEquations(const ShardHashing& hashing, const std::int32_t* starts,
                                           const std::uint64_t* hashes, std::size_t count,
                                           ShardSystem& system) {
  const ShardHashing of_shard = hashing;
  ShardSystem added = system;  // not in memory that a step might change
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t hash = hashes[i];
    const auto [bucket, fraction] = FindBucket(RestOf(of_shard, hash), of_shard.buckets);
    const std::int32_t* const start_of_bucket = starts + bucket;
    const std::uint32_t start = StartBetween(start_of_bucket[0], start_of_bucket[1], fraction);
    added.waiting = Step(added, Coefficients(hash), PlaceOf(start, Results(hash)), added.waiting);
  }
  system = added;
}

EXACTBLOOM_RIBBON_INLINE void Eliminate(ShardSystem& system) {
  ShardSystem solved = system;
  while (solved.waiting != 0 && !solved.contradicts) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < solved.waiting; ++i) {
      left = Step(solved, solved.waiting_coefficients[i], solved.waiting_places[i], left);
    }
    solved.waiting = left;
  }
  system = solved;
}

// Adds the low bits of a column's word to its place in the block.
EXACTBLOOM_RIBBON_INLINE void AddToWord(std::uint64_t bits, unsigned char* place,
                                        std::size_t bytes) {
  if (bytes == sizeof bits) {
    bits |= LoadWord<std::uint64_t>(place);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    std::memcpy(place, &bits, sizeof bits);
    return;
#endif
  }
  for (std::size_t i = 0; i < bytes; ++i) {
    place[i] = static_cast<unsigned char>(place[i] | bits >> 8 * i);
  }
}

// Adds the bits of slots from `first` on, which the low bits of `solution` hold column by column,
// to their block.
EXACTBLOOM_RIBBON_INLINE void AddToBlock(const ColumnPlaces& places, std::uint32_t block,
                                         unsigned shift, const std::uint64_t* solution,
                                         unsigned char* columns) {
  unsigned char* place = columns + places.OffsetOf(block);
  const std::size_t bytes = places.WordBytesOf(block);
  for (std::uint32_t column = 0; column < places.ColumnsOf(block); ++column, place += bytes) {
    AddToWord(solution[column] << shift, place, bytes);
  }
}

// A column's window holds the 64 slots from the present one on.
EXACTBLOOM_RIBBON_INLINE void Substitute(const ShardSystem& system, std::uint32_t first_slot,
                                         std::uint32_t slots, const ColumnPlaces& places,
                                         unsigned char* columns) {
  std::uint64_t windows[kMostColumns] = {};
  for (std::uint32_t end = first_slot + slots; end > first_slot;) {
    const std::uint32_t block = (end - 1) / kRowBits;
    const std::uint32_t begin = std::max(first_slot, block * kRowBits);
    const std::uint32_t count = places.ColumnsOf(block);
    for (std::uint32_t slot = end; slot-- > begin;) {
      const ShardRow row = system.RowOf(slot - first_slot);
      const std::uint64_t results = row.place >> kResultsShift;
      for (std::uint32_t column = 0; column < count; ++column) {
        const std::uint64_t window = windows[column] << 1;
        const auto sum = static_cast<std::uint32_t>(__builtin_parityll(window & row.coefficients));
        windows[column] = window | ((sum ^ results >> column) & 1);
      }
    }
    AddToBlock(places, block, begin % kRowBits, windows, columns);
    end = begin;
  }
}

// The equations of up to kBatchKeys hashes, whose words are fetched.
EXACTBLOOM_RIBBON_INLINE void FindEquations(const PreparedRibbon& filter,
                                            const std::uint64_t* hashes, std::size_t count,
                                            Equation* equations) {
  const std::size_t record_bytes = RecordBytes(filter.buckets);
  for (std::size_t i = 0; i < count; ++i) {
    __builtin_prefetch(filter.records + FindShard(hashes[i], filter.shards).shard * record_bytes);
  }
  for (std::size_t i = 0; i < count; ++i) {
    equations[i] = MakeEquation(filter, hashes[i]);
    Fetch(filter, equations[i]);
  }
}

}  // namespace exactbloom::filter::ribbon
