// optimize_filters_for_memory: blocks fill the memory that they will be read into, and the mean
// rate of all of them stays the target.
#include "plugin/memory_fit.h"

#include <gtest/gtest.h>
#include <rocksdb/table.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bits_builder_fixture.h"
#include "exactbloom/filter.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/policy_options.h"
#include "sample_filters.h"
#include "size_classes.h"

namespace exactbloom {
namespace {

// Read back with their type and checksum.
constexpr std::size_t kBytesBehindBlock = 5;

// Whole pages, as with mmap.
std::size_t WholePages(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

std::size_t PowersOfTwo(std::size_t bytes) {
  std::size_t power = 1;
  while (power < bytes) power *= 2;
  return power;
}

// Sums over many filters.
struct Sums {
  double false_positives = 0;  // of a query for every key's number, over all tables
  double bytes = 0;
  double bytes_in_memory = 0;

  void Add(const FilterPlan& plan, MemoryFit::UsableBytes usable_bytes) {
    false_positives += static_cast<double>(plan.Description().keys) * plan.FalsePositiveRate();
    bytes += static_cast<double>(plan.BlockBytes());
    bytes_in_memory += static_cast<double>(usable_bytes(plan.BlockBytes() + kBytesBehindBlock));
  }
};

struct Tables {
  double count = 0;
  double relative_rates = 0;  // rate / target of each table, added up
  Sums meant;                 // without optimize_filters_for_memory
  Sums fitted;
};

FilterBuilder FiltersOf(const PolicyOptions& policy, double bits_per_key) {
  FilterOptions options = ToFilterOptions(policy);
  options.bits_per_key = bits_per_key;
  return *FilterBuilder::Create(options);
}

class MemoryFitTest : public testing::TestWithParam<PolicyOptions> {
 protected:
  // Tables of 1,000 to 40,000 keys, every order of magnitude as often.
  Tables Build(MemoryFit::UsableBytes usable_bytes, double bits_per_key, int count) const {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> log_keys(std::log(1000.0), std::log(40000.0));
    MemoryFit fit(usable_bytes);
    Tables tables;
    const FilterBuilder builder = FiltersOf(GetParam(), bits_per_key);
    for (int i = 0; i < count; ++i) {
      const auto keys = static_cast<std::uint64_t>(std::exp(log_keys(random)));
      const FilterPlan meant = builder.Plan(keys);
      const FilterPlan fitted = fit.Fit(builder, meant);
      tables.count += 1;
      tables.relative_rates += fitted.FalsePositiveRate() / meant.FalsePositiveRate();
      tables.meant.Add(meant, usable_bytes);
      tables.fitted.Add(fitted, usable_bytes);
    }
    return tables;
  }

  static void ExpectTargetOnBalance(double rate, double target) {
    EXPECT_LE(rate, 1.01 * target);
    EXPECT_GE(rate, 0.94 * target);
  }
};

std::string NameOfPolicy(const testing::TestParamInfo<PolicyOptions>& test) {
  return PolicyName(test.param.kind);
}

INSTANTIATE_TEST_SUITE_P(Policies, MemoryFitTest,
                         testing::Values(PolicyKind::kClassicBloom, PolicyKind::kStandardBloom,
                                         PolicyKind::kExactRibbon),
                         NameOfPolicy);

TEST_P(MemoryFitTest, KeepsTheRateOnBalanceAndLosesNoMemory) {
  for (const double bits_per_key : {10.0, 15.3}) {
    const Tables tables = Build(FourClassesPerDoubling, bits_per_key, 200);
    ExpectTargetOnBalance(tables.fitted.false_positives, tables.meant.false_positives);
    ExpectTargetOnBalance(tables.relative_rates, tables.count);
    // A Ribbon filter grows by columns of eight bytes.
    const std::size_t most_lost = kBytesBehindBlock + (HasRibbon(GetParam()) ? 7 : 0);
    EXPECT_LE(tables.fitted.bytes_in_memory - tables.fitted.bytes,
              tables.count * static_cast<double>(most_lost));
    EXPECT_LE(tables.fitted.bytes_in_memory, 0.95 * tables.meant.bytes_in_memory);
    EXPECT_LE(tables.fitted.bytes, 1.04 * tables.meant.bytes);
  }
  // Small blocks are too far from any whole number of pages to fill one. What has been saved and
  // not yet given back does not grow with the number of tables: 3 to 8 per cent of a hundred
  // tables' false positives, by which sizes are drawn, and less than 2 of a thousand's.
  const Tables pages = Build(WholePages, 10, 100);
  ExpectTargetOnBalance(pages.fitted.false_positives, pages.meant.false_positives);
  EXPECT_LE(pages.fitted.bytes_in_memory, 0.96 * pages.meant.bytes_in_memory);
}

// Classes so far apart that filling them would change filters too much.
TEST_P(MemoryFitTest, StaysNearTheMeantSize) {
  std::mt19937_64 random(2);
  MemoryFit fit(PowersOfTwo);
  for (int i = 0; i < 100; ++i) {
    const FilterBuilder builder = FiltersOf(GetParam(), 10.0);
    const FilterPlan plan = builder.Plan(1000 + random() % 5000);
    const auto meant = static_cast<double>(plan.BlockBytes());
    const auto fitted = static_cast<double>(fit.Fit(builder, plan).BlockBytes());
    EXPECT_GE(fitted, 0.74 * meant);
    EXPECT_LE(fitted, 1.34 * meant);
  }
}

// What filters of one kind save, those of the other may take.
TEST(MemoryFitOfBothKinds, KeepsOneBalance) {
  const FilterBuilder bloom = FiltersOf(PolicyKind::kClassicBloom, 10.0);
  const FilterBuilder ribbon = FiltersOf(PolicyKind::kExactRibbon, 10.0);
  std::mt19937_64 random(3);
  MemoryFit fit(FourClassesPerDoubling);
  double filters = 0.0;
  double of_filters = 0.0;  // rate / target - 1, added up
  double keys_of_all = 0.0;
  double of_keys = 0.0;
  int smaller_ribbons = 0;
  int smaller_blooms = 0;
  for (int i = 0; i < 400; ++i) {
    const bool is_ribbon = random() % 2 == 0;
    const std::uint64_t keys = 1000 + random() % 20'000;
    const FilterPlan meant = (is_ribbon ? ribbon : bloom).Plan(keys);
    const FilterPlan fitted = fit.Fit(is_ribbon ? ribbon : bloom, meant);
    EXPECT_EQ(fitted.Kind() == FilterKind::kRibbon, is_ribbon);
    if (fitted.BlockBytes() < meant.BlockBytes()) ++(is_ribbon ? smaller_ribbons : smaller_blooms);
    const double excess = fitted.FalsePositiveRate() / meant.FalsePositiveRate() - 1.0;
    filters += 1.0;
    of_filters += excess;
    keys_of_all += static_cast<double>(keys);
    of_keys += static_cast<double>(keys) * excess;
    // The rates of Bloom filters are estimated within a per cent.
    EXPECT_LE(of_filters, 0.01 * filters) << i;
    EXPECT_LE(of_keys, 0.01 * keys_of_all) << i;
  }
  EXPECT_GE(of_filters, -0.03 * filters);
  EXPECT_GE(of_keys, -0.03 * keys_of_all);
  EXPECT_GT(smaller_ribbons, 20);
  EXPECT_GT(smaller_blooms, 20);
}

// The switch, with the allocator of this process.
class OptimizedFilters : public testing::TestWithParam<PolicyOptions> {
 protected:
  OptimizedFilters() { table_options_.optimize_filters_for_memory = true; }

  rocksdb::BlockBasedTableOptions table_options_;
  PolicyPointer policy_ = std::make_shared<BloomFilterPolicy>(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Policies, OptimizedFilters,
                         testing::Values(PolicyKind::kClassicBloom, PolicyKind::kStandardBloom,
                                         PolicyKind::kExactRibbon),
                         NameOfPolicy);

TEST_P(OptimizedFilters, KeepTheRateOnBalanceInOnePolicy) {
  double false_positives = 0;
  double target = 0;
  std::uint64_t other_sizes = 0;
  for (std::uint64_t keys = 2000; keys < 140000; keys += keys / 20) {
    // One builder per table, and every other table in two partitions.
    const auto builder = NewBuilder(*policy_, table_options_);
    for (int partition = 0; partition < 2; ++partition) {
      AddNumbers(*builder, keys);
      EXPECT_EQ(builder->EstimateEntriesAdded(), keys);
      const Filter filter = FinishAndVerify(*builder);
      const FilterPlan meant = FiltersOf(GetParam(), 10.0).Plan(keys);
      const FilterView view({filter.contents.data(), filter.contents.size()});
      false_positives += static_cast<double>(keys) * view.FalsePositiveRate();
      target += static_cast<double>(keys) * meant.FalsePositiveRate();
      other_sizes += filter.contents.size() != meant.BlockBytes() ? 1 : 0;
    }
  }
  EXPECT_LE(false_positives, 1.01 * target);
  EXPECT_GE(false_positives, 0.97 * target);
  const std::size_t odd = 10001;
  if (MallocUsableBytes(odd) != odd) {
    EXPECT_GT(other_sizes, 0U);
  }
}

}  // namespace
}  // namespace exactbloom
