// Numbers as RocksDB's files hold them.
#pragma once

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

}  // namespace exactbloom
