// docs/papers.md: the tables of what five documents say, and what the library computes.
//
// Each row of the tables is made here, so a value on the page is one that a function returned in
// this build. A printed number must agree with it to its last digit, unless the row says why not.
// After a change,
//   UPDATE_DOCUMENT=docs/papers.md build/bin/papers_test
// writes the tables into the page; then look at the difference.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/bounds.h"
#include "exactbloom/theory/counting_filter.h"
#include "exactbloom/theory/efficiency.h"
#include "exactbloom/theory/key_count_estimate.h"
#include "exactbloom/theory/occupancy.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;

constexpr BloomKind kClassic = BloomKind::kClassic;
constexpr BloomKind kStandard = BloomKind::kStandard;

struct Row {
  std::string claim;
  std::string functions;         // of the library
  std::string tests;             // sources, without extension, separated by blanks
  std::string printed;           // numbers of the document; empty if it prints none
  std::vector<double> computed;  // as many, if it prints any
  int digits = 5;                // of the computed values
  std::string remark = {};       // on the row; of a misprint, why the numbers differ
  bool misprint = false;
};

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

std::vector<Row> OccupancyRows() {
  const Occupancy classic = *Occupancy::OfFilter(kClassic, 10, 2, 3);
  const Occupancy standard = *Occupancy::OfFilter(kStandard, 10, 2, 3);
  const Occupancy shared = *Occupancy::OfIntersection(kClassic, 10, {2, 2}, 3);
  const Occupancy one_each = *Occupancy::OfIntersection(kClassic, 10, {1, 1}, 3);
  const Occupancy both = *Occupancy::OfUnion(10, {{3, 1}, {2, 1}});
  return {{"(4), (14) p.m.f. of the ones; m = 10, k = 3, n = 2, classic: 120 P(X = 3 .. 6)",
           "Occupancy::Pmf", "occupancy_test", "", ScaledMasses(classic, 3, 6, 120.0)},
          {"the same, standard: 1e5 P(X = 1 .. 6)", "Occupancy::Pmf", "occupancy_test", "",
           ScaledMasses(standard, 1, 6, 1e5)},
          {"(16), (42) to (45) mean and variance of the classic one",
           "Occupancy::Mean, Occupancy::Variance",
           "occupancy_test",
           "",
           {classic.Mean(), classic.Variance()}},
          {"(2), (6), (9), (10), (15) moments: E[X^2], E[C(X,2)], E[X(X-1)]",
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
          {"(29) to (41), Corollary 21 intersections; two filters as above: mean, variance, P(0)",
           "Occupancy::OfIntersection",
           "occupancy_test",
           "",
           {shared.Mean(), shared.Variance(), shared.Pmf()->At(0)},
           8},
          {"the same with one key each, the hypergeometric law: 120 P(0 .. 3)",
           "Occupancy::OfIntersection", "occupancy_test", "", ScaledMasses(one_each, 0, 3, 120.0)},
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
       "6.248e-4, 6.154e-4",
       {FalsePositiveRate(kStandard, 64, 4, 11), FalsePositiveRate(kStandard, 64, 4, 10)}},
      {"(59) to (62) classic rate, the same: k = 11, then 9 †",
       "FalsePositiveRate",
       "false_positive_rate_test",
       "4.851e-4, 4.550e-4",
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
      {"k*, n*, m*; 1%: keys of 1000 bits, bits of 100 keys",
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
       "142",
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
  return {
      {"(69), (70) efficiency; m = 1e7, n = 1e6, k = 7",
       "Efficiency",
       "efficiency_test",
       "",
       {Efficiency(kClassic, 10'000'000, 1'000'000, 7)}},
      {"Theorem 26, Corollary 27 the best standard filter, m = 1e6: k, rate, efficiency (ln 2)",
       "MaximumEfficiency",
       "efficiency_test",
       "1, 0.5, 0.693147",
       {static_cast<double>(million.probes),
        FalsePositiveRate(kStandard, 1'000'000, million.keys, static_cast<int>(million.probes)),
        million.efficiency},
       6},
      {"(74) to (77) peaks; m = 1024: keys for k = 10, probes for n = 71",
       "EfficientKeys, EfficientProbes",
       "efficiency_test",
       "",
       {EfficientKeys(1024, 10), EfficientProbes(1024, 71)}},
      {"Conjecture 28, (75) the best classic filter has one key; m = 3: k = 1 with two keys, with "
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
       {PeakEfficiency(kClassic, 64, 1)->efficiency, PeakEfficiency(kClassic, 64, 2)->efficiency,
        PeakEfficiency(kClassic, 64, 9)->efficiency, PeakEfficiency(kClassic, 64, 10)->efficiency},
       7,
       "**a counterexample** for whole n: two of these steps fall"},
      {"Corollary 30 its limit is 1; m = 4, 16, 64, 128, 1024",
       "MaximumEfficiency",
       "efficiency_test",
       "",
       {best(kClassic, 4), best(kClassic, 16), best(kClassic, 64), best(kClassic, 128),
        best(kClassic, 1024)},
       4},
      {"Theorem 31 valleys, m = 256, classic: the fewest keys for which k = 1, 2 are as good as "
       "one "
       "more",
       "ExactValley",
       "efficiency_test",
       "",
       {static_cast<double>(*ExactValley(kClassic, 256, 1)),
        static_cast<double>(*ExactValley(kClassic, 256, 2))}},
      {"4.3 the lossless code of one key, m = 64, k = 32, and the entropy at half fill, in bits",
       "LosslessCodeBits, EntropyBits",
       "efficiency_test",
       "",
       {LosslessCodeBits(64, 32), EntropyBits(64, 32)},
       6},
      {"Theorem 15, Corollaries 19 and 20, (47), (48); Theorems 7 and 11, Corollary 12, (26) to "
       "(28), (33) to (35)",
       "",
       "",
       "",
       {},
       5,
       "not there: names of families, from which no number follows, or not in our copy"}};
}

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
      {"Azuma and Hoeffding: the ones differ by more with at most .27%; m = 1e6, n = 1e5, k = 7",
       "AzumaHoeffdingDeviation",
       "bounds_test",
       "",
       {AzumaHoeffdingDeviation(1'000'000, 100'000, 7, 0.0027)},
       4,
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
      {"the mean of the largest counter, by the inverse of the Gamma function",
       "",
       "",
       "",
       {},
       5,
       "not there: the tail is exact"}};
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
           "8",
           {0.01 * std::exp2(kBits)},
           3},
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

std::map<std::string, std::vector<Row>> Tables() {
  return {{"occupancy", OccupancyRows()},        {"rates", RateRows()},
          {"efficiency", EfficiencyRows()},      {"encyclopedia", EncyclopediaRows()},
          {"summary_cache", SummaryCacheRows()}, {"slides", SlideRows()},
          {"introduction", IntroductionRows()}};
}

struct PrintedNumber {
  double value;
  double unit;  // of the last digit
};

std::vector<PrintedNumber> NumbersIn(const std::string& text) {
  const std::regex number(R"((-?[0-9]+)(\.([0-9]+))?(e(-?[0-9]+))?)");
  std::vector<PrintedNumber> numbers;
  for (std::sregex_iterator match(text.begin(), text.end(), number), end; match != end; ++match) {
    const std::string exponent = (*match)[5];
    const int power =
        (exponent.empty() ? 0 : std::stoi(exponent)) - static_cast<int>((*match)[3].length());
    numbers.push_back({std::stod(match->str()), std::pow(10.0, power)});
  }
  return numbers;
}

// Whether the computed values have the printed digits, rounded or cut.
bool Agree(const Row& row) {
  const std::vector<PrintedNumber> printed = NumbersIn(row.printed);
  if (printed.size() != row.computed.size()) return false;
  for (std::size_t i = 0; i < printed.size(); ++i) {
    if (std::abs(row.computed[i] - printed[i].value) > printed[i].unit) return false;
  }
  return true;
}

// Names that are separated by commas, each as code.
std::string InCode(const std::string& names) {
  return names.empty() ? "" : "`" + std::regex_replace(names, std::regex(", "), "`, `") + "`";
}

std::string LineOf(const Row& row) {
  std::ostringstream line;
  line.precision(row.digits);
  line << "| " << row.claim << " | " << InCode(row.functions) << " | " << row.tests << " | "
       << row.printed << " | ";
  for (std::size_t i = 0; i < row.computed.size(); ++i) {
    line << (i == 0 ? "" : ", ") << row.computed[i];
  }
  if (!row.remark.empty()) line << (row.computed.empty() ? "" : "; ") << row.remark;
  line << " |";
  return std::regex_replace(line.str(), std::regex(" +"), " ");
}

std::string TableOf(const std::vector<Row>& rows) {
  std::string text =
      "| equation or claim | function | test | printed | computed |\n|---|---|---|---|---|\n";
  for (const Row& row : rows) text += LineOf(row) + "\n";
  return text;
}

std::string Read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Papers, PageHasTheTablesThatTheLibraryComputes) {
  std::string page = Read(PAPERS);
  for (const auto& [name, rows] : Tables()) {
    const std::string begin = "<!-- rows: " + name + " -->\n";
    const std::size_t from = page.find(begin);
    ASSERT_NE(from, std::string::npos) << name;
    const std::size_t to = page.find("<!-- end -->", from);
    ASSERT_NE(to, std::string::npos) << name;
    const std::string table = TableOf(rows);
    EXPECT_EQ(page.substr(from + begin.size(), to - from - begin.size()), table) << name;
    page.replace(from + begin.size(), to - from - begin.size(), table);
  }
  const char* update = std::getenv("UPDATE_DOCUMENT");
  if (update != nullptr) std::ofstream(update) << page;
}

TEST(Papers, PrintedNumbersAreRightButForMisprints) {
  for (const auto& [name, rows] : Tables()) {
    for (const Row& row : rows) {
      SCOPED_TRACE(name + ": " + row.claim);
      if (row.printed.empty()) {
        EXPECT_FALSE(row.misprint);
        continue;
      }
      EXPECT_EQ(NumbersIn(row.printed).size(), row.computed.size());
      EXPECT_EQ(Agree(row), !row.misprint) << LineOf(row);
      EXPECT_TRUE(!row.misprint || !row.remark.empty());
    }
  }
}

TEST(Papers, NamesTestsThatThereAre) {
  std::set<std::string> sources;
  for (const auto& file : fs::recursive_directory_iterator(TESTS)) {
    sources.insert(file.path().stem());
  }
  for (const auto& [name, rows] : Tables()) {
    for (const Row& row : rows) {
      std::istringstream tests(row.tests);
      for (std::string test; tests >> test;) EXPECT_EQ(sources.count(test), 1U) << test;
      EXPECT_TRUE(!row.tests.empty() || (row.functions.empty() && row.computed.empty()));
    }
  }
}

// The digits that printed numbers are compared by.
TEST(Papers, ComparesToTheLastPrintedDigit) {
  const auto agree = [](const std::string& printed, std::vector<double> computed) {
    return Agree({"", "", "", printed, std::move(computed)});
  };
  EXPECT_TRUE(agree("1.37e-15", {1.368e-15}));
  EXPECT_FALSE(agree("1.37e-15", {1.384e-15}));
  EXPECT_TRUE(agree("45.0, 88.5", {45.0, 88.59}));
  EXPECT_FALSE(agree("45.0, 88.5", {45.0, 88.61}));
  EXPECT_FALSE(agree("45.0", {45.0, 88.5}));
}

}  // namespace
}  // namespace exactbloom
