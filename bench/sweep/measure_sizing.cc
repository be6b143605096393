#include "measure_sizing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "filter/array_builder.h"
#include "filter/block_format.h"
#include "filter/hash_store.h"
#include "filter/kernels/key_hash.h"
#include "support/errors.h"
#include "support/rate_deviation.h"

namespace exactbloom::sweep {
namespace {

constexpr Layout kLayouts[] = {{FilterKind::kClassic, 0},
                               {FilterKind::kStandard, 0},
                               {FilterKind::kClassic, 1},
                               {FilterKind::kClassic, 2}};
// The least is a partition of tens of bytes, the largest as good as infinite.
constexpr std::uint64_t kKeys[] = {8, 16, 64, 400, 3200, 100'000};
constexpr std::uint64_t kBitsPerKey[] = {6, 10, 16, 24};

// A filter's own rate may be far from the mean over hash functions, the more so the smaller it is:
// each is asked in proportion to its keys, and many are built.
constexpr std::uint64_t kQueriesAKey = 4;
// These take long to build, and their fills differ little.
constexpr std::uint64_t kLargeFilterKeys = 10'000;
constexpr std::uint64_t kLargeFilters = 8;

std::string_view KeyOf(const std::uint64_t& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// Adds the queries of one filter of random keys to the counts.
void MeasureOne(const FilterDescription& description, std::uint64_t queries,
                std::mt19937_64& random, SizedFilters& counts) {
  filter::HashStore hashes;
  const std::uint64_t first_key = random();
  for (std::uint64_t i = 0; i < description.keys; ++i) {
    const std::uint64_t key = first_key + i;
    hashes.Append(filter::HashKey(KeyOf(key), description.hash_seed));
  }
  const auto array_bytes = static_cast<std::size_t>(filter::ArrayBytes(description.bits));
  const std::size_t block_bytes = array_bytes + filter::kTrailerBytes;
  const std::unique_ptr<unsigned char[]> block(new unsigned char[block_bytes]);
  filter::BuildArray(block.get(), description, hashes);
  filter::EncodeTrailer(description, block.get() + array_bytes);
  const BloomFilterView view({reinterpret_cast<const char*>(block.get()), block_bytes});
  if (view.Status() != BlockStatus::kUsable || !view.MayContain(KeyOf(first_key))) {
    throw support::WrongAnswer(fmt::format("a filter of {} keys in {} bits denies a key",
                                           description.keys, description.bits));
  }
  for (std::uint64_t i = 0; i < queries; ++i) {
    const std::uint64_t absent = first_key + description.keys + i;
    counts.false_positives += view.MayContain(KeyOf(absent)) ? 1U : 0U;
  }
  counts.queries += queries;
}

SizedFilters Describe(const SizingPoint& point, int probes) {
  SizedFilters filters;
  filters.probes = probes;
  filters.exact_rate = FalsePositiveRate(point.layout, point.bits, point.keys, probes);
  return filters;
}

void Measure(const SizingPoint& point, std::uint64_t seed, std::uint64_t queries,
             SizedFilters& filters) {
  const std::uint64_t queries_a_filter =
      point.keys < kLargeFilterKeys ? kQueriesAKey * point.keys : queries / kLargeFilters;
  std::mt19937_64 random(seed);
  while (filters.queries < queries) {
    MeasureOne({point.layout, filters.probes, point.bits, point.keys, random()}, queries_a_filter,
               random, filters);
  }
  const FilterSize size{point.bits, filters.probes, filters.exact_rate};
  const double deviation = support::RelativeRateDeviation(point.layout, size, point.keys);
  filters.dispersion = support::Dispersion(filters.exact_rate, deviation, queries_a_filter);
}

}  // namespace

int UsualProbes(Layout layout, std::uint64_t bits, std::uint64_t keys) {
  const double real = std::log(2.0) * static_cast<double>(bits) / static_cast<double>(keys);
  const auto step = static_cast<double>(layout.ProbeStep());
  return std::clamp(static_cast<int>(std::lround(real / step) * std::lround(step)),
                    layout.ProbeStep(), kMaxProbes);
}

std::vector<SizingPoint> PlanSizing() {
  std::vector<SizingPoint> points;
  for (const Layout layout : kLayouts) {
    for (const std::uint64_t keys : kKeys) {
      for (const std::uint64_t bits_per_key : kBitsPerKey) {
        SizingPoint point;
        point.layout = layout;
        point.keys = keys;
        point.bits = keys * bits_per_key / layout.Granularity() * layout.Granularity();
        if (point.bits < layout.LeastBits()) continue;
        point.usual = Describe(point, UsualProbes(layout, point.bits, keys));
        point.exact = Describe(point, OptimalProbes(layout, point.bits, keys));
        points.push_back(point);
      }
    }
  }
  // Lines that do not divide the bits of a few keys would be another number of bits per key.
  points.erase(std::remove_if(points.begin(), points.end(),
                              [](const SizingPoint& point) {
                                return point.layout.InLines() && point.keys < kKeys[3];
                              }),
               points.end());
  return points;
}

void MeasureSizing(std::uint64_t seed, std::uint64_t queries, SizingPoint& point) {
  Measure(point, seed, queries, point.usual);
  if (point.exact.probes == point.usual.probes) {
    point.exact = point.usual;
  } else {
    Measure(point, seed, queries, point.exact);
  }
}

}  // namespace exactbloom::sweep
