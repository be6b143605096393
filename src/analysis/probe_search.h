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

// The fewest probes of a layout, and the distance from one number of probes to the next.
constexpr int ProbeStep(Layout layout) { return layout.lines == 2 ? 2 : 1; }

// The most probes that a filter of `bits` bits can have.
int MostProbes(Layout layout, std::uint64_t bits);

}  // namespace exactbloom::analysis
