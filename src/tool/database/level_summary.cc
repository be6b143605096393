#include "level_summary.h"

#include <utility>

namespace exactbloom::tool {
namespace {

// A weighted mean of the known values.
class Mean {
 public:
  void Add(double weight, const std::optional<double>& value) {
    if (!value) return;
    weights_ += weight;
    sum_ += weight * *value;
  }
  std::optional<double> Value() const {
    return weights_ > 0.0 ? std::optional(sum_ / weights_) : std::nullopt;
  }

 private:
  double weights_ = 0.0;
  double sum_ = 0.0;
};

class Summation {
 public:
  void Add(const TableReport& table) {
    ++sums_.tables;
    if (!table.status.ok()) {
      ++sums_.unreadable;
      return;
    }
    ++sums_.families[NameOf(table.filter.family)];
    sums_.file_bytes += table.filter.file_bytes;
    sums_.entries += table.filter.entries;
    sums_.filter_bytes += table.filter.bytes;
    sums_.keys += table.keys;
    sums_.bits += table.bits;
    const auto keys = static_cast<double>(table.keys);
    fill_.Add(static_cast<double>(table.bits), table.fill);
    exact_rate_.Add(keys, table.exact_rate);
    fill_rate_.Add(keys, table.fill_rate);
    efficiency_.Add(static_cast<double>(table.bits), table.efficiency);
    passes_.Add(static_cast<double>(table.filter.entries), table.PassRate());
    pass_sum_ += table.PassRate();
    if (table.estimated_keys) {
      sums_.estimated_keys = sums_.estimated_keys.value_or(0.0) + *table.estimated_keys;
    }
  }

  FilterSummary Result(const std::string& family, int level) const {
    FilterSummary summary = sums_;
    summary.column_family = family;
    summary.level = level;
    summary.fill = fill_.Value();
    summary.exact_rate = exact_rate_.Value();
    summary.fill_rate = fill_rate_.Value();
    summary.efficiency = efficiency_.Value();
    summary.wasted_reads = level > 0 ? passes_.Value().value_or(0.0) : pass_sum_;
    return summary;
  }

 private:
  FilterSummary sums_;
  Mean fill_;
  Mean exact_rate_;
  Mean fill_rate_;
  Mean efficiency_;
  Mean passes_;
  double pass_sum_ = 0.0;
};

}  // namespace

std::vector<FilterSummary> SummarizeLevels(const std::vector<TableReport>& tables) {
  std::map<std::pair<std::string, int>, Summation> levels;
  for (const TableReport& table : tables) {
    levels[{table.filter.column_family, table.filter.level}].Add(table);
  }
  std::vector<FilterSummary> summaries;
  summaries.reserve(levels.size());
  for (const auto& [place, level] : levels) {
    summaries.push_back(level.Result(place.first, place.second));
  }
  return summaries;
}

FilterSummary SummarizeAll(const std::vector<TableReport>& tables) {
  Summation all;
  for (const TableReport& table : tables) all.Add(table);
  return all.Result("", -1);
}

std::map<std::string, double> WastedReads(const std::vector<FilterSummary>& levels) {
  std::map<std::string, double> reads;
  for (const FilterSummary& level : levels) reads[level.column_family] += level.wasted_reads;
  return reads;
}

}  // namespace exactbloom::tool
