#include "exactbloom/ribbon_rate.h"

#include <algorithm>
#include <cmath>

namespace exactbloom {
namespace {

// The rate of slots of so many bits on average.
double RateOfWidth(double width) {
  constexpr double kWidestSlot = 32.0;
  width = std::min(kWidestSlot, width);
  const double wider = std::ceil(width);
  const double narrower_share = wider - width;
  return std::exp2(-wider) * (1.0 + narrower_share);
}

}  // namespace

double RibbonOverhead(std::uint64_t keys) {
  constexpr double kLeast = 1.0225;
  constexpr double kBase = 0.9715;
  constexpr double kPerDoubling = 0.0038;
  return std::max(kLeast, kBase + kPerDoubling * std::log2(static_cast<double>(keys)));
}

double RibbonFalsePositiveRate(std::uint64_t keys, std::uint64_t bits) {
  return RateOfWidth(static_cast<double>(bits) /
                     (static_cast<double>(keys) * RibbonOverhead(keys)));
}

double RibbonFalsePositiveRateOfSlots(std::uint64_t slots, std::uint64_t bits) {
  return RateOfWidth(static_cast<double>(bits) / static_cast<double>(slots));
}

}  // namespace exactbloom
