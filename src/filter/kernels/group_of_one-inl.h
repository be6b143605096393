// Groups of one key, for instruction sets that gain nothing from searching the fields of several
// keys at once: the functions that line_kernel-inl.h needs, for one key.

inline constexpr std::size_t kGroupKeys = 1;

// A word of each key.
using GroupWords = std::uint64_t;

// The words that the keys' fields begin with, of the first `count` hashes; behind them, any.
EXACTBLOOM_TARGET inline GroupWords FirstWords(const std::uint64_t* hashes, std::size_t /*count*/) {
  return FirstFieldWord(hashes[0]);
}

// The words that follow those.
EXACTBLOOM_TARGET inline GroupWords NextWords(GroupWords words) { return NextFieldWord(words); }

// The keys, as words other than zero, of which two of the first `used` fields are equal.
template <int kFields>
EXACTBLOOM_TARGET inline GroupWords EqualFieldsIn(GroupWords word, int used) {
  return AnyEqual<kFields>(word, used) ? 1 : 0;
}

// The same of all fields of the first words and `used` fields of the second.
template <int kFields>
EXACTBLOOM_TARGET inline GroupWords EqualFieldsIn(GroupWords first, GroupWords second, int used) {
  return AnyEqual<kFields>(first, second, used) ? 1 : 0;
}

// Bit i says whether key i's word is other than zero.
EXACTBLOOM_TARGET inline std::uint32_t NonzeroLanes(GroupWords words) { return words != 0 ? 1 : 0; }
