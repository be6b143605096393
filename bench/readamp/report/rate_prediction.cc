#include "rate_prediction.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/ribbon_rate.h"
#include "plugin/bloom_filter_policy.h"
#include "readamp/lookups/lookup_walk.h"
#include "support/rate_deviation.h"

namespace exactbloom::readamp {
namespace {

// The fill and the rate of a filter of fewer keys are far from normally distributed.
constexpr std::uint64_t kKeysThatDecide = 200;

// Nothing for a filter that is neither ExactBloom's nor empty.
std::optional<ExactFilter> DescribeFilter(const TableFilterBlock& block, ExactRates& rates) {
  switch (block.description.family) {
    case FilterFamily::kExactBloom:
      return rates.Of(block.description.ours);
    case FilterFamily::kRibbon:
      return ExactFilter{RibbonFalsePositiveRateOfSlots(block.description.ribbon_slots,
                                                        (block.bytes - kRibbonMetadataBytes) * 8),
                         0.0, true};
    case FilterFamily::kEmpty:
      return ExactFilter();
    default:
      return std::nullopt;
  }
}

void AddRates(const LookupCounts& counts, Prediction* prediction) {
  ExactRates rates;
  double expected = 0.0;
  double repeated_variance = 0.0;  // binomial, except for lookups that repeat another
  double binomial_variance = 0.0;
  double fill_variance = 0.0;
  bool decides = true;
  for (const auto& [block, checks] : counts.absent) {
    const auto filter = DescribeFilter(*block, rates);
    if (!filter) return;
    decides &= filter->decides && checks.squares == checks.count;
    const auto count = static_cast<double>(checks.count);
    const double variance = filter->rate * (1.0 - filter->rate);
    expected += count * filter->rate;
    binomial_variance += count * variance;
    repeated_variance += static_cast<double>(checks.squares) * variance;
    fill_variance += count * count * filter->variance;
  }
  prediction->decides = decides;
  prediction->rate = expected / static_cast<double>(*prediction->absent_checks);
  if (binomial_variance > 0.0) {
    prediction->dispersion = (repeated_variance + fill_variance) / binomial_variance;
  }
}

// The bits that the policy announces for the number of keys in the block.
std::uint64_t AnnouncedBits(const BloomFilterPolicy& policy, const AllocatedFilter& filter,
                            std::uint64_t keys) {
  const FilterSize size =
      filter.fpr > 0.0 ? SmallestFilter(policy.Layout(), keys, filter.fpr).value_or(FilterSize())
                       : SizeAtBitsPerKey(policy.Layout(), keys, filter.bits_per_key);
  return size.bits;
}

// The filter for the context that RocksDB gave the policy when it compacted a table of a settled
// tree to its level.
AllocatedFilter FilterOf(const BloomFilterPolicy& policy, const Table& table, int num_levels) {
  const rocksdb::BlockBasedTableOptions table_options;
  return policy.FilterOf(CompactionContext(table_options, num_levels, table.level,
                                           /*bottommost=*/table.level == num_levels - 1));
}

void CheckSizes(const TableList& tables, const BloomFilterPolicy& policy) {
  for (const Table& table : tables) {
    const AllocatedFilter filter = FilterOf(policy, table, tables.Levels());
    for (const TableFilterBlock& block : table.filter_blocks) {
      const FilterDescription& ours = block.description.ours;
      if (block.description.family != FilterFamily::kExactBloom) continue;
      const std::uint64_t bits = AnnouncedBits(policy, filter, ours.keys);
      if (bits != ours.bits) {
        throw WrongAnswer(fmt::format("{}: a filter of {} keys has {} bits and not {}",
                                      policy.GetId(), ours.keys, ours.bits, bits));
      }
    }
  }
}

}  // namespace

std::optional<double> Prediction::WastedReads() const {
  if (!absent_checks) return std::nullopt;
  const auto unfiltered = static_cast<double>(unfiltered_searches);
  if (*absent_checks == 0) return unfiltered;
  if (!rate) return std::nullopt;
  return unfiltered + *rate * static_cast<double>(*absent_checks - checks_beyond);
}

ExactFilter ExactRates::Of(const FilterDescription& filter) {
  const auto [place, is_new] =
      rates_.try_emplace({filter.layout, filter.bits, filter.keys, filter.probes});
  ExactFilter& exact = place->second;
  if (!is_new) return exact;
  exact.rate = FalsePositiveRate(filter.layout, filter.bits, filter.keys, filter.probes);
  const FilterSize size{filter.bits, filter.probes, exact.rate};
  const double deviation = support::RelativeRateDeviation(filter.layout, size, filter.keys);
  exact.variance = std::pow(exact.rate * deviation, 2);
  exact.decides = filter.keys >= kKeysThatDecide;
  return exact;
}

Prediction Predict(const Database& database, const Workload& workload) {
  Prediction prediction;
  if (workload.kind == LookupKind::kDuringWrites) return prediction;
  const LookupCounts counts = WalkLookups(database, workload);
  prediction.absent_checks = 0;
  for (const auto& [block, checks] : counts.absent) *prediction.absent_checks += checks.count;
  prediction.present_checks = counts.present;
  prediction.checks_beyond = counts.beyond;
  prediction.unfiltered_searches = counts.unfiltered;

  const auto* ours = dynamic_cast<const BloomFilterPolicy*>(database.Policy());
  if (ours == nullptr) return prediction;
  const ReadampSettings& settings = database.Settings();
  if (settings.tree == Tree::kSettled && !settings.partitioned_filters) {
    CheckSizes(database.Tables(), *ours);
  }
  if (*prediction.absent_checks > 0) AddRates(counts, &prediction);
  return prediction;
}

}  // namespace exactbloom::readamp
