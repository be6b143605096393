#include "inspection.h"

#include <algorithm>
#include <map>
#include <utility>

#include "database_files.h"

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

void Summarize(Inspection& inspection) {
  std::map<std::pair<std::string, int>, Summation> levels;
  Summation all;
  for (const TableReport& table : inspection.tables) {
    levels[{table.filter.column_family, table.filter.level}].Add(table);
    all.Add(table);
  }
  for (const auto& [place, level] : levels) {
    inspection.levels.push_back(level.Result(place.first, place.second));
  }
  inspection.totals = all.Result("", -1);
}

void JudgeUse(Inspection& inspection) {
  DatabaseOptions options;
  const rocksdb::Status status = LoadDatabaseOptions(inspection.database, &options);
  if (!status.ok()) {
    inspection.no_options_reason = Describe(status);
    return;
  }
  std::map<std::string, int> deepest;
  for (const TableReport& table : inspection.tables) {
    int& level = deepest[table.filter.column_family];
    level = std::max(level, table.filter.level);
  }
  for (TableReport& table : inspection.tables) {
    const auto family = options.families.find(table.filter.column_family);
    if (!table.HasFilter() || family == options.families.end()) continue;
    // In level 0 only the last table would count as deepest.
    const bool at_bottom =
        table.filter.level > 0 && table.filter.level == deepest[table.filter.column_family];
    table.use = UseOf(table.filter, family->second, at_bottom);
  }
  inspection.options = std::move(options);
}

}  // namespace

Inspection Inspect(const std::vector<std::string>& paths) {
  Inspection inspection;
  TableReader reader;
  const auto read = ReadTables<TableReport>(
      paths, "reading filters", [&](const TableLocation& table) { return reader.Read(table); });
  inspection.database = read.database;
  for (const auto& [location, report] : read.tables) {
    inspection.tables.push_back(report);
    inspection.tables.back().filter.level = location.level;
  }
  if (!inspection.database.empty()) JudgeUse(inspection);
  Summarize(inspection);
  return inspection;
}

std::map<std::string, double> WastedReads(const std::vector<FilterSummary>& levels) {
  std::map<std::string, double> reads;
  for (const FilterSummary& level : levels) reads[level.column_family] += level.wasted_reads;
  return reads;
}

}  // namespace exactbloom::tool
