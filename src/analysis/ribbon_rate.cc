#include "exactbloom/ribbon_rate.h"

#include <algorithm>
#include <cmath>

namespace exactbloom {

double RibbonOverhead(std::uint64_t keys) {
  constexpr double kLeast = 1.0225;
  constexpr double kBase = 0.9715;
  constexpr double kPerDoubling = 0.0038;
  return std::max(kLeast, kBase + kPerDoubling * std::log2(static_cast<double>(keys)));
}

double RibbonFalsePositiveRate(std::uint64_t keys, std::uint64_t bits) {
  constexpr double kWidestSlot = 32.0;
  const double slots = static_cast<double>(keys) * RibbonOverhead(keys);
  const double width = std::min(kWidestSlot, static_cast<double>(bits) / slots);
  const double wider = std::ceil(width);
  const double narrower_share = wider - width;
  return std::exp2(-wider) * (1.0 + narrower_share);
}

}  // namespace exactbloom
