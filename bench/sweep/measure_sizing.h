// What exact sizing is worth, by filters alone: the usual k = round(ln 2 m/n) against k*.
#pragma once

#include <cstdint>
#include <vector>

#include "point.h"

namespace exactbloom::sweep {

// The usual number of probes, for lines = 2 the even number next to it.
int UsualProbes(Layout layout, std::uint64_t bits, std::uint64_t keys);

// Every layout at some bits per key, from filters of a few keys to those of large tables. Only
// `layout`, `keys`, `bits` and the probes with their exact rates are set.
std::vector<SizingPoint> PlanSizing();

// Builds filters of random keys, asks them for `queries` absent ones and sets the rest of the
// point. Throws WrongAnswer if a filter denies a key.
void MeasureSizing(std::uint64_t seed, std::uint64_t queries, SizingPoint& point);

}  // namespace exactbloom::sweep
