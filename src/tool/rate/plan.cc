// exactbloom plan: which filter for so many keys?
#include "plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/ribbon_rate.h"
#include "exactbloom/sizing.h"
#include "support/errors.h"
#include "support/text_table.h"
#include "tool/arguments.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kMostKeys = 1e12;

std::string PolicyOf(Layout layout, const FilterPlan& plan) {
  return plan.bits == 0 ? "none" : PolicyString(layout, ConfiguredBitsPerKey(plan));
}

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
  support::TextTable table({"", "bits", "bits/key", "k", "false-positive rate", "bytes"});
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
  if (question.json) {
    nlohmann::json document = JsonOf(plan);
    document["policy"] = PolicyOf(question.layout, plan);
    return PrintJson(document);
  }
  PrintText(question, plan);
}

}  // namespace

std::uint64_t FilterPlan::MemoryBytes() const {
  if (bits == 0) return 0;
  return filter::ArrayBytes(bits) + (probes == 0 ? kRibbonMetadataBytes : filter::kTrailerBytes);
}

void Refuse(const std::string& what) { throw support::InputError(what); }

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

FilterPlan PlanOf(Layout layout, std::uint64_t keys, std::uint64_t bits) {
  const int probes = bits == 0 ? 0 : OptimalProbes(layout, bits, keys);
  if (probes == 0) return {keys, 0, 0, 1.0};
  return {keys, bits, probes, FalsePositiveRate(layout, bits, keys, probes)};
}

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

double ConfiguredBitsPerKey(const FilterPlan& plan) {
  constexpr double kSteps = 1000.0;
  return std::min(kMaxBitsPerKey, std::ceil(plan.BitsPerKey() * kSteps - 1e-9) / kSteps);
}

nlohmann::json JsonOf(const FilterPlan& plan) {
  return {{"keys", plan.keys},          {"m", plan.bits},
          {"k", plan.probes},           {"bits_per_key", plan.BitsPerKey()},
          {"exact", Number(plan.rate)}, {"memory_bytes", plan.MemoryBytes()}};
}

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
  plan->add_option_function<std::string>(
          "--bottommost",
          [question](const std::string& name) {
            question->bottommost =
                name == "ribbon" ? BottommostFilter::kRibbon : BottommostFilter::kBloom;
          },
          "For levels: the filter of the last one; ribbon is RocksDB's, by a model of its rate")
      ->check(CLI::IsMember({"bloom", "ribbon"}))
      ->type_name("FILTER")
      ->default_str("bloom")
      ->needs(levels);
  plan->add_option("--last-level", question->last_level,
                   "For levels: the last one's number in RocksDB; 6 with dynamic level sizes. "
                   "Default: how many levels are given")
      ->check(CLI::Range(0, 63))
      ->type_name("NUMBER")
      ->needs(levels);
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
