// Policies that make wrong filters.
#pragma once

#include <string>

#include "sample_database.h"

namespace exactbloom {

// Builds classic filters of ten bits per key, but clears one bit so that the filter denies `key`,
// a key or a prefix, and no other key that was added.
PolicyPointer PolicyThatForgets(const std::string& key);

// Builds the same filters, but sets all their bits.
PolicyPointer PolicyThatPassesAll();

}  // namespace exactbloom
