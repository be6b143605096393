// The encyclopedia, Summary Cache, the slides and the introduction.
#include <cmath>
#include <cstdint>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/bounds.h"
#include "exactbloom/theory/counting_filter.h"
#include "exactbloom/theory/key_count_estimate.h"
#include "exactbloom/theory/occupancy.h"
#include "papers_rows.h"

namespace exactbloom {
namespace {

// How many per cent more bits filters of a million keys take in cache lines, with the best k, than
// in one array.
double MoreBitsOfLines(double rate) {
  constexpr std::uint64_t kKeys = 1'000'000;
  constexpr int kMostUsefulProbes = 30;
  const auto reaches = [rate](std::uint64_t lines) {
    for (int k = 1; k <= kMostUsefulProbes; ++k) {
      if (CacheLineFalsePositiveRate(lines, kKeys, k) <= rate) return true;
    }
    return false;
  };
  std::uint64_t low = 1;
  std::uint64_t high = kKeys / 4;
  while (high - low > kKeys / 50'000) {
    const std::uint64_t middle = low + (high - low) / 2;
    (reaches(middle) ? high : low) = middle;
  }
  const auto array = static_cast<double>(SmallestFilter(kStandard, kKeys, rate)->bits);
  return 100.0 * (static_cast<double>(high * kCacheLineBits) / array - 1.0);
}

}  // namespace

std::vector<Row> EncyclopediaRows() {
  constexpr std::uint64_t kKeys = 1'000'000;
  const auto bits = [](double rate) {
    return static_cast<double>(SmallestFilter(kClassic, kKeys, rate)->bits) / 1e6;
  };
  const OccupancyMoments million = *MomentsOfOnes(kClassic, 1'000'000, 100'000, 7);
  const auto overflow = [](BloomKind kind, int counter_bits) {
    return CounterOverflowProbability(kind, 10'000'000, kKeys, 7, counter_bits);
  };
  return {
      {"bits per key for 1%", "SmallestFilter", "sizing_test", "9.6", {bits(0.01)}},
      {"more bits per key for a tenth of the rate",
       "SmallestFilter",
       "sizing_test",
       "4.8",
       {bits(0.001) - bits(0.01)},
       4},
      {"bits per key over log2(1/rate), at 1%",
       "SmallestFilter",
       "sizing_test",
       "1.44",
       {bits(0.01) / std::log2(100.0)}},
      {"44% more bits than the bound, at 1%, 1e-6",
       "SmallestFilter",
       "papers_test",
       "44, 44",
       {100.0 * (bits(0.01) / std::log2(100.0) - 1.0), 100.0 * (bits(1e-6) / std::log2(1e6) - 1.0)},
       4,
       "a limit for many keys"},
      {"blocked filters take 32% more bits; lines of 512 bits in place of one array, at 1%, 1e-6, "
       "1e-8",
       "CacheLineFalsePositiveRate",
       "papers_test",
       "",
       {MoreBitsOfLines(0.01), MoreBitsOfLines(1e-6), MoreBitsOfLines(1e-8)},
       3,
       "holds near 1e-6 only"},
      {"a hash area of 15% of an error-free one saves 85% of the disk reads: those of a filter "
       "with "
       "P = 1/16, in % of the needless ones",
       "",
       "papers_test",
       "",
       {100.0 * (1.0 - 1.0 / 16.0) * 0.9},
       4,
       "Bloom's Table I, coarsely: no area of an error-free hash is printed"},
      {"0.6185^(m/n) at ten bits per key",
       "FalsePositiveRate",
       "false_positive_rate_test",
       "0.00819",
       {FalsePositiveRate(kClassic, 10 * kKeys, kKeys, 7)}},
      {"half of the bits are set at the best k",
       "MomentsOfOnes",
       "occupancy_test",
       "0.5",
       {MomentsOfOnes(kClassic, 10 * kKeys, kKeys, 7)->mean / 1e7}},
      {"Azuma and Hoeffding: 2 exp(-2 x^2 / m) bounds the probability that the ones differ by x, "
       "and so does 2 exp(-2 x^2 / (nk)); 0.27%, m = 1e6, n = 1e5, k = 7: x by both",
       "AzumaHoeffdingDeviation",
       "bounds_test",
       "",
       {AzumaHoeffdingDeviation(1'000'000, 1'000'000, 7, 0.0027),
        AzumaHoeffdingDeviation(1'000'000, 100'000, 7, 0.0027)},
       5,
       "three standard deviations are less"},
      {"three standard deviations of the ones",
       "Occupancy::Variance",
       "occupancy_test",
       "",
       {3.0 * std::sqrt(million.variance)},
       4},
      {"Goel and Gupta's upper bound; m = 240, n = 24, k = 7: bound, Bloom's formula, exact",
       "GoelGuptaBound, BloomRate",
       "bounds_test",
       "",
       {GoelGuptaBound(240, 24, 7), BloomRate(240, 24, 7),
        FalsePositiveRate(kStandard, 240, 24, 7)},
       3},
      {"Swamidass and Baldi: keys from the ones; m = 10, X = 5, k = 3",
       "SwamidassBaldiKeys",
       "key_count_estimate_test",
       "",
       {SwamidassBaldiKeys(10, 5, 3)}},
      {"the same of a large filter, m = 1e7, X = 5034145, k = 7",
       "EstimateKeys",
       "key_count_estimate_test",
       "",
       {EstimateKeys(kStandard, 10'000'000, 5'034'145, 7, kZ999)->keys},
       6},
      {"keys of a union, and shared keys", "EstimateSharedKeys", "key_count_estimate_test", "", {}},
      {"the union of two filters loses nothing; the intersection has a higher rate",
       "UnionOf, IntersectionOf",
       "filter_sets_test",
       "",
       {}},
      {"the intersection of two filters of 1000 keys each in 10,000 bits, k = 7, with 200 shared "
       "keys: rate in %, and of one filter of the 200",
       "Occupancy::FalsePositiveRate",
       "occupancy_test",
       "",
       {100.0 * Occupancy::OfIntersection(kClassic, 10'000, {1000, 1000}, 7, 200)
                    ->FalsePositiveRate(kClassic, 7),
        100.0 * FalsePositiveRate(kClassic, 10'000, 200, 7)},
       3},
      {"a counter of 4 bits overflows: m = 1e7, n = 1e6, k = 7, standard, classic; of 3 bits, "
       "standard",
       "CounterOverflowProbability",
       "counting_filter_test",
       "",
       {overflow(kStandard, 4), overflow(kClassic, 4), overflow(kStandard, 3)}},
      {"counting, scalable, stable, layered, attenuated, Bloomier filters; deletion; "
       "synchronisation; chemistry",
       "",
       "",
       "",
       {},
       5,
       "not there: an SSTable never changes"}};
}

std::vector<Row> SummaryCacheRows() {
  const auto usual = [](std::uint64_t bits, int probes) {
    return AsymptoticFalsePositiveRate(bits, 1, probes);
  };
  const double bound =
      CounterOverflowBounds(kStandard, 1'000'000'000'000, 693'147'180'560, 1, 4)->exponential /
      1e12;
  return {
      {"Tables 3 to 5: 411 rates by (58), of which two are misprints",
       "AsymptoticFalsePositiveRate",
       "reference_rates_test",
       "",
       {}},
      {"the best k, as a real number, of five bits per key",
       "",
       "papers_test",
       "3.46",
       {5.0 * kLn2},
       5,
       "truncated, not rounded"},
      {"(m/n, k) = (10, 7)",
       "AsymptoticFalsePositiveRate",
       "reference_rates_test",
       "0.00819",
       {usual(10, 7)}},
      {"(8, 6)", "AsymptoticFalsePositiveRate", "reference_rates_test", "0.0216", {usual(8, 6)}},
      {"(16, 11)",
       "AsymptoticFalsePositiveRate",
       "reference_rates_test",
       "0.000459",
       {usual(16, 11)}},
      {"(32, 22)",
       "AsymptoticFalsePositiveRate",
       "reference_rates_test",
       "2.1e-7",
       {usual(32, 22)}},
      {"(30, 15), (30, 16)",
       "AsymptoticFalsePositiveRate",
       "reference_rates_test",
       "8.39e-6, 7.26e-6",
       {usual(30, 15), usual(30, 16)},
       3,
       "misprints: the power of ten",
       true},
      {"ten bits per key: 4 probes, 5 probes, in %",
       "AsymptoticFalsePositiveRate",
       "reference_rates_test",
       "1.2, 0.9",
       {100.0 * usual(10, 4), 100.0 * usual(10, 5)}},
      {"the best number of probes there",
       "OptimalProbes",
       "sizing_test",
       "5",
       {static_cast<double>(OptimalProbes(kClassic, 10'000'000, 1'000'000))},
       5,
       "wrong: seven probes give 0.819%",
       true},
      {"a counter of 4 bits overflows with at most 1.37e-15 m at half fill: the factor of m",
       "CounterOverflowBounds",
       "counting_filter_test",
       "1.37e-15",
       {bound},
       4},
      {"the mean of the largest counter, m = 1e7 at half fill: exact tails, the formula by the "
       "inverse of the Gamma function",
       "ExpectedLargestCounter, LargestCounterByGamma",
       "counting_filter_test",
       "",
       {ExpectedLargestCounter(kStandard, 10'000'000, 990'210, 7),
        LargestCounterByGamma(10'000'000, 990'210, 7)},
       3,
       "the formula has the leading terms only"}};
}

std::vector<Row> SlideRows() {
  std::vector<double> areas;
  std::vector<double> saved;
  for (int i = 1; i <= 6; ++i) {
    const double error = std::ldexp(1.0, -i);
    areas.push_back(static_cast<double>(SmallestFilter(kClassic, 50'000, error)->bits));
    saved.push_back(90.0 * (1.0 - error));
  }
  const std::vector<double> first(areas.begin(), areas.end() - 1);
  return {
      {"Table I, 50,000 of 500,000 words in the filter: hash areas for P = 1/2 .. 1/32, in bits",
       "SmallestFilter", "papers_test", "72800, 145600, 218400, 291200, 364000", first, 6,
       "as printed some 0.9% more: multiples of a rounded area", true},
      {"the hash area for P = 1/64",
       "SmallestFilter",
       "papers_test",
       "509800",
       {areas.back()},
       6,
       "a misprint: six times the first area are 436800",
       true},
      {"disk reads saved, in % of all: 90 (1 - P)", "readamp --bloom-table", "readamp_test",
       "45.0, 67.5, 78.7, 84.4, 87.2, 88.5", saved, 4},
      {"m = 10, five ones, k = 3: the rate of this filter, standard, classic",
       "FalsePositiveRateGivenFill",
       "false_positive_rate_test",
       "",
       {FalsePositiveRateGivenFill(kStandard, 10, 5, 3),
        FalsePositiveRateGivenFill(kClassic, 10, 5, 3)},
       4},
      {"a set class, comparators, cuckoo filters", "", "", "", {}, 5, "not there"}};
}

std::vector<Row> IntroductionRows() {
  constexpr double kBits = 9.585059;  // per key, for 1% by the usual formula
  const auto at = [](int probes) {
    return 100.0 * AsymptoticFalsePositiveRate(9'585'059, 1'000'000, probes);
  };
  return {{"a set of hashes takes log2(n/rate) bits per key: from so many keys on more than a "
           "filter of "
           "1% †",
           "",
           "papers_test",
           "",
           {0.01 * std::exp2(kBits)},
           3},
          {"more than a filter of k = 4 and a rate of 1e-4: from so many million keys on",
           "",
           "papers_test",
           "100",
           {1e-10 * std::exp2(-4.0 / std::log1p(-0.1))},
           3,
           "coarse: 110 by 40 bits per key, which k / rate^(1/k) gives for 37.96",
           true},
          {"capacity: the keys of 1e6 bits at 1%",
           "MostKeys",
           "sizing_test",
           "",
           {static_cast<double>(*MostKeys(kClassic, 1'000'000, 0.01))},
           6},
          {"k = log2(1/rate), in the text: 1% in 9.585 bits per key, rate in %",
           "AsymptoticFalsePositiveRate",
           "papers_test",
           "",
           {at(7)},
           4},
          {"k = ln(1/rate), in the last comment on it: the same bits, rate in %",
           "AsymptoticFalsePositiveRate",
           "papers_test",
           "1.0",
           {at(5)},
           4,
           "wrong: the text's log2 is right",
           true},
          {"OR and AND of two filters, its exercise",
           "UnionOf, IntersectionOf",
           "filter_sets_test",
           "",
           {}}};
}

}  // namespace exactbloom
