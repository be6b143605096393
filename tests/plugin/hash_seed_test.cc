// The seed of the key hash: false positives of one seed are not those of another, and no seed loses
// a key.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/table_filters.h"
#include "sample_database.h"
#include "sample_filters.h"
#include "statistics.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 20'000;
constexpr double kBitsPerKey = 8;

FilterBlock BlockOf(Layout layout, std::uint64_t hash_seed) {
  BloomFilterBuilder::Options options;
  options.layout = layout;
  options.bits_per_key = kBitsPerKey;
  options.hash_seed = hash_seed;
  BloomFilterBuilder builder = *BloomFilterBuilder::Create(options);
  for (std::uint64_t i = 0; i < kKeys; ++i) builder.AddKey(NumberKey(i).text());
  return builder.Finish();
}

class HashSeed : public testing::TestWithParam<Layout> {};

INSTANTIATE_TEST_SUITE_P(Layouts, HashSeed, testing::ValuesIn(AllLayouts()),
                         [](const auto& test) { return NameOf(test.param); });

// Keys collected as false positives of one seed pass a filter of the same keys and another seed at
// its exact rate, like any absent key.
TEST_P(HashSeed, FalsePositivesOfOneSeedAreNoneOfAnother) {
  constexpr std::uint64_t kCollected = 5'000;
  const FilterBlock first = BlockOf(GetParam(), 1);
  const BloomFilterView one(first.bytes());
  const FilterSize size = SizeAtBitsPerKey(GetParam(), kKeys, kBitsPerKey);
  std::vector<std::uint64_t> collected;
  for (std::uint64_t i = kKeys; collected.size() < kCollected; ++i) {
    if (one.MayContain(NumberKey(i).text())) collected.push_back(i);
  }
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{2}, ~std::uint64_t{0}}) {
    SCOPED_TRACE(seed);
    const FilterBlock second = BlockOf(GetParam(), seed);
    const BloomFilterView other(second.bytes());
    const auto passing = static_cast<std::uint64_t>(
        std::count_if(collected.begin(), collected.end(),
                      [&](std::uint64_t i) { return other.MayContain(NumberKey(i).text()); }));
    ExpectExactRate(passing, kCollected, GetParam(), size, kKeys);
  }
}

PolicyPointer PolicyWithSeed(std::uint64_t hash_seed) {
  BloomFilterPolicyOptions options;
  options.hash_seed = hash_seed;
  return PolicyPointer(NewClassicBloomFilterPolicy(options));
}

// Each table keeps the seed that it was written with.
TEST(HashSeedInDatabase, ChangingItLosesNoKeyAndAllTablesFilter) {
  constexpr std::uint64_t kKeysATable = 3000;
  const TemporaryDirectory directory;
  const std::vector<std::uint64_t> seeds = {0, 12345, ~std::uint64_t{0}, 1};
  std::uint64_t first = 0;
  for (const std::uint64_t seed : seeds) {
    const Database db = Open(OptionsWith(PolicyWithSeed(seed)), directory.path("db"));
    PutAndFlush(*db, kKeysATable, "value", first);
    first += kKeysATable;
    ExpectPresent(*db, first);
  }
  std::set<std::uint64_t> written;
  for (const std::uint64_t seed : {std::uint64_t{777}, std::uint64_t{0}}) {
    const Database db = Open(OptionsWith(PolicyWithSeed(seed)), directory.path("db"));
    ExpectPresent(*db, first);
    // A key between two tables is in the range of neither.
    ExpectFiltering(AskAbsent(*db, first - 1), first - seeds.size());
    for (const TableFilter& table : ListTableFilters(*db)) written.insert(table.hash_seed);
  }
  EXPECT_EQ(written, std::set<std::uint64_t>(seeds.begin(), seeds.end()));
}

}  // namespace
}  // namespace exactbloom
