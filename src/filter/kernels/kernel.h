// The interface of the code that handles code words on a processor, and which instruction set is in
// use. code_word.h is the definition; every instruction set answers and builds bit for bit the
// same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom::filter {

// The parameters of a Bloom filter.
struct BloomDescription {
  BloomKind kind = BloomKind::kClassic;
  int probes = 0;
  std::uint64_t bits = 0;
  std::uint64_t keys = 0;
  std::uint64_t hash_seed = 0;
};

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

// The functions for one kind and range of probes; `filter` must be of these. Arrays may lie at
// any address. Nothing outside them is written, and nothing behind the least trailer that may
// follow them in a block is read.
struct Kernel {
  // Returns whether all bits of the key are set. `prepared` is a PreparedFilter.
  bool (*may_contain)(const void* prepared, std::string_view key);

  // Answers for up to kBatchKeys hashes.
  void (*may_contain_batch)(const unsigned char* array, const BloomDescription& filter,
                            const std::uint64_t* hashes, std::size_t count, bool* results);

  // Finds the positions of up to kLocateKeys keys, count * filter.probes of them, in any order.
  void (*locate)(const BloomDescription& filter, const std::uint64_t* hashes, std::size_t count,
                 std::uint64_t* positions);
};

struct RibbonKernel;

// One instruction set's kernels.
struct InstructionSet {
  std::string_view name;
  bool (*is_available)();
  const Kernel& (*kernel_for)(const BloomDescription& filter);
  HashKeysFunction hash_keys;
  const RibbonKernel& (*ribbon_kernel)();  // ribbon_kernel.h
};

// The environment variable that forces an instruction set by its name, read once. A name that is
// unknown, or of a set that the processor or the operating system lacks, is ignored:
// exactbloom::KernelName() tells what is in use.
inline constexpr const char* kKernelVariable = "EXACTBLOOM_KERNEL";

// The instruction sets that this machine has, the best one first; scalar is the last.
std::vector<InstructionSet> AvailableInstructionSets();

// Returns the set of that name, or the first one. Allocates nothing, since the first view of a
// process may call it.
InstructionSet ChooseInstructionSet(std::string_view name);

// Makes new views and finished filters use this instruction set. For tests. Must not be called
// while other threads make views or finish filters.
void UseInstructionSet(const InstructionSet& set);

// The kernel of the instruction set in use.
const Kernel& KernelFor(const BloomDescription& filter);

// What a query of one key needs of a filter, computed once instead of in every query.
struct PreparedFilter {
  const unsigned char* array = nullptr;
  std::uint64_t range = 0;     // positions of the first draw
  std::uint64_t low_flip = 0;  // what the halves of a key of 9 to 16 bytes are exclusive-ored with
  std::uint64_t high_flip = 0;
  BloomDescription description;
  const Kernel* kernel = nullptr;  // of the instruction set in use
};

PreparedFilter Prepare(const unsigned char* array, const BloomDescription& description);

// Sets all bits of the keys. Each key is located a few keys ahead; if the array is larger than the
// second-level cache, its memory is prefetched then.
void AddKeys(const Kernel& kernel, unsigned char* array, const BloomDescription& filter,
             const std::uint64_t* hashes, std::size_t count);

// Of kernels: the number of positions that a key's first draw chooses from (code_word.h).
inline std::uint64_t FirstDrawRange(BloomKind kind, const BloomDescription& filter) {
  return kind == BloomKind::kStandard ? filter.bits
                                      : filter.bits - static_cast<std::uint64_t>(filter.probes) + 1;
}

// Of kernels: whether all bits of a key are set, by the definition.
bool CodeWordSet(const unsigned char* array, const BloomDescription& filter, std::uint64_t hash);

// Hashes the keys from `begin` to `end`, in portable code.
void HashKeyRange(const KeyBatch& keys, std::size_t begin, std::size_t end, std::uint64_t seed,
                  std::uint64_t* hashes);

const Kernel& ScalarKernel(const BloomDescription& filter);
#if defined(__x86_64__)
const Kernel& Avx2Kernel(const BloomDescription& filter);
void Avx2HashKeys(const KeyBatch& keys, std::size_t count, std::uint64_t seed,
                  std::uint64_t* hashes);
#endif

}  // namespace exactbloom::filter
