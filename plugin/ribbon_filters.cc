#include "ribbon_filters.h"

#include <rocksdb/table.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "exactbloom/layout.h"
#include "exactbloom/ribbon_rate.h"

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

double BitsPerKeyOf(const FilterPolicy& policy) {
  const rocksdb::BlockBasedTableOptions table_options;
  const std::unique_ptr<FilterBitsBuilder> builder(
      policy.GetBuilderWithContext(FilterBuildingContext(table_options)));
  return 8.0 * static_cast<double>(kWholeFilterBytes) /
         static_cast<double>(builder->ApproximateNumEntries(kWholeFilterBytes));
}

// RocksDB rounds its argument to thousandths.
std::unique_ptr<const FilterPolicy> FindPolicy(double bits_per_key) {
  constexpr double kStep = 0.001;
  double low = 1.0;
  double high = kMaxBitsPerKey;
  while (high - low > kStep) {
    const double middle = (low + high) / 2.0;
    (BitsPerKeyOf(*PolicyAt(middle)) < bits_per_key ? low : high) = middle;
  }
  return PolicyAt(low);
}

// Returns the bits per key of a whole filter whose slots are as wide as those of a partition of
// `bits_per_key`: a large filter takes more slots per key.
double BitsInWholeFilter(double bits_per_key, std::size_t partition_bytes) {
  const auto keys_in = [bits_per_key](std::size_t bytes) {
    return std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(8.0 * static_cast<double>(bytes) / bits_per_key));
  };
  const std::uint64_t keys = keys_in(partition_bytes);
  const double metadata_bits = 8.0 * kRibbonMetadataBytes / static_cast<double>(keys);
  return (bits_per_key - metadata_bits) * RibbonOverhead(keys_in(kWholeFilterBytes)) /
         RibbonOverhead(keys);
}

}  // namespace

const FilterPolicy& RibbonFilters::PolicyOf(double bits_per_key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto& policy = policies_[bits_per_key];
  if (policy == nullptr) policy = FindPolicy(bits_per_key);
  return *policy;
}

std::unique_ptr<FilterBitsBuilder> RibbonFilters::NewBuilder(
    double bits_per_key, const FilterBuildingContext& context) const {
  const rocksdb::BlockBasedTableOptions& table = context.table_options;
  if (table.partition_filters) {
    bits_per_key =
        BitsInWholeFilter(bits_per_key, static_cast<std::size_t>(table.metadata_block_size));
  }
  return std::unique_ptr<FilterBitsBuilder>(PolicyOf(bits_per_key).GetBuilderWithContext(context));
}

}  // namespace exactbloom
