#include "statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "exactbloom/false_positive_rate.h"
#include "src/filter/block_format.h"
#include "support/rate_deviation.h"

namespace exactbloom {
namespace {

std::uint64_t CountOnes(const unsigned char* bytes, std::uint64_t bits) {
  std::uint64_t ones = 0;
  for (std::uint64_t i = 0; i < bits / 8; ++i) ones += std::bitset<8>(bytes[i]).count();
  return ones;
}

// Excess dispersions below it change no p-value, and their beta distributions are too narrow for
// floating point.
constexpr double kNoExcess = 1e-6;

// A term this much smaller than the sum, and all after it, are negligible.
constexpr double kNegligible = 1e-17;

class CountDistribution {
 public:
  explicit CountDistribution(const ExpectedCount& expected)
      : trials_(static_cast<double>(expected.trials)), rate_(expected.rate) {
    const double excess = expected.dispersion - 1;
    if (excess < kNoExcess || trials_ < 2) return;
    // Queries are correlated by 1 / (a + b + 1).
    weight_ = (trials_ - 1) / excess - 1;
    is_binomial_ = false;
  }

  // P(count + 1) / P(count).
  double Ratio(double count) const {
    const double choices = (trials_ - count) / (count + 1);
    if (is_binomial_) return choices * rate_ / (1 - rate_);
    return choices * (rate_ * weight_ + count) / ((1 - rate_) * weight_ + trials_ - count - 1);
  }

  double trials() const { return trials_; }

 private:
  double trials_;
  double rate_;
  double weight_ = 0.0;  // a + b of the beta distribution, whose mean is the rate
  bool is_binomial_ = true;
};

// The quantile of 0.001 / 800.
constexpr double kLeastPValue = 6e-7;

std::vector<double> PValuesIfRatesWere(double factor, const std::vector<MeasuredRate>& rates) {
  std::vector<double> p_values;
  for (const MeasuredRate& measured : rates) {
    const ExpectedCount expected{measured.absent, measured.rate * factor, measured.dispersion};
    p_values.push_back(RandomisedPValue(measured.false_positives, expected, measured.lot));
  }
  return p_values;
}

void AppendRows(const std::vector<MeasuredRate>& rates, std::uint64_t seed) {
  const char* name = std::getenv("EXACTBLOOM_RATE_RESULTS");
  if (name == nullptr) return;
  std::ofstream file(name, std::ios::app);
  file.precision(std::numeric_limits<double>::max_digits10);
  if (file.tellp() == 0) {
    file << "test,seed,kind,bits,keys,probes,bits_per_key,filters,present,found,absent,"
            "false_positives,rate,dispersion,lot\n";
  }
  const auto& test = *testing::UnitTest::GetInstance()->current_test_info();
  for (const MeasuredRate& row : rates) {
    file << test.test_suite_name() << '.' << test.name() << ',' << seed << ',' << row.geometry
         << ',' << row.filters << ',' << row.present << ',' << row.found << ',' << row.absent << ','
         << row.false_positives << ',' << row.rate << ',' << row.dispersion << ',' << row.lot
         << '\n';
  }
  EXPECT_TRUE(file.flush()) << name;
}

}  // namespace

void ExpectExactRate(std::uint64_t false_positives, std::uint64_t asked, BloomKind kind,
                     const FilterSize& size, std::uint64_t keys) {
  const double rate = size.false_positive_rate;
  const double dispersion =
      support::Dispersion(rate, support::RelativeRateDeviation(kind, size, keys), asked);
  const Interval interval = *WilsonInterval(false_positives, asked, kZ999, dispersion);
  EXPECT_TRUE(interval.Contains(rate))
      << rate << " outside " << interval.low << " .. " << interval.high;
}

double RateGivenArray(std::string_view block) {
  const filter::DecodedBloom decoded = filter::DecodeBloom(block);
  const filter::BloomDescription& filter = decoded.description;
  return FalsePositiveRateGivenFill(filter.kind, filter.bits, CountOnes(decoded.array, filter.bits),
                                    filter.probes);
}

double RandomisedPValue(std::uint64_t count, const ExpectedCount& expected, double lot) {
  const CountDistribution distribution(expected);
  const auto observed = static_cast<double>(count);
  // All in units of the probability of the observed count.
  double fewer = 0.0;
  double term = 1.0;
  for (double c = observed; c > 0 && term > kNegligible * (1 + fewer); --c) {
    term /= distribution.Ratio(c - 1);
    fewer += term;
  }
  double more = 0.0;
  term = 1.0;
  for (double c = observed; c < distribution.trials() && term > kNegligible * (1 + more); ++c) {
    term *= distribution.Ratio(c);
    more += term;
  }
  return (fewer + lot) / (fewer + 1 + more);
}

double AndersonDarling(std::vector<double> p_values) {
  std::sort(p_values.begin(), p_values.end());
  const auto count = static_cast<double>(p_values.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < p_values.size(); ++i) {
    const double weight = 2 * static_cast<double>(i) + 1;
    sum += weight * (std::log(p_values[i]) + std::log1p(-p_values[p_values.size() - 1 - i]));
  }
  return -count - sum / count;
}

double DrawLot(std::mt19937_64& random) {
  return (static_cast<double>(random() >> 12) + 0.5) * 0x1p-52;
}

void ExpectUniform(const std::vector<MeasuredRate>& rates, double resolution, std::uint64_t seed) {
  const std::vector<double> p_values = PValuesIfRatesWere(1.0, rates);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    EXPECT_EQ(rates[i].found, rates[i].present) << rates[i].geometry;
    EXPECT_NEAR(p_values[i], 0.5, 0.5 - kLeastPValue) << rates[i].geometry;
  }
  EXPECT_LT(AndersonDarling(p_values), kAndersonDarling9999);
  for (const double factor : {1.0 + resolution, 1.0 - resolution}) {
    EXPECT_GT(AndersonDarling(PValuesIfRatesWere(factor, rates)), kAndersonDarling9999) << factor;
  }
  AppendRows(rates, seed);
}

}  // namespace exactbloom
