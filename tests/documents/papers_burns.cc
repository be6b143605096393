// Burns 2019, On Occupancy Moments and Bloom Filter Efficiency.
#include <cmath>
#include <cstdint>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/bounds.h"
#include "exactbloom/theory/efficiency.h"
#include "exactbloom/theory/key_count_estimate.h"
#include "exactbloom/theory/occupancy.h"
#include "papers_rows.h"

namespace exactbloom {
namespace {

double Percent(double rate, double of) { return 100.0 * (rate / of - 1.0); }

double RateAtBest(BloomKind kind, std::uint64_t bits, std::uint64_t keys) {
  return FalsePositiveRate(kind, bits, keys, OptimalProbes(kind, bits, keys, kMaxAnalysisProbes));
}

double EfficiencyAtBest(BloomKind kind, std::uint64_t bits, std::uint64_t keys) {
  return Efficiency(kind, bits, keys, OptimalProbes(kind, bits, keys, kMaxAnalysisProbes));
}

// P(X = x) times `scale`, from one x to another.
std::vector<double> ScaledMasses(const Occupancy& ones, std::uint64_t from, std::uint64_t to,
                                 double scale) {
  const MassFunction pmf = *ones.Pmf();
  std::vector<double> values;
  for (std::uint64_t x = from; x <= to; ++x) values.push_back(scale * pmf.At(x));
  return values;
}

// E[s^Z] of the zeros Z of a filter of two committees, as the hypergeometric function
// 2F1(k - m, k - m; -m; 1 - s), whose terms are E[Z^(r)] (s - 1)^r / r!.
double ZerosByHypergeometricSeries(int bits, int probes, double s) {
  double sum = 0.0;
  double term = 1.0;
  for (int r = 0; r <= bits - probes; ++r) {
    sum += term;
    term *= std::pow(probes - bits + r, 2) / (r - bits) * (1.0 - s) / (r + 1);
  }
  return sum;
}

double ZerosByMasses(const Occupancy& ones, std::uint64_t bits, double s) {
  const MassFunction pmf = *ones.Pmf();
  double sum = 0.0;
  for (std::uint64_t x = 0; x <= bits; ++x) {
    sum += pmf.At(x) * std::pow(s, static_cast<double>(bits - x));
  }
  return sum;
}

// In % of all filters of n <= m <= 300 whose usual k is at most kMaxProbes.
double OverfullShare(BloomKind kind) {
  constexpr std::uint64_t kMostBits = 300;
  int filters = 0;
  int overfull = 0;
  for (std::uint64_t bits = 2; bits <= kMostBits; ++bits) {
    for (std::uint64_t keys = 1; keys <= bits; ++keys) {
      if (static_cast<double>(bits) * kLn2 > kMaxProbes * static_cast<double>(keys)) continue;
      ++filters;
      const int probes = OptimalProbes(kind, bits, keys);
      overfull += MomentsOfOnes(kind, bits, keys, probes)->mean > 0.5 * static_cast<double>(bits);
    }
  }
  return 100.0 * overfull / filters;
}

}  // namespace

std::vector<Row> OccupancyRows() {
  const Occupancy classic = *Occupancy::OfFilter(kClassic, 10, 2, 3);
  const Occupancy standard = *Occupancy::OfFilter(kStandard, 10, 2, 3);
  const Occupancy shared = *Occupancy::OfIntersection(kClassic, 10, {2, 2}, 3);
  const Occupancy one_each = *Occupancy::OfIntersection(kClassic, 10, {1, 1}, 3);
  const Occupancy both = *Occupancy::OfUnion(10, {{3, 1}, {2, 1}});
  return {{"(1) †, (3), (4), (5) †, (8), (14) p.m.f. of the ones; m = 10, k = 3, n = 2, classic: "
           "120 P(X "
           "= 3 .. 6)",
           "Occupancy::Pmf", "occupancy_test", "", ScaledMasses(classic, 3, 6, 120.0)},
          {"the same, standard: 1e5 P(X = 1 .. 6)", "Occupancy::Pmf", "occupancy_test", "",
           ScaledMasses(standard, 1, 6, 1e5)},
          {"(16), (42) to (45) mean and variance of the classic one",
           "Occupancy::Mean, Occupancy::Variance",
           "occupancy_test",
           "",
           {classic.Mean(), classic.Variance()}},
          {"(2), (6), (7) †, (9), (10), (15) moments: E[X^2], E[C(X,2)], E[X(X-1)]",
           "Occupancy::RawMoment, Occupancy::BinomialMoment, Occupancy::FactorialMoment",
           "occupancy_test",
           "",
           {classic.RawMoment(2), classic.BinomialMoment(2), classic.FactorialMoment(2)}},
          {"(11) to (13), (55), (63) recursions",
           "",
           "recursions_test",
           "",
           {},
           5,
           "a second oracle of the tests"},
          {"(17) to (25) unions; committees of 3 and of 2 bits out of 10: mean",
           "Occupancy::OfUnion",
           "occupancy_test",
           "",
           {both.Mean()}},
          {"(26) †, Corollary 12 † the zeros Z of the classic one belong to Kemp's family: E[2^-Z] "
           "as 2F1(-7, -7; -10; 1/2), and from the p.m.f.",
           "Occupancy::Pmf",
           "occupancy_test",
           "",
           {ZerosByHypergeometricSeries(10, 3, 0.5), ZerosByMasses(classic, 10, 0.5)}},
          {"(29) to (41), Corollary 21, (49), (50) intersections; two filters as above: mean, "
           "variance, P(0)",
           "Occupancy::OfIntersection",
           "occupancy_test",
           "",
           {shared.Mean(), shared.Variance(), shared.Pmf()->At(0)},
           8},
          {"the same with one key each, the hypergeometric law: 120 P(0 .. 3)",
           "Occupancy::OfIntersection", "occupancy_test", "", ScaledMasses(one_each, 0, 3, 120.0)},
          {"Theorem 15 † bounds of E[X^(r)], r = 3, of the classic one: lower, exact, upper",
           "FactorialMomentBounds",
           "bounds_test",
           "",
           {FactorialMomentBounds(kClassic, 10, 2, 3, 3)->low, classic.FactorialMoment(3),
            FactorialMomentBounds(kClassic, 10, 2, 3, 3)->high}},
          {"(46), Corollary 18 keys from the ones; m = 10, X = 5, k = 3: classic, standard",
           "EstimateKeys",
           "key_count_estimate_test",
           "",
           {EstimateKeys(kClassic, 10, 5, 3, kZ999)->keys,
            EstimateKeys(kStandard, 10, 5, 3, kZ999)->keys},
           7},
          {"the same by maximum likelihood, classic",
           "MaximumLikelihoodKeys",
           "key_count_estimate_test",
           "",
           {static_cast<double>(*MaximumLikelihoodKeys(kClassic, 10, 5, 3))}}};
}

std::vector<Row> RateRows() {
  const auto error = [](std::uint64_t bits, std::uint64_t keys, int probes) {
    return Percent(SecondOrderRate(bits, keys, probes),
                   FalsePositiveRate(kStandard, bits, keys, probes));
  };
  return {
      {"(51) to (54), (56) standard rate, m = 64, n = 4: k = 11, then 10 †",
       "FalsePositiveRate",
       "false_positive_rate_test",
       "",
       {FalsePositiveRate(kStandard, 64, 4, 11), FalsePositiveRate(kStandard, 64, 4, 10)}},
      {"(59) to (62) classic rate, the same: k = 11, then 9 †",
       "FalsePositiveRate",
       "false_positive_rate_test",
       "",
       {FalsePositiveRate(kClassic, 64, 4, 11), FalsePositiveRate(kClassic, 64, 4, 9)}},
      {"(57), (64), Corollary 23 bounds; m = 240, n = 24, k = 7, standard: lower, upper, in %",
       "FalsePositiveRateBounds",
       "rate_bounds_test",
       "",
       {100.0 * FalsePositiveRateBounds(kStandard, 240, 24, 7)->low,
        100.0 * FalsePositiveRateBounds(kStandard, 240, 24, 7)->high}},
      {"(58), (65) the usual formula, and Bloom's, in %",
       "AsymptoticFalsePositiveRate, BloomRate",
       "rate_bounds_test",
       "",
       {100.0 * AsymptoticFalsePositiveRate(240, 24, 7), 100.0 * BloomRate(240, 24, 7)}},
      {"after Theorem 22: the rate to the second order, off by so many % with (m, n, k) = (64, 4, "
       "10), (240, 24, 7), (1000, 100, 7)",
       "SecondOrderRate",
       "bounds_test",
       "",
       {error(64, 4, 10), error(240, 24, 7), error(1000, 100, 7)},
       2},
      {"(67), (68) † k*, n*, m*; 1%: keys of 1000 bits, bits of 100 keys",
       "OptimalProbes, MostKeys, SmallestFilter",
       "sizing_test",
       "",
       {static_cast<double>(*MostKeys(kClassic, 1000, 0.01)),
        static_cast<double>(SmallestFilter(kClassic, 100, 0.01)->bits)}},
      {"Conjecture 24, as it can be read: classic k* <= standard k* <= ceil((m/n) ln 2); m = 26, "
       "n = 12: k* classic, standard",
       "OptimalProbes",
       "sizing_test",
       "",
       {static_cast<double>(OptimalProbes(kClassic, 26, 12)),
        static_cast<double>(OptimalProbes(kStandard, 26, 12))},
       5,
       "**a counterexample** to its first part, one of seven with n <= m <= 300; the second holds "
       "there"},
      {"Section 5, m = 1024, n = 5: the usual k †",
       "",
       "false_positive_rate_test",
       "",
       {std::round(1024.0 / 5.0 * kLn2)}},
      {"the best k, standard and classic",
       "OptimalProbes",
       "false_positive_rate_test",
       "",
       {static_cast<double>(OptimalProbes(kStandard, 1024, 5, kMaxAnalysisProbes)),
        static_cast<double>(OptimalProbes(kClassic, 1024, 5, kMaxAnalysisProbes))}},
      {"the usual k has a rate higher by so many %",
       "FalsePositiveRate",
       "false_positive_rate_test",
       "15.7, 106.9",
       {Percent(FalsePositiveRate(kStandard, 1024, 5, 142), RateAtBest(kStandard, 1024, 5)),
        Percent(FalsePositiveRate(kClassic, 1024, 5, 142), RateAtBest(kClassic, 1024, 5))}},
      {"and an efficiency lower by so many %",
       "Efficiency",
       "efficiency_test",
       "0.2, 0.7",
       {-Percent(Efficiency(kStandard, 1024, 5, 142), EfficiencyAtBest(kStandard, 1024, 5)),
        -Percent(Efficiency(kClassic, 1024, 5, 142), EfficiencyAtBest(kClassic, 1024, 5))},
       3}};
}

std::vector<Row> EfficiencyRows() {
  const EfficiencyPeak million = *MaximumEfficiency(kStandard, 1'000'000);
  const auto best = [](BloomKind kind, std::uint64_t bits) {
    return MaximumEfficiency(kind, bits)->efficiency;
  };
  const auto peak = [](BloomKind kind, int probes) {
    return PeakEfficiency(kind, 64, probes)->efficiency;
  };
  const auto lost = [](std::uint64_t keys, int probes) {
    return 1000.0 * (PeakEfficiency(kStandard, 10'000, 7)->efficiency -
                     Efficiency(kStandard, 10'000, keys, probes));
  };
  return {
      {"(69), (70) efficiency; m = 1e7, n = 1e6, k = 7",
       "Efficiency",
       "efficiency_test",
       "",
       {Efficiency(kClassic, 10'000'000, 1'000'000, 7)}},
      {"Theorem 26, (71) to (73) †, Corollary 27 the best standard filter, m = 1e6: k, rate, "
       "efficiency (ln 2)",
       "MaximumEfficiency",
       "efficiency_test",
       "1, 0.5, 0.693147",
       {static_cast<double>(million.probes),
        FalsePositiveRate(kStandard, 1'000'000, million.keys, static_cast<int>(million.probes)),
        million.efficiency},
       6},
      {"Theorem 26 standard peaks fall as k rises, for a real n; m = 64, whole n: k = 16, 17, 18, "
       "27, 28, 29",
       "PeakEfficiency",
       "efficiency_test",
       "",
       {peak(kStandard, 16), peak(kStandard, 17), peak(kStandard, 18), peak(kStandard, 27),
        peak(kStandard, 28), peak(kStandard, 29)},
       5,
       "**a counterexample** for whole n: the peaks rise at k = 18, 19 and 29 to 34"},
      {"(74) to (77) peaks; m = 1024: keys for k = 10, probes for n = 71",
       "EfficientKeys, EfficientProbes",
       "efficiency_test",
       "",
       {EfficientKeys(1024, 10), EfficientProbes(1024, 71)}},
      {"Conjecture 28, (75), for a real n of at least 1 the best classic filter has one key; m = "
       "3: k = 1 with two keys, with "
       "one",
       "Efficiency",
       "efficiency_test",
       "",
       {Efficiency(kClassic, 3, 2, 1), Efficiency(kClassic, 3, 1, 1)},
       3,
       "**a counterexample**: two keys are better"},
      {"Conjecture 28 classic peaks rise with k; m = 64, whole n: k = 1, 2, 9, 10",
       "PeakEfficiency",
       "efficiency_test",
       "",
       {peak(kClassic, 1), peak(kClassic, 2), peak(kClassic, 9), peak(kClassic, 10)},
       7,
       "**a counterexample** for whole n: two of these steps fall"},
      {"Corollary 30 its limit is 1; m = 4, 16, 64, 128, 1024",
       "MaximumEfficiency",
       "efficiency_test",
       "",
       {best(kClassic, 4), best(kClassic, 16), best(kClassic, 64), best(kClassic, 128),
        best(kClassic, 1024)},
       4},
      {"slightly less than half of the bits are set at the best k; of all n <= m <= 300 with a "
       "usual "
       "k of at most 72, more than half are set in so many %, standard, classic",
       "MomentsOfOnes",
       "sizing_test",
       "",
       {OverfullShare(kStandard), OverfullShare(kClassic)},
       3,
       "half, to either side"},
      {"overfilling costs more than underfilling; m = 10,000, k = 7: 1000 times the efficiency "
       "that "
       "200 keys fewer than the best 990 cost, and 200 more",
       "Efficiency",
       "efficiency_test",
       "",
       {lost(790, 7), lost(1190, 7)},
       3,
       "the reverse holds by keys at a fixed k"},
      {"the same by probes, at 990 keys: k = 6, 8; k = 5, 9",
       "Efficiency",
       "efficiency_test",
       "",
       {lost(990, 6), lost(990, 8), lost(990, 5), lost(990, 9)},
       3,
       "as well"},
      {"Theorem 31, (66) valleys, m = 256, classic: the fewest keys for which k = 1, 2 are as good "
       "as "
       "one "
       "more",
       "ExactValley",
       "efficiency_test",
       "",
       {static_cast<double>(*ExactValley(kClassic, 256, 1)),
        static_cast<double>(*ExactValley(kClassic, 256, 2))}},
      {"4.3, (78), (79) † the lossless code of one key, m = 64, k = 32, and the entropy at half "
       "fill, in bits",
       "LosslessCodeBits, EntropyBits",
       "efficiency_test",
       "",
       {LosslessCodeBits(64, 32), EntropyBits(64, 32)},
       6},
      {"Theorems 7 and 11, (27), (28), (33) to (35); Corollaries 19 and 20, (47), (48)",
       "",
       "",
       "",
       {},
       5,
       "not there: names of families, or not in our copy"}};
}

}  // namespace exactbloom
