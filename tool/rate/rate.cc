// exactbloom rate: the rate of a filter of m bits, n keys and k probes, of all k, or of a filter
// whose number of ones is known.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "exactbloom/rate_bounds.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/counting_filter.h"
#include "exactbloom/theory/efficiency.h"
#include "exactbloom/theory/key_count_estimate.h"
#include "exactbloom/theory/occupancy.h"
#include "support/errors.h"
#include "support/optional_json.h"
#include "support/text_table.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

using support::TextTable;
using support::WithCommas;

[[noreturn]] void RefuseRate(const std::string& why) { throw support::InputError(why); }

// Why there is no filter of this geometry, with probes that the command line admits.
std::string RateRefusal(std::uint64_t bits, int probes) {
  if (bits < 1) return "--m is 0, but a filter has at least one bit";
  return fmt::format("--k is {}, but {} bits are too few for as many distinct ones", probes, bits);
}

void PrintEfficiency(double efficiency) {
  fmt::print("\n{}", Wrapped(fmt::format("efficiency {:.4f}: an ideal filter of this rate would "
                                         "need that share of the bits",
                                         efficiency)));
}

void PrintRibbonRate(const RateArguments& arguments) {
  if (arguments.probes) RefuseRate("--k: a Ribbon filter has none");
  if (arguments.ones) RefuseRate("--ones: a Ribbon filter is always about half full");
  const std::uint64_t keys = arguments.keys.value();
  FilterOptions options;
  options.kind = FilterKind::kRibbon;
  const auto plan = FilterBuilder::Create(options)->PlanWithin(keys, arguments.bits / 8);
  if (!plan) RefuseRate("no Ribbon filter is that small");
  if (plan->Kind() != FilterKind::kRibbon || plan->IsCut()) {
    RefuseRate("one block cannot hold a Ribbon filter of so many keys");
  }
  const double rate = plan->FalsePositiveRate();
  const std::uint64_t bytes = plan->BlockBytes();
  std::optional<double> efficiency;
  if (rate > 0.0 && rate < 1.0) {
    const double ideal_bits = static_cast<double>(keys) * -std::log2(rate);
    efficiency = ideal_bits / (8.0 * static_cast<double>(bytes));
  }
  if (arguments.json) {
    return PrintJson({{"expected", rate}, {"bytes", bytes}, {"efficiency", efficiency}});
  }
  fmt::print("Ribbon filter of {} bytes, {} keys\n\nexpected false-positive rate {}\n",
             WithCommas(bytes), WithCommas(keys), FormatExactRate(rate));
  if (efficiency) PrintEfficiency(*efficiency);
}

// A filter of some bits and keys, and the k of its lowest rate.
struct BestProbes {
  int probes = 0;
  double rate = 0.0;

  BestProbes(BloomKind kind, std::uint64_t bits, std::uint64_t keys)
      : probes(OptimalProbes(kind, bits, keys, kMaxAnalysisProbes)),
        rate(FalsePositiveRate(kind, bits, keys, probes)) {}

  std::string Name() const {
    return fmt::format("{}{}", probes == kMaxAnalysisProbes ? "up to " : "", probes);
  }
};

// What a filter of the format can do, if that is less.
void PrintLimit(BloomKind kind, std::uint64_t bits, std::uint64_t keys, const BestProbes& best) {
  if (best.probes <= kMaxProbes) return;
  fmt::print("\nfilters of ExactBloom have at most {} probes, which give {}\n", kMaxProbes,
             FormatExactRate(FalsePositiveRate(kind, bits, keys, kMaxProbes)));
}

// What the theory says besides.
nlohmann::json TheoryOf(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes) {
  constexpr int kCounterBits = 4;
  const auto ones = MomentsOfOnes(kind, bits, keys, probes);
  // With more probes it takes seconds.
  const auto valley = probes < kMaxProbes ? ExactValley(kind, bits, probes) : std::nullopt;
  return {
      {"expected_ones", ones->mean},
      {"deviation_of_ones", std::sqrt(ones->variance)},
      {"valley_keys", valley},
      {"overflow", CounterOverflowProbability(kind, bits, keys, probes, kCounterBits)},
  };
}

void PrintRate(BloomKind kind, std::uint64_t bits, std::uint64_t keys, int probes, bool as_json) {
  const double exact = FalsePositiveRate(kind, bits, keys, probes);
  if (std::isnan(exact)) RefuseRate(RateRefusal(bits, probes));
  const double asymptotic = AsymptoticFalsePositiveRate(bits, keys, probes);
  const Interval bounds = *FalsePositiveRateBounds(kind, bits, keys, probes);
  const BestProbes best(kind, bits, keys);
  const double efficiency = Efficiency(kind, bits, keys, probes);
  if (as_json) {
    nlohmann::json document = TheoryOf(kind, bits, keys, probes);
    document.update({{"exact", exact},
                     {"asymptotic", asymptotic},
                     {"lower", bounds.low},
                     {"upper", bounds.high},
                     {"optimal_k", best.probes},
                     {"rate_at_optimal_k", best.rate},
                     {"efficiency", efficiency}});
    return PrintJson(document);
  }
  fmt::print("{} Bloom filter of {} bits, {} keys, {} probes\n\n", Describe(kind), WithCommas(bits),
             WithCommas(keys), probes);
  TextTable table({"false-positive rate", "", "of the exact rate"});
  const auto add = [&table, of = exact](const std::string& name, double rate) {
    if (std::isnan(rate)) return;
    const double share = rate / of;
    table.AddRow(
        {name, FormatExactRate(rate), std::isfinite(share) ? fmt::format("{:.6f}", share) : "-"});
  };
  add("exact", exact);
  add("usual formula, (1 - e^(-kn/m))^k", asymptotic);
  add("lower bound", bounds.low);
  add("upper bound", bounds.high);
  add("exact at the best k, " + best.Name(), best.rate);
  fmt::print("{}", table.Format());
  if (!std::isnan(efficiency)) PrintEfficiency(efficiency);
  PrintLimit(kind, bits, keys, best);
}

// The rates up to twice the best k, in at most some kMostRows lines, of which one is the best.
std::vector<int> ProbesToShow(BloomKind kind, std::uint64_t bits, int best) {
  constexpr int kFewest = 8;
  constexpr int kMostRows = 24;
  const int last =
      std::min(MostProbes(kind, bits, kMaxAnalysisProbes), std::max(kFewest, 2 * best));
  const int step = (last + kMostRows - 1) / kMostRows;
  std::vector<int> probes;
  for (int k = best % step == 0 ? step : best % step; k <= last; k += step) probes.push_back(k);
  return probes;
}

void PrintRatesByProbes(BloomKind kind, std::uint64_t bits, std::uint64_t keys, bool as_json) {
  if (bits < 1) RefuseRate(RateRefusal(bits, 1));
  const BestProbes best(kind, bits, keys);
  TextTable table({"  k", "exact", "usual formula", "efficiency"});
  nlohmann::json rates = nlohmann::json::array();
  for (const int k : ProbesToShow(kind, bits, best.probes)) {
    const double exact = FalsePositiveRate(kind, bits, keys, k);
    const double asymptotic = AsymptoticFalsePositiveRate(bits, keys, k);
    const double efficiency = Efficiency(kind, bits, keys, k);
    rates.push_back(
        {{"k", k}, {"exact", exact}, {"asymptotic", asymptotic}, {"efficiency", efficiency}});
    table.AddRow({fmt::format("{} {}", k == best.probes ? '*' : ' ', k), FormatExactRate(exact),
                  FormatExactRate(asymptotic),
                  std::isnan(efficiency) ? "-" : fmt::format("{:.4f}", efficiency)});
  }
  if (as_json) {
    return PrintJson(
        {{"rates", rates}, {"optimal_k", best.probes}, {"rate_at_optimal_k", best.rate}});
  }
  fmt::print("{} Bloom filter of {} bits, {} keys\n\n{}", Describe(kind), WithCommas(bits),
             WithCommas(keys), table.Format());
  PrintLimit(kind, bits, keys, best);
}

// A number of keys, which is infinite for a full filter.
std::string KeysText(double keys) {
  return std::isfinite(keys) ? WithCommas(static_cast<std::uint64_t>(std::llround(keys))) : "any";
}

// The probability of these ones with `keys` keys; none where it takes more than some 20 seconds, as
// for more than a million bits.
std::optional<double> ProbabilityOfOnes(BloomKind kind, const RateArguments& arguments) {
  if (!arguments.keys) return std::nullopt;
  const auto ones = Occupancy::OfFilter(kind, arguments.bits, *arguments.keys, *arguments.probes);
  constexpr double kMostSteps = 2e10;
  const auto pmf = ones && ones->PmfSteps() <= kMostSteps ? ones->Pmf() : std::nullopt;
  return pmf ? std::optional(pmf->At(*arguments.ones)) : std::nullopt;
}

// The keys that two filters share, by their ones and those of both together.
std::optional<KeyCountEstimate> SharedKeys(BloomKind kind, const RateArguments& arguments) {
  if (!arguments.other_ones) return std::nullopt;
  const auto shared =
      EstimateSharedKeys(kind, arguments.bits, *arguments.ones, *arguments.other_ones,
                         *arguments.union_ones, *arguments.probes, kZ999);
  if (!shared) {
    RefuseRate(fmt::format("no two filters with {} and {} ones have {} together", *arguments.ones,
                           *arguments.other_ones, *arguments.union_ones));
  }
  return shared;
}

void PrintFill(BloomKind kind, const RateArguments& arguments) {
  if (!arguments.probes) RefuseRate("rate: --ones needs --k");
  const std::uint64_t bits = arguments.bits;
  const std::uint64_t ones = *arguments.ones;
  const int probes = *arguments.probes;
  if (ones > bits) RefuseRate(fmt::format("--ones is {}, but there are {} bits", ones, bits));
  if (static_cast<std::uint64_t>(probes) >= bits) {
    RefuseRate(fmt::format("--k is {}, which tells nothing of the keys in {} bits", probes, bits));
  }
  const auto keys = EstimateKeys(kind, bits, ones, probes, kZ999);
  if (!keys) {
    RefuseRate(fmt::format("--ones is {}, which no number of keys with {} of {} bits each gives",
                           ones, probes, bits));
  }
  const auto most_likely = MaximumLikelihoodKeys(kind, bits, ones, probes);
  const double rate = FalsePositiveRateGivenFill(kind, bits, ones, probes);
  const double entropy = EntropyBits(bits, ones);
  const auto probability = ProbabilityOfOnes(kind, arguments);
  const auto shared = SharedKeys(kind, arguments);
  if (arguments.json) {
    nlohmann::json document = {{"keys", keys->keys},
                               {"low", keys->interval.low},
                               {"high", keys->interval.high},
                               {"most_likely", most_likely},
                               {"rate_given_fill", rate},
                               {"entropy_bits", entropy},
                               {"probability_of_ones", probability},
                               {"shared_keys", nullptr}};
    if (shared) {
      document["shared_keys"] = {
          {"keys", shared->keys}, {"low", shared->interval.low}, {"high", shared->interval.high}};
    }
    return PrintJson(document);
  }
  fmt::print("{} Bloom filter of {} bits, {} of them set, {} probes\n\n", Describe(kind),
             WithCommas(bits), WithCommas(ones), probes);
  TextTable table({"of this filter", "estimate"});
  table.AddRow({"keys, by the mean of the ones", KeysText(keys->keys)});
  table.AddRow({"99.9% interval", fmt::format("{} - {}", KeysText(keys->interval.low),
                                              KeysText(keys->interval.high))});
  table.AddRow({"most likely keys", most_likely ? WithCommas(*most_likely) : "-"});
  table.AddRow({"false-positive rate", FormatExactRate(rate)});
  table.AddRow({"entropy, in bits", WithCommas(static_cast<std::uint64_t>(std::llround(entropy)))});
  if (probability) {
    table.AddRow({fmt::format("probability of these ones, {} keys", WithCommas(*arguments.keys)),
                  fmt::format("{:.4g}", *probability)});
  }
  if (shared) {
    table.AddRow({"shared keys", KeysText(shared->keys)});
    table.AddRow({"99.9% interval of these", fmt::format("{} - {}", KeysText(shared->interval.low),
                                                         KeysText(shared->interval.high))});
  }
  fmt::print("{}", table.Format());
}

}  // namespace

void RunRate(const RateArguments& arguments) {
  const bool is_ribbon = arguments.kind == PolicyKind::kExactRibbon;
  if (!arguments.keys && (is_ribbon || !arguments.ones)) RefuseRate("rate: --n is required");
  if (is_ribbon) return PrintRibbonRate(arguments);
  if (arguments.other_ones.has_value() != arguments.union_ones.has_value() ||
      (arguments.other_ones && !arguments.ones)) {
    RefuseRate("rate: --other-ones and --union-ones need each other, and --ones");
  }
  const BloomKind kind = BloomKindOf(arguments.kind);
  if (arguments.ones) return PrintFill(kind, arguments);
  if (!arguments.probes) {
    return PrintRatesByProbes(kind, arguments.bits, *arguments.keys, arguments.json);
  }
  PrintRate(kind, arguments.bits, *arguments.keys, *arguments.probes, arguments.json);
}

}  // namespace exactbloom::tool
