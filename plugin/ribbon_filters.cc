#include "ribbon_filters.h"

#include <rocksdb/table.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "bits_builder.h"
#include "built_in_builder.h"
#include "exactbloom/layout.h"
#include "exactbloom/ribbon_rate.h"

namespace exactbloom {
namespace {

using rocksdb::FilterBitsBuilder;
using rocksdb::FilterBuildingContext;
using rocksdb::FilterPolicy;
using rocksdb::Slice;
using rocksdb::Status;

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

// There is a policy for each number, so there must not be too many.
double InSteps(double bits_per_key) {
  constexpr double kStepsPerBit = 64.0;
  return std::max(1.0, std::floor(bits_per_key * kStepsPerBit)) / kStepsPerBit;
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

// Lets filters take of a budget, and adds up what becomes of the wanted size. With
// optimize_filters_for_memory RocksDB rounds each partition up or down to a size class, but counts
// a smaller one by its rate before it was rounded, so partitions take 4% more than wanted on
// average with jemalloc's classes.
class RibbonFilters::CountedBuilder : public BuiltInBuilder {
 public:
  CountedBuilder(std::unique_ptr<FilterBitsBuilder> builder, double bits_per_key,
                 std::shared_ptr<Fitted> fitted, std::unique_ptr<tree::SizedTable> table)
      : BuiltInBuilder(std::move(builder)),
        bits_per_key_(bits_per_key),
        fitted_(std::move(fitted)),
        table_(std::move(table)) {}

  using BuiltInBuilder::Finish;
  Slice Finish(std::unique_ptr<const char[]>* buffer, Status* status) override {
    const auto keys = static_cast<double>(EstimateEntriesAdded());
    const Slice filter = BuiltInBuilder::Finish(buffer, status);
    if (fitted_ != nullptr) Count(8.0 * static_cast<double>(filter.size()), bits_per_key_ * keys);
    const bool fits = table_ == nullptr || table_->Take(filter.size());
    return fits ? filter : AlwaysMatchBlock();
  }

 private:
  // The sums follow a change of the sizes of partitions.
  void Count(double taken, double wanted) {
    constexpr double kMostBits = 1e9;
    const std::lock_guard<std::mutex> lock(fitted_->mutex);
    fitted_->taken += taken;
    fitted_->wanted += wanted;
    if (fitted_->wanted < kMostBits) return;
    fitted_->taken /= 2.0;
    fitted_->wanted /= 2.0;
  }

  const double bits_per_key_;
  const std::shared_ptr<Fitted> fitted_;           // null: not counted
  const std::unique_ptr<tree::SizedTable> table_;  // null: no budget
};

const FilterPolicy& RibbonFilters::PolicyOf(double bits_per_key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto& policy = policies_[bits_per_key];
  if (policy == nullptr) policy = FindPolicy(bits_per_key);
  return *policy;
}

std::unique_ptr<FilterBitsBuilder> RibbonFilters::NewBuilder(
    double bits_per_key, const FilterBuildingContext& context,
    std::unique_ptr<tree::SizedTable> table) const {
  const rocksdb::BlockBasedTableOptions& options = context.table_options;
  const bool fits_memory = options.partition_filters && options.optimize_filters_for_memory;
  if (fits_memory) bits_per_key = LessWhatFittingAdds(bits_per_key);
  if (table != nullptr) bits_per_key = InSteps(bits_per_key);
  const double of_whole =
      options.partition_filters
          ? BitsInWholeFilter(bits_per_key, static_cast<std::size_t>(options.metadata_block_size))
          : bits_per_key;
  std::unique_ptr<FilterBitsBuilder> builder(PolicyOf(of_whole).GetBuilderWithContext(context));
  const bool is_counted = fits_memory || (table != nullptr && table->has_budget());
  if (builder == nullptr || !is_counted) return WithoutEmptyBlocks(std::move(builder), options);
  return std::make_unique<CountedBuilder>(std::move(builder), bits_per_key,
                                          fits_memory ? fitted_ : nullptr, std::move(table));
}

double RibbonFilters::LessWhatFittingAdds(double bits_per_key) const {
  constexpr double kMostExcess = 1.25;
  const std::lock_guard<std::mutex> lock(fitted_->mutex);
  if (fitted_->wanted == 0.0) return bits_per_key;
  const double excess = std::clamp(fitted_->taken / fitted_->wanted, 1.0, kMostExcess);
  return InSteps(bits_per_key / excess);
}

}  // namespace exactbloom
