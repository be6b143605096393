// Measured equals exact for keys as databases have them (key_sets.h). Every other key of a set is
// added, so that an absent key lies among those that are there; all sets, layouts and sizes have
// one verdict (uniformity.h), which a correct filter would, with random seeds, fail once in 10,000
// times.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "key_sets.h"
#include "rate_sample.h"
#include "sample_filters.h"

namespace exactbloom {
namespace {

constexpr std::size_t kKeys = 40000;
constexpr std::uint64_t kQueries = 400000;  // for each set, layout and size

Keys EveryOther(const KeySet& set, std::size_t first) {
  Keys keys;
  for (std::size_t i = first; i < set.keys.size(); i += 2) keys.push_back(set.keys[i]);
  return keys;
}

TEST(Rate, PValuesOfRealKeysAreUniform) {
  const std::vector<KeySet> sets = RealKeySets(kKeys);
  ASSERT_EQ(sets.back().name, "words") << "no " << kDictionary;
  std::mt19937_64 salts(21);
  SampleVerdict verdict(22);
  for (const KeySet& set : sets) {
    SCOPED_TRACE(set.name);
    const Keys present = EveryOther(set, 0);
    const Keys absent = EveryOther(set, 1);
    for (const Layout layout : AllLayouts()) {
      for (const double bits_per_key : {3.3, 8.0}) {
        const FilterSize size = SizeAtBitsPerKey(layout, present.size(), bits_per_key);
        const Geometry geometry{layout, size.bits, present.size(), size.probes};
        verdict.Add(TakeSample(geometry, present, absent, kQueries / absent.size(), salts));
      }
    }
  }
  verdict.Expect(std::getenv("EXACTBLOOM_RATE_QUERIES") != nullptr);
}

}  // namespace
}  // namespace exactbloom
