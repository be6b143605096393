// The kernels for lines = 1 and 2, except for the parts that differ by instruction set. Each
// kernel_*.cc includes this text into its own namespace, behind these definitions:
//
//   EXACTBLOOM_TARGET   the attribute of functions that use the instruction set
//   bool AllSet(const unsigned char* line, std::uint64_t word, int used)
//                       whether the bits of the word's first `used` fields are set
//   bool AllSet<kFields>(const unsigned char* line, std::uint64_t first, std::uint64_t second,
//                        int used)
//                       the same of all fields of one word and `used` fields of the next
//   bool ReplacementsSet<kFields>(const unsigned char* line, std::uint64_t word,
//                                 std::uint64_t next, int used)
//   bool ReplacementsSet<kFields>(const unsigned char* line, std::uint64_t first,
//                                 std::uint64_t second, std::uint64_t third, int used)
//                       if those bits are set: whether the bits of the fields that replace equal
//                       ones are set, too; the last word is the one after those in use
//   bool LanesSet(const unsigned char* line, std::uint64_t word, FieldsInUse in_use)
//                       AllSet, for single keys
//   bool DistinctSet<kFields>(const unsigned char* line, std::uint64_t word, FieldsInUse in_use)
//                       whether the bits of the first different fields are set; the word has
//                       fields that are not in use
//   bool AnyEqual<kFields>(std::uint64_t word)
//                       whether any two of all fields are equal
//   bool PairSet(const unsigned char* first_line, const unsigned char* second_line,
//                std::uint64_t first_word, std::uint64_t second_word, FieldsInUse in_use)
//                       AllSet of two lines with at most kPairFields fields each
//   bool AnyEqualInPair(std::uint64_t first_word, std::uint64_t second_word, FieldsInUse in_use)
//                       whether any two of the fields of one line are equal
//   void SetFields(unsigned char* line, std::uint64_t word, int used,
//                  std::uint64_t next_word, int next_used)
//                       sets the bits of the first fields of two words
//   kGroupKeys, GroupWords, LoadGroup, StoreGroup, FirstWords, NextWords, FirstLines,
//   EqualFieldsIn, NonzeroLanes
//                       several keys at once (group_words-inl.h), or one (group_of_one-inl.h)
//
// It is included text, not a template, because a function inlines only functions with its own
// target attribute.

inline std::size_t LowestBit(std::uint32_t bits) {
  return static_cast<std::size_t>(__builtin_ctz(bits));
}

// All keys of a group.
inline constexpr std::uint32_t kAllKeys = (1U << kGroupKeys) - 1;

// What the code of a filter depends on. kWords is how many words of hash bits the fields of one
// line take: 1, 2, or 0 for more. If kHasRoom, the fields of a key take less than a register of
// eight lanes: of one line fewer than a word has, of two lines at most kPairFields each.
template <FilterKind kKind, int kLines, int kWords, bool kHasRoom>
struct LineKernel {
  static constexpr int kFields = FieldsPerWord(kLines);

  struct Lines {
    std::uint64_t first;
    std::uint64_t second;
    std::uint64_t first_word;
    std::uint64_t second_word;
  };

  // Byte offsets of the key's lines and the words that their streams begin with.
  EXACTBLOOM_TARGET static inline Lines LinesOf(std::uint64_t line_count,
                                                std::uint64_t last_page_begin, std::uint64_t hash) {
    const std::uint64_t first = FirstLine(hash, line_count);
    const std::uint64_t word = FirstFieldWord(hash);
    if (kLines == 1) return {first * kLineBytes, 0, word, 0};
    return {first * kLineBytes, SecondLine(word, first, line_count, last_page_begin) * kLineBytes,
            word, NextFieldWord(word)};
  }

  EXACTBLOOM_TARGET static inline Lines LinesOf(const FilterDescription& filter,
                                                std::uint64_t hash) {
    const std::uint64_t line_count = filter.bits / kLineBits;
    return LinesOf(line_count, LastPageBegin(line_count), hash);
  }

  EXACTBLOOM_TARGET static inline std::uint64_t NextOfStream(std::uint64_t word) {
    return kLines == 1 ? NextFieldWord(word) : NextFieldWord(NextFieldWord(word));
  }

  // Not `&&`, whose right side would wait for a branch on the left.
  EXACTBLOOM_TARGET static inline bool Both(bool first, bool second) {
    return (static_cast<int>(first) & static_cast<int>(second)) != 0;
  }

  // Whether the first `used` fields of the stream, which all belong to the code word, are set.
  // `next` is the stream's second word if the fields take two.
  EXACTBLOOM_TARGET static inline bool FirstFieldsSet(const unsigned char* line, std::uint64_t word,
                                                      std::uint64_t next, int used) {
    if (kWords == 1) return AllSet(line, word, used);
    if (kWords == 2) return AllSet<kFields>(line, word, next, used - kFields);
    for (; used > kFields; used -= kFields) {
      if (!AllSet(line, word, kFields)) return false;
      word = NextOfStream(word);
    }
    return AllSet(line, word, used);
  }

  EXACTBLOOM_TARGET static inline bool FirstFieldsSet(const unsigned char* array,
                                                      const Lines& lines, int used) {
    const bool hit =
        FirstFieldsSet(array + lines.first, lines.first_word, NextOfStream(lines.first_word), used);
    if (kLines == 1) return hit;
    // Both loads are under way before either is tested.
    return Both(hit, FirstFieldsSet(array + lines.second, lines.second_word,
                                    NextOfStream(lines.second_word), used));
  }

  // Of a line whose first fields are set: whether those that replace equal ones are set as well.
  EXACTBLOOM_TARGET static inline bool LineReplacementsSet(const unsigned char* line,
                                                           std::uint64_t word, int used) {
    const std::uint64_t next = NextOfStream(word);
    if (kWords == 1) return ReplacementsSet<kFields>(line, word, next, used);
    if (kWords == 2) {
      return ReplacementsSet<kFields>(line, word, next, NextOfStream(next), used - kFields);
    }
    return ReplacementFieldsSet(line, word, kLines, used);
  }

  EXACTBLOOM_TARGET static inline bool LineReplacementsSet(const unsigned char* array,
                                                           const Lines& lines, int used) {
    return LineReplacementsSet(array + lines.first, lines.first_word, used) &&
           (kLines == 1 || LineReplacementsSet(array + lines.second, lines.second_word, used));
  }

  // Takes little, so that the call takes no room on the stack.
  EXACTBLOOM_TARGET __attribute__((noinline)) static bool PairReplacementsSet(
      const PreparedFilter& filter, std::uint64_t hash) {
    const Lines lines = LinesOf(filter.description, hash);
    const int count = filter.description.probes / kLines;
    return ReplacementFieldsSet(filter.array + lines.first, lines.first_word, kLines, count) &&
           ReplacementFieldsSet(filter.array + lines.second, lines.second_word, kLines, count);
  }

  EXACTBLOOM_TARGET static inline bool MayContainHash(const PreparedFilter& filter,
                                                      std::uint64_t hash) {
    const Lines lines = LinesOf(filter.range, filter.last_page_begin, hash);
    const FieldsInUse in_use = {
        static_cast<int>(static_cast<unsigned>(filter.description.probes) / kLines),
        filter.probe_lanes};
    const unsigned char* first = filter.array + lines.first;
    if (kLines == 1 && kWords == 1) {
      if (kKind == FilterKind::kStandard) return LanesSet(first, lines.first_word, in_use);
      if (kHasRoom) return DistinctSet<kFields>(first, lines.first_word, in_use);
      return LanesSet(first, lines.first_word, in_use) &&
             (!AnyEqual<kFields>(lines.first_word) ||
              ReplacementFieldsSet(first, lines.first_word, kLines, kFields));
    }
    if (kLines == 2 && kHasRoom) {
      const unsigned char* second = filter.array + lines.second;
      return PairSet(first, second, lines.first_word, lines.second_word, in_use) &&
             (kKind == FilterKind::kStandard ||
              !AnyEqualInPair(lines.first_word, lines.second_word, in_use) ||
              PairReplacementsSet(filter, hash));
    }
    return FirstFieldsSet(filter.array, lines, in_use.count) &&
           (kKind == FilterKind::kStandard ||
            LineReplacementsSet(filter.array, lines, in_use.count));
  }

  EXACTBLOOM_TARGET __attribute__((noinline, flatten)) static bool MayContainOtherKey(
      const PreparedFilter& filter, std::string_view key) {
    return MayContainHash(filter, HashMostlyShortKey(key, filter.description.hash_seed));
  }

  EXACTBLOOM_TARGET static bool MayContain(const PreparedFilter& filter, std::string_view key) {
    if (__builtin_expect(!HasMiddleSize(key), 0)) return MayContainOtherKey(filter, key);
    return MayContainHash(filter, HashMiddleKey(key, filter.low_flip, filter.high_flip));
  }

  // The words that the first fields of a line's stream take, where that is known.
  static constexpr int kKnownWords = std::max(kWords, 1);

  // What is known of kKeys keys before their lines are looked at: the byte offsets of their first
  // lines, and the first kStreamWords words of each line's stream.
  template <std::size_t kKeys, int kStreamWords>
  struct Located {
    static constexpr auto kAllWords = static_cast<std::size_t>(kLines * kStreamWords);

    alignas(kLineBytes) std::array<std::uint64_t, kKeys> first_lines;
    alignas(kLineBytes) std::array<std::array<std::uint64_t, kKeys>, kAllWords> words;

    EXACTBLOOM_TARGET inline void Locate(std::size_t begin, GroupWords hashes,
                                         std::uint64_t line_count) {
      StoreGroup(&first_lines[begin], FirstLines(hashes, line_count) * kLineBytes);
      GroupWords word = FirstWords(hashes);
      for (auto& stored : words) {
        StoreGroup(&stored[begin], word);
        word = NextWords(word);
      }
    }

    // Word i of the stream of line 0 or 1; any, where i is too large.
    inline const std::uint64_t& Word(std::size_t key, int line, int i) const {
      return words[static_cast<std::size_t>(i * kLines + line) % kAllWords][key];
    }

    inline std::uint64_t SecondLineOf(std::size_t key, std::uint64_t line_count) const {
      return SecondLine(Word(key, 0, 0), first_lines[key] / kLineBytes, line_count) * kLineBytes;
    }

    // Which keys of the group that begins there have equal fields in a line: where the fields take
    // many words, all of them.
    EXACTBLOOM_TARGET inline std::uint32_t KeysWithEqualFields(std::size_t begin, int used) const {
      if (kWords == 0) return kAllKeys;
      GroupWords equal = {};
      for (int line = 0; line < kLines; ++line) {
        const GroupWords first = LoadGroup(&Word(begin, line, 0));
        if (kWords == 1) {
          equal |= EqualFieldsIn<kFields>(first, used);
        } else {
          equal |= EqualFieldsIn<kFields>(first, LoadGroup(&Word(begin, line, 1)), used - kFields);
        }
      }
      return NonzeroLanes(equal);
    }
  };

  using Batch = Located<kBatchKeys, kKnownWords>;

  EXACTBLOOM_TARGET static inline GroupWords LoadSome(const std::uint64_t* hashes,
                                                      std::size_t count) {
    if (count >= kGroupKeys) return LoadGroup(hashes);
    alignas(kLineBytes) std::array<std::uint64_t, kGroupKeys> some{};
    std::copy_n(hashes, count, some.begin());
    return LoadGroup(some.data());
  }

  // Every line is on its way before the first is tested.
  EXACTBLOOM_TARGET __attribute__((flatten)) static void MayContainBatch(
      const unsigned char* array, const FilterDescription& filter, const std::uint64_t* hashes,
      std::size_t count, bool* results) {
    const std::uint64_t line_count = filter.bits / kLineBits;
    const int used = filter.probes / kLines;
    Batch keys;
    for (std::size_t i = 0; i < count; i += kGroupKeys) {
      keys.Locate(i, LoadSome(hashes + i, count - i), line_count);
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < count; ++i) FetchLine(array + keys.first_lines[i]);
    std::uint32_t hits = 0;
#pragma GCC unroll 4
    for (std::size_t i = 0; i < count; ++i) {
      hits |= std::uint32_t{FirstFieldsSet(array + keys.first_lines[i], keys.Word(i, 0, 0),
                                           keys.Word(i, 0, 1), used)}
              << i;
    }
    const bool is_done = kLines == 1 && kKind == FilterKind::kStandard;
    if (hits != 0 && !is_done) hits = TestSurvivors(array, filter, hashes, keys, hits);
    WriteResults(hits, count, results);
  }

  // Which of the keys whose first fields are set have all bits set.
  EXACTBLOOM_TARGET __attribute__((noinline)) static std::uint32_t TestSurvivors(
      const unsigned char* array, const FilterDescription& filter, const std::uint64_t* hashes,
      const Batch& keys, std::uint32_t hits) {
    if (kLines == 2) hits = TestSecondLines(array, filter, keys, hits);
    if (kKind == FilterKind::kClassic) hits = TestReplacements(array, filter, hashes, keys, hits);
    return hits;
  }

  // Few absent keys get here, so most of them cost the memory of one line.
  EXACTBLOOM_TARGET static inline std::uint32_t TestSecondLines(const unsigned char* array,
                                                                const FilterDescription& filter,
                                                                const Batch& keys,
                                                                std::uint32_t hits) {
    const int used = filter.probes / kLines;
    const std::uint64_t line_count = filter.bits / kLineBits;
    std::array<const unsigned char*, kBatchKeys> lines;
    std::size_t fetched = 0;
    for (std::uint32_t left = hits; left != 0; left &= left - 1) {
      const std::size_t key = LowestBit(left);
      lines[fetched] = array + keys.SecondLineOf(key, line_count);
      FetchLine(lines[fetched]);
      ++fetched;
    }
    std::size_t next = 0;
    std::uint32_t misses = 0;
    for (std::uint32_t left = hits; left != 0; left &= left - 1) {
      const std::size_t key = LowestBit(left);
      const bool hit = FirstFieldsSet(lines[next++], keys.Word(key, kLines - 1, 0),
                                      keys.Word(key, kLines - 1, 1), used);
      misses |= std::uint32_t{!hit} << key;
    }
    return hits & ~misses;
  }

  EXACTBLOOM_TARGET static inline std::uint32_t TestReplacements(const unsigned char* array,
                                                                 const FilterDescription& filter,
                                                                 const std::uint64_t* hashes,
                                                                 const Batch& keys,
                                                                 std::uint32_t hits) {
    const int used = filter.probes / kLines;
    std::uint32_t equal = 0;
    for (std::uint32_t left = hits; left != 0;) {
      const std::size_t begin = LowestBit(left) / kGroupKeys * kGroupKeys;
      equal |= keys.KeysWithEqualFields(begin, used) << begin;
      left &= ~(kAllKeys << begin);
    }
    for (equal &= hits; equal != 0; equal &= equal - 1) {
      const Lines lines = LinesOf(filter, hashes[LowestBit(equal)]);
      if (!LineReplacementsSet(array, lines, used)) hits ^= equal & -equal;
    }
    return hits;
  }

  // Sets the bits of a line's first fields.
  EXACTBLOOM_TARGET static inline void AddToLine(unsigned char* line, std::uint64_t first,
                                                 std::uint64_t second, int used) {
    if (kWords == 1) SetFields(line, first, used, 0, 0);
    if (kWords == 2) SetFields(line, first, kFields, second, used - kFields);
    if (kWords == 0) SetFirstFields(line, first, kLines, used);
  }

  // Keys with equal fields are set aside, and the fields that replace these are set afterwards:
  // a branch on them would often be mispredicted, and a line is slow to read right after it was
  // written. Few enough keys that their lines are still in the first-level cache.
  static constexpr std::size_t kKeysAddedAtOnce = 64;

  EXACTBLOOM_TARGET static inline void AddAFew(unsigned char* array,
                                               const FilterDescription& filter,
                                               const std::uint64_t* hashes, std::size_t count) {
    const std::uint64_t line_count = filter.bits / kLineBits;
    const int used = filter.probes / kLines;
    std::array<std::uint64_t, kKeysAddedAtOnce> aside = {};
    std::size_t set_aside = 0;
    for (std::size_t i = 0; i < count; i += kGroupKeys) {
      Located<kGroupKeys, kKnownWords> keys;
      keys.Locate(0, LoadSome(hashes + i, count - i), line_count);
      const std::uint32_t equal =
          kKind == FilterKind::kStandard ? 0 : keys.KeysWithEqualFields(0, used);
      const std::size_t size = std::min(count - i, kGroupKeys);
      for (std::size_t j = 0; j < size; ++j) {
        AddToLine(array + keys.first_lines[j], keys.Word(j, 0, 0), keys.Word(j, 0, 1), used);
        if (kLines == 2) {
          AddToLine(array + keys.SecondLineOf(j, line_count), keys.Word(j, 1, 0),
                    keys.Word(j, 1, 1), used);
        }
        if (kKind == FilterKind::kStandard) continue;
        aside[set_aside] = hashes[i + j];
        set_aside += equal >> j & 1;
      }
    }
    for (std::size_t i = 0; i < set_aside; ++i) {
      const Lines lines = LinesOf(filter, aside[i]);
      SetReplacements(array + lines.first, lines.first_word, kLines, used);
      if (kLines == 2) SetReplacements(array + lines.second, lines.second_word, kLines, used);
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

template <FilterKind kKind, int kLines>
const Kernel& LineKernelFor(int probes) {
  const int fields = probes / kLines;
  const int words = (fields - 1) / FieldsPerWord(kLines) + 1;
  constexpr int kMostWithRoom = kLines == 1 ? FieldsPerWord(kLines) - 1 : kPairFields;
  if (fields <= kMostWithRoom) return LineKernel<kKind, kLines, 1, true>::kKernel;
  if (words == 1) return LineKernel<kKind, kLines, 1, false>::kKernel;
  if (words == 2) return LineKernel<kKind, kLines, 2, false>::kKernel;
  return LineKernel<kKind, kLines, 0, false>::kKernel;
}

// Requires lines 1 or 2.
inline const Kernel& LineKernelFor(const FilterDescription& filter) {
  const bool classic = filter.layout.kind == FilterKind::kClassic;
  if (filter.layout.placement == BitPlacement::kOneLine) {
    return classic ? LineKernelFor<FilterKind::kClassic, 1>(filter.probes)
                   : LineKernelFor<FilterKind::kStandard, 1>(filter.probes);
  }
  return classic ? LineKernelFor<FilterKind::kClassic, 2>(filter.probes)
                 : LineKernelFor<FilterKind::kStandard, 2>(filter.probes);
}
