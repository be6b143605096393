// The occupancy distributions: how many bits are one.
//
// A committee is a set of distinct bits, every set of its size equally likely. A department is any
// number of independent committees; the bits that lie in at least one of them are its ones. X is
// the number of bits that are ones of every department. That covers
//
//   classic occupancy       one department of N committees of one bit    standard filter, N = nk
//   committee               one department of n committees of k bits     classic filter
//   committee union         one department of committees of any sizes    union of classic filters
//   committee intersection  departments of a committee each, or of any   bits that filters share
//
// With D_r the probability that r given bits are all counted, every moment is a sum of positive
// terms: E[C(X,r)] = C(m,r) D_r, E[X^(r)] = m^(r) D_r, E[X^r] = sum_j S(r,j) m^(j) D_j (equations
// 2, 6, 9, 10, 15, 19, 39), where D_r of an intersection is the product over its departments. The
// paper gives D_r as an alternating sum, and its recurrence over r (Theorem 3) subtracts, too. Here
// D_r comes from the chain behind the exact rate, and the p.m.f. from adding the bits one by one;
// nothing cancels in either.
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

// The functions allocate and throw std::bad_alloc when memory is short, nothing else.
class Occupancy {
 public:
  // The largest r of a moment.
  static constexpr int kMaxMoment = kMaxProbes;

  //   bits          m, 1 .. 2^53
  //   departments   at least one; sizes 1 .. m, counts 0 .. 2^53. A department without committees
  //                 has no ones.
  // Errors: nothing is returned for parameters outside these ranges.
  static std::optional<Occupancy> Create(std::uint64_t bits, std::vector<Department> departments);

  // The ones of a filter of `bits` bits after `keys` keys of `probes` bits each.
  static std::optional<Occupancy> OfFilter(FilterKind kind, std::uint64_t bits, std::uint64_t keys,
                                           int probes);

  // Returns m prod_d (1 - V_1(d)). Precision: relative error at most 1e-12, for any m.
  // Source: (42), (16).
  double Mean() const;

  // Returns the variance. The paper's (43)-(45) subtract nearly equal numbers; this follows the
  // variance committee by committee and department by department in sums of positive terms.
  // Precision: as above. Time: O(log count) per department.
  double Variance() const;

  // Returns E[C(X,r)], E[X^(r)] (falling factorial) and E[X^r].
  //   r   0 .. kMaxMoment
  // Precision: as above; infinity where a moment exceeds the range of double. Time: O(r^3 log
  // count) per group of committees. Errors: NaN for other r. Source: (2), (9), (10), (15), (19),
  // (39).
  double BinomialMoment(int r) const;
  double FactorialMoment(int r) const;
  double RawMoment(int r) const;

  // Returns P(X = x) for all x. Precision: relative error at most 1e-10 for values above 1e-300.
  // Time: one addition and two multiplications for each value above the range of double and each
  // bit drawn, that is O(balls sqrt(m)), and for each department after the first O(m sqrt(m)) more:
  // about 0.4 s for m = 1e5 at half fill. Meant for m up to a few millions.
  // Source: (3), (14), (23), (32), (41), in positive form.
  MassFunction Pmf() const;

 private:
  Occupancy(std::uint64_t bits, std::vector<Department> departments)
      : bits_(bits), departments_(std::move(departments)) {}

  // D_r times 2^(r * exponent).
  struct ScaledProbability {
    double value = 0.0;
    int exponent = 0;
  };
  ScaledProbability AllCounted(int r) const;

  std::uint64_t bits_;
  std::vector<Department> departments_;
};

}  // namespace exactbloom
