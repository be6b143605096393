// Groups of one key, for instruction sets that gain nothing from several keys at once: what
// group_words-inl.h has, for one key; and what line_kernel-inl.h needs of one word at a time.

inline constexpr std::size_t kGroupKeys = 1;

// A word of each key.
using GroupWords = std::uint64_t;

inline GroupWords LoadGroup(const std::uint64_t* words) { return *words; }

inline void StoreGroup(std::uint64_t* words, GroupWords group) { *words = group; }

inline GroupWords FirstWords(GroupWords hashes) { return FirstFieldWord(hashes); }

inline GroupWords NextWords(GroupWords words) { return NextFieldWord(words); }

inline GroupWords LinesOf(GroupWords hashes, std::uint64_t line_count) {
  return LineOf(hashes, line_count);
}

// The keys, as words other than zero, of which two of the first `used` fields are equal.
inline GroupWords EqualFieldsIn(GroupWords word, int used) { return AnyEqual(word, used) ? 1 : 0; }

// The same of all fields of the first words and `used` fields of the second.
inline GroupWords EqualFieldsIn(GroupWords first, GroupWords second, int used) {
  return AnyEqual(first, second, used) ? 1 : 0;
}

// Bit i says whether key i's word is other than zero.
inline std::uint32_t NonzeroLanes(GroupWords words) { return words != 0 ? 1 : 0; }

inline bool AllSet(const unsigned char* line, std::uint64_t first, std::uint64_t second, int used) {
  return AllSet(line, first, kFieldsOfWord) && AllSet(line, second, used);
}

inline bool ReplacementsSet(const unsigned char* line, std::uint64_t word, std::uint64_t /*next*/,
                            int used) {
  return !AnyEqual(word, used) || ReplacementFieldsSet(line, word, used);
}

inline bool ReplacementsSet(const unsigned char* line, std::uint64_t first, std::uint64_t second,
                            std::uint64_t /*third*/, int used) {
  return !AnyEqual(first, second, used) || ReplacementFieldsSet(line, first, kFieldsOfWord + used);
}

inline bool LanesSet(const unsigned char* line, std::uint64_t word, FieldsInUse in_use) {
  return AllSet(line, word, in_use.count);
}

inline bool AnyEqual(std::uint64_t word) { return AnyEqual(word, kFieldsOfWord); }

inline bool DistinctSet(const unsigned char* line, std::uint64_t word, FieldsInUse in_use) {
  return AllSet(line, word, in_use.count) &&
         ReplacementsSet(line, word, NextFieldWord(word), in_use.count);
}
