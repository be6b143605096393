// The kernels for lines = 0, in portable code.
#pragma once

#include <array>
#include <cstdint>

#include "kernel.h"

namespace exactbloom::filter {

// Draws that a query makes before it looks at any: with a filter half full, seven absent keys of
// eight are refused by the one well-predicted branch behind them.
inline constexpr int kDrawsAtOnce = 3;

using Positions = std::array<std::uint64_t, kMaxProbes>;

// Finds the positions of a key, filter.probes of them, as code_word.h defines them.
void LocateDraws(const FilterDescription& filter, std::uint64_t hash, Positions& positions);

const Kernel& DrawKernelFor(const FilterDescription& filter);

}  // namespace exactbloom::filter
