// The kernels for lines = 1 and 2, except for the parts that differ by instruction set. Each
// kernel_*.cc includes this text into its own namespace, behind these definitions:
//
//   EXACTBLOOM_TARGET   the attribute of functions that use the instruction set
//   bool AllSet(const unsigned char* line, std::uint64_t word, int used)
//                       whether the bits of the word's first `used` fields are set
//   void SetFields(unsigned char* line, std::uint64_t word, int used,
//                  std::uint64_t next_word, int next_used)
//                       sets the bits of the first fields of two words
//   bool AnyEqual<kFields>(std::uint64_t word, int used)
//   bool AnyEqual<kFields>(std::uint64_t word, std::uint64_t next_word, int used)
//                       whether any of the fields are equal (equal_fields.h), of one word, or of
//                       all fields of one word and the first of the next
//   kGroupKeys, GroupWords, FirstWords, NextWords, EqualFieldsIn, NonzeroLanes
//                       the same of several keys at once, where that is faster; group_of_one-inl.h
//                       says what each does
//
// It is included text, not a template, because a function inlines only functions with its own
// target attribute.

inline std::size_t LowestBit(std::uint32_t bits) {
  return static_cast<std::size_t>(__builtin_ctz(bits));
}

// All keys of a group.
inline constexpr std::uint32_t kAllKeys = (1U << kGroupKeys) - 1;

// What the code of a filter depends on. `words` is how many words of hash bits the fields of one
// line take: 1, 2, or 0 for more.
template <FilterKind kKind, int kLines, int kWords>
struct LineKernel {
  static constexpr int kFields = FieldsPerWord(kLines);

  struct Lines {
    std::uint64_t first;
    std::uint64_t second;
    std::uint64_t first_word;
    std::uint64_t second_word;
  };

  // Byte offsets of the key's lines and the words that their streams begin with.
  EXACTBLOOM_TARGET static inline Lines LinesOf(const FilterDescription& filter,
                                                std::uint64_t hash) {
    const std::uint64_t line_count = filter.bits / kLineBits;
    const std::uint64_t first = FirstLine(hash, line_count);
    const std::uint64_t word = FirstFieldWord(hash);
    if (kLines == 1) return {first * kLineBytes, 0, word, 0};
    return {first * kLineBytes, SecondLine(word, first, line_count) * kLineBytes, word,
            NextFieldWord(word)};
  }

  EXACTBLOOM_TARGET static inline std::uint64_t NextOfStream(std::uint64_t word) {
    return kLines == 1 ? NextFieldWord(word) : NextFieldWord(NextFieldWord(word));
  }

  // Not `&&`, whose right side would wait for a branch on the left.
  EXACTBLOOM_TARGET static inline bool Both(bool first, bool second) {
    return (static_cast<int>(first) & static_cast<int>(second)) != 0;
  }

  // Whether the first `used` fields of the stream, which all belong to the code word, are set.
  EXACTBLOOM_TARGET static inline bool FirstFieldsSet(const unsigned char* line, std::uint64_t word,
                                                      int used) {
    if (kWords == 1) return AllSet(line, word, used);
    const std::uint64_t next = NextOfStream(word);
    if (kWords == 2) {
      return Both(AllSet(line, word, kFields), AllSet(line, next, used - kFields));
    }
    for (; used > kFields; used -= kFields) {
      if (!AllSet(line, word, kFields)) return false;
      word = NextOfStream(word);
    }
    return AllSet(line, word, used);
  }

  EXACTBLOOM_TARGET static inline bool HasEqualFields(std::uint64_t word, int used) {
    if (kWords == 1) return AnyEqual<kFields>(word, used);
    if (kWords == 2) return AnyEqual<kFields>(word, NextOfStream(word), used - kFields);
    return true;
  }

  // Whether the first fields are all, or the fields that replace equal ones are set as well.
  EXACTBLOOM_TARGET static inline bool ReplacementsSet(const unsigned char* line,
                                                       std::uint64_t word, int used) {
    if (kKind == FilterKind::kStandard || !HasEqualFields(word, used)) return true;
    return DistinctFieldsSet(line, word, kLines, used);
  }

  EXACTBLOOM_TARGET static inline bool FirstFieldsSet(const unsigned char* array,
                                                      const Lines& lines, int used) {
    const bool hit = FirstFieldsSet(array + lines.first, lines.first_word, used);
    if (kLines == 1) return hit;
    // Both loads are under way before either is tested.
    return Both(hit, FirstFieldsSet(array + lines.second, lines.second_word, used));
  }

  EXACTBLOOM_TARGET static inline bool ReplacementsSet(const unsigned char* array,
                                                       const Lines& lines, int used) {
    return ReplacementsSet(array + lines.first, lines.first_word, used) &&
           (kLines == 1 || ReplacementsSet(array + lines.second, lines.second_word, used));
  }

  EXACTBLOOM_TARGET static inline bool MayContainHash(const unsigned char* array,
                                                      const FilterDescription& filter,
                                                      std::uint64_t hash) {
    const int used = filter.probes / kLines;
    const Lines lines = LinesOf(filter, hash);
    return FirstFieldsSet(array, lines, used) && ReplacementsSet(array, lines, used);
  }

  EXACTBLOOM_TARGET __attribute__((noinline)) static bool MayContainLongKey(
      const unsigned char* array, const FilterDescription& filter, std::string_view key) {
    return MayContainHash(array, filter, HashKey(key, filter.hash_seed));
  }

  EXACTBLOOM_TARGET __attribute__((flatten)) static bool MayContain(const unsigned char* array,
                                                                    const FilterDescription& filter,
                                                                    std::string_view key) {
    if (key.size() > kShortKeyBytes) return MayContainLongKey(array, filter, key);
    return MayContainHash(array, filter, HashKey(key, filter.hash_seed));
  }

  EXACTBLOOM_TARGET static void MayContainBatch(const unsigned char* array,
                                                const FilterDescription& filter,
                                                const std::uint64_t* hashes, std::size_t count,
                                                bool* results) {
    const FilterDescription copy = filter;  // which no result written changes
    if (kLines == 1 && kGroupKeys == 1) {
      for (std::size_t i = 0; i < count; ++i) results[i] = MayContainHash(array, copy, hashes[i]);
      return;
    }
    const std::uint64_t line_count = copy.bits / kLineBits;
    const int used = copy.probes / kLines;
    std::uint32_t hits = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned char* line = array + FirstLine(hashes[i], line_count) * kLineBytes;
      hits |= std::uint32_t{FirstFieldsSet(line, FirstFieldWord(hashes[i]), used)} << i;
    }
    const bool is_done = kLines == 1 && kKind == FilterKind::kStandard;
    if (hits != 0 && !is_done) hits = TestSurvivors(array, copy, hashes, count, hits);
    WriteResults(hits, count, results);
  }

  // Which of the keys whose first fields are set have all bits set.
  EXACTBLOOM_TARGET __attribute__((noinline)) static std::uint32_t TestSurvivors(
      const unsigned char* array, const FilterDescription& filter, const std::uint64_t* hashes,
      std::size_t count, std::uint32_t hits) {
    if (kLines == 2) hits = TestSecondLines(array, filter, hashes, hits);
    if (kKind == FilterKind::kClassic) hits = TestReplacements(array, filter, hashes, count, hits);
    return hits;
  }

  // Few absent keys get here, so most of them cost the memory of one line.
  EXACTBLOOM_TARGET static inline std::uint32_t TestSecondLines(const unsigned char* array,
                                                                const FilterDescription& filter,
                                                                const std::uint64_t* hashes,
                                                                std::uint32_t hits) {
    const int used = filter.probes / kLines;
    std::array<Lines, kBatchKeys> lines;
    std::size_t fetched = 0;
    for (std::uint32_t keys = hits; keys != 0; keys &= keys - 1) {
      lines[fetched] = LinesOf(filter, hashes[__builtin_ctz(keys)]);
      FetchLine(array + lines[fetched].second);
      ++fetched;
    }
    std::size_t next = 0;
    for (std::uint32_t keys = hits; keys != 0; keys &= keys - 1) {
      const Lines& key = lines[next++];
      if (!FirstFieldsSet(array + key.second, key.second_word, used)) hits ^= keys & -keys;
    }
    return hits;
  }

  EXACTBLOOM_TARGET static inline std::uint32_t TestReplacements(const unsigned char* array,
                                                                 const FilterDescription& filter,
                                                                 const std::uint64_t* hashes,
                                                                 std::size_t count,
                                                                 std::uint32_t hits) {
    const int used = filter.probes / kLines;
    std::uint32_t left = hits;
    while (left != 0) {
      const std::size_t begin = LowestBit(left) / kGroupKeys * kGroupKeys;
      std::uint32_t equal = left & KeysWithEqualFields(hashes + begin, count - begin, used)
                                       << begin;
      for (; equal != 0; equal &= equal - 1) {
        const Lines lines = LinesOf(filter, hashes[LowestBit(equal)]);
        if (!DistinctSet(array, lines, used)) hits ^= equal & -equal;
      }
      left &= ~(kAllKeys << begin);
    }
    return hits;
  }

  EXACTBLOOM_TARGET static inline bool DistinctSet(const unsigned char* array, const Lines& lines,
                                                   int used) {
    return DistinctFieldsSet(array + lines.first, lines.first_word, kLines, used) &&
           (kLines == 1 ||
            DistinctFieldsSet(array + lines.second, lines.second_word, kLines, used));
  }

  // Which of the first keys of a group have equal fields in a line: where the fields take many
  // words, all of them.
  EXACTBLOOM_TARGET static inline std::uint32_t KeysWithEqualFields(const std::uint64_t* hashes,
                                                                    std::size_t count, int used) {
    if (kWords == 0) return kAllKeys;
    const GroupWords first = FirstWords(hashes, count);
    const GroupWords second = NextWords(first);
    if (kWords == 1) {
      const GroupWords equal = EqualFieldsIn<kFields>(first, used);
      return NonzeroLanes(kLines == 1 ? equal : equal | EqualFieldsIn<kFields>(second, used));
    }
    const GroupWords third = NextWords(second);
    if (kLines == 1) return NonzeroLanes(EqualFieldsIn<kFields>(first, second, used - kFields));
    return NonzeroLanes(EqualFieldsIn<kFields>(first, third, used - kFields) |
                        EqualFieldsIn<kFields>(second, NextWords(third), used - kFields));
  }

  EXACTBLOOM_TARGET static inline void AddToLine(unsigned char* line, std::uint64_t word,
                                                 int used) {
    if (kWords == 1) SetFields(line, word, used, 0, 0);
    if (kWords == 2) SetFields(line, word, kFields, NextOfStream(word), used - kFields);
  }

  EXACTBLOOM_TARGET static void Add(unsigned char* array, const FilterDescription& filter,
                                    const std::uint64_t* hashes, std::size_t count) {
    const int used = filter.probes / kLines;
    for (std::size_t i = 0; i < count; i += kGroupKeys) {
      const std::size_t keys = std::min(count - i, kGroupKeys);
      for (std::size_t j = i; kWords != 0 && j < i + keys; ++j) {
        const Lines lines = LinesOf(filter, hashes[j]);
        AddToLine(array + lines.first, lines.first_word, used);
        if (kLines == 2) AddToLine(array + lines.second, lines.second_word, used);
      }
      if (kWords != 0 && kKind == FilterKind::kStandard) continue;
      std::uint32_t equal = KeysWithEqualFields(hashes + i, keys, used) & ((1U << keys) - 1);
      for (; equal != 0; equal &= equal - 1) {
        const Lines lines = LinesOf(filter, hashes[i + LowestBit(equal)]);
        AddFields(array + lines.first, lines.first_word, kLines, kKind, used);
        if (kLines == 2) AddFields(array + lines.second, lines.second_word, kLines, kKind, used);
      }
    }
  }

  static constexpr Kernel kKernel = {MayContain, MayContainBatch, Add, nullptr};
};

template <FilterKind kKind, int kLines>
const Kernel& LineKernelFor(int probes) {
  const int words = (probes / kLines - 1) / FieldsPerWord(kLines) + 1;
  if (words == 1) return LineKernel<kKind, kLines, 1>::kKernel;
  if (words == 2) return LineKernel<kKind, kLines, 2>::kKernel;
  return LineKernel<kKind, kLines, 0>::kKernel;
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
