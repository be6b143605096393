// The statistical proof: Ribbon filters let through exactly the share of absent keys that their
// blocks say. Each count of false positives becomes a p-value, and all of them together have to be
// uniform (statistics.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "exactbloom/ribbon_filter.h"
#include "sample_filters.h"
#include "src/filter/kernels/kernel.h"
#include "statistics.h"

namespace exactbloom {
namespace {

// The quantile of 0.001 / 800.
constexpr double kLeastPValue = 6e-7;

struct Sample {
  std::uint64_t keys = 0;
  double bits_per_key = 0.0;
  std::uint64_t asked = 0;
  std::uint64_t passed = 0;
  double expected = 0.0;
};

std::uint64_t CountPassing(const RibbonFilterView& view, std::uint64_t first, std::uint64_t count,
                           bool batched) {
  constexpr std::uint64_t kBatch = 64;
  std::uint64_t passed = 0;
  for (std::uint64_t i = 0; i < count; i += kBatch) {
    std::vector<NumberKey> numbers;
    for (std::uint64_t j = i; j < std::min(count, i + kBatch); ++j) numbers.emplace_back(first + j);
    bool results[kBatch];
    std::vector<std::string_view> keys;
    for (const NumberKey& number : numbers) keys.push_back(number.text());
    if (batched) {
      view.MayContain(keys.data(), keys.size(), results);
    } else {
      std::transform(keys.begin(), keys.end(), results,
                     [&](auto key) { return view.MayContain(key); });
    }
    passed += static_cast<std::uint64_t>(std::count(results, results + keys.size(), true));
  }
  return passed;
}

// Builds filters of the same geometry, each with its own salt.
Sample Measure(std::uint64_t keys, double bits_per_key, std::uint64_t filters,
               std::uint64_t asked_each, std::mt19937_64& salts) {
  Sample sample{keys, bits_per_key, filters * asked_each};
  for (std::uint64_t i = 0; i < filters; ++i) {
    RibbonFilterBuilder::Options options;
    options.bits_per_key = bits_per_key;
    options.hash_seed = salts();
    RibbonFilterBuilder builder = *RibbonFilterBuilder::Create(options);
    for (std::uint64_t k = 0; k < keys; ++k) builder.AddKey(NumberKey(k).text());
    const FilterBlock block = builder.Finish();
    const RibbonFilterView view(block.bytes());
    EXPECT_EQ(CountPassing(view, 0, keys, i % 2 == 0), keys);
    sample.passed += CountPassing(view, keys, asked_each, i % 2 == 0);
    sample.expected += view.FalsePositiveRate() * static_cast<double>(asked_each);
  }
  return sample;
}

std::vector<double> PValues(const std::vector<Sample>& samples, double factor) {
  std::mt19937_64 lots(13);
  std::vector<double> p_values;
  for (const Sample& sample : samples) {
    const double rate = factor * sample.expected / static_cast<double>(sample.asked);
    const double lot = (static_cast<double>(lots() >> 12) + 0.5) * 0x1p-52;
    p_values.push_back(RandomisedPValue(sample.passed, {sample.asked, rate, 1.0}, lot));
  }
  return p_values;
}

TEST(RibbonRate, PValuesOfManyGeometriesAreUniform) {
  const std::vector<filter::InstructionSet> sets = filter::AvailableInstructionSets();
  std::mt19937_64 random(12);
  const auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<Sample> samples;
  for (int i = 0; i < 80; ++i) {
    filter::UseInstructionSet(sets[static_cast<std::size_t>(i) % sets.size()]);
    // From 60 keys to 200,000, and from some 3 to 13 bits per key.
    const auto keys =
        static_cast<std::uint64_t>(60 * std::pow(3300.0, i < 60 ? share() * 0.75 : share()));
    const double bits = 3 + 10 * share() + 200.0 / static_cast<double>(keys);
    const std::uint64_t filters = std::clamp<std::uint64_t>(400000 / keys, 40, 400);
    const double rate = std::exp2(-bits);
    const double asked = std::clamp(1500 / rate, 100000.0, 1500000.0);
    const auto asked_each = static_cast<std::uint64_t>(asked / static_cast<double>(filters)) + 1;
    samples.push_back(Measure(keys, bits, keys < 20000 ? filters : 4,
                              keys < 20000 ? asked_each : asked_each * filters / 4, random));
  }
  filter::UseInstructionSet(sets.front());
  for (const double bits : {5.0, 8.6, 11.3})
    samples.push_back(Measure(2000000, bits, 1, 1000000, random));
  const std::vector<double> p_values = PValues(samples, 1.0);
  double passed = 0.0;
  double expected = 0.0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_NEAR(p_values[i], 0.5, 0.5 - kLeastPValue)
        << samples[i].keys << " keys, " << samples[i].bits_per_key << " bits: " << samples[i].passed
        << " of " << samples[i].expected;
    passed += static_cast<double>(samples[i].passed);
    expected += samples[i].expected;
  }
  EXPECT_NEAR(passed, expected, 4.85 * std::sqrt(expected));
  EXPECT_LT(AndersonDarling(p_values), kAndersonDarling9999);
  EXPECT_GT(AndersonDarling(PValues(samples, 1.02)), kAndersonDarling9999);
  EXPECT_GT(AndersonDarling(PValues(samples, 0.98)), kAndersonDarling9999);
}

}  // namespace
}  // namespace exactbloom
