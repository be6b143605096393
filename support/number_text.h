// Numbers as users write them on command lines.
//
// Each function takes the whole text, in C's notation whatever the locale is, and returns nothing
// if it is no such number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace exactbloom::support {

// 0.5, 1e-3; no infinity and no NaN.
std::optional<double> ReadNumber(std::string_view text);

// A number, or a percentage: 0.01, 1%.
std::optional<double> ReadShare(std::string_view text);

// A whole number: 1000000, 1e6. With an exponent or a point at most 2^53.
std::optional<std::uint64_t> ReadCount(std::string_view text);

// Bytes: 1000000, 1e6, 10 B, 64M, 1.5GiB, 64 KB, with the units of the policies' options. Fractions
// of a byte are left out.
std::optional<std::uint64_t> ReadBytes(std::string_view text);

}  // namespace exactbloom::support
