// Groups of keys, one in each 64-bit lane of a register: what line_kernel-inl.h and
// key_hash_group-inl.h need of them. Text that kernel files include, behind these definitions:
//
//   kGroupKeys                      the lanes
//   GroupWords LowProducts(a, b)    the products of the low halves of the lanes
//   GroupWords SwapBytes(words)     the bytes of each lane in the opposite order
//   GroupWords GatherGroup(word)    word(0), word(1) and so on
//   NonzeroLanes(words)             bit i says whether lane i is other than zero
//   using GroupWords = std::uint64_t __attribute__((vector_size(8 * kGroupKeys)))

EXACTBLOOM_TARGET inline GroupWords LoadGroup(const std::uint64_t* words) {
  GroupWords group;
  std::memcpy(&group, words, sizeof group);
  return group;
}

EXACTBLOOM_TARGET inline void StoreGroup(std::uint64_t* words, GroupWords group) {
  std::memcpy(words, &group, sizeof group);
}

EXACTBLOOM_TARGET inline GroupWords FirstWords(GroupWords hashes) {
  return hashes * kDrawMultiplier;
}

EXACTBLOOM_TARGET inline GroupWords NextWords(GroupWords words) {
  return (words ^ (words >> 32)) * kDrawMultiplier;
}

// LineOf each key. A filter has fewer than 2^32 lines.
EXACTBLOOM_TARGET inline GroupWords LinesOf(GroupWords hashes, std::uint64_t line_count) {
  const GroupWords lines = GroupWords{} + line_count;
  return (LowProducts(hashes >> 32, lines) + (LowProducts(hashes, lines) >> 32)) >> 32;
}

// Zero fields (equal_fields.h), as bits of kHighestBits. Bits above the fields do not matter: only
// the fields' high bits are tested, and a difference borrows only from below.
EXACTBLOOM_TARGET inline GroupWords GroupZeroFields(GroupWords different) {
  return (different - kLowestBits) & ~different;
}

EXACTBLOOM_TARGET inline GroupWords GroupTurned(GroupWords fields, int turn) {
  const int by = turn * kFieldBits;
  return turn == 0 ? fields : (fields << by) | (fields >> (kFieldsOfWord * kFieldBits - by));
}

EXACTBLOOM_TARGET inline GroupWords GroupSelfZeroFields(GroupWords fields, int used) {
  const auto& unused = kUnusedFields.turned[internal::Index(used)];
  GroupWords zero = {};
#pragma GCC unroll 4
  for (int turn = 1; turn <= kSelfTurns; ++turn) {
    zero |=
        GroupZeroFields((fields ^ GroupTurned(fields, turn)) | unused[internal::Index(turn - 1)]);
  }
  return zero;
}

// The keys, as lanes that are not zero, of which two of the word's first `used` fields are equal.
EXACTBLOOM_TARGET inline GroupWords EqualFieldsIn(GroupWords words, int used) {
  return GroupSelfZeroFields(words & kAllFields, used) & kHighestBits;
}

// The same for all fields of the first word and `used` fields of the second.
EXACTBLOOM_TARGET inline GroupWords EqualFieldsIn(GroupWords first, GroupWords second, int used) {
  const std::uint64_t unused = kUnusedFields.fields[internal::Index(used)];
  first &= kAllFields;
  second &= kAllFields;
  GroupWords zero = GroupSelfZeroFields(first, kFieldsOfWord);
  zero |= GroupSelfZeroFields(second, used);
#pragma GCC unroll 8
  for (int turn = 0; turn < kFieldsOfWord; ++turn) {
    zero |= GroupZeroFields((second ^ GroupTurned(first, turn)) | unused);
  }
  return zero & kHighestBits;
}
