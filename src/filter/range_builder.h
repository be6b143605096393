// Fills an array that is larger than the caches, range by range: see array_builder.h.
#pragma once

#include <cstdint>

#include "exactbloom/bloom_filter.h"
#include "hash_store.h"

namespace exactbloom::filter {

// Return false, with nothing done, if there is no memory for the first entries. The filter's layout
// has lines, or has none.
bool BuildLinesByRange(unsigned char* array, const FilterDescription& filter, HashStore& hashes);
bool BuildDrawsByRange(unsigned char* array, const FilterDescription& filter, HashStore& hashes);

}  // namespace exactbloom::filter
