// The kernels in portable code.
#include <algorithm>

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

bool HasZeroField(std::uint64_t different) {
  return ((different - kLowestBits) & ~different & kHighestBits) != 0;
}

bool AnyEqual(std::uint64_t word, int used) {
  const std::uint64_t fields = word & kAllFields;
  const auto& unused = kUnusedFields.turned[internal::Index(used)];
  bool equal = false;
  for (int turn = 1; turn <= kSelfTurns; ++turn) {
    const std::uint64_t different = fields ^ internal::TurnFields(fields, turn);
    equal |= HasZeroField(different | unused[internal::Index(turn - 1)]);
  }
  return equal;
}

bool AnyEqual(std::uint64_t first, std::uint64_t second, int used) {
  const std::uint64_t fields = second & kAllFields;
  bool equal = false;
  for (int turn = 0; turn < kFieldsOfWord; ++turn) {
    const std::uint64_t different = fields ^ internal::TurnFields(first, turn);
    equal |= HasZeroField(different | kUnusedFields.fields[internal::Index(used)]);
  }
  return equal || AnyEqual(first, kFieldsOfWord) || AnyEqual(second, used);
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
