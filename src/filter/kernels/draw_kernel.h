// The kernels for lines = 0, in portable code.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel.h"

namespace exactbloom::filter {

// Draws that a query makes before it looks at any: with a filter half full, seven absent keys of
// eight are refused by the one well-predicted branch behind them.
inline constexpr int kDrawsAtOnce = 3;

using LocateFunction = decltype(Kernel::locate);

// Sets all bits of the keys, a few keys behind their location: where the array does not fit into
// the second-level cache, its memory is fetched meanwhile.
void AddDraws(unsigned char* array, const FilterDescription& filter, const std::uint64_t* hashes,
              std::size_t count, LocateFunction locate);

const Kernel& DrawKernelFor(const FilterDescription& filter);

}  // namespace exactbloom::filter
