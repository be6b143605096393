// The exact rates of the cache-line layouts.
#pragma once

#include <cstdint>

#include "exactbloom/layout.h"

namespace exactbloom::analysis {

// Requires IsGeometry for the layout, lines = 1 or 2, and at least one key.
double LineFalsePositiveRate(Layout layout, std::uint64_t bits, std::uint64_t keys, int probes);

}  // namespace exactbloom::analysis
