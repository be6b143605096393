// The sizing that a builder needs: m and k without the rate, which takes longer to compute than
// building a small filter.
#pragma once

#include <cstdint>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/layout.h"

namespace exactbloom::filter {

// The m that the options give to `keys` keys, and whether the block limit made it smaller. Both
// throw std::bad_alloc when memory is short.
std::uint64_t BitsOf(const BloomFilterBuilder::Options& options, std::uint64_t keys);
bool ExceedsBlockLimit(const BloomFilterBuilder::Options& options, std::uint64_t keys);

// The exact k*, from a memory of earlier answers that all builders of the process share.
int RememberedOptimalProbes(Layout layout, std::uint64_t bits, std::uint64_t keys);

}  // namespace exactbloom::filter
