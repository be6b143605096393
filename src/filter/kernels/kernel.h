// The interface of the code that handles code words on a processor. code_word.h is the definition;
// every instruction set answers and builds bit for bit the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "exactbloom/bloom_filter.h"

namespace exactbloom::filter {

// The keys of a batch: the memory of all is prefetched before the first is tested.
inline constexpr std::size_t kBatchKeys = 32;

// Servers' processors have second-level caches of at least this size, one per core.
inline constexpr std::size_t kSecondLevelCacheBytes = std::size_t{1} << 20;

// Keys whose positions are found at once.
inline constexpr std::size_t kLocateKeys = 8;
using LocatedPositions = std::array<std::uint64_t, kLocateKeys * kMaxProbes>;

// Keys to be hashed.
struct KeyBatch {
  alignas(64) std::array<std::size_t, kBatchKeys> sizes;
  alignas(64) std::array<const char*, kBatchKeys> data;
};

// Writes the hashes (key_hash.h) of up to kBatchKeys keys.
using HashKeysFunction = void (*)(const KeyBatch& keys, std::size_t count, std::uint64_t seed,
                                  std::uint64_t* hashes);

// The functions for one layout and range of probes; `filter` must be of these. Arrays may lie at
// any address. Nothing outside them is written, and nothing behind the least trailer that may
// follow them in a block is read.
struct Kernel {
  // Returns whether all bits of the key are set. `prepared` is a PreparedFilter.
  bool (*may_contain)(const void* prepared, std::string_view key);

  // Answers for up to kBatchKeys hashes.
  void (*may_contain_batch)(const unsigned char* array, const FilterDescription& filter,
                            const std::uint64_t* hashes, std::size_t count, bool* results);

  // Sets all bits of the keys.
  void (*add)(unsigned char* array, const FilterDescription& filter, const std::uint64_t* hashes,
              std::size_t count);

  // Finds the positions of up to kLocateKeys keys, count * filter.probes of them, in any order.
  // With lines = 0 only; else null.
  void (*locate)(const FilterDescription& filter, const std::uint64_t* hashes, std::size_t count,
                 std::uint64_t* positions);
};

// With lines = 0: the number of positions that a key's first draw chooses from (code_word.h).
inline std::uint64_t FirstDrawRange(FilterKind kind, const FilterDescription& filter) {
  return kind == FilterKind::kStandard
             ? filter.bits
             : filter.bits - static_cast<std::uint64_t>(filter.probes) + 1;
}

// What a query of one key needs of a filter, computed once instead of in every query.
struct PreparedFilter {
  const unsigned char* array = nullptr;
  std::uint64_t range = 0;     // lines of the array; with lines = 0 the positions of the first draw
  std::uint64_t low_flip = 0;  // what the halves of a key of 9 to 16 bytes are exclusive-ored with
  std::uint64_t high_flip = 0;
  std::uint32_t probe_lanes = 0;  // a bit for each probe, of up to 32
  FilterDescription description;
  const Kernel* kernel = nullptr;  // of the instruction set in use
  HashKeysFunction hash_keys = nullptr;
};

PreparedFilter Prepare(const unsigned char* array, const FilterDescription& description);

// Draws that a query tests without a branch between them: with a filter half full, the one
// well-predicted branch after them rejects seven absent keys of eight.
inline constexpr int kDrawsAtOnce = 3;

using LocateFunction = decltype(Kernel::locate);

// Sets all bits of the keys. Each key is located a few keys ahead; if the array is larger than the
// second-level cache, its memory is prefetched then.
void AddDraws(unsigned char* array, const FilterDescription& filter, const std::uint64_t* hashes,
              std::size_t count, LocateFunction locate);

// The kernels for lines = 0, in portable code.
const Kernel& DrawKernelFor(const FilterDescription& filter);

// One instruction set's kernels.
struct InstructionSet {
  std::string_view name;
  bool (*is_available)();
  const Kernel& (*kernel_for)(const FilterDescription& filter);
  HashKeysFunction hash_keys;
};

// Hashes the keys from `begin` to `end`.
void HashKeyRange(const KeyBatch& keys, std::size_t begin, std::size_t end, std::uint64_t seed,
                  std::uint64_t* hashes);

const Kernel& ScalarKernel(const FilterDescription& filter);
void ScalarHashKeys(const KeyBatch& keys, std::size_t count, std::uint64_t seed,
                    std::uint64_t* hashes);
#if defined(__x86_64__)
const Kernel& Avx2DrawKernel(const FilterDescription& filter);
const Kernel& Avx2Kernel(const FilterDescription& filter);
void Avx2HashKeys(const KeyBatch& keys, std::size_t count, std::uint64_t seed,
                  std::uint64_t* hashes);
// `gathers`: one key's bits are read by a gather instruction, and not by loads one by one.
const Kernel& Avx512DrawKernel(const FilterDescription& filter, bool gathers);
const Kernel& Avx512Kernel(const FilterDescription& filter);
void Avx512HashKeys(const KeyBatch& keys, std::size_t count, std::uint64_t seed,
                    std::uint64_t* hashes);
#elif defined(__aarch64__)
const Kernel& NeonKernel(const FilterDescription& filter);
#endif

}  // namespace exactbloom::filter
