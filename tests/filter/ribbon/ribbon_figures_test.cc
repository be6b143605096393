// The rows of the tables of docs/theory.md about Ribbon filters are those of filters built here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "exactbloom/filter.h"
#include "sample_filters.h"
#include "src/filter/ribbon/ribbon_format.h"
#include "src/filter/ribbon/ribbon_shape.h"

namespace exactbloom {
namespace {

FilterBuilder NewBuilder(FilterKind kind, double bits_per_key) {
  FilterOptions options;
  options.kind = kind;
  options.bits_per_key = bits_per_key;
  return *FilterBuilder::Create(options);
}

template <typename... Values>
void ExpectRow(const char* format, Values... values) {
  std::ifstream file(EXACTBLOOM_THEORY_PAGE);
  std::string page{std::istreambuf_iterator<char>(file), {}};
  // A sentence may be broken between two lines; a row of a table ends with its own.
  page += std::regex_replace(page, std::regex("\n *"), " ");
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
    FilterBuilder builder = NewBuilder(FilterKind::kRibbon, 10.0);
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

// In per cent, rounded; of the numbers of keys above 20,000 every hundredth is tried.
TEST(RibbonFigures, MostBitsBeyondTheBound) {
  constexpr std::uint64_t kFrom[] = {1000, 5000, 20000};
  constexpr double kBits[] = {6.0, 10.0, 16.0};
  double most[3][3] = {};  // by bits per key, and from so many keys on
  for (int i = 0; i < 3; ++i) {
    const FilterBuilder builder = NewBuilder(FilterKind::kRibbon, kBits[i]);
    for (std::uint64_t keys = 1000; keys <= 1000000; keys += keys < 20000 ? 1 : 101) {
      const FilterPlan plan = builder.Plan(keys);
      const double bound = -static_cast<double>(keys) * std::log2(plan.FalsePositiveRate());
      const double beyond = 100 * (8.0 * static_cast<double>(plan.BlockBytes()) / bound - 1);
      for (int from = 0; from < 3; ++from) {
        if (keys >= kFrom[from]) most[i][from] = std::max(most[i][from], beyond);
      }
    }
  }
  ExpectRow(
      "From 1,000 keys on it is at most %.1f%%, from 5,000 on %.1f%% and from 20,000 on %.1f%%",
      most[1][0], most[1][1], most[1][2]);
  ExpectRow("%.1f, %.1f and %.1f%%, at 16 bits %.1f, %.1f and %.1f%%", most[0][0], most[0][1],
            most[0][2], most[2][0], most[2][1], most[2][2]);
}

// Of one shard; the least of all numbers of keys was sought once.
TEST(RibbonFigures, HowOftenTheFirstSeedSolves) {
  constexpr std::uint64_t kFilters = 20000;
  FilterBuilder builder = NewBuilder(FilterKind::kRibbon, 10.0);
  double shares[2] = {};
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t keys = i == 0 ? 300 : 246;
    for (std::uint64_t filter = 0; filter < kFilters; ++filter) {
      for (std::uint64_t key = 0; key < keys; ++key) {
        builder.AddKey(NumberKey(filter << 32 | key).text());
      }
      const FilterBlock block = builder.Finish();
      const filter::RibbonShape shape = filter::DecodeRibbon(block.bytes()).shape;
      const auto record = static_cast<std::size_t>(shape.ColumnBytes());
      if (block.bytes()[record + filter::kShardSeedOffset] == 0) shares[i] += 1.0 / kFilters;
    }
  }
  ExpectRow(
      "solves 300 keys with a probability of %.2f, and of all numbers of keys 246 with the least, "
      "%.2f",
      shares[0], shares[1]);
}

TEST(RibbonFigures, WhereAClassicFilterIsBetter) {
  const FilterBuilder classic = NewBuilder(FilterKind::kClassicBloom, 10.0);
  for (const double bits_per_key : {6.0, 10.0, 16.0}) {
    const FilterBuilder builder = NewBuilder(FilterKind::kRibbon, bits_per_key);
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
