#include "equal_memory.h"

#include <algorithm>
#include <cmath>

#include "exactbloom/layout.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom {
namespace {

constexpr double kSettingResolution = 0.001;

// The keys that a filter in a table of the last level takes: a policy may choose another kind of
// filter for flushes.
std::uint64_t KeysOfBytes(const rocksdb::FilterPolicy& policy, std::size_t bytes) {
  const rocksdb::BlockBasedTableOptions options = EqualMemoryTableOptions();
  rocksdb::FilterBuildingContext context(options);
  context.num_levels = 2;
  context.level_at_creation = 1;
  context.is_bottommost = true;
  context.reason = rocksdb::TableFileCreationReason::kCompaction;
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(policy.GetBuilderWithContext(context));
  return builder == nullptr ? 0 : builder->ApproximateNumEntries(bytes);
}

}  // namespace

double SettingOfEqualMemory(const MakePolicyOfSetting& make_policy, std::uint64_t keys,
                            double bits_per_key) {
  const auto bytes = static_cast<std::size_t>(static_cast<double>(keys) * bits_per_key / 8.0);
  double low = bits_per_key;
  double high = std::min(2.0 * bits_per_key, kMaxBitsPerKey);
  while (high - low > kSettingResolution) {
    const double middle = (low + high) / 2.0;
    (KeysOfBytes(*make_policy(middle), bytes) >= keys ? low : high) = middle;
  }
  return std::floor((low + kSettingResolution / 2.0) / kSettingResolution) * kSettingResolution;
}

}  // namespace exactbloom
