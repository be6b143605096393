#include "kernel.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "code_word.h"
#include "exactbloom/filter.h"
#include "key_hash.h"
#include "ribbon_kernel.h"

namespace exactbloom {
namespace filter {
namespace {

bool Always() { return true; }

void ScalarHashKeys(const KeyBatch& keys, std::size_t count, std::uint64_t seed,
                    std::uint64_t* hashes) {
  HashKeyRange(keys, 0, count, seed, hashes);
}

// The compiler's runtime (libgcc, compiler-rt) asks the processor (CPUID) and, for the wider
// registers, also whether the operating system saves them (XGETBV).
#if defined(__x86_64__)
bool HasAvx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
         __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("popcnt") != 0;
}
#endif

constexpr InstructionSet kInstructionSets[] = {
#if defined(__x86_64__)
    {"avx2", HasAvx2, Avx2Kernel, Avx2HashKeys, Avx2RibbonKernel},
#endif
#if defined(__AARCH64EL__)
    {"neon", Always, ScalarKernel, ScalarHashKeys, NeonRibbonKernel},
#endif
    {"scalar", Always, ScalarKernel, ScalarHashKeys, ScalarRibbonKernel},
};

InstructionSet& ActiveInstructionSet() {
  static InstructionSet active = [] {
    const char* name = std::getenv(kKernelVariable);
    return ChooseInstructionSet(name == nullptr ? "" : name);
  }();
  return active;
}

}  // namespace

PreparedFilter Prepare(const unsigned char* array, const BloomDescription& description) {
  PreparedFilter filter;
  filter.array = array;
  filter.range = FirstDrawRange(description.kind, description);
  filter.low_flip = kLowFlip + description.hash_seed;
  filter.high_flip = kHighFlip - description.hash_seed;
  filter.description = description;
  filter.kernel = &KernelFor(description);
  return filter;
}

std::vector<InstructionSet> AvailableInstructionSets() {
  std::vector<InstructionSet> available;
  for (const InstructionSet& set : kInstructionSets) {
    if (set.is_available()) available.push_back(set);
  }
  return available;
}

InstructionSet ChooseInstructionSet(std::string_view name) {
  std::size_t best = std::size(kInstructionSets) - 1;  // scalar, which all have
  for (std::size_t i = best + 1; i-- > 0;) {
    if (!kInstructionSets[i].is_available()) continue;
    if (kInstructionSets[i].name == name) return kInstructionSets[i];
    best = i;
  }
  return kInstructionSets[best];
}

void UseInstructionSet(const InstructionSet& set) { ActiveInstructionSet() = set; }

const Kernel& KernelFor(const BloomDescription& filter) {
  return ActiveInstructionSet().kernel_for(filter);
}

const RibbonKernel& RibbonKernelInUse() { return ActiveInstructionSet().ribbon_kernel(); }

HashKeysFunction HashKeysInUse() { return ActiveInstructionSet().hash_keys; }

// Out of line, since it is rarely called and would take registers from the fast code.
bool CodeWordSet(const unsigned char* array, const BloomDescription& filter, std::uint64_t hash) {
  const CodeWord word = MakeCodeWord(filter.kind, hash, filter.bits, filter.probes);
  return std::all_of(word.positions.begin(), word.positions.begin() + word.size,
                     [array](std::uint64_t position) { return TestBit(array, position); });
}

void AddKeys(const Kernel& kernel, unsigned char* array, const BloomDescription& filter,
             const std::uint64_t* hashes, std::size_t count) {
  const auto probes = static_cast<std::size_t>(filter.probes);
  const bool fetch = filter.bits / 8 > kSecondLevelCacheBytes;
  std::array<LocatedPositions, 2> positions;
  std::size_t waiting = 0;
  std::size_t turn = 0;
  const auto set_waiting = [&](const LocatedPositions& located) {
    for (std::size_t p = 0; p < waiting; ++p) SetBit(array, located[p]);
  };
  for (std::size_t i = 0; i < count; i += kLocateKeys) {
    const std::size_t keys = std::min(count - i, kLocateKeys);
    LocatedPositions& located = positions[turn];
    kernel.locate(filter, hashes + i, keys, located.data());
    for (std::size_t p = 0; fetch && p < keys * probes; ++p) {
      __builtin_prefetch(array + located[p] / 8, 1);
    }
    turn = 1 - turn;
    set_waiting(positions[turn]);
    waiting = keys * probes;
  }
  set_waiting(positions[1 - turn]);
}

}  // namespace filter

std::string_view KernelName() { return filter::ActiveInstructionSet().name; }

}  // namespace exactbloom
