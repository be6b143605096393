#include "likelihood_of_ones.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace exactbloom::analysis {
namespace {

using Complex = std::complex<double>;

constexpr double kPi = 3.14159265358979323846;

// ln(1 + w), precise for small w, too.
Complex Log1p(Complex w) {
  const double norm = 2.0 * w.real() + std::norm(w);
  return {0.5 * std::log1p(norm), std::atan2(w.imag(), 1.0 + w.real())};
}

Complex Expm1(Complex w) {
  const double half = std::sin(0.5 * w.imag());
  const double size = std::exp(w.real());
  return {std::expm1(w.real()) - 2.0 * size * half * half, size * std::sin(w.imag())};
}

// (1 + w) ln(1 + w) - w, which is w^2 / 2 for small w.
Complex EntropyOf(Complex w) {
  constexpr double kSmall = 0.1;
  constexpr int kTerms = 18;
  if (std::abs(w) > kSmall) return (1.0 + w) * Log1p(w) - w;
  Complex sum = 0.0;
  for (int j = kTerms; j >= 2; --j) sum = 1.0 / (j * (j - 1.0)) - w * sum;
  return w * w * sum;
}

// ln Gamma(a + d) - ln Gamma(a) - d ln(a) by Stirling's formula, for a large `a`.
Complex GammaGrowth(double a, Complex d) {
  const auto rest = [](Complex x) {
    const Complex square = x * x;
    return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / x;
  };
  const Complex w = d / a;
  return a * EntropyOf(w) - 0.5 * Log1p(w) + rest(a + d) - rest(a);
}

class Integrand {
 public:
  Integrand(BloomKind kind, std::uint64_t bits, std::uint64_t ones, int probes, std::uint64_t keys)
      : kind_(kind),
        m_(static_cast<double>(bits)),
        zeros_(static_cast<double>(bits - ones)),
        ones_(ones),
        probes_(probes),
        keys_(static_cast<double>(keys)) {
    if (kind == BloomKind::kStandard) return;
    center_ = 0.5 * (probes - 1);
    height_ = std::sqrt(m_ * (m_ - 2.0 * center_));
  }

  // The values on half of the ellipse. A sum over the whole of it cannot tell numbers of draws
  // apart that differ by the number of its values. So many more or fewer make X unlikely: they are
  // ten standard deviations of the draws that X tells, and as many as leave no zero.
  double Values() const {
    constexpr double kDeviations = 10.0;
    constexpr double kZeroDraws = 40.0;
    constexpr double kLeast = 32.0;
    const double fewest = std::max(1.0, zeros_);
    const double load = std::log(m_ / fewest);
    const double deviation = std::sqrt(m_ * std::max(0.0, std::expm1(load) - load));
    const double values =
        kDeviations * deviation + kZeroDraws * m_ / fewest + 2.0 * probes_ + kLeast;
    return std::ceil(0.5 * values);
  }

  // ln F(u).
  Complex LogOneKey(double angle) const {
    if (kind_ == BloomKind::kStandard) return {0.0, probes_ * angle};
    const Complex distance = Distance(angle);
    Complex sum = 0.0;
    for (int i = 0; i < probes_; ++i) sum += Log1p(distance / (m_ - i));
    return sum;
  }

  // F(u)^n / (u (u-1) ... (u-X)) du / d(angle), over its value at m.
  Complex At(double angle, Complex log_one_key) const {
    constexpr std::uint64_t kMultipliedOnes = 256;
    const Complex distance = Distance(angle);
    const Complex direction(std::cos(angle), (m_ - center_) / height_ * std::sin(angle));
    const Complex start = direction / (1.0 + distance / m_);
    if (ones_ > kMultipliedOnes) return start * std::exp(keys_ * log_one_key - LogOnes(distance));
    Complex product = start * std::exp(keys_ * log_one_key);
    for (std::uint64_t j = 1; j <= ones_; ++j) {
      product /= 1.0 + distance / (m_ - static_cast<double>(j));
    }
    return product;
  }

 private:
  // u - m.
  Complex Distance(double angle) const {
    const double half = std::sin(0.5 * angle);
    return {-2.0 * (m_ - center_) * half * half, height_ * std::sin(angle)};
  }

  // ln Gamma(u) / Gamma(u - X), less its value at m.
  Complex LogOnes(Complex distance) const {
    constexpr double kLargeEnough = 20.0;
    double least = zeros_;
    Complex sum = 0.0;
    while (least < kLargeEnough) sum += Log1p(distance / least++);
    sum += GammaGrowth(m_, distance) - GammaGrowth(least, distance);
    return sum + distance * std::log(m_ / least);
  }

  BloomKind kind_;
  double m_;
  double zeros_;
  std::uint64_t ones_;
  int probes_;
  double keys_;
  // The path is an ellipse about the zeros of F, whose ends on the real axis are 2 center - m, m.
  double center_ = 0.0;
  double height_ = m_;
};

}  // namespace

double LikelihoodGain(BloomKind kind, std::uint64_t bits, std::uint64_t ones, int probes,
                      std::uint64_t keys) {
  constexpr double kNegligible = 1e-18;
  const Integrand integrand(kind, bits, ones, probes, keys);
  const double step = kPi / integrand.Values();
  double gain = 0.0;
  double magnitude = 0.0;
  // The other half has the conjugate values.
  double angle = 0.5 * step;
  for (bool more = true; more && angle < kPi; angle += step) {
    const Complex log_one_key = integrand.LogOneKey(angle);
    const Complex value = integrand.At(angle, log_one_key);
    const Complex difference = value * Expm1(log_one_key);
    gain += difference.real();
    magnitude += std::abs(difference);
    more = std::abs(value) >= kNegligible;
  }
  return gain / magnitude;
}

}  // namespace exactbloom::analysis
