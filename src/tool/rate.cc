// exactbloom rate: the exact rate of one geometry, beside its bounds, the usual formula and the
// best k.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "arguments.h"
#include "commands.h"
#include "exactbloom/efficiency.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/sizing.h"

namespace exactbloom::tool {
namespace {

struct RateArguments {
  LayoutArguments layout;
  std::uint64_t bits = 0;
  std::uint64_t keys = 0;
  int probes = 0;
  bool json = false;
};

void CheckGeometry(const RateArguments& a, Layout layout) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
  if (a.bits < 1 || a.bits > kMost) {
    throw InvalidInput(fmt::format("--m {}: must be 1 to 2^53 bits", a.bits));
  }
  if (a.keys < 1 || a.keys > kMost) {
    throw InvalidInput(fmt::format("--n {}: must be 1 to 2^53 keys", a.keys));
  }
  if (a.probes < 1 || a.probes > kMaxProbes) {
    throw InvalidInput(fmt::format("--k {}: must be 1 to {}", a.probes, kMaxProbes));
  }
  if (layout.kind == FilterKind::kClassic && static_cast<std::uint64_t>(a.probes) > a.bits) {
    throw InvalidInput(
        fmt::format("--k {}: {} bits do not have so many distinct ones", a.probes, a.bits));
  }
  if (layout.lines > 0 &&
      (a.bits % kLineBits != 0 || a.bits < kLineBits * static_cast<std::uint64_t>(layout.lines))) {
    throw InvalidInput(
        fmt::format("--m {}: with --lines {} it must be a multiple of {}, at least {}", a.bits,
                    layout.lines, kLineBits, kLineBits * static_cast<std::uint64_t>(layout.lines)));
  }
  if (layout.lines == 2 && a.probes % 2 != 0) {
    throw InvalidInput(fmt::format("--k {}: with --lines 2 it must be even", a.probes));
  }
}

void Run(const RateArguments& a) {
  const Layout layout = a.layout.Get();
  CheckGeometry(a, layout);
  const double exact = FalsePositiveRate(layout, a.bits, a.keys, a.probes);
  const double asymptotic = AsymptoticFalsePositiveRate(a.bits, a.keys, a.probes);
  const RateBounds bounds = FalsePositiveRateBounds(layout.kind, a.bits, a.keys, a.probes);
  const int best = OptimalProbes(layout, a.bits, a.keys);
  const double best_rate = FalsePositiveRate(layout, a.bits, a.keys, best);
  const double efficiency = Efficiency(layout, a.bits, a.keys, a.probes);

  if (a.json) {
    nlohmann::ordered_json out;
    out["exact"] = exact;
    out["asymptotic"] = asymptotic;
    // The bounds are those of whole filters.
    out["lower"] = layout.lines == 0 ? nlohmann::ordered_json(bounds.lower) : nullptr;
    out["upper"] = layout.lines == 0 ? nlohmann::ordered_json(bounds.upper) : nullptr;
    out["optimal_k"] = best;
    out["rate_at_optimal_k"] = best_rate;
    out["efficiency"] = efficiency;
    fmt::print("{}\n", out.dump(2));
    return;
  }
  fmt::print("{} filter, lines = {}, m = {} bits, n = {} keys ({} bits per key), k = {}\n\n",
             a.layout.kind, a.layout.lines, a.bits, a.keys,
             Shortest(static_cast<double>(a.bits) / static_cast<double>(a.keys), 6), a.probes);
  fmt::print("exact rate          {:.9g}\n", exact);
  if (exact == 0.0) {
    fmt::print("log2 of it          {:.9g}\n",
               Log2FalsePositiveRate(layout, a.bits, a.keys, a.probes));
  }
  fmt::print("usual formula       {:.9g}   ({:+.3g}%)\n", asymptotic,
             (asymptotic / exact - 1.0) * 100.0);
  if (layout.lines == 0) {
    fmt::print("bounds              {:.9g} .. {:.9g}\n", bounds.lower, bounds.upper);
  }
  fmt::print("best k              {}\n", best);
  fmt::print("exact rate with it  {:.9g}\n", best_rate);
  fmt::print("efficiency          {:.6g}\n", efficiency);
}

}  // namespace

void AddRateCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("rate", "The exact false-positive rate of one filter");
  auto arguments = std::make_shared<RateArguments>();
  arguments->layout.AddTo(*command);
  command->add_option("--m", arguments->bits, "bits of the filter")
      ->check(RefuseNegative)
      ->required();
  command->add_option("--n", arguments->keys, "keys in it")->check(RefuseNegative)->required();
  command->add_option("--k", arguments->probes, "bits of a key")->required();
  command->add_flag("--json", arguments->json, "print JSON");
  command->callback([arguments] { Run(*arguments); });
}

}  // namespace exactbloom::tool
