// The code that solves and asks Ribbon filters on a processor. ribbon_equation.h is the definition;
// every instruction set answers and builds bit for bit the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernel.h"
#include "ribbon_equation.h"

namespace exactbloom::filter {

// What a query needs of a Ribbon filter that has shards.
struct PreparedRibbon {
  const unsigned char* columns = nullptr;
  const unsigned char* records = nullptr;
  std::uint64_t shards = 0;
  std::uint64_t bucket_inverse = 0;
  std::uint32_t buckets = 0;
  std::uint32_t last_start = 0;
  ColumnPlaces places;
  std::uint64_t hash_seed = 0;
  std::uint64_t low_flip = 0;  // what the halves of a key of 9 to 16 bytes are exclusive-ored with
  std::uint64_t high_flip = 0;
};

// How the hashes of a shard become equations.
struct ShardHashing {
  std::uint64_t shards = 1;
  std::uint32_t buckets = 1;
  unsigned seed = 0;
};

// The row of a slot: the equation that the slot is solved for, or zeros.
struct ShardRow {
  std::uint64_t coefficients;  // of the slot and the next ones; the first is 1
  std::uint64_t place;
};

// The words of a row: coefficients and place.
inline constexpr std::size_t kRowWords = 2;

// The index of a row's first word. Row 0 is of no slot, and holds anything.
inline std::uint64_t RowIndex(std::uint64_t slot) { return kRowWords * (slot + 1); }

// An equation's results are in the upper half of its place, and in the lower one is the index of
// the row of its first slot.
inline constexpr int kResultsShift = 32;
inline std::uint64_t PlaceOf(std::uint64_t slot, std::uint32_t results) {
  return RowIndex(slot) | std::uint64_t{results} << kResultsShift;
}

// The equations of a shard. Those that have no row yet wait.
struct ShardSystem {
  ShardRow RowOf(std::uint32_t slot) const {
    const std::uint64_t* row = row_words + RowIndex(slot);
    return {row[0], row[1]};
  }

  std::uint64_t* row_words = nullptr;
  std::uint64_t* waiting_coefficients = nullptr;
  std::uint64_t* waiting_places = nullptr;
  std::size_t waiting = 0;
  bool contradicts = false;  // whether no solution fulfils all
};

struct RibbonKernel {
  // Returns whether the key's equations hold. `prepared` is a PreparedRibbon.
  bool (*may_contain)(const void* prepared, std::string_view key);

  // Answers for up to kBatchKeys hashes.
  void (*may_contain_batch)(const PreparedRibbon& filter, const std::uint64_t* hashes,
                            std::size_t count, bool* results);

  // Adds to the counts of the buckets.
  void (*count_buckets)(const ShardHashing& hashing, const std::uint64_t* hashes, std::size_t count,
                        std::uint32_t* counts);

  // Makes equations of hashes. `starts` are the first start of each bucket and the end.
  void (*add_equations)(const ShardHashing& hashing, const std::int32_t* starts,
                        const std::uint64_t* hashes, std::size_t count, ShardSystem& system);

  // Gives all equations rows, or finds that they contradict each other.
  void (*eliminate)(ShardSystem& system);

  // Solves the rows of the slots first_slot .. first_slot + slots - 1, from the last one up, and
  // adds the solution to the columns, whose bits for these slots are 0.
  void (*substitute)(const ShardSystem& system, std::uint32_t first_slot, std::uint32_t slots,
                     const ColumnPlaces& places, unsigned char* columns);
};

const RibbonKernel& ScalarRibbonKernel();
#if defined(__x86_64__)
const RibbonKernel& Avx2RibbonKernel();
#endif
#if defined(__AARCH64EL__)
const RibbonKernel& NeonRibbonKernel();
#endif

// Of the instruction set in use.
const RibbonKernel& RibbonKernelInUse();
HashKeysFunction HashKeysInUse();

}  // namespace exactbloom::filter
