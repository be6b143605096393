#include "prediction.h"

#include <fmt/format.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cmath>

#include "bloom_filter_policy.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/ribbon_rate.h"
#include "filter/block_format.h"
#include "report/rate_deviation.h"

namespace exactbloom::readamp {
namespace {

// The exact rate of one table's filter and its variance over the hash functions.
struct ExactFilter {
  double rate = 0.0;
  double variance = 0.0;
};

// What RocksDB told the policy when it compacted the table to its level.
AllocatedFilter FilterOf(const BloomFilterPolicy& policy, const Table& table, int num_levels) {
  const rocksdb::BlockBasedTableOptions table_options;
  rocksdb::FilterBuildingContext context(table_options);
  context.num_levels = num_levels;
  context.level_at_creation = table.level;
  context.is_bottommost = table.level == num_levels - 1;
  context.reason = rocksdb::TableFileCreationReason::kCompaction;
  return policy.FilterOf(context);
}

ExactFilter DescribeFilter(const BloomFilterPolicy& policy, const Table& table, int num_levels) {
  const AllocatedFilter filter = FilterOf(policy, table, num_levels);
  if (filter.ribbon) {
    const std::uint64_t bits = (table.filter_bytes - kRibbonMetadataBytes) * 8;
    return {RibbonFalsePositiveRate(table.keys, bits), 0.0};
  }
  const FilterSize size =
      filter.fpr > 0.0
          ? SmallestFilter(policy.Layout(), table.keys, filter.fpr).value_or(FilterSize())
          : SizeAtBitsPerKey(policy.Layout(), table.keys, filter.bits_per_key);
  const std::uint64_t block_bytes = filter::ArrayBytes(size.bits) + filter::kTrailerBytes;
  if (block_bytes != table.filter_bytes) {
    throw WrongAnswer(fmt::format("{}: the filter of {} keys has {} bytes and not {}",
                                  policy.GetId(), table.keys, table.filter_bytes, block_bytes));
  }
  const double relative = bench::RelativeRateDeviation(policy.Layout(), size, table.keys);
  return {size.false_positive_rate, std::pow(size.false_positive_rate * relative, 2)};
}

// The table of a sorted run whose key range holds `key`, as RocksDB finds it.
std::ptrdiff_t FindTable(const std::vector<Table>& tables, int run, const std::string& key) {
  const auto found = std::lower_bound(
      tables.begin(), tables.end(), key, [run](const Table& table, const std::string& wanted) {
        return table.sorted_run != run ? table.sorted_run < run : table.largest < wanted;
      });
  const bool inside = found != tables.end() && found->sorted_run == run && found->smallest <= key;
  return inside ? found - tables.begin() : -1;
}

// How often each table's filter, if it has one, is asked for a key that the table lacks.
std::vector<std::uint64_t> CountAbsentChecks(const std::vector<Table>& tables, const KeySet& keys,
                                             const std::vector<std::size_t>& order) {
  std::vector<std::uint64_t> checks(tables.size(), 0);
  const int runs = tables.empty() ? 0 : tables.back().sorted_run + 1;
  for (const std::size_t i : order) {
    for (int run = 0; run < runs && run != keys.sorted_run[i]; ++run) {
      const std::ptrdiff_t table = FindTable(tables, run, keys.keys[i]);
      if (table >= 0 && tables[static_cast<std::size_t>(table)].filter_bytes > 0) {
        ++checks[static_cast<std::size_t>(table)];
      }
    }
  }
  return checks;
}

}  // namespace

Prediction Predict(const std::vector<Table>& tables, const KeySet& keys,
                   const std::vector<std::size_t>& order, const rocksdb::FilterPolicy* policy) {
  Prediction prediction;
  if (policy == nullptr) return prediction;
  const std::vector<std::uint64_t> checks = CountAbsentChecks(tables, keys, order);
  for (const std::uint64_t count : checks) prediction.absent_checks += count;

  const auto* ours = dynamic_cast<const BloomFilterPolicy*>(policy);
  if (ours == nullptr || prediction.absent_checks == 0) return prediction;
  const int num_levels = tables.back().level + 1;
  double expected = 0.0;
  double binomial_variance = 0.0;
  double fill_variance = 0.0;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (checks[i] == 0) continue;
    const ExactFilter filter = DescribeFilter(*ours, tables[i], num_levels);
    const auto count = static_cast<double>(checks[i]);
    expected += count * filter.rate;
    binomial_variance += count * filter.rate * (1.0 - filter.rate);
    fill_variance += count * count * filter.variance;
  }
  prediction.rate = expected / static_cast<double>(prediction.absent_checks);
  if (binomial_variance > 0.0) prediction.dispersion = 1.0 + fill_variance / binomial_variance;
  return prediction;
}

}  // namespace exactbloom::readamp
