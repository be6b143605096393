// The search for the best number of probes.
#pragma once

#include <cstdint>

#include "exactbloom/layout.h"

namespace exactbloom::analysis {

struct Choice {
  int probes = 1;
  double log2_rate = 0.0;
};

// Requires IsGeometry of the layout's smallest probes, and at least one key.
Choice BestChoice(Layout layout, std::uint64_t bits, std::uint64_t keys);

// The probes of the same choice, mostly by the bounds of Corollary 23 alone.
int BestProbes(Layout layout, std::uint64_t bits, std::uint64_t keys);

// Whether none of the next larger (smaller) numbers of probes has a lower rate than `probes`:
// enough to prove k* where it cannot be smaller (larger).
bool IsBestUpwards(Layout layout, std::uint64_t bits, std::uint64_t keys, int probes);
bool IsBestDownwards(Layout layout, std::uint64_t bits, std::uint64_t keys, int probes);

}  // namespace exactbloom::analysis
