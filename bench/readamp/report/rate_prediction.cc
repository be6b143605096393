#include "rate_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "exactbloom/theory/confidence_interval.h"
#include "plugin/policy_options.h"
#include "support/rate_deviation.h"

namespace exactbloom::readamp {
namespace {

// The fill and the rate of a filter of fewer keys are far from normally distributed.
constexpr std::uint64_t kKeysThatDecide = 200;

// The block of the table's filter that answers for `key`; as in RocksDB, the last one for keys
// beyond all partitions.
const TableFilterBlock* BlockOf(const Table& table, const std::string& key) {
  const auto& blocks = table.filter_blocks;
  if (blocks.size() == 1) return &blocks.front();
  const auto found = std::lower_bound(blocks.begin(), blocks.end(), key,
                                      [](const TableFilterBlock& block, const std::string& wanted) {
                                        return block.last_key < wanted;
                                      });
  return found != blocks.end() ? &*found : &blocks.back();
}

// The checks of one filter block whose table lacks the keys.
struct BlockChecks {
  std::uint64_t count = 0;
  std::uint64_t squares = 0;  // sum over the keys of the squared number of their lookups
};

// Which filters a workload's lookups ask, from the tree alone.
class LookupWalk {
 public:
  LookupWalk(const Database& database, Prediction* prediction)
      : tables_(database.Tables()), keys_(database.Keys()), prediction_(*prediction) {}

  // A lookup of a key asks the sorted runs from the newest on, in each the table whose range holds
  // the key, until one has it.
  void LookUp(std::size_t i, std::uint64_t times) {
    const std::string key = keys_.Key(i);
    const int holder = tables_.SortedRunOf(i);
    for (int run = 0; run < tables_.SortedRuns() && run != holder; ++run) {
      const Table* table = tables_.Find(run, key);
      if (table != nullptr) {
        Ask(*table, key, times);
      } else if (asks_all_) {
        AskOutsideOfRange(run, key, times);
      }
    }
  }

  const std::unordered_map<const TableFilterBlock*, BlockChecks>& Absent() const { return absent_; }

 private:
  // A key behind the last one is found in no block: nothing is read.
  void AskOutsideOfRange(int run, const std::string& key, std::uint64_t times) {
    const Table& file = tables_.FirstOf(run);
    const bool is_beyond = file.largest < key;
    if (file.HasFilter() || !is_beyond) Ask(file, key, times);
    if (file.HasFilter() && is_beyond) prediction_.checks_beyond += times;
  }

  // A table that lacks the key.
  void Ask(const Table& table, const std::string& key, std::uint64_t times) {
    if (!table.HasFilter()) {
      prediction_.unfiltered_searches += times;
      return;
    }
    prediction_.absent_checks += times;
    BlockChecks& checks = absent_[BlockOf(table, key)];
    checks.count += times;
    checks.squares += times * times;
  }

  const TableList& tables_;
  const bool asks_all_ = tables_.AreAskedRegardlessOfRange();
  const KeySet& keys_;
  Prediction& prediction_;
  std::unordered_map<const TableFilterBlock*, BlockChecks> absent_;
};

void FollowLookups(const Workload& workload, LookupWalk* walk) {
  std::vector<std::size_t> order = workload.order;
  std::sort(order.begin(), order.end());
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::upper_bound(first, order.end(), *first);
    walk->LookUp(*first, static_cast<std::uint64_t>(last - first));
    first = last;
  }
}

// Nothing for RocksDB's filters, which the policies with exact rates do not build.
std::optional<support::ExactRate> RateOf(const TableFilterBlock& block,
                                         support::ExactRates& rates) {
  switch (block.description.family) {
    case FilterFamily::kExactBloom:
      return rates.Of(block.description.ours);
    case FilterFamily::kExactRibbon:
      return support::ExactRate{block.description.ribbon_rate};
    case FilterFamily::kEmpty:
      return support::ExactRate();
    case FilterFamily::kUnknown:
      return support::ExactRate{1.0};
    default:
      return std::nullopt;
  }
}

void AddRates(const LookupWalk& walk, Prediction* prediction) {
  support::ExactRates rates;
  double expected = 0.0;
  double repeated_variance = 0.0;  // binomial, except for lookups that repeat another
  double binomial_variance = 0.0;
  double fill_variance = 0.0;
  bool decides = true;
  for (const auto& [block, checks] : walk.Absent()) {
    const auto rate = RateOf(*block, rates);
    if (!rate) return;
    const FilterBlockDescription& filter = block->description;
    const bool is_large =
        filter.family == FilterFamily::kExactRibbon ||
        (filter.family == FilterFamily::kExactBloom && filter.ours.keys >= kKeysThatDecide);
    decides &= is_large && checks.squares == checks.count;
    const auto count = static_cast<double>(checks.count);
    const double variance = rate->mean * (1.0 - rate->mean);
    expected += count * rate->mean;
    binomial_variance += count * variance;
    repeated_variance += static_cast<double>(checks.squares) * variance;
    fill_variance += std::pow(count * rate->mean * rate->relative_deviation, 2);
  }
  prediction->decides = decides;
  prediction->rate = expected / static_cast<double>(prediction->absent_checks);
  if (binomial_variance > 0.0) {
    prediction->dispersion = (repeated_variance + fill_variance) / binomial_variance;
  }
}

// Two-sided, once in 1.7 million: make report measures dozens of points.
constexpr double kDeviations = 5.0;

// Throws the problem that the arguments fill in, unless the counts agree.
template <typename... Counts>
void Require(bool agree, const char* problem, const Counts&... counts) {
  if (!agree) throw WrongAnswer(fmt::format(fmt::runtime(problem), counts...));
}

void CompareReads(const Measurement& measured) {
  Require(measured.file_reads == measured.data_blocks_read,
          "RocksDB counts {} blocks read and the file system {} reads", measured.data_blocks_read,
          measured.file_reads);
  Require(measured.file_bytes_read == measured.bytes_read,
          "RocksDB counts {} bytes read and the file system {}", measured.bytes_read,
          measured.file_bytes_read);
}

// Every search of a table that lacks the key reads at least one block, from the file or from the
// cache, unless all keys of the table lie before it.
void CompareWastedReads(const Measurement& measured, const Prediction& prediction) {
  const std::uint64_t searches = measured.false_positives + prediction.unfiltered_searches;
  const std::uint64_t unread = measured.block_cache_hits + prediction.checks_beyond;
  Require(measured.wasted_reads + unread >= searches && measured.wasted_reads <= searches,
          "the file system counts {} wasted reads, with {} blocks in the cache, for {} searches of "
          "tables that lack the key",
          measured.wasted_reads, measured.block_cache_hits, searches);
}

void CompareRate(const Measurement& measured, const Prediction& prediction) {
  if (!prediction.decides || !prediction.rate) return;
  const Interval interval = *WilsonInterval(measured.false_positives, measured.AbsentChecks(),
                                            kDeviations, prediction.dispersion);
  Require(interval.Contains(*prediction.rate),
          "{} false positives in {} checks, where the exact rate is {}", measured.false_positives,
          measured.AbsentChecks(), *prediction.rate);
}

}  // namespace

std::optional<double> Prediction::WastedSearches() const {
  const auto unfiltered = static_cast<double>(unfiltered_searches);
  if (absent_checks == 0) return unfiltered;
  if (!rate) return std::nullopt;
  return unfiltered + *rate * static_cast<double>(absent_checks - checks_beyond);
}

Prediction Predict(const Database& database, const Workload& workload) {
  Prediction prediction;
  LookupWalk walk(database, &prediction);
  FollowLookups(workload, &walk);
  const std::optional<PolicyOptions> policy = OptionsOf(database.Policy());
  const bool has_exact_rate = policy && HasOwnFilters(*policy);
  if (has_exact_rate && prediction.absent_checks > 0) {
    AddRates(walk, &prediction);
  }
  return prediction;
}

void CheckAgreement(const Measurement& measured, const Prediction& prediction, Tree tree,
                    const std::string& run) try {
  CompareReads(measured);
  Require(measured.AbsentChecks() == prediction.absent_checks,
          "RocksDB counts {} checks of absent keys where the tree has {}", measured.AbsentChecks(),
          prediction.absent_checks);
  CompareWastedReads(measured, prediction);
  if (tree == Tree::kSettled || tree == Tree::kDatabase) CompareRate(measured, prediction);
} catch (const WrongAnswer& problem) {
  throw WrongAnswer(run + ": " + problem.what());
}

}  // namespace exactbloom::readamp
