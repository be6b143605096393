#include "key_share.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace exactbloom::tool {
namespace {

// The exponent of a tail of probability 0.0005: one of two sides.
const double kTail = std::log(2000.0);

// Returns where `holds`, which is true at `inside`, ends on the way to `outside`.
double EndOf(double inside, double outside, const std::function<bool(double)>& holds) {
  if (holds(outside)) return outside;
  constexpr int kHalvings = 60;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (inside + outside);
    (holds(middle) ? inside : outside) = middle;
  }
  return outside;
}

// x ln(x / y); 0 for x = 0.
double Weighted(double x, double y) { return x > 0.0 ? x * std::log(x / y) : 0.0; }

// Whether a sum of independent indicators with this mean may be `count`. Its tail beyond `count` is
// at most e^-(count ln(count/mean) - count + mean).
bool MayBe(double count, double mean) { return Weighted(count, mean) - count + mean <= kTail; }

double MostOf(double mean) {
  if (mean <= 0.0) return 0.0;
  const double beyond = mean + std::sqrt(2.0 * kTail * mean) + kTail;
  return EndOf(mean, beyond, [mean](double count) { return MayBe(count, mean); });
}

double LeastOf(double mean) {
  if (mean <= 0.0) return 0.0;
  return EndOf(mean, 0.0, [mean](double count) { return MayBe(count, mean); });
}

// The false positives among the keys that passed, if there are as many as `bound` says of their
// mean: that over the keys that did not pass, and over the false positives themselves. The most are
// sought from above, the fewest from below, since either may be all or none of the keys.
double FalsePositives(const RunAnswers& all, double (*bound)(double)) {
  if (all.passed == 0.0) return 0.0;
  const double denied = all.rates - all.rates_of_passed;
  const double rate = all.rates_of_passed / all.passed;
  double count = bound == MostOf ? all.passed : 0.0;
  constexpr int kMostSteps = 1000;
  for (int i = 0; i < kMostSteps; ++i) {
    const double next = std::min(all.passed, bound(denied + rate * count));
    if (std::abs(next - count) < 1e-6) return next;
    count = next;
  }
  return count;
}

}  // namespace

void RunAnswers::Add(bool passes, double rate) {
  asked += 1.0;
  rates += rate;
  shared += ((passes ? 1.0 : 0.0) - rate) / (1.0 - rate);
  if (!passes) return;
  passed += 1.0;
  rates_of_passed += rate;
}

KeysEstimate EstimateShared(const RunAnswers& answers, double keys) {
  const double not_read = std::max(0.0, keys - answers.asked);
  const double most = answers.passed - FalsePositives(answers, LeastOf) + answers.unknown;
  const Interval interval = {answers.passed - FalsePositives(answers, MostOf),
                             std::min(answers.asked, most) + not_read};
  return {std::clamp(answers.shared, interval.low, interval.high), interval};
}

}  // namespace exactbloom::tool
