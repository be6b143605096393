// Fills an array that is larger than the caches, range by range: see array_builder.h.
#pragma once

#include <cstddef>
#include <cstring>

#include "exactbloom/bloom_filter.h"
#include "hash_store.h"
#include "kernels/line_fields.h"

namespace exactbloom::filter {

// Before a range is filled: clears it the first time, and fetches it later.
inline void PrepareRange(unsigned char* begin, const unsigned char* end, bool is_cleared) {
  if (!is_cleared) {
    std::memset(begin, 0, static_cast<std::size_t>(end - begin));
    return;
  }
  for (const unsigned char* line = begin; line < end; line += kLineBytes) {
    __builtin_prefetch(line, 1);
  }
}

// Return false, with nothing done, if there is no memory for the first entries. The filter's layout
// has lines, or has none.
bool BuildLinesByRange(unsigned char* array, const FilterDescription& filter, HashStore& hashes);
bool BuildDrawsByRange(unsigned char* array, const FilterDescription& filter, HashStore& hashes);

}  // namespace exactbloom::filter
