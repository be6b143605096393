// The sizes that an allocator rounds requests up to.
#pragma once

#include <cstddef>

namespace exactbloom {

// As jemalloc's: four classes from one power of two to the next.
inline std::size_t FourClassesPerDoubling(std::size_t bytes) {
  std::size_t power = 4;
  while (2 * power < bytes) power *= 2;
  const std::size_t step = power / 4;
  return (bytes + step - 1) / step * step;
}

}  // namespace exactbloom
