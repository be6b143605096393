// The exact rates of the cache-line layouts.
#include <algorithm>
#include <cmath>
#include <vector>

#include "rate_chain.h"
#include "scaled_rate.h"

namespace exactbloom::analysis {
namespace {

// Sums over loads end where everything beyond is below this share of the sum. That is a bound, not
// a guess: no load has a rate above one.
constexpr double kNegligible = 1e-13;

// Beyond this share of hits a line counts as full.
constexpr double kFull = 1.0 - kNegligible;

// The exact rate of one line by the number of words that it received. Computed only as far as it is
// needed.
class WordRates {
 public:
  WordRates(FilterKind kind, int word)
      : kind_(kind),
        word_(word),
        chain_(kLineBits, word, 1.0),
        step_(
            chain_.Committee(kind == FilterKind::kClassic ? static_cast<std::uint64_t>(word) : 1)),
        rates_{0.0} {}

  double At(std::uint64_t words) {
    while (words >= rates_.size() && rates_.back() < kFull) rates_.push_back(Next());
    return words < rates_.size() ? rates_[words] : 1.0;
  }

 private:
  double Next() {
    const bool classic = kind_ == FilterKind::kClassic;
    for (int ball = 0; ball < (classic ? 1 : word_); ++ball) chain_.AddOne(step_);
    return std::min(1.0, classic ? chain_.AllOnes(word_) : chain_.AllDrawsOne(word_));
  }

  FilterKind kind_;
  int word_;
  RateChain chain_;
  PositiveChain step_;
  std::vector<double> rates_;
};

// The weights of a unimodal distribution from its mode outwards, until what is left in the tails is
// below `cut` of the whole. They add up to one.
struct Weights {
  std::uint64_t first = 0;
  std::vector<double> values;

  std::uint64_t End() const { return first + values.size(); }
  double At(std::uint64_t i) const { return i < first || i >= End() ? 0.0 : values[i - first]; }
};

// up(i) is P(i+1) / P(i).
template <typename Ratio>
Weights WeightsAround(std::uint64_t mode, double cut, Ratio up) {
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

Weights BinomialWeights(std::uint64_t trials, double p, double cut) {
  const auto n = static_cast<double>(trials);
  const auto mode = static_cast<std::uint64_t>(std::min(n, std::floor((n + 1.0) * p)));
  return WeightsAround(mode, cut, [=](std::uint64_t i) {
    const auto x = static_cast<double>(i);
    return x >= n ? 0.0 : (n - x) / (x + 1.0) * (p / (1.0 - p));
  });
}

Weights PoissonWeights(double mean, double cut) {
  return WeightsAround(static_cast<std::uint64_t>(mean), cut,
                       [=](std::uint64_t i) { return mean / (static_cast<double>(i) + 1.0); });
}

// By logarithms, since the binomial coefficient alone may overflow; accurate enough for kNegligible
// at the few hundred trials of a line.
double BinomialProbability(std::uint64_t trials, double p, std::uint64_t successes) {
  const auto n = static_cast<double>(trials);
  const auto s = static_cast<double>(successes);
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(s + 1.0) - std::lgamma(n - s + 1.0) +
                  s * std::log(p) + (n - s) * std::log1p(-p));
}

// A load of `mean` that leaves every line full, far beyond any fluctuation.
bool IsSaturated(double mean, WordRates& rates) {
  const double low = mean - 40.0 * std::sqrt(mean) - 40.0;
  return low > 0.0 && rates.At(static_cast<std::uint64_t>(low)) == 1.0;
}

// A lower bound of the mean rate of a line whose load has this mean: the rate grows with the load,
// and a binomial load is at least its mean, rounded down, about every second time.
double LeastMeanRate(double mean, WordRates& rates) {
  if (mean < 1.0) return 0.5 * mean * rates.At(1);
  return 0.25 * rates.At(static_cast<std::uint64_t>(mean));
}

double OneLineRate(FilterKind kind, std::uint64_t lines, std::uint64_t keys, int probes) {
  WordRates rates(kind, probes);
  if (lines == 1) return rates.At(keys);
  const double share = 1.0 / static_cast<double>(lines);
  const double mean = static_cast<double>(keys) * share;
  if (IsSaturated(mean, rates)) return 1.0;
  const Weights load = BinomialWeights(keys, share, kNegligible * LeastMeanRate(mean, rates));
  double rate = 0.0;
  for (std::uint64_t j = load.first; j < load.End(); ++j) rate += load.At(j) * rates.At(j);
  return rate;
}

// The sum of word[i] * word[low + high - i] over low <= i <= high: every pair twice, the middle
// once. Several sums at a time, so that the processor need not wait for each addition.
double SymmetricSum(const std::vector<double>& word, std::uint64_t low, std::uint64_t high) {
  const std::uint64_t pairs = (high - low + 1) / 2;
  const double* up = word.data() + low;
  const double* down = word.data() + high;
  double sums[4] = {};
  std::uint64_t i = 0;
  for (; i + 4 <= pairs; i += 4, up += 4, down -= 4) {
    sums[0] += up[0] * down[0];
    sums[1] += up[1] * down[-1];
    sums[2] += up[2] * down[-2];
    sums[3] += up[3] * down[-3];
  }
  for (; i < pairs; ++i) sums[0] += *up++ * *down--;
  const double middle = up == down ? *up * *up : 0.0;
  return 2.0 * ((sums[0] + sums[1]) + (sums[2] + sums[3])) + middle;
}

// The rate of a query whose two lines lie in a page of `page` lines.
//
// W keys, W ~ Binomial(n, .), have a word in at least one of the two lines. C of them, C ~
// Binomial(W, both), have one in both; each of the others is in either line with probability 1/2.
// So the loads are C + I and C + W - C - I with I ~ Binomial(W - C, 1/2), and I and W - C - I are
// distributed as two independent Poisson variables given their sum: the sum over I is a
// convolution.
double PageRate(WordRates& rates, std::uint64_t lines, std::uint64_t page, std::uint64_t keys) {
  const auto l = static_cast<double>(page);
  const double both = 1.0 / (2.0 * l - 3.0);
  const double either = std::min(1.0, (4.0 - 2.0 / (l - 1.0)) / static_cast<double>(lines));
  const double mean = static_cast<double>(keys) * either;
  if (IsSaturated(mean / 2.0, rates)) return 1.0;

  // Loads of one page are correlated positively, and with few keys most hits come from one key.
  const double least = std::max(std::pow(LeastMeanRate(mean / 2.0, rates), 2),
                                0.5 * std::min(1.0, mean) * both * std::pow(rates.At(1), 2));
  const double cut = kNegligible * least;
  // With these probabilities at one, all keys touch the lines, or all touch both.
  const Weights touching = either < 1.0 ? BinomialWeights(keys, either, cut) : Weights{keys, {1.0}};
  if (both == 1.0) {
    double rate = 0.0;
    for (std::uint64_t w = touching.first; w < touching.End(); ++w) {
      rate += touching.At(w) * rates.At(w) * rates.At(w);
    }
    return rate;
  }
  const double coin_mean = std::max(mean * (1.0 - both) / 2.0, 0.5);
  const Weights coin = PoissonWeights(coin_mean, cut);
  const Weights coins = PoissonWeights(2.0 * coin_mean, 1e-300);

  double rate = 0.0;
  std::vector<double> word(coin.values.size());
  for (std::uint64_t c = 0; c < touching.End(); ++c) {
    for (std::uint64_t i = 0; i < word.size(); ++i) {
      word[i] = coin.values[i] * rates.At(c + coin.first + i);
    }
    const std::uint64_t least_touching = std::max(touching.first, c);
    double tail = 0.0;
    double both_given = BinomialProbability(least_touching, both, c);  // P(C = c | W = w)
    for (std::uint64_t w = least_touching; w < touching.End(); ++w) {
      const std::uint64_t t = w - c;
      const double weight = touching.At(w) * both_given;
      both_given *= (1.0 - both) * static_cast<double>(w + 1) / static_cast<double>(t + 1);
      tail += weight;
      if (weight <= cut || t < 2 * coin.first) continue;
      const std::uint64_t sum = t - 2 * coin.first;
      const std::uint64_t low = sum < word.size() ? 0 : sum - word.size() + 1;
      const std::uint64_t high = std::min<std::uint64_t>(sum, word.size() - 1);
      const double convolution = SymmetricSum(word, low, high);
      rate += weight * convolution / coins.At(t);
    }
    const bool past_mode = static_cast<double>(c) > mean * both;
    if (past_mode && tail <= cut) break;
  }
  return rate;
}

double TwoLineRate(FilterKind kind, std::uint64_t lines, std::uint64_t keys, int probes) {
  WordRates rates(kind, probes / 2);
  const std::uint64_t pages = std::max<std::uint64_t>(1, lines / kPageLines);
  const std::uint64_t last = lines - (pages - 1) * kPageLines;
  const double last_share = static_cast<double>(last) / static_cast<double>(lines);
  double rate = last_share * PageRate(rates, lines, last, keys);
  if (pages > 1) rate += (1.0 - last_share) * PageRate(rates, lines, kPageLines, keys);
  return rate;
}

}  // namespace

double LineFalsePositiveRate(Layout layout, std::uint64_t bits, std::uint64_t keys, int probes) {
  const std::uint64_t lines = bits / kLineBits;
  const double rate = layout.placement == BitPlacement::kOneLine
                          ? OneLineRate(layout.kind, lines, keys, probes)
                          : TwoLineRate(layout.kind, lines, keys, probes);
  return std::min(1.0, rate);
}

}  // namespace exactbloom::analysis
