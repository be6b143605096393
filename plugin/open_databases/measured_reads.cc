#include "exactbloom/measured_reads.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace exactbloom {
namespace {

using rocksdb::Statistics;

// Finds tickers by their names, since RocksDB before 8.3 lacks some. Nothing if it has none such.
std::optional<std::uint64_t> CountOf(const Statistics& statistics, std::string_view name) {
  const auto& names = rocksdb::TickersNameMap;
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const auto& ticker) { return ticker.second == name; });
  if (found == names.end()) return std::nullopt;
  return statistics.getTickerCount(found->first);
}

std::uint64_t SumOf(const Statistics& statistics, std::initializer_list<std::string_view> names) {
  std::uint64_t sum = 0;
  for (const std::string_view name : names) sum += CountOf(statistics, name).value_or(0);
  return sum;
}

// Of counters that other threads may change meanwhile.
std::uint64_t Less(std::uint64_t count, std::uint64_t part) {
  return count - std::min(count, part);
}

FilterAnswers Less(const FilterAnswers& answers, const FilterAnswers& before) {
  return {Less(answers.denied, before.denied), Less(answers.passed, before.passed),
          Less(answers.found, before.found)};
}

FilterAnswers AnswersToSeeks(const Statistics& statistics) {
  return {SumOf(statistics,
                {"rocksdb.last.level.seek.filtered", "rocksdb.non.last.level.seek.filtered"}),
          SumOf(statistics, {"rocksdb.last.level.seek.filter.match",
                             "rocksdb.non.last.level.seek.filter.match"}),
          SumOf(statistics, {"rocksdb.last.level.seek.data.useful.filter.match",
                             "rocksdb.non.last.level.seek.data.useful.filter.match"})};
}

}  // namespace

double FilterAnswers::FalsePositiveRate() const {
  const auto wrong = static_cast<double>(FalsePositives());
  return wrong / (wrong + static_cast<double>(denied));  // NaN if both are 0
}

double MeasuredReads::WastedPer1000() const {
  const auto wasted = static_cast<double>(keys.FalsePositives() + prefixes.FalsePositives());
  return Absent() == 0 ? std::nan("") : 1000.0 * wasted / static_cast<double>(Absent());
}

MeasuredReads MeasuredReads::Since(const MeasuredReads& before) const {
  MeasuredReads since;
  since.keys = Less(keys, before.keys);
  since.prefixes = Less(prefixes, before.prefixes);
  since.seeks = Less(seeks, before.seeks);
  since.lookups = Less(lookups, before.lookups);
  since.found = Less(found, before.found);
  return since;
}

MeasuredReads MeasureReads(const Statistics& statistics) {
  // What RocksDB counts last is read first.
  MeasuredReads reads;
  reads.found = SumOf(statistics, {"rocksdb.memtable.hit", "rocksdb.l0.hit", "rocksdb.l1.hit",
                                   "rocksdb.l2andup.hit"});
  reads.lookups =
      SumOf(statistics, {"rocksdb.number.keys.read", "rocksdb.number.multiget.keys.read"});
  reads.keys.found = SumOf(statistics, {"rocksdb.bloom.filter.full.true.positive"});
  reads.keys.passed = SumOf(statistics, {"rocksdb.bloom.filter.full.positive"});
  reads.keys.denied = SumOf(statistics, {"rocksdb.bloom.filter.useful"});
  const auto found = CountOf(statistics, "rocksdb.bloom.filter.prefix.true.positive");
  FilterAnswers prefixes;
  prefixes.found = found.value_or(0);
  prefixes.denied = SumOf(statistics, {"rocksdb.bloom.filter.prefix.useful"});
  prefixes.passed =
      Less(SumOf(statistics, {"rocksdb.bloom.filter.prefix.checked"}), prefixes.denied);
  // Before 8.3 these are the tickers of seeks.
  reads.prefixes = found ? prefixes : FilterAnswers();
  reads.seeks = found ? AnswersToSeeks(statistics) : prefixes;
  return reads;
}

std::vector<MeasuredLevel> MeasureLevels(const rocksdb::PerfContext& context) {
  std::vector<MeasuredLevel> levels;
  if (context.level_to_perf_context == nullptr) return levels;
  for (const auto& [level, counts] : *context.level_to_perf_context) {
    MeasuredLevel& measured = levels.emplace_back();
    measured.level = static_cast<int>(level);
    measured.answers = {counts.bloom_filter_useful, counts.bloom_filter_full_positive,
                        counts.bloom_filter_full_true_positive};
  }
  return levels;
}

}  // namespace exactbloom
