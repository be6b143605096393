// The paper's recursions (11) to (13), (55) and (63) as a second oracle. They subtract, so they are
// evaluated in rational arithmetic, or in many digits.
#include <gtest/gtest.h>

#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/theory/occupancy.h"
#include "oracle.h"

namespace exactbloom {
namespace {

using oracle::Real;

// The moment r of N balls in m bits, for all r of one kind of moment: E_m[r + 1] is
//   raw        m E_m[r] - m V E_(m-1)[r]                           (11)
//   binomial   ((m - r) E_m[r] - m V E_(m-1)[r]) / (r + 1)         (12)
//   factorial  (m - r) E_m[r] - m V E_(m-1)[r]                     (13)
// with V = (1 - 1/m)^N.
enum class Moment { kRaw, kBinomial, kFactorial };

Real Recursion(Moment moment, std::uint64_t bits, std::uint64_t balls, int most) {
  if (most == 0) return 1;
  // values[i] is the moment for bits - i.
  std::vector<Real> values(static_cast<std::size_t>(most) + 1, Real(1));
  for (int r = 0; r < most; ++r) {
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(most - r); ++i) {
      const Real m = bits - i;
      const Real zero = oracle::Power(Real(1) - Real(1) / m, balls);
      const Real kept = moment == Moment::kRaw ? m : Real(m - r);
      values[i] = kept * values[i] - m * zero * values[i + 1];
      if (moment == Moment::kBinomial) values[i] /= r + 1;
    }
  }
  return values[0];
}

TEST(Recursions, GiveTheMomentsOfClassicOccupancy) {
  for (const std::uint64_t bits : {20ULL, 1000ULL, 1'000'000ULL}) {
    for (const std::uint64_t balls : {bits / 10, bits}) {
      const auto occupancy = Occupancy::OfUnion(bits, {{1, balls}});
      for (const int r : {0, 1, 2, 3, 7, 12}) {
        SCOPED_TRACE(testing::Message() << "m=" << bits << " N=" << balls << " r=" << r);
        const auto expect = [&](double value, Moment moment) {
          const Real truth = Recursion(moment, bits, balls, r);
          if (abs(truth) < 1e-300) {
            EXPECT_EQ(value, 0.0);
          } else {
            EXPECT_LE(oracle::RelativeError(value, truth), 1e-12);
          }
        };
        expect(occupancy->RawMoment(r), Moment::kRaw);
        expect(occupancy->BinomialMoment(r), Moment::kBinomial);
        expect(occupancy->FactorialMoment(r), Moment::kFactorial);
      }
    }
  }
}

// (55): e_j(m) = e_(j-1)(m) - (1 - 1/m)^(N+j-1) e_(j-1)(m-1), e_0 = 1.
Real StandardRecursion(std::uint64_t bits, std::uint64_t keys, int probes) {
  const auto k = static_cast<std::uint64_t>(probes);
  std::vector<Real> rates(k + 1, Real(1));
  std::vector<Real> zero;  // (1 - 1/m)^(N+j-1) for m = bits - i
  for (std::uint64_t i = 0; i < k; ++i) {
    zero.push_back(oracle::Power(Real(1) - Real(1) / Real(bits - i), keys * k));
  }
  for (std::uint64_t j = 1; j <= k; ++j) {
    for (std::uint64_t i = 0; i + j <= k; ++i) {
      rates[i] -= zero[i] * rates[i + 1];
      zero[i] -= zero[i] / Real(bits - i);
    }
  }
  return rates[0];
}

// (63): q_j(m) = q_(j-1)(m) - (C(m-1,k) / C(m,k))^n q_(j-1)(m-1), q_0 = 1.
Real ClassicRecursion(std::uint64_t bits, std::uint64_t keys, int probes) {
  const auto k = static_cast<std::uint64_t>(probes);
  std::vector<Real> rates(k + 1, Real(1));
  std::vector<Real> zero;
  for (std::uint64_t i = 0; i < k; ++i) {
    zero.push_back(oracle::Power(Real(1) - Real(k) / Real(bits - i), keys));
  }
  for (std::uint64_t j = 1; j <= k; ++j) {
    for (std::uint64_t i = 0; i + j <= k; ++i) rates[i] -= zero[i] * rates[i + 1];
  }
  return rates[0];
}

void ExpectRates(std::uint64_t bits, std::uint64_t keys, int probes) {
  SCOPED_TRACE(testing::Message() << "m=" << bits << " n=" << keys << " k=" << probes);
  EXPECT_LE(oracle::RelativeError(FalsePositiveRate(BloomKind::kStandard, bits, keys, probes),
                                  StandardRecursion(bits, keys, probes)),
            1e-12);
  EXPECT_LE(oracle::RelativeError(FalsePositiveRate(BloomKind::kClassic, bits, keys, probes),
                                  ClassicRecursion(bits, keys, probes)),
            1e-12);
}

TEST(Recursions, GiveTheRatesOfBothKinds) {
  for (const std::uint64_t bits : {64ULL, 240ULL, 10'000ULL, 1'000'000'000ULL}) {
    for (const int probes : {1, 2, 7, 20}) {
      for (const std::uint64_t keys : {std::uint64_t{1}, bits / 10}) {
        ExpectRates(bits, keys, probes);
      }
    }
  }
}

TEST(Recursions, GiveTheRatesOfMoreProbesThanFiltersHave) {
  ExpectRates(1024, 5, 124);
  ExpectRates(1024, 5, 142);
  for (const std::uint64_t bits : {1024ULL, 10'000ULL, 1'000'000'000'000ULL}) {
    ExpectRates(bits, bits / 100, kMaxAnalysisProbes);
  }
}

}  // namespace
}  // namespace exactbloom
