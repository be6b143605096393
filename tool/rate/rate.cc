// exactbloom rate: the rate of a filter of m bits, n keys and k probes.
#include <fmt/format.h>

#include <cmath>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/ribbon_filter.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/efficiency.h"
#include "tool/output.h"
#include "tool/subcommands.h"
#include "tool/support/errors.h"
#include "tool/support/text_table.h"

namespace exactbloom::tool {
namespace {

// Why there is no filter of this geometry, with probes that the command line admits.
std::string RateRefusal(const RateArguments& arguments) {
  if (arguments.bits < 1) return "--m is 0, but a filter has at least one bit";
  if (!arguments.probes) return "rate: --k is required";
  return fmt::format("--k is {}, but {} bits are too few for as many distinct ones",
                     *arguments.probes, arguments.bits);
}

void PrintEfficiency(double efficiency) {
  fmt::print(
      "\nefficiency {:.4f}: an ideal filter of this rate would need that share of the bits\n",
      efficiency);
}

void PrintRibbonRate(const RateArguments& arguments) {
  if (arguments.probes) throw support::InputError("--k: a Ribbon filter has none");
  const auto plan = RibbonFilterBuilder::Create({})->PlanWithin(arguments.keys, arguments.bits / 8);
  if (!plan) throw support::InputError("no Ribbon filter is that small");
  const double rate = plan->FalsePositiveRate();
  const std::uint64_t bytes = plan->BlockBytes();
  if (arguments.json) return PrintJson({{"expected", rate}, {"bytes", bytes}});
  fmt::print("Ribbon filter of {} bytes, {} keys\n\nexpected false-positive rate {}\n", bytes,
             arguments.keys, FormatRate(rate));
  if (rate <= 0.0 || rate >= 1.0) return;
  const double ideal_bits = static_cast<double>(arguments.keys) * -std::log2(rate);
  PrintEfficiency(ideal_bits / (8.0 * static_cast<double>(bytes)));
}

}  // namespace

void RunRate(const RateArguments& arguments) {
  if (arguments.kind == PolicyKind::kExactRibbon) return PrintRibbonRate(arguments);
  const FilterKind kind = FilterKindOf(arguments.kind);
  const std::uint64_t bits = arguments.bits;
  const std::uint64_t keys = arguments.keys;
  const int probes = arguments.probes.value_or(0);
  const double exact = FalsePositiveRate(kind, bits, keys, probes);
  if (std::isnan(exact)) throw support::InputError(RateRefusal(arguments));
  const double asymptotic = AsymptoticFalsePositiveRate(bits, keys, probes);
  const RateBounds bounds = FalsePositiveRateBounds(kind, bits, keys, probes);
  const int best_probes = OptimalProbes(kind, bits, keys);
  const double best_rate = FalsePositiveRate(kind, bits, keys, best_probes);
  const double efficiency = Efficiency(kind, bits, keys, probes);
  if (arguments.json) {
    return PrintJson({{"exact", exact},
                      {"asymptotic", asymptotic},
                      {"lower", bounds.lower},
                      {"upper", bounds.upper},
                      {"optimal_k", best_probes},
                      {"rate_at_optimal_k", best_rate},
                      {"efficiency", efficiency}});
  }
  fmt::print("{} Bloom filter of {} bits, {} keys, {} probes\n\n", Describe(kind), bits, keys,
             probes);
  support::TextTable table({"false-positive rate", "", "of the exact rate"});
  const auto add = [&table, of = exact](const std::string& name, double rate) {
    if (std::isnan(rate)) return;
    const double share = rate / of;
    table.AddRow(
        {name, FormatRate(rate), std::isfinite(share) ? fmt::format("{:.6f}", share) : "-"});
  };
  add("exact", exact);
  add("usual formula, (1 - e^(-kn/m))^k", asymptotic);
  add("lower bound", bounds.lower);
  add("upper bound", bounds.upper);
  add(fmt::format("exact at the best k, {}", best_probes), best_rate);
  fmt::print("{}", table.Format());
  if (!std::isnan(efficiency)) PrintEfficiency(efficiency);
}

}  // namespace exactbloom::tool
