#include "equal_bytes.h"

#include <rocksdb/table.h>

#include <algorithm>
#include <cmath>

#include "exactbloom/layout.h"
#include "filter_bits_interface.h"

namespace exactbloom::sweep {
namespace {

// RocksDB rounds bits per key to it.
constexpr double kResolution = 0.001;

double RoundDown(double setting) { return std::floor(setting / kResolution) * kResolution; }

}  // namespace

double SettingOfSize(const MakePolicyOfSetting& make_policy, std::uint64_t keys,
                     double bits_per_key) {
  const auto bytes = static_cast<std::size_t>(static_cast<double>(keys) * bits_per_key / 8.0);
  const auto fits = [&](double setting) {
    rocksdb::BlockBasedTableOptions options;
    rocksdb::FilterBuildingContext context(options);
    // Tables of the last level: a policy may choose another filter for flushes.
    context.reason = rocksdb::TableFileCreationReason::kCompaction;
    context.num_levels = 2;
    context.level_at_creation = 1;
    const auto policy = make_policy(setting);
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy->GetBuilderWithContext(context));
    return builder != nullptr && builder->ApproximateNumEntries(bytes) >= keys;
  };
  double low = bits_per_key;
  double high = std::min(2.0 * bits_per_key, kMaxBitsPerKey);
  while (high - low > kResolution) {
    const double middle = (low + high) / 2.0;
    (fits(middle) ? low : high) = middle;
  }
  return RoundDown(low + kResolution / 2.0);
}

}  // namespace exactbloom::sweep
