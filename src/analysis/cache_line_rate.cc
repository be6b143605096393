// The rate of filters whose keys each have one cache line.
#include <algorithm>
#include <cmath>
#include <limits>

#include "exactbloom/false_positive_rate.h"
#include "rate_chain.h"
#include "scaled_rate.h"

namespace exactbloom {
namespace {

using analysis::RateChain;

// The numbers of keys that lie in a line, with Binomial(n, 1/lines), one after the other.
class KeysOfLine {
 public:
  // Starts at the least number that counts, whose probability is some 1e-25 of the largest one.
  KeysOfLine(std::uint64_t keys, std::uint64_t lines)
      : all_(keys), odds_(1.0 / (static_cast<double>(lines) - 1.0)), keys_(keys / lines) {
    constexpr double kNegligible = 1e-25;
    while (keys_ > 0 && weight_ > kNegligible) {
      --keys_;
      weight_ /= Ratio();
    }
  }

  std::uint64_t Keys() const { return keys_; }
  // The probability, but for a factor that all have in common.
  double Weight() const { return weight_; }
  bool IsLast() const { return keys_ == all_; }
  // P(j + 1) / P(j)
  double Ratio() const {
    return static_cast<double>(all_ - keys_) / static_cast<double>(keys_ + 1) * odds_;
  }
  void Advance() {
    weight_ *= Ratio();
    ++keys_;
  }

 private:
  std::uint64_t all_;
  double odds_;
  std::uint64_t keys_;
  double weight_ = 1.0;
};

// Whether even lines with far fewer keys than others have all bits set.
bool AllLinesAreFull(double keys_of_line, int probes) {
  constexpr double kFullLoad = 45.0;  // draws of a bit, which is zero with e^-45
  constexpr double kDeviations = 15.0;
  const double fewest = keys_of_line - kDeviations * std::sqrt(keys_of_line);
  return fewest * probes > kFullLoad * static_cast<double>(kCacheLineBits);
}

}  // namespace

double CacheLineFalsePositiveRate(std::uint64_t lines, std::uint64_t keys, int probes) {
  if (lines < 1 || lines > analysis::kMaxCount / kCacheLineBits ||
      !analysis::IsGeometry(BloomKind::kStandard, kCacheLineBits, keys, probes)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (keys == 0) return 0.0;
  if (lines == 1) return FalsePositiveRate(BloomKind::kStandard, kCacheLineBits, keys, probes);
  const double mean = static_cast<double>(keys) / static_cast<double>(lines);
  if (AllLinesAreFull(mean, probes)) return 1.0;

  constexpr double kEnough = 1e-17;
  const auto k = static_cast<std::uint64_t>(probes);
  KeysOfLine line(keys, lines);
  RateChain chain(kCacheLineBits, probes, 1.0);
  chain.AddCommittees(line.Keys() * k, 1);
  double sum = 0.0;
  double weights = 0.0;
  for (;; line.Advance(), chain.AddCommittees(k, 1)) {
    const double rate = line.Keys() == 0 ? 0.0 : chain.AllDrawsOne(probes);
    sum += line.Weight() * rate;
    weights += line.Weight();
    // What is left falls faster than a geometric series.
    const double ratio = line.Ratio();
    if (line.IsLast() || (ratio < 0.5 && line.Weight() <= kEnough * sum)) break;
  }
  return std::min(1.0, sum / weights);
}

}  // namespace exactbloom
