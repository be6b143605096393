// Groups of one key, for instruction sets that gain nothing from several keys at once: what
// group_words-inl.h has, for one key; and what line_kernel-inl.h needs of one word at a time.

inline constexpr std::size_t kGroupKeys = 1;

// A word of each key.
using GroupWords = std::uint64_t;

inline GroupWords LoadGroup(const std::uint64_t* words) { return *words; }

inline void StoreGroup(std::uint64_t* words, GroupWords group) { *words = group; }

inline GroupWords FirstWords(GroupWords hashes) { return FirstFieldWord(hashes); }

inline GroupWords NextWords(GroupWords words) { return NextFieldWord(words); }

inline GroupWords FirstLines(GroupWords hashes, std::uint64_t line_count) {
  return FirstLine(hashes, line_count);
}

// The keys, as words other than zero, of which two of the first `used` fields are equal.
template <int kFields>
inline GroupWords EqualFieldsIn(GroupWords word, int used) {
  return AnyEqual<kFields>(word, used) ? 1 : 0;
}

// The same of all fields of the first words and `used` fields of the second.
template <int kFields>
inline GroupWords EqualFieldsIn(GroupWords first, GroupWords second, int used) {
  return AnyEqual<kFields>(first, second, used) ? 1 : 0;
}

// Bit i says whether key i's word is other than zero.
inline std::uint32_t NonzeroLanes(GroupWords words) { return words != 0 ? 1 : 0; }

template <int kFields>
inline bool AllSet(const unsigned char* line, std::uint64_t first, std::uint64_t second, int used) {
  return AllSet(line, first, kFields) && AllSet(line, second, used);
}

template <int kFields>
inline bool ReplacementsSet(const unsigned char* line, std::uint64_t word, std::uint64_t /*next*/,
                            int used) {
  return !AnyEqual<kFields>(word, used) ||
         ReplacementFieldsSet(line, word, LinesOfFields(kFields), used);
}

inline bool LanesSet(const unsigned char* line, std::uint64_t word, FieldsInUse in_use) {
  return AllSet(line, word, in_use.count);
}

template <int kFields>
inline bool AnyEqual(std::uint64_t word) {
  return AnyEqual<kFields>(word, kFields);
}

template <int kFields>
inline bool DistinctSet(const unsigned char* line, std::uint64_t word, FieldsInUse in_use) {
  return AllSet(line, word, in_use.count) &&
         ReplacementsSet<kFields>(line, word, NextFieldWord(word), in_use.count);
}

inline bool PairSet(const unsigned char* first_line, const unsigned char* second_line,
                    std::uint64_t first_word, std::uint64_t second_word, FieldsInUse in_use) {
  return (static_cast<int>(AllSet(first_line, first_word, in_use.count)) &
          static_cast<int>(AllSet(second_line, second_word, in_use.count))) != 0;
}

inline bool AnyEqualInPair(std::uint64_t first_word, std::uint64_t second_word,
                           FieldsInUse in_use) {
  constexpr int kFields = FieldsPerWord(2);
  return AnyEqual<kFields>(first_word, in_use.count) ||
         AnyEqual<kFields>(second_word, in_use.count);
}

template <int kFields>
inline bool ReplacementsSet(const unsigned char* line, std::uint64_t first, std::uint64_t second,
                            std::uint64_t /*third*/, int used) {
  return !AnyEqual<kFields>(first, second, used) ||
         ReplacementFieldsSet(line, first, LinesOfFields(kFields), kFields + used);
}
