// The rows of the tables of docs/theory.md about Ribbon filters are those of filters built here.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "exactbloom/filter.h"
#include "sample_filters.h"

namespace exactbloom {
namespace {

FilterBuilder BuilderOf(double bits_per_key) {
  return *FilterBuilder::Create({FilterKind::kRibbon, bits_per_key});
}

template <typename... Values>
void ExpectRow(const char* format, Values... values) {
  std::ifstream file(EXACTBLOOM_THEORY_PAGE);
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  char row[128];
  std::snprintf(row, sizeof row, format, values...);
  EXPECT_NE(page.find(row), std::string::npos) << row;
}

struct Size {
  std::uint64_t keys;
  const char* text;
};

TEST(RibbonFigures, BitsBeyondTheBound) {
  for (const auto& [keys, text] : {Size{1000, "1,000"}, Size{5000, "5,000"}, Size{20000, "20,000"},
                                   Size{500000, "500,000"}, Size{5000000, "5,000,000"}}) {
    FilterBuilder builder = BuilderOf(10.0);
    const FilterPlan plan = builder.Plan(keys);
    const std::uint64_t blocks = keys < 500000 ? 500000 / keys : 1;
    double rates = 0.0;
    for (std::uint64_t i = 0; i < blocks * keys; ++i) {
      builder.AddKey(NumberKey(i).text());
      if ((i + 1) % keys != 0) continue;
      const FilterBlock block = builder.Finish();
      rates += FilterView(block.bytes()).FalsePositiveRate();
    }
    const double rate = rates / static_cast<double>(blocks);
    const FilterDescription& filter = plan.Description();
    const auto slots = static_cast<double>(filter.slots);
    const double columns = filter.columns + static_cast<double>(filter.wide_slots) / slots;
    const double bits = 8.0 * static_cast<double>(plan.BlockBytes());
    const double bound = -static_cast<double>(keys) * std::log2(rate);
    ExpectRow("| %s | %d | %.2f | %.3f%% | %.2f%% | %.2f%% | %.2f%% | %.2f%% |\n", text,
              static_cast<int>(filter.shards), columns, 100 * rate, 100 * (bits / bound - 1),
              100 * columns * (slots - static_cast<double>(keys)) / bound,
              100 * (bits - columns * slots) / bound,
              100 * (columns * static_cast<double>(keys) / bound - 1));
  }
}

TEST(RibbonFigures, WhereAClassicFilterIsBetter) {
  const FilterBuilder classic = *FilterBuilder::Create({FilterKind::kClassicBloom});
  for (const double bits_per_key : {6.0, 10.0, 16.0}) {
    const FilterBuilder builder = BuilderOf(bits_per_key);
    int last_passing = 0;
    int first_better = 0;
    int last_worse = 0;
    for (int keys = 1; keys <= 1000; ++keys) {
      const auto count = static_cast<std::uint64_t>(keys);
      const FilterPlan plan = builder.Plan(count);
      const double rate = classic.PlanWithin(count, plan.BlockBytes())->FalsePositiveRate();
      if (plan.FalsePositiveRate() == 1.0) last_passing = keys;
      if (plan.FalsePositiveRate() >= rate)
        last_worse = keys;
      else if (first_better == 0)
        first_better = keys;
    }
    ExpectRow("| %.0f | %d | %d | %d |\n", bits_per_key, last_passing, first_better,
              last_worse + 1);
  }
}

}  // namespace
}  // namespace exactbloom
