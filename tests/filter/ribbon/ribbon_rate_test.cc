// The statistical proof: Ribbon filters let through exactly the share of absent keys that their
// blocks say. Each count of false positives becomes a p-value, and all of them together have to be
// uniform (statistics.h).
//
// EXACTBLOOM_RATE_QUERIES sets about how many absent keys are asked for in all; present keys grow
// with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>
#include <string_view>
#include <vector>

#include "exactbloom/filter.h"
#include "sample_filters.h"
#include "src/filter/kernels/kernel.h"
#include "statistics.h"

namespace exactbloom {
namespace {

struct Geometry {
  std::uint64_t keys = 0;
  double bits_per_key = 0.0;
  std::uint64_t filters = 0;
  std::uint64_t asked_each = 0;  // absent keys
};

std::uint64_t CountPositives(const FilterView& view, std::uint64_t first, std::uint64_t count,
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
MeasuredRate Measure(const Geometry& geometry, std::mt19937_64& salts) {
  const auto& [keys, bits_per_key, filters, asked_each] = geometry;
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << NameOf(FilterKind::kRibbon) << ",," << keys << ",," << bits_per_key;
  MeasuredRate measured{text.str(), filters, filters * keys, 0, filters * asked_each};
  double expected = 0.0;
  for (std::uint64_t i = 0; i < filters; ++i) {
    FilterBuilder builder = *FilterBuilder::Create({FilterKind::kRibbon, bits_per_key, 0, salts()});
    AddNumbers(builder, keys);
    const FilterBlock block = builder.Finish();
    const FilterView view(block.bytes());
    measured.found += CountPositives(view, 0, keys, i % 2 == 0);
    measured.false_positives += CountPositives(view, keys, asked_each, i % 2 == 0);
    expected += view.FalsePositiveRate() * static_cast<double>(asked_each);
  }
  measured.rate = expected / static_cast<double>(measured.absent);
  return measured;
}

// Those of the test: from 60 keys to 200,000, from some 3 to 13 bits per key, and three large ones.
std::vector<Geometry> DrawGeometries() {
  constexpr std::uint64_t kManyKeys = 20000;
  std::mt19937_64 random(12);
  const auto share = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<Geometry> geometries;
  for (int i = 0; i < 80; ++i) {
    const auto keys =
        static_cast<std::uint64_t>(60 * std::pow(3300.0, i < 60 ? share() * 0.75 : share()));
    const double bits = 3 + 10 * share() + 200.0 / static_cast<double>(keys);
    const std::uint64_t filters =
        keys < kManyKeys ? std::clamp<std::uint64_t>(400000 / keys, 40, 400) : 4;
    const double asked = std::clamp(1500 / std::exp2(-bits), 100000.0, 1500000.0);
    const auto asked_each = static_cast<std::uint64_t>(asked / static_cast<double>(filters)) + 1;
    geometries.push_back({keys, bits, filters, asked_each});
  }
  for (const double bits : {5.0, 8.6, 11.3}) geometries.push_back({2000000, bits, 1, 1000000});
  return geometries;
}

TEST(RibbonRate, PValuesOfManyGeometriesAreUniform) {
  std::vector<Geometry> geometries = DrawGeometries();
  const char* wanted = std::getenv("EXACTBLOOM_RATE_QUERIES");
  if (wanted != nullptr) {
    double usual = 0.0;
    for (const Geometry& geometry : geometries) {
      usual += static_cast<double>(geometry.filters * geometry.asked_each);
    }
    const double factor = std::strtod(wanted, nullptr) / usual;
    ASSERT_GT(factor, 0.0) << "EXACTBLOOM_RATE_QUERIES";
    for (Geometry& geometry : geometries) {
      const double filters = std::ceil(factor * static_cast<double>(geometry.filters));
      geometry.filters = static_cast<std::uint64_t>(filters);
    }
  }
  const std::vector<filter::InstructionSet> sets = filter::AvailableInstructionSets();
  constexpr std::uint64_t kSaltsSeed = 12;
  std::mt19937_64 salts(kSaltsSeed);
  std::mt19937_64 lots(13);
  std::vector<MeasuredRate> rates;
  double false_positives = 0.0;
  double expected = 0.0;
  for (std::size_t i = 0; i < geometries.size(); ++i) {
    filter::UseInstructionSet(sets[i % sets.size()]);
    rates.push_back(Measure(geometries[i], salts));
    rates.back().lot = DrawLot(lots);
    false_positives += static_cast<double>(rates.back().false_positives);
    expected += rates.back().rate * static_cast<double>(rates.back().absent);
  }
  filter::UseInstructionSet(sets.front());
  EXPECT_NEAR(false_positives, expected, 4.85 * std::sqrt(expected));
  ExpectUniform(rates, 0.02, kSaltsSeed);
}

}  // namespace
}  // namespace exactbloom
