#include "ribbon_filters.h"

#include <rocksdb/table.h>

#include "exactbloom/layout.h"

namespace exactbloom {
namespace {

using rocksdb::FilterBitsBuilder;
using rocksdb::FilterBuildingContext;
using rocksdb::FilterPolicy;

// About the size of a filter of a million keys.
constexpr std::size_t kWholeFilterBytes = std::size_t{1} << 20;

std::unique_ptr<const FilterPolicy> PolicyAt(double bloom_equivalent_bits_per_key) {
  constexpr int kAlwaysRibbon = -1;
  return std::unique_ptr<const FilterPolicy>(
      rocksdb::NewRibbonFilterPolicy(bloom_equivalent_bits_per_key, kAlwaysRibbon));
}

double BitsPerKeyOf(const FilterPolicy& policy, std::size_t filter_bytes) {
  const rocksdb::BlockBasedTableOptions table_options;
  const std::unique_ptr<FilterBitsBuilder> builder(
      policy.GetBuilderWithContext(FilterBuildingContext(table_options)));
  return 8.0 * static_cast<double>(filter_bytes) /
         static_cast<double>(builder->ApproximateNumEntries(filter_bytes));
}

// RocksDB rounds its argument to thousandths.
std::unique_ptr<const FilterPolicy> FindPolicy(double bits_per_key, std::size_t filter_bytes) {
  constexpr double kStep = 0.001;
  double low = 1.0;
  double high = kMaxBitsPerKey;
  while (high - low > kStep) {
    const double middle = (low + high) / 2.0;
    const bool too_small = BitsPerKeyOf(*PolicyAt(middle), filter_bytes) < bits_per_key;
    (too_small ? low : high) = middle;
  }
  return PolicyAt(low);
}

}  // namespace

const FilterPolicy& RibbonFilters::PolicyOf(double bits_per_key, std::size_t filter_bytes) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto& policy = policies_[{bits_per_key, filter_bytes}];
  if (policy == nullptr) policy = FindPolicy(bits_per_key, filter_bytes);
  return *policy;
}

std::unique_ptr<FilterBitsBuilder> RibbonFilters::NewBuilder(
    double bits_per_key, const FilterBuildingContext& context) const {
  const rocksdb::BlockBasedTableOptions& table = context.table_options;
  const std::size_t filter_bytes = table.partition_filters
                                       ? static_cast<std::size_t>(table.metadata_block_size)
                                       : kWholeFilterBytes;
  return std::unique_ptr<FilterBitsBuilder>(
      PolicyOf(bits_per_key, filter_bytes).GetBuilderWithContext(context));
}

}  // namespace exactbloom
