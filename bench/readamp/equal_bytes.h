// Policies that take as much memory as another one, whatever their own number of bits per key
// means.
#pragma once

#include <cstdint>
#include <string>

namespace exactbloom::readamp {

// Stands in a policy for the number with which its filters are as large as those it is compared
// with.
inline constexpr char kEqualBytes[] = "{equal_bytes}";

// Of a filter that nothing is there to compare with.
inline constexpr double kDefaultBits = 10.0;

// Returns the policy with that number in the place of kEqualBytes, and any other as it is.
//   keys          in a filter
//   bits_per_key  of the filters it is compared with
std::string WithEqualBytes(const std::string& policy, std::uint64_t keys, double bits_per_key);

}  // namespace exactbloom::readamp
