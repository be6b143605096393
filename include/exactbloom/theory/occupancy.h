// The occupancy distributions: how many bits of a filter are one.
//
// A committee is a set of distinct bits, every set of its size equally likely. A department is any
// number of independent committees; the bits that lie in at least one of them are its ones. X is
// the number of bits that are ones of every department:
//
//   classic occupancy       one department of N committees of one bit    standard filter, N = nk
//   committee               one department of n committees of k bits     classic filter
//   committee union         one department of committees of any sizes    union of classic filters
//   committee intersection  several departments                          bits that filters share
//
// Filters that share keys have the ones of these for certain: a shared department, whose ones count
// besides those of all others. The bitwise AND of two filters is such an intersection.
//
// With D_r the probability that r given bits are all counted, every moment is a sum of positive
// terms: E[C(X,r)] = C(m,r) D_r, E[X^(r)] = m^(r) D_r and E[X^r] = sum_j S(r,j) m^(j) D_j, where
// D_r of an intersection is the product over its departments. The paper gives D_r as an alternating
// sum, and its recursions over r (11) to (13) subtract, too. Here D_r comes from the chain behind
// the exact rate, and the p.m.f. from adding the bits one by one; nothing cancels in either.
//
// Errors: outside the ranges a function that returns a double returns NaN, and any other one
// returns nothing. The functions throw std::bad_alloc when memory is short, and nothing else;
// MomentsOfOnes neither throws nor allocates. Source: Burns 2019, arXiv 1908.04810; numbers are its
// equations.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom {

// `count` committees of `size` distinct bits each.
struct Committees {
  std::uint64_t size = 1;
  std::uint64_t count = 1;
};

using Department = std::vector<Committees>;

// A probability mass function over first .. first + values.size() - 1; elsewhere it is below the
// range of double.
struct MassFunction {
  std::uint64_t first = 0;
  std::vector<double> values;

  double At(std::uint64_t x) const {
    return x < first || x - first >= values.size() ? 0.0 : values[x - first];
  }
};

// The distribution of X for one filter, or for a union or an intersection of filters.
class Occupancy {
 public:
  // The largest r of a moment.
  static constexpr int kMaxMoment = 72;

  // The ones of a filter of `bits` bits after `keys` keys of `probes` bits each.
  // Parameters as for FalsePositiveRate.
  static std::optional<Occupancy> OfFilter(BloomKind kind, std::uint64_t bits, std::uint64_t keys,
                                           int probes);

  // The ones of a union: of classic filters of equal size whose numbers of probes may differ.
  //   bits         m, 1 .. 2^53
  //   committees   sizes 1 .. m, counts 0 .. 2^53; without any there are no ones
  // Source: (17) to (25).
  static std::optional<Occupancy> OfUnion(std::uint64_t bits, Department committees);

  // The bits that are one in every one of several filters.
  //   keys     n of each filter; at least one filter
  //   shared   the keys among them that all filters have, at most the fewest; no other key is in
  //            two filters
  // Other parameters as for OfFilter. Source: (29) to (41), without shared keys.
  static std::optional<Occupancy> OfIntersection(BloomKind kind, std::uint64_t bits,
                                                 const std::vector<std::uint64_t>& keys, int probes,
                                                 std::uint64_t shared = 0);

  // The same for departments of committees of any sizes; ranges as for OfUnion.
  static std::optional<Occupancy> OfIntersection(std::uint64_t bits,
                                                 std::vector<Department> departments);

  // Returns E[X]. Precision: relative error at most 1e-12, for any m. Source: (42), (16).
  double Mean() const;

  // Returns the variance of X. The paper's (43) and (45) subtract nearly equal numbers; this
  // follows the variance committee by committee and department by department in sums of positive
  // terms. Precision: as above. Time: O(log count) for each group of committees. Source: (43),
  // (45), in positive form.
  double Variance() const;

  // Returns E[C(X,r)], E[X^(r)] (falling factorial) and E[X^r].
  //   r   0 .. kMaxMoment
  // Precision: as above; infinity where a moment exceeds the range of double. Time: O(r^3 log
  // count) for each group of committees. Source: (2), (6), (9), (10), (15), (19), (39).
  double BinomialMoment(int r) const;
  double FactorialMoment(int r) const;
  double RawMoment(int r) const;

  // Returns the probability that the bits of a key that is in no filter are all ones: the rate of a
  // filter of these ones.
  //   probes   k, 1 .. kMaxAnalysisProbes; for the classic kind at most `bits`
  // Precision: as above while it is a normal double. Time: as of a moment of order k.
  double FalsePositiveRate(BloomKind kind, int probes) const;

  // Returns P(X = x) for all x. Precision: relative error at most 1e-10 for values above 1e-300.
  // Time: that of PmfSteps() steps. Errors: nothing is returned for more than kMostPmfSteps.
  // Source: (3), (4), (14), (23), (32), (41), in positive form.
  std::optional<MassFunction> Pmf() const;

  // Returns the number of additions that Pmf() makes, within a factor of three: the bits that the
  // committees draw times some 25 sqrt(m), and for each department after the first m times that
  // more. A step takes about a nanosecond: 0.3 s for m = 1e5 at half fill, 10 s for a million.
  double PmfSteps() const;

  // Some twenty minutes.
  static constexpr double kMostPmfSteps = 1e12;

 private:
  Occupancy(std::uint64_t bits, std::vector<Department> departments, Department shared = {})
      : bits_(bits), departments_(std::move(departments)), shared_(std::move(shared)) {}

  double Moment(int r, bool is_factorial) const;

  std::uint64_t bits_;
  std::vector<Department> departments_;
  Department shared_;  // its ones count, whatever the departments' are
};

struct OccupancyMoments {
  double mean = 0.0;
  double variance = 0.0;
};

// Returns the mean and the variance of Occupancy::OfFilter. Parameters and precision as there.
std::optional<OccupancyMoments> MomentsOfOnes(BloomKind kind, std::uint64_t bits,
                                              std::uint64_t keys, int probes);

}  // namespace exactbloom
