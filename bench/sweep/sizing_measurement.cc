#include "sizing_measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "exactbloom/theory/confidence_interval.h"
#include "filter/array_builder.h"
#include "filter/block_format.h"
#include "filter/hash_store.h"
#include "filter/kernels/key_hash.h"
#include "support/errors.h"
#include "support/rate_deviation.h"

namespace exactbloom::sweep {
namespace {

using nlohmann::json;

constexpr Layout kSizedLayouts[] = {{FilterKind::kClassic, 0},
                                    {FilterKind::kStandard, 0},
                                    {FilterKind::kClassic, 1},
                                    {FilterKind::kClassic, 2}};
// The least is a partition of tens of bytes, the largest practically infinite.
constexpr std::uint64_t kSizedKeys[] = {8, 16, 64, 400, 3200, 100'000};
constexpr std::uint64_t kSizedBitsPerKey[] = {6, 10, 16, 24};
// With fewer keys, rounding to whole lines would change the bits per key.
constexpr std::uint64_t kFewestKeysInLines = 400;

// The own rate of a small filter may be far from the mean over hash functions, so filters are asked
// in proportion to their keys, and many are built.
constexpr std::uint64_t kQueriesPerKey = 4;
// These take long to build, and their fills differ little.
constexpr std::uint64_t kLargeFilterKeys = 10'000;
constexpr std::uint64_t kLargeFilters = 8;

std::string_view KeyOf(const std::uint64_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// Builds a filter of random keys and returns how many of the queries it lets through.
std::uint64_t CountFalsePositives(const FilterDescription& description, std::uint64_t queries,
                                  std::mt19937_64& random) {
  filter::HashStore hashes;
  const std::uint64_t first_key = random();
  for (std::uint64_t i = 0; i < description.keys; ++i) {
    const std::uint64_t key = first_key + i;
    hashes.Append(filter::HashKey(KeyOf(key), description.hash_seed));
  }
  const auto block_bytes = static_cast<std::size_t>(filter::BlockBytes(description));
  const std::unique_ptr<unsigned char[]> block(new unsigned char[block_bytes]);
  filter::BuildArray(block.get(), description, hashes);
  filter::EncodeTrailer(description, block.get());
  const BloomFilterView view({reinterpret_cast<const char*>(block.get()), block_bytes});
  if (view.Status() != BlockStatus::kUsable || !view.MayContain(KeyOf(first_key))) {
    throw support::WrongAnswer(fmt::format("a filter of {} keys in {} bits denies a key",
                                           description.keys, description.bits));
  }
  std::uint64_t false_positives = 0;
  for (std::uint64_t i = 0; i < queries; ++i) {
    const std::uint64_t absent = first_key + description.keys + i;
    false_positives += view.MayContain(KeyOf(absent)) ? 1U : 0U;
  }
  return false_positives;
}

json MeasureProbes(const SizingPoint& point, int probes, std::uint64_t seed,
                   std::uint64_t least_queries) {
  const std::uint64_t queries_per_filter =
      point.keys < kLargeFilterKeys ? kQueriesPerKey * point.keys : least_queries / kLargeFilters;
  std::mt19937_64 random(seed);
  std::uint64_t queries = 0;
  std::uint64_t false_positives = 0;
  for (; queries < least_queries; queries += queries_per_filter) {
    const FilterDescription description{point.layout, probes, point.bits, point.keys, random()};
    false_positives += CountFalsePositives(description, queries_per_filter, random);
  }
  const double exact = FalsePositiveRate(point.layout, point.bits, point.keys, probes);
  const double deviation =
      support::RelativeRateDeviation(point.layout, {point.bits, probes, exact}, point.keys);
  const double dispersion = support::Dispersion(exact, deviation, queries_per_filter);
  const Interval interval = WilsonInterval(false_positives, queries, kZ999, dispersion);
  return {{"probes", probes},
          {"exact_rate", exact},
          {"queries", queries},
          {"false_positives", false_positives},
          {"dispersion", dispersion},
          {"measured_rate", static_cast<double>(false_positives) / static_cast<double>(queries)},
          {"interval", {interval.low, interval.high}}};
}

}  // namespace

int UsualProbes(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  const int step = layout.ProbeStep();
  const double usual = std::log(2.0) * static_cast<double>(bits) / static_cast<double>(keys);
  return std::clamp(static_cast<int>(std::lround(usual / step)) * step, step, kMaxProbes);
}

json SizingPoint::Identity() const {
  return {{"kind", "sizing"},
          {"layout", layout.kind == FilterKind::kClassic ? "classic" : "standard"},
          {"lines", layout.Lines()},
          {"keys", keys},
          {"bits", bits}};
}

std::vector<SizingPoint> PlanSizing() {
  std::vector<SizingPoint> points;
  for (const Layout layout : kSizedLayouts) {
    for (const std::uint64_t keys : kSizedKeys) {
      if (layout.InLines() && keys < kFewestKeysInLines) continue;
      for (const std::uint64_t bits_per_key : kSizedBitsPerKey) {
        const std::uint64_t unit = layout.Granularity();
        points.push_back({layout, keys, keys * bits_per_key / unit * unit});
      }
    }
  }
  return points;
}

json MeasureSizing(const SizingPoint& point, std::uint64_t seed, std::uint64_t queries) {
  const int usual = UsualProbes(point.layout, point.bits, point.keys);
  const int exact = OptimalProbes(point.layout, point.bits, point.keys);
  json line = point.Identity();
  line["bits_per_key"] = static_cast<double>(point.bits) / static_cast<double>(point.keys);
  line["usual"] = MeasureProbes(point, usual, seed, queries);
  line["exact"] = exact == usual ? line["usual"] : MeasureProbes(point, exact, seed, queries);
  return line;
}

}  // namespace exactbloom::sweep
