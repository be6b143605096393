#include "equal_bytes.h"

#include <rocksdb/table.h>

#include <algorithm>
#include <cmath>

#include "exactbloom/layout.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom::sweep {
namespace {

// RocksDB rounds bits per key to it.
constexpr double kResolution = 0.001;

// A larger filter takes next to the same bits per key.
constexpr std::uint64_t kMostKeys = 100'000;

// The bytes of a filter of so many keys in a table of the last level: a policy may choose another
// one for flushes.
std::size_t FilterBytes(const rocksdb::FilterPolicy& policy, std::uint64_t keys) {
  const rocksdb::BlockBasedTableOptions options;
  rocksdb::FilterBuildingContext context(options);
  context.reason = rocksdb::TableFileCreationReason::kCompaction;
  context.num_levels = 2;
  context.level_at_creation = 1;
  context.is_bottommost = true;
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(policy.GetBuilderWithContext(context));
  if (builder == nullptr) return 0;
  for (std::uint64_t key = 0; key < keys; ++key) {
    builder->AddKey({reinterpret_cast<const char*>(&key), sizeof key});
  }
  std::unique_ptr<const char[]> filter;
  return builder->Finish(&filter).size();
}

double RoundDown(double setting) { return std::floor(setting / kResolution) * kResolution; }

}  // namespace

double SettingOfSize(const MakePolicyOfSetting& make_policy, std::uint64_t keys,
                     double bits_per_key) {
  const std::uint64_t sampled = std::min(keys, kMostKeys);
  const double bits = static_cast<double>(sampled) * bits_per_key;
  const auto fits = [&](double setting) {
    return 8.0 * static_cast<double>(FilterBytes(*make_policy(setting), sampled)) <= bits;
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
