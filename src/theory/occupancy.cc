#include "exactbloom/theory/occupancy.h"

#include <cmath>

#include "../analysis/positive_chain.h"
#include "../analysis/scaled_rate.h"

namespace exactbloom {
namespace {

using analysis::PositiveChain;

// With Z = m - X zeros, one committee of k bits leaves Z' = Z - H, H hypergeometric, so that
//
//   (E Z')^2      = (1 - k/m)^2 (E Z)^2
//   E Z' E X'     = (1 - k/m) E Z E X + (1 - k/m) (k/m) (E Z)^2
//   Var Z'        = ((m-k)(m-k-1) / (m(m-1))) Var Z + (k(m-k) / (m^2 (m-1))) E Z E X
//
// which is a chain with non-negative entries; the three are its states, divided by m^2.
double Variance(double m, double k, std::uint64_t committees) {
  constexpr int kZeros = 1;
  constexpr int kProduct = 2;
  constexpr int kVariance = 3;
  if (m == 1.0) return 0.0;  // the bit is one after the first committee
  const double share = k / m;
  PositiveChain chain(kVariance);
  chain.SetStay(kZeros, -share * (2.0 - share));
  chain.SetStay(kProduct, -share);
  chain.SetMove(kProduct, kZeros, (1.0 - share) * share);
  // 1 - (m-k)(m-k-1) / (m(m-1)) = k (2m - k - 1) / (m(m-1))
  chain.SetStay(kVariance, -share * ((2.0 * m - k - 1.0) / (m - 1.0)));
  chain.SetMove(kVariance, kProduct, share * ((m - k) / m) / (m - 1.0));
  PositiveChain::Row values = PositiveChain::RowOf(kVariance);
  values[kZeros] = 1.0;
  chain.Run(committees, values);
  return values[kVariance] * m * m;
}

}  // namespace

std::optional<OccupancyMoments> MomentsOfOnes(FilterKind kind, std::uint64_t bits,
                                              std::uint64_t keys, int probes) {
  if (!analysis::IsGeometry(kind, bits, keys, probes)) return std::nullopt;
  const bool classic = kind == FilterKind::kClassic;
  const auto m = static_cast<double>(bits);
  const double size = classic ? probes : 1.0;
  const std::uint64_t committees = classic ? keys : keys * static_cast<std::uint64_t>(probes);
  const double log_zero =
      committees == 0 ? 0.0 : static_cast<double>(committees) * std::log1p(-size / m);
  return OccupancyMoments{-m * std::expm1(log_zero), Variance(m, size, committees)};
}

}  // namespace exactbloom
