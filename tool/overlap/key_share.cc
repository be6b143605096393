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
// mean: that over the keys that did not pass, and over the false positives themselves. The most are
// sought from above, the fewest from below, since either may be all or none of the keys.
double FalsePositives(const TableAnswers& all, double (*bound)(double)) {
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

// n times the information that a coin of probability q lacks about one of probability p.
double Exponent(double n, double p, double q) {
  return n * (Weighted(p, q) + Weighted(1.0 - p, 1.0 - q));
}

// The most of `keys` keys that can be marked if `marked` of the `drawn` ones are, which were drawn
// without replacement. Those that were not drawn are a sample, too.
double MostMarked(double marked, double drawn, double keys) {
  const double rest = keys - drawn;
  if (rest <= 0.0) return marked;
  const double share = marked / drawn;
  return EndOf(share * keys, marked + rest, [=](double all) {
    const double of_rest = std::clamp((all - marked) / rest, 0.0, 1.0);
    const double whole = std::min(1.0, all / keys);
    return std::max(Exponent(drawn, share, whole), Exponent(rest, of_rest, whole)) <= kTail;
  });
}

// The fewest: those that are not marked are the most of the others.
double FewestMarked(double marked, double drawn, double keys) {
  return keys <= drawn ? marked : keys - MostMarked(drawn - marked, drawn, keys);
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

// How far the share of shared keys in all tables may be from that in the drawn ones, which have
// `keys` keys.
double SpreadOfTables(const std::vector<TableAnswers>& drawn, double share, double keys,
                      double tables) {
  const auto count = static_cast<double>(drawn.size());
  if (count >= tables) return 0.0;
  double squares = 0.0;
  for (const TableAnswers& table : drawn) {
    const double own = table.asked == 0.0 ? share : table.shared / table.asked;
    squares += std::pow(table.keys * (own - share), 2);
  }
  const double variance = (1.0 - count / tables) * squares * count / ((count - 1.0) * keys * keys);
  return StudentQuantile(count - 1.0) * std::sqrt(variance);
}

TableAnswers SumOf(const std::vector<TableAnswers>& drawn) {
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
  return all;
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
  const TableAnswers all = SumOf(drawn);
  if (all.asked == 0.0) return {0.0, {0.0, keys}};
  const double share = std::clamp(all.shared / all.asked, 0.0, 1.0);
  const auto count = static_cast<double>(drawn.size());
  if (count < tables && count < kFewestTables) return {keys * share, {0.0, keys}};
  const double least = all.passed - FalsePositives(all, MostOf);
  const double most = std::min(all.asked, all.passed - FalsePositives(all, LeastOf) + all.unknown);
  const double spread = all.keys * SpreadOfTables(drawn, share, all.keys, tables);
  const double low = FewestMarked(least, all.asked, all.keys) - spread;
  const double high = MostMarked(most, all.asked, all.keys) + spread;
  const double scale = keys / all.keys;
  const Interval interval = {scale * std::max(0.0, low), scale * std::min(all.keys, high)};
  return {std::clamp(keys * share, interval.low, interval.high), interval};
}

}  // namespace exactbloom::tool
