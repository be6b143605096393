// The kernels in portable code.
#include <algorithm>
#include <array>

#include "equal_fields.h"
#include "kernel.h"
#include "key_hash.h"
#include "line_fields.h"

#define EXACTBLOOM_TARGET

namespace exactbloom::filter {
namespace {

bool AllSet(const unsigned char* line, std::uint64_t word, int used) {
  for (int i = 0; i < used; ++i) {
    if (!TestBit(line, Field(word, i))) return false;
  }
  return true;
}

void SetFields(unsigned char* line, std::uint64_t word, int used, std::uint64_t next_word,
               int next_used) {
  SetEachField(line, word, used);
  SetEachField(line, next_word, next_used);
}

template <int kFields>
bool ZeroFields(std::uint64_t different) {
  using Constants = EqualFields<kFields>;
  return ((different - Constants::kOnes) & ~different & Constants::kHighs) != 0;
}

template <int kFields>
bool AnyEqual(std::uint64_t word, int used) {
  const std::uint64_t fields = word & EqualFields<kFields>::kAllFields;
  const auto& unused = EqualFields<kFields>::kUnusedTurns[internal::Index(used)].fields;
  bool equal = false;
  for (int turn = 1; turn <= kSelfTurns; ++turn) {
    const std::uint64_t different = fields ^ internal::TurnFields(fields, turn, kFields);
    equal |= ZeroFields<kFields>(different | unused[internal::Index(turn - 1)]);
  }
  return equal;
}

template <int kFields>
bool AnyEqual(std::uint64_t first, std::uint64_t second, int used) {
  const std::uint64_t fields = second & EqualFields<kFields>::kAllFields;
  bool equal = false;
  for (int turn = 0; turn < kFields; ++turn) {
    const std::uint64_t different = fields ^ internal::TurnFields(first, turn, kFields);
    equal |= ZeroFields<kFields>(different | EqualFields<kFields>::kUnused[internal::Index(used)]);
  }
  return equal || AnyEqual<kFields>(first, kFields) || AnyEqual<kFields>(second, used);
}

#include "group_of_one-inl.h"
#include "line_kernel-inl.h"

}  // namespace

__attribute__((flatten)) void HashKeyRange(const KeyBatch& keys, std::size_t begin, std::size_t end,
                                           std::uint64_t seed, std::uint64_t* hashes) {
  for (std::size_t i = begin; i < end; ++i) {
    hashes[i] = HashMostlyShortKey({keys.data[i], keys.sizes[i]}, seed);
  }
}

void ScalarHashKeys(const KeyBatch& keys, std::size_t count, std::uint64_t seed,
                    std::uint64_t* hashes) {
  HashKeyRange(keys, 0, count, seed, hashes);
}

const Kernel& ScalarKernel(const FilterDescription& filter) {
  return filter.layout.InLines() ? LineKernelFor(filter) : DrawKernelFor(filter);
}

}  // namespace exactbloom::filter
