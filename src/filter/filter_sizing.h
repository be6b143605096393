// The builder's share of SizeAtBitsPerKey: m and k without the rate, which takes longer to compute
// than a small filter to build.
#pragma once

#include <cstdint>

#include "exactbloom/layout.h"

namespace exactbloom::filter {

// Parameters as those of SizeAtBitsPerKey.
std::uint64_t BitsAtBitsPerKey(Layout layout, std::uint64_t keys, double bits_per_key);

// The exact k*, from a memory of earlier answers that all builders of the process share.
int RememberedOptimalProbes(Layout layout, std::uint64_t bits, std::uint64_t keys);

}  // namespace exactbloom::filter
