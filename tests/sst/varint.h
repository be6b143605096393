// Numbers as RocksDB's files hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace exactbloom {

inline std::string Varint(std::uint64_t value) {
  constexpr unsigned kBits = 7;
  std::string bytes;
  for (; value >> kBits != 0; value >>= kBits) {
    bytes.push_back(static_cast<char>((value & 0x7F) | 0x80));
  }
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

// Little-endian.
template <typename Number>
std::string Fixed(Number value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    bytes.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  }
  return bytes;
}

}  // namespace exactbloom
