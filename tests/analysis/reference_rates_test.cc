// Published rates.
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
