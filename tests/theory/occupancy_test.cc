#include "exactbloom/theory/occupancy.h"

#include <gtest/gtest.h>

#include "enumeration.h"
#include "oracle.h"

namespace exactbloom {
namespace {

constexpr FilterKind kKinds[] = {FilterKind::kStandard, FilterKind::kClassic};

// What the oracle keeps of zero is below 1e-300.
void ExpectEqual(double value, const oracle::Real& truth) {
  if (abs(truth) < 1e-300) {
    EXPECT_EQ(value, 0.0);
  } else {
    EXPECT_LE(oracle::RelativeError(value, truth), 1e-12);
  }
}

TEST(MomentsOfOnes, EqualEnumeration) {
  for (const FilterKind kind : kKinds) {
    for (int bits = 1; bits <= 8; ++bits) {
      for (int probes = 1; probes <= bits; ++probes) {
        for (int keys = 0; keys <= 5; ++keys) {
          SCOPED_TRACE(testing::Message() << "m=" << bits << " n=" << keys << " k=" << probes);
          const bool classic = kind == FilterKind::kClassic;
          oracle::FilterContents contents(bits);
          for (int i = 0; i < (classic ? keys : keys * probes); ++i) {
            contents.AddCommittee(classic ? probes : 1);
          }
          mpq_class mean = 0;
          mpq_class square = 0;
          const std::vector<mpq_class> distribution = contents.OnesDistribution();
          for (std::size_t x = 0; x < distribution.size(); ++x) {
            mean += static_cast<long>(x) * distribution[x];
            square += static_cast<long>(x * x) * distribution[x];
          }
          const auto moments = MomentsOfOnes(kind, static_cast<std::uint64_t>(bits),
                                             static_cast<std::uint64_t>(keys), probes);
          ASSERT_TRUE(moments);
          ExpectEqual(moments->mean, oracle::Real(mean));
          ExpectEqual(moments->variance, oracle::Real(mpq_class(square - mean * mean)));
        }
      }
    }
  }
}

TEST(MomentsOfOnes, OfLargeFiltersEqualTheOracle) {
  for (const std::uint64_t bits :
       {1000ULL, 100'000'000ULL, 1'000'000'000ULL, 1'000'000'000'000ULL}) {
    for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{3}, bits / 100, bits / 10}) {
      for (const int probes : {1, 2, 7, 30}) {
        SCOPED_TRACE(testing::Message() << "m=" << bits << " n=" << keys << " k=" << probes);
        const auto k = static_cast<std::uint64_t>(probes);
        for (const FilterKind kind : kKinds) {
          const bool classic = kind == FilterKind::kClassic;
          const auto zero =
              oracle::CommitteesZero(bits, classic ? keys : keys * k, classic ? k : 1);
          const oracle::Real mean = oracle::Binomial(bits, 1) * oracle::AllOnes(zero, 1);
          const oracle::Real pairs = oracle::Binomial(bits, 2) * oracle::AllOnes(zero, 2);
          const auto moments = MomentsOfOnes(kind, bits, keys, probes);
          ASSERT_TRUE(moments);
          ExpectEqual(moments->mean, mean);
          ExpectEqual(moments->variance, 2 * pairs + mean - mean * mean);
        }
      }
    }
  }
}

TEST(MomentsOfOnes, OutsideTheRangesThereAreNone) {
  EXPECT_FALSE(MomentsOfOnes(FilterKind::kStandard, 0, 1, 1));
  EXPECT_FALSE(MomentsOfOnes(FilterKind::kStandard, (std::uint64_t{1} << 53) + 1, 1, 1));
  EXPECT_FALSE(MomentsOfOnes(FilterKind::kClassic, 5, 1, 6));
}

}  // namespace
}  // namespace exactbloom
