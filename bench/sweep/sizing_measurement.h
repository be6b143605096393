// The value of exact sizing, measured on filters alone: the usual k = round(ln 2 m/n) against k*.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom::sweep {

// The usual number of probes, for lines = 2 the even number next to it.
int UsualProbes(Layout layout, std::uint64_t bits, std::uint64_t keys);

// A size of filter at which both numbers of probes are tried.
struct SizingPoint {
  Layout layout;
  std::uint64_t keys = 0;
  std::uint64_t bits = 0;

  // The fields that tell its line of the results from others.
  nlohmann::json Identity() const;
};

// Every layout at some bits per key, from filters of a few keys to those of large tables.
std::vector<SizingPoint> PlanSizing();

// Builds filters of random keys with either number of probes, asks them for at least `queries`
// absent keys and returns the line of the results. Throws WrongAnswer if a filter denies a key.
nlohmann::json MeasureSizing(const SizingPoint& point, std::uint64_t seed, std::uint64_t queries);

}  // namespace exactbloom::sweep
