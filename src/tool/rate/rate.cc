// exactbloom rate: the rate of a filter of m bits, n keys and k probes.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/efficiency.h"
#include "support/errors.h"
#include "support/text_table.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

struct Answer {
  double exact = 0.0;
  double asymptotic = 0.0;
  RateBounds bounds;
  int optimal_probes = 0;
  double rate_at_optimum = 0.0;
  double efficiency = 0.0;
};

// Why there is no filter of this geometry; empty if there is one.
std::string Refusal(const RateArguments& arguments) {
  if (arguments.probes < 1 || arguments.probes > kMaxProbes) {
    return fmt::format("--k is {}, but must be from 1 to {}", arguments.probes, kMaxProbes);
  }
  if (arguments.bits < 1) return "--m is 0, but a filter has at least one bit";
  if (arguments.layout.InLines()) {
    return fmt::format(
        "--m is {}: with --lines {} it must be a multiple of {}, at least {}{}", arguments.bits,
        arguments.layout.Lines(), kLineBits, arguments.layout.LeastBits(),
        arguments.layout.ProbeStep() == 2 ? fmt::format(", and --k, {}, even", arguments.probes)
                                          : "");
  }
  return fmt::format("--k is {}, but {} bits are too few for as many distinct ones",
                     arguments.probes, arguments.bits);
}

Answer AnswerOf(const RateArguments& arguments) {
  const auto& [layout, bits, keys, probes, json] = arguments;
  Answer answer;
  answer.exact = FalsePositiveRate(layout, bits, keys, probes);
  if (std::isnan(answer.exact)) throw support::InputError(Refusal(arguments));
  answer.asymptotic = AsymptoticFalsePositiveRate(bits, keys, probes);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  answer.bounds = !layout.InLines() ? FalsePositiveRateBounds(layout.kind, bits, keys, probes)
                                    : RateBounds{kNone, kNone};
  answer.optimal_probes = OptimalProbes(layout, bits, keys);
  answer.rate_at_optimum = FalsePositiveRate(layout, bits, keys, answer.optimal_probes);
  answer.efficiency = Efficiency(layout, bits, keys, probes);
  return answer;
}

void PrintText(const RateArguments& arguments, const Answer& answer) {
  fmt::print("{} Bloom filter of {} bits, {} keys, {} probes\n\n", Describe(arguments.layout),
             arguments.bits, arguments.keys, arguments.probes);
  support::TextTable table({"false-positive rate", "", "of the exact rate"});
  const auto add = [&](const char* name, double rate) {
    if (std::isnan(rate)) return;
    const double share = rate / answer.exact;
    table.AddRow(
        {name, FormatRate(rate), std::isfinite(share) ? fmt::format("{:.6f}", share) : "-"});
  };
  add("exact", answer.exact);
  add("usual formula, (1 - e^(-kn/m))^k", answer.asymptotic);
  add("lower bound", answer.bounds.lower);
  add("upper bound", answer.bounds.upper);
  add(fmt::format("exact at the best k, {}", answer.optimal_probes).c_str(),
      answer.rate_at_optimum);
  fmt::print("{}", table.Format());
  if (!std::isnan(answer.efficiency)) {
    fmt::print(
        "\nefficiency {:.4f}: an ideal filter of this rate would need that share of the bits\n",
        answer.efficiency);
  }
}

}  // namespace

void RunRate(const RateArguments& arguments) {
  const Answer answer = AnswerOf(arguments);
  if (!arguments.json) return PrintText(arguments, answer);
  PrintJson({{"exact", Number(answer.exact)},
             {"asymptotic", Number(answer.asymptotic)},
             {"lower", Number(answer.bounds.lower)},
             {"upper", Number(answer.bounds.upper)},
             {"optimal_k", answer.optimal_probes},
             {"rate_at_optimal_k", Number(answer.rate_at_optimum)},
             {"efficiency", Number(answer.efficiency)}});
}

}  // namespace exactbloom::tool
