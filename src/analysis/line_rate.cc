// The exact rate with lines = 1.
#include <algorithm>
#include <cmath>
#include <vector>

#include "rate_chain.h"
#include "scaled_rate.h"

namespace exactbloom::analysis {
namespace {

// Sums over loads end where everything beyond is below this share of the sum. No load has a rate
// above one, so that is a bound of the error.
constexpr double kNegligible = 1e-13;

// Beyond this share of hits a line counts as full.
constexpr double kFull = 1.0 - kNegligible;

// The exact rate of one line by the number of its keys. Computed only as far as it is needed.
class RatesByLoad {
 public:
  RatesByLoad(FilterKind kind, int probes)
      : kind_(kind),
        probes_(probes),
        chain_(kLineBits, probes, 1.0),
        step_(chain_.Committee(kind == FilterKind::kClassic ? static_cast<std::uint64_t>(probes)
                                                            : 1)),
        rates_{0.0} {}

  double At(std::uint64_t keys) {
    while (keys >= rates_.size() && rates_.back() < kFull) rates_.push_back(Next());
    return keys < rates_.size() ? rates_[keys] : 1.0;
  }

 private:
  double Next() {
    const bool classic = kind_ == FilterKind::kClassic;
    for (int ball = 0; ball < (classic ? 1 : probes_); ++ball) chain_.AddOne(step_);
    return std::min(1.0, classic ? chain_.AllOnes(probes_) : chain_.AllDrawsOne(probes_));
  }

  FilterKind kind_;
  int probes_;
  RateChain chain_;
  PositiveChain step_;
  std::vector<double> rates_;
};

// The probabilities of a binomial variable from its mode outwards, until what is left in the tails
// is below `cut` of the whole. They add up to one.
struct Weights {
  std::uint64_t first = 0;
  std::vector<double> values;
};

Weights BinomialWeights(std::uint64_t trials, double p, double cut) {
  const auto n = static_cast<double>(trials);
  const auto up = [=](std::uint64_t i) {  // P(i+1) / P(i)
    const auto x = static_cast<double>(i);
    return x >= n ? 0.0 : (n - x) / (x + 1.0) * (p / (1.0 - p));
  };
  const auto mode = static_cast<std::uint64_t>(std::min(n, std::floor((n + 1.0) * p)));
  std::vector<double> above{1.0};
  for (std::uint64_t i = mode;; ++i) {
    const double ratio = up(i);
    const double weight = above.back() * ratio;
    if (weight <= cut * (1.0 - ratio)) break;
    above.push_back(weight);
  }
  std::vector<double> below;
  for (std::uint64_t i = mode; i > 0; --i) {
    const double weight = (below.empty() ? 1.0 : below.back()) / up(i - 1);
    if (weight * static_cast<double>(i) <= cut) break;
    below.push_back(weight);
  }
  Weights weights{mode - below.size(), {below.rbegin(), below.rend()}};
  weights.values.insert(weights.values.end(), above.begin(), above.end());
  double sum = 0.0;
  for (const double weight : weights.values) sum += weight;
  for (double& weight : weights.values) weight /= sum;
  return weights;
}

// Whether loads of this mean leave every line full, far beyond any fluctuation.
bool IsSaturated(double mean, RatesByLoad& rates) {
  const double low = mean - 40.0 * std::sqrt(mean) - 40.0;
  return low > 0.0 && rates.At(static_cast<std::uint64_t>(low)) == 1.0;
}

// A lower bound of the mean rate of a line whose load has this mean: the rate grows with the load,
// and a binomial load is at least its mean, rounded down, about every second time.
double LeastMeanRate(double mean, RatesByLoad& rates) {
  if (mean < 1.0) return 0.5 * mean * rates.At(1);
  return 0.25 * rates.At(static_cast<std::uint64_t>(mean));
}

}  // namespace

double LineFalsePositiveRate(FilterKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  const std::uint64_t lines = bits / kLineBits;
  RatesByLoad rates(kind, probes);
  if (lines == 1) return rates.At(keys);
  const double share = 1.0 / static_cast<double>(lines);
  const double mean = static_cast<double>(keys) * share;
  if (IsSaturated(mean, rates)) return 1.0;
  const Weights load = BinomialWeights(keys, share, kNegligible * LeastMeanRate(mean, rates));
  double rate = 0.0;
  for (std::size_t i = 0; i < load.values.size(); ++i) {
    rate += load.values[i] * rates.At(load.first + i);
  }
  return std::min(1.0, rate);
}

}  // namespace exactbloom::analysis
