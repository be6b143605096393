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

}  // namespace exactbloom::filter
