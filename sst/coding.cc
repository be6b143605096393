#include "coding.h"

#include <cstddef>

namespace exactbloom::files {
namespace {

template <typename Number>
Number DecodeFixed(const char* bytes) {
  Number value = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;) {
    value = static_cast<Number>(value << 8 | static_cast<unsigned char>(bytes[i]));
  }
  return value;
}

}  // namespace

std::uint32_t DecodeFixed32(const char* bytes) { return DecodeFixed<std::uint32_t>(bytes); }

std::uint64_t DecodeFixed64(const char* bytes) { return DecodeFixed<std::uint64_t>(bytes); }

bool TakeVarint(rocksdb::Slice* input, std::uint64_t* value) {
  constexpr unsigned kBitsPerByte = 7;
  constexpr unsigned kBits = 64;
  *value = 0;
  for (unsigned shift = 0; shift < kBits && !input->empty(); shift += kBitsPerByte) {
    const auto byte = static_cast<unsigned char>((*input)[0]);
    const std::uint64_t low = byte & 0x7FU;
    if (shift + kBitsPerByte > kBits && low >> (kBits - shift) != 0) return false;
    input->remove_prefix(1);
    *value |= low << shift;
    if ((byte & 0x80U) == 0) return true;
  }
  return false;
}

bool TakeSignedVarint(rocksdb::Slice* input, std::int64_t* value) {
  std::uint64_t zigzag = 0;
  if (!TakeVarint(input, &zigzag)) return false;
  *value = static_cast<std::int64_t>((zigzag >> 1) ^ (~(zigzag & 1) + 1));
  return true;
}

}  // namespace exactbloom::files
