// Published rates, and those with lines = 1, which filter_rate_test compares with those of filters.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "exactbloom/false_positive_rate.h"

namespace exactbloom {
namespace {

// Figures of an independent prototype.
TEST(LineRate, ReproducesTheReferenceRates) {
  const auto rate = [](std::uint64_t bits_per_key, int probes) {
    const std::uint64_t keys = 512'000;
    return FalsePositiveRate({FilterKind::kClassic, 1}, keys * bits_per_key, keys, probes);
  };
  EXPECT_NEAR(rate(10, 6), 0.00955, 5e-6);
  EXPECT_NEAR(rate(20, 11), 1.91e-4, 5e-7);
}

TEST(LineRate, IsTheRateOfASmallFilterWhenThereIsOneLine) {
  for (const FilterKind kind : {FilterKind::kStandard, FilterKind::kClassic}) {
    for (const std::uint64_t keys : {1, 10, 60}) {
      EXPECT_NEAR(FalsePositiveRate({kind, 1}, kLineBits, keys, 7) /
                      FalsePositiveRate(kind, kLineBits, keys, 7),
                  1.0, 1e-13);
    }
  }
}

TEST(LineRate, OfOneKeyIsTheChanceToDrawItsBits) {
  const std::uint64_t lines = 6400;
  const double word = 1.0 / (512.0 * 511 * 510 / 6);  // 1 / C(512, 3)
  EXPECT_NEAR(FalsePositiveRate({FilterKind::kClassic, 1}, lines * kLineBits, 1, 3) * lines / word,
              1.0, 1e-9);
}

TEST(LineRate, TendsToOneAsTheLinesFill) {
  double before = 0.0;
  for (std::uint64_t keys = 1; keys <= 1'000'000'000'000; keys *= 10) {
    const double rate = FalsePositiveRate({FilterKind::kClassic, 1}, 640 * kLineBits, keys, 6);
    EXPECT_GE(rate, before);
    EXPECT_LE(rate, 1.0);
    before = rate;
  }
  EXPECT_NEAR(before, 1.0, 1e-12);
}

TEST(LineRate, AnswersNonsenseWithNaN) {
  const auto rate = [](Layout layout, std::uint64_t bits) {
    return FalsePositiveRate(layout, bits, 10, 4);
  };
  EXPECT_TRUE(std::isnan(rate({FilterKind::kClassic, 2}, 5120)));
  EXPECT_TRUE(std::isnan(rate({FilterKind::kClassic, -1}, 5120)));
  EXPECT_TRUE(std::isnan(rate({FilterKind::kClassic, 1}, 5121)));
  EXPECT_TRUE(std::isnan(rate({FilterKind::kClassic, 1}, 0)));
  EXPECT_EQ(FalsePositiveRate({FilterKind::kClassic, 1}, 5120, 0, 4), 0.0);
}

struct PrintedRate {
  int bits_per_key;
  int probes;
  double rate;
  bool misprint;
};

std::vector<PrintedRate> SummaryCacheTables() {
  std::ifstream file(TEST_DATA "/summary_cache_false_positive_rates.csv");
  std::vector<PrintedRate> rates;
  for (std::string line; std::getline(file, line);) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    int bits_per_key = 0;
    if (!(fields >> bits_per_key)) continue;
    std::string rate;
    for (int probes = 1; fields >> rate; ++probes) {
      rates.push_back({bits_per_key, probes, std::stod(rate), rate.back() == '!'});
    }
  }
  return rates;
}

// Tables 3 to 5 of Fan, Cao, Almeida, Broder (1998), to their three digits.
TEST(PublishedTables, SummaryCacheRatesAreTheAsymptoticModelButForTwoMisprints) {
  const std::vector<PrintedRate> rates = SummaryCacheTables();
  ASSERT_EQ(rates.size(), 411U);
  int misprints = 0;
  for (const PrintedRate& printed : rates) {
    const double model = AsymptoticFalsePositiveRate(
        static_cast<std::uint64_t>(printed.bits_per_key), 1, printed.probes);
    const double error = std::abs(printed.rate / model - 1.0);
    SCOPED_TRACE(testing::Message() << "m/n=" << printed.bits_per_key << " k=" << printed.probes);
    if (printed.misprint) {
      ++misprints;
      EXPECT_GT(error, 0.01);
    } else {
      EXPECT_LT(error, 0.006);
    }
  }
  EXPECT_EQ(misprints, 2);
}

}  // namespace
}  // namespace exactbloom
