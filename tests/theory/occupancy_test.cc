#include "exactbloom/theory/occupancy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <tuple>

#include "enumeration.h"
#include "exactbloom/false_positive_rate.h"
#include "oracle.h"

namespace exactbloom {
namespace {

constexpr double kMomentError = 1e-12;
constexpr double kMassError = 1e-10;
constexpr BloomKind kKinds[] = {BloomKind::kStandard, BloomKind::kClassic};

// What the oracle keeps of zero is below 1e-1000.
void ExpectNear(double value, const oracle::Real& truth, double error) {
  const oracle::Real tenth = 0.1;
  if (abs(truth) < oracle::Power(tenth, 1000)) {
    EXPECT_EQ(value, 0.0);
  } else if (abs(truth) < oracle::Power(tenth, 300)) {
    EXPECT_LT(std::abs(value), 2e-300);
  } else {
    EXPECT_LE(oracle::RelativeError(value, truth), error) << value << " instead of " << truth;
  }
}

void ExpectNear(double value, const mpq_class& truth, double error) {
  ExpectNear(value, oracle::Real(truth), error);
}

// The mean of the product of x - i step, i = 0 .. factors - 1, in an enumerated distribution.
mpq_class MeanProduct(const std::vector<mpq_class>& distribution, int factors, int step) {
  mpq_class sum = 0;
  for (std::size_t x = 0; x < distribution.size(); ++x) {
    mpq_class product = distribution[x];
    for (int i = 0; i < factors; ++i) product *= static_cast<long>(x) - i * step;
    sum += product;
  }
  return sum;
}

void ExpectDistribution(const Occupancy& occupancy, const std::vector<mpq_class>& truth) {
  const MassFunction pmf = *occupancy.Pmf();
  for (std::size_t x = 0; x < truth.size(); ++x) ExpectNear(pmf.At(x), truth[x], 1e-13);
  const mpq_class mean = MeanProduct(truth, 1, 0);
  ExpectNear(occupancy.Mean(), mean, kMomentError);
  ExpectNear(occupancy.Variance(), mpq_class(MeanProduct(truth, 2, 0) - mean * mean), kMomentError);
  mpq_class factorial = 1;
  for (int r = 0; r <= 5; ++r) {
    if (r > 1) factorial *= r;
    const mpq_class falling = MeanProduct(truth, r, 1);
    ExpectNear(occupancy.FactorialMoment(r), falling, kMomentError);
    ExpectNear(occupancy.BinomialMoment(r), mpq_class(falling / factorial), kMomentError);
    ExpectNear(occupancy.RawMoment(r), MeanProduct(truth, r, 0), kMomentError);
  }
}

oracle::FilterContents Contents(int bits, const Department& department) {
  oracle::FilterContents contents(bits);
  for (const Committees& group : department) {
    for (std::uint64_t i = 0; i < group.count; ++i) {
      contents.AddCommittee(static_cast<int>(group.size));
    }
  }
  return contents;
}

std::vector<mpq_class> Enumerated(int bits, const std::vector<Department>& departments) {
  oracle::FilterContents contents = Contents(bits, departments.front());
  for (std::size_t d = 1; d < departments.size(); ++d) {
    contents.IntersectWith(Contents(bits, departments[d]));
  }
  return contents.OnesDistribution();
}

void ExpectEnumeration(int bits, const std::vector<Department>& departments) {
  SCOPED_TRACE(testing::Message() << "m=" << bits << " " << departments.size() << " departments");
  const auto occupancy = Occupancy::OfIntersection(static_cast<std::uint64_t>(bits), departments);
  ASSERT_TRUE(occupancy);
  ExpectDistribution(*occupancy, Enumerated(bits, departments));
}

// Committees of several sizes, and intersections.
TEST(Occupancy, OfAnyDepartmentsEqualsEnumeration) {
  const std::vector<std::vector<Department>> cases = {
      {{{1, 2}, {3, 1}}},
      {{{2, 2}, {1, 3}, {4, 1}}},
      {{{4, 1}, {5, 1}}},
      {{{3, 1}}, {{4, 1}}},
      {{{3, 1}}, {{4, 1}}, {{5, 1}}},
      {{{5, 1}}, {{5, 1}}, {{5, 1}}, {{4, 1}}},
      {{{1, 3}}, {{2, 2}}},
      {{{2, 2}, {1, 1}}, {{3, 2}}, {{1, 4}}},
      {{{2, 1}}, {}},
  };
  for (int bits = 1; bits <= 8; ++bits) {
    for (std::uint64_t size = 1; size <= static_cast<std::uint64_t>(bits); ++size) {
      for (const std::uint64_t count : {0, 1, 2, 5}) ExpectEnumeration(bits, {{{size, count}}});
    }
    for (std::size_t i = 0; bits >= 5 && i < cases.size(); ++i) ExpectEnumeration(bits, cases[i]);
  }
}

TEST(Occupancy, OfFiltersEqualsEnumeration) {
  for (const BloomKind kind : kKinds) {
    for (int bits = 1; bits <= 7; ++bits) {
      for (int probes = 1; probes <= bits; ++probes) {
        for (std::uint64_t keys = 0; keys <= 3; ++keys) {
          const auto k = static_cast<std::uint64_t>(probes);
          const auto m = static_cast<std::uint64_t>(bits);
          const auto department = [&](std::uint64_t n) -> Department {
            return kind == BloomKind::kClassic ? Department{{k, n}} : Department{{1, n * k}};
          };
          ExpectDistribution(*Occupancy::OfFilter(kind, m, keys, probes),
                             Enumerated(bits, {department(keys)}));
          ExpectDistribution(*Occupancy::OfIntersection(kind, m, {keys, 1}, probes),
                             Enumerated(bits, {department(keys), department(1)}));
          const auto moments = MomentsOfOnes(kind, m, keys, probes);
          ASSERT_TRUE(moments);
          EXPECT_EQ(moments->mean, Occupancy::OfFilter(kind, m, keys, probes)->Mean());
          EXPECT_EQ(moments->variance, Occupancy::OfFilter(kind, m, keys, probes)->Variance());
        }
      }
    }
  }
}

// The bits of the shared keys, and those that both filters have besides.
oracle::FilterContents SharedContents(BloomKind kind, int bits, int probes, int shared, int first,
                                      int second) {
  const auto add = [&](oracle::FilterContents& contents, int keys) {
    for (int key = 0; key < keys; ++key) {
      kind == BloomKind::kClassic ? contents.AddCommittee(probes) : contents.AddBalls(probes);
    }
  };
  oracle::FilterContents both(bits);
  add(both, first);
  oracle::FilterContents other(bits);
  add(other, second);
  both.IntersectWith(other);
  add(both, shared);
  return both;
}

TEST(Occupancy, OfFiltersThatShareKeysEqualsEnumeration) {
  for (const BloomKind kind : kKinds) {
    for (int bits = 2; bits <= 6; ++bits) {
      for (int probes = 1; probes <= 3 && probes <= bits; ++probes) {
        for (const auto& [shared, first, second] :
             {std::tuple{1, 1, 1}, {1, 0, 2}, {2, 1, 0}, {1, 2, 1}, {0, 1, 1}}) {
          SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << " m=" << bits
                                          << " k=" << probes << " " << shared << first << second);
          const auto n = [&](int alone) { return static_cast<std::uint64_t>(shared + alone); };
          const auto occupancy = Occupancy::OfIntersection(kind, static_cast<std::uint64_t>(bits),
                                                           {n(first), n(second)}, probes,
                                                           static_cast<std::uint64_t>(shared));
          ASSERT_TRUE(occupancy);
          const auto truth = SharedContents(kind, bits, probes, shared, first, second);
          ExpectDistribution(*occupancy, truth.OnesDistribution());
          ExpectNear(occupancy->FalsePositiveRate(kind, probes), truth.Rate(kind, probes), 1e-12);
        }
      }
    }
  }
}

// Filters that share all keys are one; the rate of one filter is the exact one.
TEST(Occupancy, OfFiltersThatShareAllKeysIsThatOfOne) {
  for (const BloomKind kind : kKinds) {
    for (const int probes : {1, 7, 50}) {
      const auto one = Occupancy::OfFilter(kind, 1'000'000, 90'000, probes);
      const double rate = FalsePositiveRate(kind, 1'000'000, 90'000, probes);
      EXPECT_NEAR(one->FalsePositiveRate(kind, probes) / rate, 1.0, 1e-12);
      const auto same =
          Occupancy::OfIntersection(kind, 1'000'000, {90'000, 90'000}, probes, 90'000);
      EXPECT_NEAR(same->FalsePositiveRate(kind, probes) / rate, 1.0, 1e-12);
      EXPECT_NEAR(same->Mean() / one->Mean(), 1.0, 1e-12);
      EXPECT_NEAR(same->Variance() / one->Variance(), 1.0, 1e-12);
      // Sharing more lies in between.
      const auto some = Occupancy::OfIntersection(kind, 1'000'000, {90'000, 90'000}, probes, 100);
      EXPECT_LT(some->FalsePositiveRate(kind, probes), rate);
    }
  }
  EXPECT_FALSE(Occupancy::OfIntersection(BloomKind::kClassic, 100, {5, 3}, 3, 4));
}

TEST(Occupancy, OfTheWorkedExamplesHasTheirNumbers) {
  const auto expect = [](const Occupancy& occupancy, std::uint64_t first, double whole,
                         const std::vector<double>& parts) {
    const MassFunction pmf = *occupancy.Pmf();
    ASSERT_EQ(pmf.first, first);
    ASSERT_EQ(pmf.values.size(), parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      EXPECT_NEAR(pmf.values[i] * whole, parts[i], 1e-13 * parts[i]);
    }
  };
  const auto classic = Occupancy::OfFilter(BloomKind::kClassic, 10, 2, 3);
  expect(*classic, 3, 120.0, {1, 21, 63, 35});
  EXPECT_NEAR(classic->Mean(), 5.1, 1e-14);
  EXPECT_NEAR(classic->Variance(), 0.49, 1e-14);
  EXPECT_NEAR(classic->RawMoment(2), 26.5, 1e-13);
  const auto standard = Occupancy::OfFilter(BloomKind::kStandard, 10, 2, 3);
  expect(*standard, 1, 100'000.0, {1, 279, 6480, 32760, 45360, 15120});

  const auto shared = Occupancy::OfIntersection(BloomKind::kClassic, 10, {2, 2}, 3);
  EXPECT_NEAR(shared->Mean(), 2.601, 1e-14);
  EXPECT_NEAR(shared->Variance(), 0.92424344, 5e-9);
  EXPECT_NEAR(shared->Pmf()->At(0), 1099.0 / 115'200.0, 1e-15);
  EXPECT_NEAR(Occupancy::OfIntersection(BloomKind::kStandard, 10, {2, 2}, 3)->Mean(), 2.1954754,
              5e-8);
  expect(*Occupancy::OfIntersection(BloomKind::kClassic, 10, {1, 1}, 3), 0, 120.0,
         {35, 63, 21, 1});  // hypergeometric
}

// V_i of a department, in many digits.
oracle::ZeroProbability ZeroOf(std::uint64_t bits, const Department& department) {
  return [=](std::uint64_t i) -> oracle::Real {
    oracle::Real zero = 1;
    for (const Committees& group : department) {
      zero *= oracle::CommitteesZero(bits, group.count, group.size)(i);
    }
    return zero;
  };
}

void ExpectOracleMoments(std::uint64_t bits, const std::vector<Department>& departments) {
  const auto occupancy = Occupancy::OfIntersection(bits, departments);
  ASSERT_TRUE(occupancy);
  const auto moment = [&](std::uint64_t r) {
    oracle::Real product = oracle::Binomial(bits, r);
    for (const Department& department : departments) {
      product *= oracle::AllOnes(ZeroOf(bits, department), r);
    }
    return product;
  };
  const oracle::Real mean = moment(1);
  ExpectNear(occupancy->Mean(), mean, kMomentError);
  ExpectNear(occupancy->Variance(), oracle::Real(2 * moment(2) + mean - mean * mean), kMomentError);
  oracle::Real factorial = 1;
  for (std::uint64_t r = 1; r <= 20; ++r) {
    factorial *= r;
    const int order = static_cast<int>(r);
    if (r != 5 && r != 20) continue;
    const oracle::Real binomial = moment(r);
    ExpectNear(occupancy->BinomialMoment(order), binomial, kMomentError);
    ExpectNear(occupancy->FactorialMoment(order), oracle::Real(binomial * factorial), kMomentError);
  }
  oracle::Real raw = 0;
  oracle::Real falling = 1;
  for (int j = 1; j <= 6; ++j) {
    falling *= j;
    raw += oracle::Stirling(6, j) * falling * moment(static_cast<std::uint64_t>(j));
  }
  ExpectNear(occupancy->RawMoment(6), raw, kMomentError);
}

TEST(Occupancy, MomentsOfLargeFiltersAndIntersectionsEqualTheOracle) {
  for (const std::uint64_t bits :
       {1000ULL, 100'000'000ULL, 1'000'000'000ULL, 1'000'000'000'000ULL}) {
    for (const std::uint64_t count : {std::uint64_t{1}, std::uint64_t{3}, bits / 100, bits / 10}) {
      for (const std::uint64_t size : {1, 2, 7, 30}) {
        SCOPED_TRACE(testing::Message() << "m=" << bits << " n=" << count << " k=" << size);
        ExpectOracleMoments(bits, {{{size, count}}});
      }
    }
  }
  ExpectOracleMoments(1'000'000'000, {{{7, 1'000'000}, {3, 5}}, {{5, 30'000'000}}});
}

TEST(Occupancy, MomentsAtRandomPointsEqualTheOracle) {
  std::mt19937_64 random(1908);
  std::uniform_real_distribution<double> decades(0.5, 12.0);
  for (int i = 0; i < 60; ++i) {
    const auto bits = static_cast<std::uint64_t>(std::pow(10.0, decades(random))) + 1;
    std::vector<Department> departments(1 + random() % 3);
    for (Department& department : departments) {
      department.resize(1 + random() % 2);
      for (Committees& group : department) {
        group.size = 1 + random() % std::min<std::uint64_t>(bits, 40);
        group.count = 1 + random() % (bits / group.size + 1);
      }
    }
    SCOPED_TRACE(testing::Message() << "m=" << bits << " case " << i);
    ExpectOracleMoments(bits, departments);
  }
}

// Equation (14), of which many terms are far above the result.
oracle::Real OracleMass(std::uint64_t bits, std::uint64_t x, const oracle::ZeroProbability& zero) {
  oracle::Real sum = 0;
  for (std::uint64_t i = 0; i <= x; ++i) {
    const oracle::Real term = oracle::Binomial(x, i) * zero(bits - x + i);
    if (i % 2 == 0) {
      sum += term;
    } else {
      sum -= term;
    }
  }
  return oracle::Binomial(bits, x) * sum;
}

TEST(Occupancy, MassFunctionEqualsTheOracle) {
  const std::uint64_t bits = 200;
  for (const std::uint64_t size : {1, 7}) {
    const std::uint64_t count = 140 / size;
    const auto occupancy = Occupancy::OfUnion(bits, {{size, count}});
    ASSERT_TRUE(occupancy);
    const MassFunction pmf = *occupancy->Pmf();
    const auto zero = oracle::CommitteesZero(bits, count, size);
    for (std::uint64_t x = size; x <= 140; x += 9) {
      const oracle::Real truth = OracleMass(bits, x, zero);
      if (truth < 1e-300) continue;
      EXPECT_LE(oracle::RelativeError(pmf.At(x), truth), kMassError) << "x=" << x;
    }
  }
}

// (3): P(X = x) is the sum over r of (-1)^(r-x) C(r,x) E[C(X,r)]; and (8): D_r is the share of all
// sets of r bits that the moment counts.
TEST(Occupancy, MassFunctionFollowsFromTheBinomialMoments) {
  const int bits = 10;
  const auto choose = [](int n, int r) {
    return oracle::Binomial(static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(r)).get_d();
  };
  for (const BloomKind kind : kKinds) {
    const auto occupancy = Occupancy::OfFilter(kind, bits, 2, 3);
    const MassFunction pmf = *occupancy->Pmf();
    for (int x = 0; x <= bits; ++x) {
      double sum = 0.0;
      for (int r = x; r <= bits; ++r) {
        sum += ((r - x) % 2 == 0 ? 1.0 : -1.0) * choose(r, x) * occupancy->BinomialMoment(r);
      }
      EXPECT_NEAR(sum, pmf.At(static_cast<std::uint64_t>(x)), 1e-12);
    }
    const auto zero = kind == BloomKind::kClassic ? oracle::CommitteesZero(bits, 2, 3)
                                                  : oracle::BallsZero(bits, 6);
    for (int r = 1; r <= 5; ++r) {
      const double all_ones = oracle::AllOnes(zero, static_cast<std::uint64_t>(r)).get_d();
      EXPECT_NEAR(occupancy->BinomialMoment(r) / choose(bits, r), all_ones, 1e-14);
    }
  }
}

// (26) and Corollary 12: the factorial moments of the zeros Z of n committees make E[s^Z] the
// hypergeometric function nFn-1(k - m, ..; -m, ..; 1 - s).
TEST(Occupancy, ZerosHaveAHypergeometricGeneratingFunction) {
  constexpr double kS = 0.5;
  for (const auto& [bits, keys, probes] :
       {std::tuple{10, 2, 3}, std::tuple{12, 1, 5}, std::tuple{20, 3, 4}}) {
    double series = 0.0;
    double term = 1.0;
    for (int r = 0; r <= bits - probes; ++r) {
      series += term;
      term *=
          std::pow(probes - bits + r, keys) / std::pow(r - bits, keys - 1) * (1.0 - kS) / (r + 1);
    }
    const MassFunction pmf = *Occupancy::OfFilter(BloomKind::kClassic, bits, keys, probes)->Pmf();
    double mean = 0.0;
    for (int x = 0; x <= bits; ++x) {
      mean += pmf.At(static_cast<std::uint64_t>(x)) * std::pow(kS, bits - x);
    }
    EXPECT_NEAR(series / mean, 1.0, 1e-9) << bits;
  }
}

// Far out in the tail of large filters: all balls into different bits, m^(N) / m^N.
TEST(Occupancy, MassFunctionKeepsItsTails) {
  for (const auto& [bits, balls] : {std::pair{100'000, 9000}, std::pair{3'000'000, 60'000}}) {
    const auto m = static_cast<std::uint64_t>(bits);
    const auto count = static_cast<std::uint64_t>(balls);
    oracle::Real truth = 1;
    for (std::uint64_t i = 0; i < count; ++i) truth *= oracle::Real(m - i) / oracle::Real(m);
    EXPECT_LT(truth, 1e-150);
    EXPECT_GT(truth, 1e-300);
    const MassFunction pmf = *Occupancy::OfUnion(m, {{1, count}})->Pmf();
    EXPECT_LE(oracle::RelativeError(pmf.At(count), truth), kMassError);
  }
}

// The whole distribution of a filter of ten bits a key: its sum and its moments.
TEST(Occupancy, MassFunctionHasTheMomentsOfTheChain) {
  for (const BloomKind kind : kKinds) {
    const auto occupancy = Occupancy::OfFilter(kind, 50'000, 5000, 7);
    const MassFunction pmf = *occupancy->Pmf();
    const double mean = occupancy->Mean();
    double sum = 0.0;
    double distance = 0.0;
    double square = 0.0;
    for (std::size_t i = 0; i < pmf.values.size(); ++i) {
      const double x = static_cast<double>(pmf.first + i) - mean;
      sum += pmf.values[i];
      distance += pmf.values[i] * x;
      square += pmf.values[i] * x * x;
    }
    EXPECT_NEAR(sum, 1.0, 1e-11);
    EXPECT_NEAR(distance, 0.0, 1e-10 * mean);
    EXPECT_NEAR(square / occupancy->Variance(), 1.0, 1e-10);
  }
}

// Committees of all bits but one leave a bit zero if all leave out the same.
TEST(Occupancy, MomentsOfLargeCommitteesKeepTheirDigits) {
  for (const std::uint64_t bits : {20'000ULL, 1'000'000'000ULL}) {
    for (const std::uint64_t count : {2, 3, 5}) {
      const auto m = static_cast<double>(bits);
      const double zero = std::pow(m, 1.0 - static_cast<double>(count));
      const auto occupancy = Occupancy::OfUnion(bits, {{bits - 1, count}});
      EXPECT_NEAR(occupancy->Variance() / (zero * (1.0 - zero)), 1.0, kMomentError);
    }
    // Of two that leave out one bit each m - 2 are shared, or m - 1 with probability 1 / m.
    const double alike = 1.0 / static_cast<double>(bits);
    const auto shared = Occupancy::OfIntersection(bits, {{{bits - 1, 1}}, {{bits - 1, 1}}});
    EXPECT_NEAR(shared->Variance() / (alike * (1.0 - alike)), 1.0, kMomentError);
  }
}

// By exact fractions, where the binomial moment is too small for a double.
TEST(Occupancy, FactorialMomentsKeepTheirDigits) {
  const auto moment = [](std::uint64_t bits) {
    return Occupancy::OfIntersection(bits, {{{1, 72}}, {{1, 72}}})->FactorialMoment(72);
  };
  EXPECT_NEAR(moment(800'000) / 3.54916e-218, 1.0, 1e-5);
  EXPECT_NEAR(moment(900'000) / 7.3671e-222, 1.0, 1e-4);
  EXPECT_NEAR(moment(1'000'000) / 3.7401e-225, 1.0, 1e-4);
}

// The roundings of many draws do not add up.
TEST(Occupancy, MassFunctionOfManyDrawsKeepsItsDigits) {
  EXPECT_NEAR(Occupancy::OfFilter(BloomKind::kStandard, 49, 10'000'000, 1)->Pmf()->At(49), 1.0,
              kMassError);
}

// A mass function that takes a minute is computed, of hours refused.
TEST(Occupancy, MassFunctionTellsItsCost) {
  const auto steps = [](std::uint64_t bits) {
    return Occupancy::OfFilter(BloomKind::kStandard, bits, bits / 10, 7)->PmfSteps();
  };
  EXPECT_NEAR(steps(100'000), 5.6e8, 5e7);
  EXPECT_NEAR(steps(1'000'000), 1.76e10, 1e9);
  EXPECT_FALSE(Occupancy::OfFilter(BloomKind::kStandard, 100'000'000, 10'000'000, 7)->Pmf());
  EXPECT_FALSE(Occupancy::OfUnion(10, {{1, 1'000'000'000'000}})->Pmf());
  EXPECT_FALSE(
      Occupancy::OfIntersection(BloomKind::kClassic, std::uint64_t{1} << 40, {1, 1}, 7)->Pmf());
  EXPECT_TRUE(Occupancy::OfFilter(BloomKind::kClassic, std::uint64_t{1} << 53, 100, 7)->Pmf());
}

TEST(Occupancy, HasDefinedAnswersAtItsLimits) {
  const std::uint64_t too_many = (std::uint64_t{1} << 53) + 1;
  EXPECT_FALSE(Occupancy::OfUnion(0, {{1, 1}}));
  EXPECT_FALSE(Occupancy::OfUnion(too_many, {{1, 1}}));
  EXPECT_FALSE(Occupancy::OfUnion(10, {{0, 1}}));
  EXPECT_FALSE(Occupancy::OfUnion(10, {{11, 1}}));
  EXPECT_FALSE(Occupancy::OfUnion(10, {{1, too_many}}));
  EXPECT_FALSE(Occupancy::OfIntersection(10, {}));
  EXPECT_FALSE(Occupancy::OfIntersection(BloomKind::kClassic, 10, {}, 3));
  EXPECT_FALSE(Occupancy::OfIntersection(BloomKind::kClassic, 10, {1, too_many}, 3));
  EXPECT_FALSE(Occupancy::OfFilter(BloomKind::kClassic, 5, 1, 6));
  EXPECT_FALSE(MomentsOfOnes(BloomKind::kStandard, 0, 1, 1));
  EXPECT_FALSE(MomentsOfOnes(BloomKind::kClassic, 5, 1, 6));
  const auto occupancy = Occupancy::OfUnion(1'000'000'000'000, {{1, 1'000'000'000'000}});
  ASSERT_TRUE(occupancy);
  EXPECT_TRUE(std::isinf(occupancy->FactorialMoment(40)));
  EXPECT_TRUE(std::isnan(occupancy->RawMoment(-1)));
  EXPECT_TRUE(std::isnan(occupancy->BinomialMoment(Occupancy::kMaxMoment + 1)));
  for (const auto& empty :
       {Occupancy::OfFilter(BloomKind::kStandard, 100, 0, 6), Occupancy::OfUnion(100, {})}) {
    ASSERT_TRUE(empty);
    EXPECT_EQ(empty->Mean(), 0.0);
    EXPECT_EQ(empty->Variance(), 0.0);
    EXPECT_EQ(empty->Pmf()->At(0), 1.0);
    EXPECT_EQ(empty->RawMoment(0), 1.0);
    EXPECT_EQ(empty->BinomialMoment(3), 0.0);
  }
}

}  // namespace
}  // namespace exactbloom
