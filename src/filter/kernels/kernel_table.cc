#include "kernel_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>

#include "code_word.h"
#include "key_hash.h"

namespace exactbloom {
namespace filter {
namespace {

bool Always() { return true; }

// The compiler's runtime (libgcc, compiler-rt) asks the processor (CPUID) and, for the wider
// registers, also whether the operating system saves them (XGETBV).
#if defined(__x86_64__)
bool HasAvx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
}

bool HasAvx512() {
  return HasAvx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}
#endif

constexpr InstructionSet kInstructionSets[] = {
#if defined(__x86_64__)
    {"avx512", HasAvx512, Avx512Kernel, Avx512HashKeys},
    {"avx2", HasAvx2, Avx2Kernel, Avx2HashKeys},
#elif defined(__aarch64__)
    {"neon", Always, NeonKernel, ScalarHashKeys},
#endif
    {"scalar", Always, ScalarKernel, ScalarHashKeys},
};

InstructionSet& ActiveInstructionSet() {
  static InstructionSet active = [] {
    const char* name = std::getenv(kKernelVariable);
    return ChooseInstructionSet(name == nullptr ? "" : name);
  }();
  return active;
}

}  // namespace

PreparedFilter Prepare(const unsigned char* array, const FilterDescription& description) {
  const Layout& layout = description.layout;
  PreparedFilter filter;
  filter.array = array;
  filter.range =
      layout.InLines() ? description.bits / kLineBits : FirstDrawRange(layout.kind, description);
  filter.low_flip = kLowFlip + description.hash_seed;
  filter.high_flip = kHighFlip - description.hash_seed;
  filter.probe_lanes =
      static_cast<std::uint32_t>((std::uint64_t{1} << std::min(description.probes, 32)) - 1);
  filter.description = description;
  filter.kernel = &KernelFor(description);
  filter.hash_keys = ActiveInstructionSet().hash_keys;
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

const Kernel& KernelFor(const FilterDescription& filter) {
  return ActiveInstructionSet().kernel_for(filter);
}

}  // namespace filter

std::string_view KernelName() { return filter::ActiveInstructionSet().name; }

}  // namespace exactbloom
