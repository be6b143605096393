#include "family.h"

#include <rocksdb/table.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace exactbloom::tree {

std::pair<int, int> ClassOf(int level, std::uint64_t keys) {
  constexpr double kClassesPerDoubling = 8.0;  // sizes in a class differ by less than a tenth
  if (level != 0) return {level, 0};
  return {0, static_cast<int>(kClassesPerDoubling * std::log2(Real(keys + 1)))};
}

TableSum SumIn(const RunSums& sums, const std::pair<int, int>& run) {
  const auto found = sums.find(run);
  return found == sums.end() ? TableSum() : found->second;
}

TableSum SumOf(const RunSums& sums) {
  TableSum all;
  for (const auto& [run, sum] : sums) all.Add(sum);
  return all;
}

// RocksDB before 7.0 did not count the keys of filters; a filter of prefixes has fewer.
TableFacts TableFacts::Of(const rocksdb::TableProperties& properties) {
  const std::uint64_t keys = properties.num_filter_entries;
  return {keys != 0 ? keys : properties.num_entries, properties.filter_size};
}

std::uint64_t NumberOf(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return std::strtoull(path.c_str() + (slash == std::string::npos ? 0 : slash + 1), nullptr, 10);
}

std::string DescribeOtherPolicy(const rocksdb::TableProperties& properties) {
  const bool is_block_based = properties.user_collected_properties.count(
                                  rocksdb::BlockBasedTablePropertyNames::kIndexType) != 0;
  if (!is_block_based) return "";
  if (properties.filter_policy_name.empty()) return "no filter policy";
  return properties.filter_size == 0 ? "" : "filter policy " + properties.filter_policy_name;
}

void TableSum::Add(const TableSum& other) {
  tables += other.tables;
  keys += other.keys;
  filter_bytes += other.filter_bytes;
}

void TableSum::Subtract(const TableSum& other) {
  tables -= std::min(tables, other.tables);
  keys -= std::min(keys, other.keys);
  filter_bytes -= std::min(filter_bytes, other.filter_bytes);
}

TableSum Family::Sum() const { return SumOf(runs); }

std::uint64_t Family::FlushKeys() const {
  if (flushed_keys != 0) return flushed_keys;
  const TableSum sum = SumOf({runs.begin(), runs.lower_bound({1, 0})});
  return sum.keys / std::max<std::uint64_t>(1, sum.tables);
}

std::vector<analysis::EqualRuns> Family::Runs(const RunSums& without) const {
  std::vector<analysis::EqualRuns> all;
  for (const auto& [run, sum] : runs) {
    TableSum rest = sum;
    rest.Subtract(SumIn(without, run));
    if (rest.keys == 0) continue;
    const double count = run.first == 0 ? std::max(1.0, Real(rest.tables)) : 1.0;
    all.push_back({Real(rest.keys) / count, count, ribbon});
  }
  return all;
}

void Family::Use(FilterBudget* of_policy) {
  if (budget == of_policy) return;
  if (budget != nullptr) {
    budget->held -= held;
    budget->families.erase(this);
  }
  if (of_policy != nullptr) {
    of_policy->families.insert(this);
    of_policy->held += held;
  }
  budget = of_policy;
}

}  // namespace exactbloom::tree
