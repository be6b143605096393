#include "key_share.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace exactbloom::tool {
namespace {

// The exponent of a tail of probability 0.00025: one of two sides, of one of two steps.
const double kTail = std::log(4000.0);

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
// mean: that over the keys that did not pass, and over the false positives themselves.
double FalsePositives(const TableAnswers& all, double (*bound)(double)) {
  if (all.passed == 0.0) return 0.0;
  const double denied = all.rates - all.rates_of_passed;
  const double rate = all.rates_of_passed / all.passed;
  double count = 0.0;
  constexpr int kMostSteps = 1000;
  for (int i = 0; i < kMostSteps; ++i) {
    const double next = std::min(all.passed, bound(denied + rate * count));
    if (next - count < 1e-6) return next;
    count = next;
  }
  return bound == MostOf ? all.passed : count;
}

// n times the information that a coin of probability q lacks about one of probability p.
double Exponent(double n, double p, double q) {
  return n * (Weighted(p, q) + Weighted(1.0 - p, 1.0 - q));
}

// The largest share among `keys` keys, if `drawn` of them, drawn without replacement, have
// `marked`. Those that were not drawn are a sample, too.
double LargestShare(double marked, double drawn, double keys) {
  const double share = marked / drawn;
  const double rest = keys - drawn;
  if (rest <= 0.0) return share;
  return EndOf(share, (marked + rest) / keys, [=](double whole) {
    const double of_rest = std::min(1.0, (whole * keys - marked) / rest);
    return std::max(Exponent(drawn, share, whole), Exponent(rest, of_rest, whole)) <= kTail;
  });
}

// The quantile of Student's t for 99.9%, by its expansion in 1/freedom, to 1% from 7 on.
double StudentQuantile(double freedom) {
  const double z = kZ999;
  const double z2 = z * z;
  return z * (1.0 + (z2 + 1.0) / (4.0 * freedom) +
              (5.0 * z2 * z2 + 16.0 * z2 + 3.0) / (96.0 * freedom * freedom) +
              (3.0 * z2 * z2 * z2 + 19.0 * z2 * z2 + 17.0 * z2 - 15.0) /
                  (384.0 * freedom * freedom * freedom));
}

// How far the share in all tables may be from that in the drawn ones.
double SpreadOfTables(const std::vector<TableAnswers>& drawn, double share, double keys,
                      double tables) {
  const auto count = static_cast<double>(drawn.size());
  double squares = 0.0;
  for (const TableAnswers& table : drawn) {
    const double own = table.asked == 0.0 ? share : table.shared / table.asked;
    squares += std::pow(table.keys * (own - share), 2);
  }
  const double variance = (1.0 - count / tables) * squares * count / ((count - 1.0) * keys * keys);
  return StudentQuantile(count - 1.0) * std::sqrt(variance);
}

}  // namespace

void TableAnswers::Add(bool passes, double rate) {
  asked += 1.0;
  rates += rate;
  shared += ((passes ? 1.0 : 0.0) - rate) / (1.0 - rate);
  if (!passes) return;
  passed += 1.0;
  rates_of_passed += rate;
}

KeysEstimate EstimateSharedOf(const std::vector<TableAnswers>& drawn, double tables, double keys) {
  TableAnswers all;
  for (const TableAnswers& table : drawn) {
    all.keys += table.keys;
    all.asked += table.asked;
    all.unknown += table.unknown;
    all.passed += table.passed;
    all.rates += table.rates;
    all.rates_of_passed += table.rates_of_passed;
    all.shared += table.shared;
  }
  if (all.asked == 0.0) return {0.0, {0.0, keys}};
  const auto count = static_cast<double>(drawn.size());
  const double share = std::clamp(all.shared / all.asked, 0.0, 1.0);
  if (count < tables && count < kFewestTables) return {keys * share, {0.0, keys}};
  const double least = all.passed - FalsePositives(all, MostOf);
  const double most = std::min(all.asked, all.passed - FalsePositives(all, LeastOf) + all.unknown);
  const double spread = count < tables ? SpreadOfTables(drawn, share, all.keys, tables) : 0.0;
  const double low = 1.0 - LargestShare(all.asked - least, all.asked, all.keys) - spread;
  const double high = LargestShare(most, all.asked, all.keys) + spread;
  const Interval interval = {keys * std::max(0.0, low), keys * std::min(1.0, high)};
  return {std::clamp(keys * share, interval.low, interval.high), interval};
}

}  // namespace exactbloom::tool
