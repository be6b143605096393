// Synthetic keys, computed from their number; and the number of such a key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace exactbloom::readamp {

// For each seed a bijection of 64-bit numbers whose results look random.
std::uint64_t MadeNumber(std::uint64_t i, std::uint64_t seed);

// MadeNumber in 16 hexadecimal digits: spread evenly over the key space, as hashed identifiers are.
std::string MakeKey(std::uint64_t i, std::uint64_t seed);

// The `i` of such a key; nothing for other strings.
std::optional<std::uint64_t> NumberOfMadeKey(const std::string& key, std::uint64_t seed);

}  // namespace exactbloom::readamp
