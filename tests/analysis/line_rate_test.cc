// The cache-line layouts: their exact rates against a simulation that follows layout.h word by
// word.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/theory/confidence_interval.h"
#include "simulated_filter.h"

namespace exactbloom {
namespace {

struct Simulation {
  Layout layout;
  std::uint64_t lines;
  std::uint64_t keys;
  int probes;
  int filters;
  int queries_per_filter;
};

// The queries of one filter share its fill; the filters are independent. So the interval is that of
// the mean of the filters' rates.
void ExpectRateInInterval(const Simulation& s) {
  SCOPED_TRACE(testing::Message() << "kind=" << static_cast<int>(s.layout.kind)
                                  << " lines=" << s.layout.Lines() << " B=" << s.lines
                                  << " n=" << s.keys << " k=" << s.probes);
  Random random(20190813);
  const std::uint64_t bits = s.lines * kLineBits;
  double sum = 0.0;
  double squares = 0.0;
  for (int f = 0; f < s.filters; ++f) {
    SimulatedFilter filter(s.layout, bits, s.probes, random);
    for (std::uint64_t key = 0; key < s.keys; ++key) filter.AddKey();
    int hits = 0;
    for (int query = 0; query < s.queries_per_filter; ++query) hits += filter.Hits() ? 1 : 0;
    const double rate = static_cast<double>(hits) / s.queries_per_filter;
    sum += rate;
    squares += rate * rate;
  }
  const double mean = sum / s.filters;
  const double variance = (squares - sum * mean) / (s.filters - 1);
  const double half = kZ999 * std::sqrt(variance / s.filters);
  const double exact = FalsePositiveRate(s.layout, bits, s.keys, s.probes);
  EXPECT_LT(half, 0.02 * exact);  // a wide interval would prove nothing
  EXPECT_NEAR(mean, exact, half) << "relative distance " << mean / exact - 1.0;
}

TEST(LineRateExhaustive, AgreesWithAHundredMillionSimulatedQueriesInOneLine) {
  ExpectRateInInterval({{FilterKind::kClassic, 1}, 300, 15'360, 6, 500, 200'000});
}

TEST(LineRateExhaustive, AgreesWithAHundredMillionSimulatedQueriesInTwoLines) {
  ExpectRateInInterval({{FilterKind::kClassic, 2}, 300, 15'360, 6, 500, 200'000});
}

TEST(LineRate, AgreesWithSimulationOfTheStandardKind) {
  ExpectRateInInterval({{FilterKind::kStandard, 1}, 70, 3000, 5, 1000, 10'000});
  ExpectRateInInterval({{FilterKind::kStandard, 2}, 70, 3000, 6, 1000, 10'000});
}

TEST(LineRate, AgreesWithSimulationOfFiltersOfAFewLines) {
  ExpectRateInInterval({{FilterKind::kClassic, 1}, 3, 200, 5, 4000, 2500});
  ExpectRateInInterval({{FilterKind::kClassic, 2}, 2, 150, 4, 4000, 2500});
  ExpectRateInInterval({{FilterKind::kClassic, 2}, 3, 200, 4, 4000, 2500});
  ExpectRateInInterval({{FilterKind::kClassic, 2}, 5, 300, 6, 4000, 2500});
}

// theory.md's reference figures, independent prototypes: lines drawn from the whole filter.
TEST(LineRate, ReproducesTheReferenceRates) {
  const auto rate = [](int lines, std::uint64_t bits_per_key, int probes) {
    const std::uint64_t keys = 512'000;
    return FalsePositiveRate({FilterKind::kClassic, lines}, keys * bits_per_key, keys, probes);
  };
  EXPECT_NEAR(rate(1, 10, 6), 0.00955, 5e-6);
  EXPECT_NEAR(rate(2, 10, 6), 0.00861, 1.5e-5);
  EXPECT_NEAR(rate(1, 20, 11), 1.91e-4, 5e-7);
  EXPECT_NEAR(rate(2, 20, 12), 9.12e-5, 7e-7);  // one page's lines: a little above
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

// All keys touch both lines, so the two words are independent small filters.
TEST(LineRate, IsASquareWhenThereAreTwoLines) {
  for (const FilterKind kind : {FilterKind::kStandard, FilterKind::kClassic}) {
    const double word = FalsePositiveRate(kind, kLineBits, 60, 4);
    EXPECT_NEAR(FalsePositiveRate({kind, 2}, 2 * kLineBits, 60, 8) / (word * word), 1.0, 1e-9);
  }
}

TEST(LineRate, OfOneKeyIsTheChanceToDrawItsWords) {
  const std::uint64_t lines = 6400;
  const double word = 1.0 / (512.0 * 511 * 510 / 6);  // 1 / C(512, 3)
  EXPECT_NEAR(FalsePositiveRate({FilterKind::kClassic, 1}, lines * kLineBits, 1, 3) * lines / word,
              1.0, 1e-9);
  // The query's two lines are the key's, in either order.
  EXPECT_NEAR(FalsePositiveRate({FilterKind::kClassic, 2}, lines * kLineBits, 1, 6) * lines * 63 /
                  (2.0 * word * word),
              1.0, 1e-9);
}

TEST(LineRate, TendsToOneAsTheLinesFill) {
  for (const int lines : {1, 2}) {
    double before = 0.0;
    for (std::uint64_t keys = 1; keys <= 1'000'000'000'000; keys *= 10) {
      const double rate =
          FalsePositiveRate({FilterKind::kClassic, lines}, 640 * kLineBits, keys, 6);
      EXPECT_GE(rate, before);
      EXPECT_LE(rate, 1.0);
      before = rate;
    }
    EXPECT_NEAR(before, 1.0, 1e-12);
  }
}

TEST(LineRate, AnswersNonsenseWithNaN) {
  const auto rate = [](Layout layout, std::uint64_t bits, int probes) {
    return FalsePositiveRate(layout, bits, 10, probes);
  };
  EXPECT_TRUE(std::isnan(rate({FilterKind::kClassic, 3}, 5120, 4)));
  EXPECT_TRUE(std::isnan(rate({FilterKind::kClassic, -1}, 5120, 4)));
  EXPECT_TRUE(std::isnan(rate({FilterKind::kClassic, 1}, 5121, 4)));
  EXPECT_TRUE(std::isnan(rate({FilterKind::kClassic, 2}, 512, 4)));
  EXPECT_TRUE(std::isnan(rate({FilterKind::kClassic, 2}, 5120, 5)));
  EXPECT_EQ(FalsePositiveRate({FilterKind::kClassic, 2}, 5120, 0, 4), 0.0);
}

}  // namespace
}  // namespace exactbloom
