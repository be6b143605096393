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

bool DistinctFieldsSet(const unsigned char* line, const FieldStream& stream, int count) {
  DistinctFields fields(stream);
  for (int i = 0; i < count; ++i) {
    if (!TestBit(line, fields.Next())) return false;
  }
  return true;
}

void AddStream(unsigned char* line, FieldStream stream, FilterKind kind, int count) {
  DistinctFields distinct(stream);
  for (int i = 0; i < count; ++i) {
    SetBit(line, kind == FilterKind::kClassic ? distinct.Next() : stream.Next());
  }
}

}  // namespace exactbloom::filter
