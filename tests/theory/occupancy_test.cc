#include "exactbloom/theory/occupancy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "enumeration.h"
#include "oracle.h"

namespace exactbloom {
namespace {

constexpr double kMomentError = 1e-12;
constexpr double kMassError = 1e-10;

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

void ExpectEqual(double value, const mpq_class& truth, double error) {
  EXPECT_LE(oracle::RelativeError(value, oracle::Real(truth)), error)
      << value << " instead of " << truth.get_d();
}

void ExpectDistribution(const Occupancy& occupancy, const std::vector<mpq_class>& truth) {
  const MassFunction pmf = occupancy.Pmf();
  for (std::size_t x = 0; x < truth.size(); ++x) ExpectEqual(pmf.At(x), truth[x], 1e-13);
  const mpq_class mean = MeanProduct(truth, 1, 0);
  ExpectEqual(occupancy.Mean(), mean, kMomentError);
  ExpectEqual(occupancy.Variance(), MeanProduct(truth, 2, 0) - mean * mean, kMomentError);
  mpq_class factorial = 1;
  for (int r = 0; r <= 5; ++r) {
    if (r > 1) factorial *= r;
    const mpq_class falling = MeanProduct(truth, r, 1);
    ExpectEqual(occupancy.FactorialMoment(r), falling, kMomentError);
    ExpectEqual(occupancy.BinomialMoment(r), falling / factorial, kMomentError);
    ExpectEqual(occupancy.RawMoment(r), MeanProduct(truth, r, 0), kMomentError);
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

void ExpectEnumeration(int bits, const std::vector<Department>& departments) {
  oracle::FilterContents contents = Contents(bits, departments.front());
  for (std::size_t d = 1; d < departments.size(); ++d) {
    contents.IntersectWith(Contents(bits, departments[d]));
  }
  const auto occupancy = Occupancy::Create(static_cast<std::uint64_t>(bits), departments);
  ASSERT_TRUE(occupancy);
  ExpectDistribution(*occupancy, contents.OnesDistribution());
}

TEST(Occupancy, OfOneDepartmentEqualsEnumeration) {
  for (int bits = 1; bits <= 8; ++bits) {
    for (std::uint64_t size = 1; size <= static_cast<std::uint64_t>(bits); ++size) {
      for (const std::uint64_t count : {0, 1, 2, 5}) {
        SCOPED_TRACE(testing::Message() << "m=" << bits << " k=" << size << " n=" << count);
        ExpectEnumeration(bits, {{{size, count}}});
      }
    }
  }
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
  for (const int bits : {5, 7, 8}) {
    for (const std::vector<Department>& departments : cases) ExpectEnumeration(bits, departments);
  }
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
  const auto occupancy = Occupancy::Create(bits, departments);
  ASSERT_TRUE(occupancy);
  const auto expect = [](double value, const oracle::Real& truth) {
    if (abs(truth) < 1e-300) {  // what the oracle keeps of zero
      EXPECT_EQ(value, 0.0);
    } else {
      EXPECT_LE(oracle::RelativeError(value, truth), kMomentError);
    }
  };
  const auto moment = [&](std::uint64_t r) {
    oracle::Real product = oracle::Binomial(bits, r);
    for (const Department& department : departments) {
      product *= oracle::AllOnes(ZeroOf(bits, department), r);
    }
    return product;
  };
  const oracle::Real mean = moment(1);
  expect(occupancy->Mean(), mean);
  expect(occupancy->Variance(), 2 * moment(2) + mean - mean * mean);
  for (const int r : {1, 2, 5, 20}) {
    expect(occupancy->BinomialMoment(r), moment(static_cast<std::uint64_t>(r)));
  }
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

// Equation (14), of which many terms are far above the result: hence x near m only.
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
    const auto occupancy = Occupancy::Create(bits, {{{size, count}}});
    ASSERT_TRUE(occupancy);
    const MassFunction pmf = occupancy->Pmf();
    const auto zero = oracle::CommitteesZero(bits, count, size);
    for (std::uint64_t x = size; x <= 140; x += 9) {
      const oracle::Real truth = OracleMass(bits, x, zero);
      if (truth < 1e-300) continue;
      EXPECT_LE(oracle::RelativeError(pmf.At(x), truth), kMassError) << "x=" << x;
    }
  }
}

// Far out in the tail of a large filter: all balls into different bits, m^(N) / m^N.
TEST(Occupancy, MassFunctionKeepsItsTails) {
  const std::uint64_t bits = 100'000;
  const std::uint64_t balls = 9000;
  const auto occupancy = Occupancy::Create(bits, {{{1, balls}}});
  ASSERT_TRUE(occupancy);
  oracle::Real truth = 1;
  for (std::uint64_t i = 0; i < balls; ++i) truth *= oracle::Real(bits - i) / oracle::Real(bits);
  EXPECT_LT(truth, 1e-150);
  EXPECT_GT(truth, 1e-300);
  EXPECT_LE(oracle::RelativeError(occupancy->Pmf().At(balls), truth), kMassError);
}

TEST(Occupancy, HasDefinedAnswersAtItsLimits) {
  EXPECT_FALSE(Occupancy::Create(0, {{{1, 1}}}));
  EXPECT_FALSE(Occupancy::Create((std::uint64_t{1} << 53) + 1, {{{1, 1}}}));
  EXPECT_FALSE(Occupancy::Create(10, {}));
  EXPECT_FALSE(Occupancy::Create(10, {{{0, 1}}}));
  EXPECT_FALSE(Occupancy::Create(10, {{{11, 1}}}));
  EXPECT_FALSE(Occupancy::OfFilter(FilterKind::kClassic, 5, 1, 6));
  const auto occupancy = Occupancy::Create(1'000'000'000'000, {{{1, 1'000'000'000'000}}});
  ASSERT_TRUE(occupancy);
  EXPECT_TRUE(std::isinf(occupancy->FactorialMoment(40)));
  EXPECT_TRUE(std::isnan(occupancy->RawMoment(-1)));
  EXPECT_TRUE(std::isnan(occupancy->BinomialMoment(Occupancy::kMaxMoment + 1)));
  const auto empty = Occupancy::OfFilter(FilterKind::kStandard, 100, 0, 6);
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->Mean(), 0.0);
  EXPECT_EQ(empty->Variance(), 0.0);
  EXPECT_EQ(empty->Pmf().At(0), 1.0);
}

}  // namespace
}  // namespace exactbloom
