// exactbloom plan: which filter for so many keys, or which for each level of a tree?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "arguments.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/levels.h"
#include "exactbloom/sizing.h"
#include "filter/block_format.h"
#include "report/errors.h"
#include "report/text_table.h"
#include "subcommands.h"

namespace exactbloom::tool {
namespace {

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kMostKeys = 1e12;

struct Question {
  Layout layout;
  std::uint64_t keys = 0;
  std::vector<std::uint64_t> levels;
  std::optional<double> bits_per_key;
  std::optional<double> rate;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> wasted_reads;
  bool json = false;
};

struct FilterPlan {
  std::uint64_t keys = 0;
  std::uint64_t bits = 0;  // 0: no filter
  int probes = 0;
  double rate = 1.0;

  double BitsPerKey() const { return static_cast<double>(bits) / static_cast<double>(keys); }
  std::uint64_t MemoryBytes() const {
    return bits == 0 ? 0 : filter::ArrayBytes(bits) + filter::kTrailerBytes;
  }
};

[[noreturn]] void Refuse(const std::string& what) { throw bench::InputError(what); }

FilterPlan PlanOf(Layout layout, std::uint64_t keys, std::uint64_t bits) {
  const int probes = bits == 0 ? 0 : OptimalProbes(layout, bits, keys);
  if (probes == 0) return {keys, 0, 0, 1.0};
  return {keys, bits, probes, FalsePositiveRate(layout, bits, keys, probes)};
}

// Whole bytes, or whole lines, as a builder makes them, but without the limit of one block: a plan
// may be for the keys of many tables.
std::uint64_t BitsAt(Layout layout, std::uint64_t keys, double bits_per_key) {
  const double grain = layout.lines == 0 ? 8.0 : static_cast<double>(kLineBits);
  const double grains = std::ceil(static_cast<double>(keys) * bits_per_key / grain);
  const double least = layout.lines == 2 ? 2.0 : 1.0;
  return static_cast<std::uint64_t>(std::max(grains, least) * grain);
}

std::uint64_t BitsInMemory(const Question& question, std::size_t filters) {
  const std::uint64_t trailers = filters * filter::kTrailerBytes;
  if (*question.memory_bytes <= trailers) {
    Refuse(fmt::format("--memory {} is no more than the trailers of {} filter{} take, {} bytes",
                       *question.memory_bytes, filters, filters == 1 ? "" : "s", trailers));
  }
  return (*question.memory_bytes - trailers) * 8;
}

// The bits per key to configure so that a table of these keys gets at least the planned bits: fewer
// digits are easier to read, and a thousandth of a bit is nothing.
double ConfiguredBitsPerKey(const FilterPlan& plan) {
  constexpr double kSteps = 1000.0;
  return std::min(kMaxBitsPerKey, std::ceil(plan.BitsPerKey() * kSteps - 1e-9) / kSteps);
}

std::string PolicyOf(Layout layout, const FilterPlan& plan) {
  return plan.bits == 0 ? "none" : PolicyString(layout, ConfiguredBitsPerKey(plan));
}

nlohmann::json JsonOf(Layout layout, const FilterPlan& plan) {
  return {{"keys", plan.keys},
          {"m", plan.bits},
          {"k", plan.probes},
          {"bits_per_key", plan.BitsPerKey()},
          {"exact", Number(plan.rate)},
          {"memory_bytes", plan.MemoryBytes()},
          {"policy", PolicyOf(layout, plan)}};
}

void CheckBitsPerKey(double bits_per_key) {
  if (!(bits_per_key >= kMinBitsPerKey && bits_per_key <= kMaxBitsPerKey)) {
    Refuse(fmt::format("{:g} bits per key are outside the range of {:g} to {:g}", bits_per_key,
                       kMinBitsPerKey, kMaxBitsPerKey));
  }
}

void CheckKeys(std::uint64_t keys) {
  if (keys < 1 || static_cast<double>(keys) > kMostKeys) {
    Refuse(fmt::format("{} keys are outside the range of 1 to {:g}", keys, kMostKeys));
  }
}

// One filter.

std::uint64_t BitsAskedFor(const Question& question) {
  if (question.bits_per_key) {
    CheckBitsPerKey(*question.bits_per_key);
    return BitsAt(question.layout, question.keys, *question.bits_per_key);
  }
  if (question.memory_bytes) {
    const std::uint64_t bits = BitsInMemory(question, 1);
    return bits - bits % BitGranularity(question.layout);
  }
  const auto size = SmallestFilter(question.layout, question.keys, *question.rate);
  if (!size)
    Refuse(fmt::format("--fpr {:g} must lie between 0 and 1, both excluded", *question.rate));
  return size->bits;
}

// What the textbook answers to the same question.
FilterPlan UsualPlan(const Question& question, const FilterPlan& plan) {
  FilterPlan usual = plan;
  if (question.rate) {
    const double bits = -std::log(*question.rate) / (kLn2 * kLn2) * static_cast<double>(plan.keys);
    usual.bits = static_cast<std::uint64_t>(std::ceil(bits));
  }
  usual.probes =
      std::clamp(static_cast<int>(std::lround(kLn2 * usual.BitsPerKey())), 1, kMaxProbes);
  usual.rate = AsymptoticFalsePositiveRate(usual.bits, usual.keys, usual.probes);
  return usual;
}

void PrintText(const Question& question, const FilterPlan& plan) {
  const Layout layout = question.layout;
  bench::TextTable table({"", "bits", "bits/key", "k", "false-positive rate", "bytes"});
  const auto add = [&](const std::string& name, const FilterPlan& row) {
    table.AddRow({name, fmt::format("{}", row.bits), fmt::format("{:.4f}", row.BitsPerKey()),
                  fmt::format("{}", row.probes), FormatRate(row.rate),
                  fmt::format("{}", row.MemoryBytes())});
  };
  const double bits_per_key = plan.BitsPerKey();
  if (bits_per_key > 1.0) {
    add("one bit per key less",
        PlanOf(layout, plan.keys, BitsAt(layout, plan.keys, bits_per_key - 1.0)));
  }
  add("this plan", plan);
  add("one bit per key more",
      PlanOf(layout, plan.keys, BitsAt(layout, plan.keys, bits_per_key + 1.0)));
  const FilterPlan usual = UsualPlan(question, plan);
  add("usual formula", usual);
  fmt::print("{} Bloom filter for {} keys\n\n{}", Describe(layout), plan.keys, table.Format());
  if (layout.lines == 0) {
    fmt::print("{:<20}  its exact rate is {}\n", "",
               FormatRate(FalsePositiveRate(layout, usual.bits, usual.keys, usual.probes)));
  }
  fmt::print("\nfilter_policy={}\n", PolicyOf(layout, plan));
  if (plan.MemoryBytes() >= kBlockBytesLimit) {
    fmt::print(
        "One block cannot be that large (limit {} bytes): spread the keys over more tables.\n",
        kBlockBytesLimit);
  }
}

void RunOneFilter(const Question& question) {
  CheckKeys(question.keys);
  const FilterPlan plan = PlanOf(question.layout, question.keys, BitsAskedFor(question));
  if (plan.bits == 0) Refuse("no filter is that small");
  if (question.json) return PrintJson(JsonOf(question.layout, plan));
  PrintText(question, plan);
}

// The levels of a tree.

LevelPlan PlanTree(const Question& question) {
  const auto& levels = question.levels;
  std::optional<LevelPlan> plan;
  if (question.wasted_reads || question.rate) {
    const auto runs = static_cast<double>(levels.size());
    const double target = question.wasted_reads ? *question.wasted_reads : *question.rate * runs;
    plan = PlanLevelsForTarget(question.layout, levels, target);
    if (!plan) {
      Refuse(fmt::format("{:g} wasted reads a lookup are outside the range of 0 to {} levels",
                         target, levels.size()));
    }
    return *plan;
  }
  std::uint64_t total_bits = 0;
  if (question.memory_bytes) {
    total_bits = BitsInMemory(question, levels.size());
  } else {
    CheckBitsPerKey(*question.bits_per_key);
    const auto keys = std::accumulate(levels.begin(), levels.end(), std::uint64_t{0});
    total_bits = BitsAt({question.layout.kind, 0}, keys, *question.bits_per_key);
  }
  plan = PlanLevels(question.layout, levels, total_bits);
  if (!plan) Refuse("these levels cannot be planned: at most 64, each of 1 to 1e12 keys");
  return *plan;
}

void PrintTree(const Question& question, const std::vector<FilterPlan>& levels,
               double wasted_reads) {
  bench::TextTable table(
      {"level", "keys", "bits/key", "k", "false-positive rate", "bytes", "policy"});
  FilterPlan total;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const FilterPlan& plan = levels[i];
    total.keys += plan.keys;
    total.bits += plan.bits;
    bytes += plan.MemoryBytes();
    table.AddRow({fmt::format("{}", i + 1), fmt::format("{}", plan.keys),
                  fmt::format("{:.4f}", plan.BitsPerKey()), fmt::format("{}", plan.probes),
                  FormatRate(plan.rate), fmt::format("{}", plan.MemoryBytes()),
                  PolicyOf(question.layout, plan)});
  }
  double equal = 0.0;
  for (const FilterPlan& plan : levels) {
    equal +=
        PlanOf(question.layout, plan.keys, BitsAt(question.layout, plan.keys, total.BitsPerKey()))
            .rate;
  }
  fmt::print("{} Bloom filters for {} levels, {} keys\n\n{}\n", Describe(question.layout),
             levels.size(), total.keys, table.Format());
  fmt::print("{:.4f} bits per key in all, {} bytes\n", total.BitsPerKey(), bytes);
  fmt::print(
      "{:.6f} wasted reads for each lookup of an absent key; {:.6f} with equal bits per key\n",
      wasted_reads, equal);
}

void RunLevels(const Question& question) {
  for (const std::uint64_t keys : question.levels) CheckKeys(keys);
  const LevelPlan tree = PlanTree(question);
  std::vector<FilterPlan> levels;
  nlohmann::json document = nlohmann::json::array();
  for (std::size_t i = 0; i < question.levels.size(); ++i) {
    const FilterSize& size = tree.filters[i];
    levels.push_back({question.levels[i], size.bits, size.probes, size.false_positive_rate});
    document.push_back(JsonOf(question.layout, levels.back()));
  }
  if (question.json) return PrintJson(document);
  PrintTree(question, levels, tree.wasted_reads);
}

}  // namespace

void AddPlan(CLI::App& app) {
  auto question = std::make_shared<Question>();
  CLI::App* plan = app.add_subcommand(
      "plan",
      "The filter for a number of keys and a memory, or a rate; or those of a tree's levels");
  AddLayout(*plan, question->layout);
  auto* keys = AddCount(*plan, "--keys", question->keys, "Keys of one filter");
  auto* levels = plan->add_option("--levels", question->levels,
                                  "Keys of each level, smallest first, separated by commas")
                     ->delimiter(',')
                     ->transform(WholeNumber())
                     ->type_name("N1,N2,...");
  auto* wanted = plan->add_option_group("wanted", "What the filters are to cost, or to achieve");
  wanted->add_option("--bits-per-key", question->bits_per_key,
                     "Filter bits per key, over all levels");
  wanted->add_option("--fpr", question->rate,
                     "The largest false-positive rate; for levels their average");
  wanted->add_option("--memory", question->memory_bytes, "Filter bytes in all, such as 64MB")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  wanted
      ->add_option("--wasted-reads", question->wasted_reads,
                   "For levels: the wasted reads of an absent key's lookup")
      ->needs(levels);
  wanted->require_option(1);
  plan->add_flag("--json", question->json, "Print JSON");
  plan->footer(
      "Examples: exactbloom plan --keys 1e6 --fpr 0.01\n"
      "          exactbloom plan --levels 1e5,1e6,1e7 --bits-per-key 10");
  plan->callback([question, keys, levels] {
    if (levels->count() > 0) return RunLevels(*question);
    if (keys->count() == 0) Refuse("plan: --keys or --levels is required");
    RunOneFilter(*question);
  });
}

}  // namespace exactbloom::tool
