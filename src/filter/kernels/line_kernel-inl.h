// The kernels for lines = 1, except for the parts that differ by instruction set. Each kernel_*.cc
// includes this text into its own namespace, behind these definitions:
//
//   EXACTBLOOM_TARGET   the attribute of functions that use the instruction set
//   bool AllSet(const unsigned char* line, std::uint64_t word, int used)
//                       whether the bits of the word's first `used` fields are set
//   bool AllSet(const unsigned char* line, std::uint64_t first, std::uint64_t second, int used)
//                       the same of all fields of one word and `used` fields of the next
//   bool ReplacementsSet(const unsigned char* line, std::uint64_t word, std::uint64_t next,
//                        int used)
//   bool ReplacementsSet(const unsigned char* line, std::uint64_t first, std::uint64_t second,
//                        std::uint64_t third, int used)
//                       if those bits are set: whether the bits of the fields that replace equal
//                       ones are set, too; the last word is the one after those in use
//   bool LanesSet(const unsigned char* line, std::uint64_t word, FieldsInUse in_use)
//                       AllSet, for single keys
//   bool DistinctSet(const unsigned char* line, std::uint64_t word, FieldsInUse in_use)
//                       whether the bits of the first different fields are set; the word has
//                       fields that are not in use
//   bool AnyEqual(std::uint64_t word)
//                       whether any two of all fields are equal
//   void SetFields(unsigned char* line, std::uint64_t word, int used,
//                  std::uint64_t next_word, int next_used)
//                       sets the bits of the first fields of two words
//   kGroupKeys, GroupWords, LoadGroup, StoreGroup, FirstWords, NextWords, LinesOf, EqualFieldsIn,
//   NonzeroLanes
//                       several keys at once (group_words-inl.h), or one (group_of_one-inl.h)
//
// It is included text, not a template, because a function inlines only functions with its own
// target attribute.

inline std::size_t LowestBit(std::uint32_t bits) {
  return static_cast<std::size_t>(__builtin_ctz(bits));
}

// All keys of a group.
inline constexpr std::uint32_t kAllKeys = (1U << kGroupKeys) - 1;

// What the code of a filter depends on. kWords is how many words of hash bits the fields of a key
// take: 1, 2, or 0 for more. If kHasRoom, they take fewer fields than a word has.
template <FilterKind kKind, int kWords, bool kHasRoom>
struct LineKernel {
  // Whether the first `used` fields of the stream, which all belong to the code word, are set.
  // `next` is the stream's second word if the fields take two.
  EXACTBLOOM_TARGET static inline bool FirstFieldsSet(const unsigned char* line, std::uint64_t word,
                                                      std::uint64_t next, int used) {
    if (kWords == 1) return AllSet(line, word, used);
    if (kWords == 2) return AllSet(line, word, next, used - kFieldsOfWord);
    for (; used > kFieldsOfWord; used -= kFieldsOfWord) {
      if (!AllSet(line, word, kFieldsOfWord)) return false;
      word = NextFieldWord(word);
    }
    return AllSet(line, word, used);
  }

  // Of a line whose first fields are set: whether those that replace equal ones are set as well.
  EXACTBLOOM_TARGET static inline bool AllReplacementsSet(const unsigned char* line,
                                                          std::uint64_t word, int used) {
    const std::uint64_t next = NextFieldWord(word);
    if (kWords == 1) return ReplacementsSet(line, word, next, used);
    if (kWords == 2) {
      return ReplacementsSet(line, word, next, NextFieldWord(next), used - kFieldsOfWord);
    }
    return ReplacementFieldsSet(line, word, used);
  }

  EXACTBLOOM_TARGET static inline bool MayContainHash(const PreparedFilter& filter,
                                                      std::uint64_t hash) {
    const unsigned char* line = filter.array + LineOf(hash, filter.range) * kLineBytes;
    const std::uint64_t word = FirstFieldWord(hash);
    const FieldsInUse in_use = {filter.description.probes, filter.probe_lanes};
    if (kWords == 1) {
      if (kKind == FilterKind::kStandard) return LanesSet(line, word, in_use);
      if (kHasRoom) return DistinctSet(line, word, in_use);
      return LanesSet(line, word, in_use) &&
             (!AnyEqual(word) || ReplacementFieldsSet(line, word, kFieldsOfWord));
    }
    return FirstFieldsSet(line, word, NextFieldWord(word), in_use.count) &&
           (kKind == FilterKind::kStandard || AllReplacementsSet(line, word, in_use.count));
  }

  EXACTBLOOM_TARGET __attribute__((noinline, flatten)) static bool MayContainOtherKey(
      const PreparedFilter& filter, std::string_view key) {
    return MayContainHash(filter, HashMostlyShortKey(key, filter.description.hash_seed));
  }

  EXACTBLOOM_TARGET static bool MayContain(const void* prepared, std::string_view key) {
    const auto& filter = *static_cast<const PreparedFilter*>(prepared);
    if (__builtin_expect(!HasMiddleSize(key), 0)) return MayContainOtherKey(filter, key);
    return MayContainHash(filter, HashMiddleKey(key, filter.low_flip, filter.high_flip));
  }

  // What is known of kKeys keys before their lines are looked at: the byte offsets of their lines,
  // and the first words of their streams, as many as are known to be in use.
  template <std::size_t kKeys>
  struct Located {
    static constexpr std::size_t kKnownWords = kWords == 2 ? 2 : 1;

    alignas(kLineBytes) std::array<std::uint64_t, kKeys> lines;
    alignas(kLineBytes) std::array<std::array<std::uint64_t, kKeys>, kKnownWords> words;

    EXACTBLOOM_TARGET inline void Locate(std::size_t begin, GroupWords hashes,
                                         std::uint64_t line_count) {
      StoreGroup(&lines[begin], LinesOf(hashes, line_count) * kLineBytes);
      GroupWords word = FirstWords(hashes);
      for (auto& stored : words) {
        StoreGroup(&stored[begin], word);
        word = NextWords(word);
      }
    }

    const std::uint64_t& First(std::size_t key) const { return words[0][key]; }
    // Any word where only one is in use.
    const std::uint64_t& Second(std::size_t key) const { return words[kKnownWords - 1][key]; }

    // Which keys of the group that begins there have equal fields: where the fields take many
    // words, all of them.
    EXACTBLOOM_TARGET inline std::uint32_t KeysWithEqualFields(std::size_t begin, int used) const {
      if (kWords == 0) return kAllKeys;
      const GroupWords first = LoadGroup(&First(begin));
      if (kWords == 1) return NonzeroLanes(EqualFieldsIn(first, used));
      return NonzeroLanes(EqualFieldsIn(first, LoadGroup(&Second(begin)), used - kFieldsOfWord));
    }
  };

  using Batch = Located<kBatchKeys>;

  EXACTBLOOM_TARGET static inline GroupWords LoadSome(const std::uint64_t* hashes,
                                                      std::size_t count) {
    if (count >= kGroupKeys) return LoadGroup(hashes);
    alignas(kLineBytes) std::array<std::uint64_t, kGroupKeys> some{};
    std::copy_n(hashes, count, some.begin());
    return LoadGroup(some.data());
  }

  // Prefetches the lines of all keys before the first is tested.
  EXACTBLOOM_TARGET __attribute__((flatten)) static void MayContainBatch(
      const unsigned char* array, const FilterDescription& filter, const std::uint64_t* hashes,
      std::size_t count, bool* results) {
    const std::uint64_t line_count = filter.bits / kLineBits;
    Batch keys;
    for (std::size_t i = 0; i < count; i += kGroupKeys) {
      keys.Locate(i, LoadSome(hashes + i, count - i), line_count);
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < count; ++i) FetchLine(array + keys.lines[i]);
    std::uint32_t hits = 0;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < count; ++i) {
      hits |= std::uint32_t{FirstFieldsSet(array + keys.lines[i], keys.First(i), keys.Second(i),
                                           filter.probes)}
              << i;
    }
    if (hits != 0 && kKind == FilterKind::kClassic) {
      hits = TestReplacements(array, filter, keys, hits);
    }
    WriteResults(hits, count, results);
  }

  // Which of the keys whose first fields are set have all bits set.
  EXACTBLOOM_TARGET __attribute__((noinline)) static std::uint32_t TestReplacements(
      const unsigned char* array, const FilterDescription& filter, const Batch& keys,
      std::uint32_t hits) {
    std::uint32_t equal = 0;
    for (std::uint32_t left = hits; left != 0;) {
      const std::size_t begin = LowestBit(left) / kGroupKeys * kGroupKeys;
      equal |= keys.KeysWithEqualFields(begin, filter.probes) << begin;
      left &= ~(kAllKeys << begin);
    }
    for (equal &= hits; equal != 0; equal &= equal - 1) {
      const std::size_t key = LowestBit(equal);
      const unsigned char* line = array + keys.lines[key];
      if (!AllReplacementsSet(line, keys.First(key), filter.probes)) hits ^= equal & -equal;
    }
    return hits;
  }

  // Sets the bits of a line's first fields.
  EXACTBLOOM_TARGET static inline void AddToLine(unsigned char* line, std::uint64_t first,
                                                 std::uint64_t second, int used) {
    if (kWords == 1) SetFields(line, first, used, 0, 0);
    if (kWords == 2) SetFields(line, first, kFieldsOfWord, second, used - kFieldsOfWord);
    if (kWords == 0) SetFirstFields(line, first, used);
  }

  // Keys with equal fields are set aside, and the fields that replace these are set afterwards:
  // a branch on them would often be mispredicted, and a line is slow to read right after it was
  // written. Few enough keys that their lines are still in the first-level cache.
  static constexpr std::size_t kKeysAddedAtOnce = 64;

  EXACTBLOOM_TARGET static inline void AddAFew(unsigned char* array,
                                               const FilterDescription& filter,
                                               const std::uint64_t* hashes, std::size_t count) {
    const std::uint64_t line_count = filter.bits / kLineBits;
    const int used = filter.probes;
    std::array<std::uint64_t, kKeysAddedAtOnce> aside = {};
    std::size_t set_aside = 0;
    for (std::size_t i = 0; i < count; i += kGroupKeys) {
      Located<kGroupKeys> keys;
      keys.Locate(0, LoadSome(hashes + i, count - i), line_count);
      const std::uint32_t equal =
          kKind == FilterKind::kStandard ? 0 : keys.KeysWithEqualFields(0, used);
      const std::size_t size = std::min(count - i, kGroupKeys);
      for (std::size_t j = 0; j < size; ++j) {
        AddToLine(array + keys.lines[j], keys.First(j), keys.Second(j), used);
        if (kKind == FilterKind::kStandard) continue;
        aside[set_aside] = hashes[i + j];
        set_aside += equal >> j & 1;
      }
    }
    for (std::size_t i = 0; i < set_aside; ++i) {
      unsigned char* line = array + LineOf(aside[i], line_count) * kLineBytes;
      SetReplacements(line, FirstFieldWord(aside[i]), used);
    }
  }

  EXACTBLOOM_TARGET __attribute__((flatten)) static void Add(unsigned char* array,
                                                             const FilterDescription& filter,
                                                             const std::uint64_t* hashes,
                                                             std::size_t count) {
    for (std::size_t i = 0; i < count; i += kKeysAddedAtOnce) {
      AddAFew(array, filter, hashes + i, std::min(count - i, kKeysAddedAtOnce));
    }
  }

  static constexpr Kernel kKernel = {MayContain, MayContainBatch, Add, nullptr};
};

template <FilterKind kKind>
const Kernel& LineKernelFor(int probes) {
  if (probes < kFieldsOfWord) return LineKernel<kKind, 1, true>::kKernel;
  if (probes == kFieldsOfWord) return LineKernel<kKind, 1, false>::kKernel;
  if (probes <= 2 * kFieldsOfWord) return LineKernel<kKind, 2, false>::kKernel;
  return LineKernel<kKind, 0, false>::kKernel;
}

// Requires lines = 1.
inline const Kernel& LineKernelFor(const FilterDescription& filter) {
  return filter.layout.kind == FilterKind::kClassic
             ? LineKernelFor<FilterKind::kClassic>(filter.probes)
             : LineKernelFor<FilterKind::kStandard>(filter.probes);
}
