#include "line_fields.h"

namespace exactbloom::filter {
namespace {

constexpr std::array<OneHotLine, kLineBits> MakeOneHotLines() {
  std::array<OneHotLine, kLineBits> lines{};
  for (std::size_t p = 0; p < kLineBits; ++p) {
    lines[p].bytes[p / 8] = static_cast<unsigned char>(1U << (p % 8));
  }
  return lines;
}

}  // namespace

constexpr std::array<OneHotLine, kLineBits> kOneHotLines = MakeOneHotLines();

bool ReplacementFieldsSet(const unsigned char* line, std::uint64_t word, int count) {
  DistinctFields fields{FieldStream(word)};
  for (int missing = fields.SkipEqual(count); missing > 0; --missing) {
    if (!TestBit(line, fields.Next())) return false;
  }
  return true;
}

void SetFirstFields(unsigned char* line, std::uint64_t word, int count) {
  FieldStream stream(word);
  for (int i = 0; i < count; ++i) SetBit(line, stream.Next());
}

void SetReplacements(unsigned char* line, std::uint64_t word, int count) {
  DistinctFields fields{FieldStream(word)};
  for (int missing = fields.SkipEqual(count); missing > 0; --missing) SetBit(line, fields.Next());
}

bool CodeWordSet(const unsigned char* array, const FilterDescription& filter, std::uint64_t hash) {
  const CodeWord word = MakeCodeWord(filter.layout, hash, filter.bits, filter.probes);
  return std::all_of(word.positions.begin(), word.positions.begin() + word.size,
                     [array](std::uint64_t position) { return TestBit(array, position); });
}

}  // namespace exactbloom::filter
