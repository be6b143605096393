#include "key_ranges.h"

#include <rocksdb/comparator.h>
#include <rocksdb/slice.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>

#include "tool/support/few_tables.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Comparator;

// Null for a comparator of another program.
const Comparator* ComparatorOf(const std::string& name) {
  for (const auto* order : {rocksdb::BytewiseComparator(), rocksdb::ReverseBytewiseComparator()}) {
    if (name == order->Name()) return order;
  }
  return nullptr;
}

bool IsBeforeInTree(const TableLocation& one, const TableLocation& other) {
  const auto place = [](const TableLocation& table) {
    return std::tie(table.column_family, table.level);
  };
  if (place(one) != place(other)) return place(one) < place(other);
  if (one.level == 0) {
    return std::tie(one.largest_sequence, one.number) >
           std::tie(other.largest_sequence, other.number);
  }
  const Comparator* order = ComparatorOf(one.comparator);
  const int keys = order == nullptr ? 0 : order->Compare(one.smallest, other.smallest);
  return keys != 0 ? keys < 0 : one.number < other.number;
}

// Keys as numbers. At a position where all keys have digits or letters, these are the digits of
// base 10, 16 or 26, so that numbers in text are spread evenly; other bytes have base 256.
class KeyScale {
 public:
  // Call it for all keys first: they determine the base of each position.
  void Look(const std::string& key) {
    if (places_.size() < key.size()) places_.resize(key.size(), {true, true, true, true});
    for (std::size_t i = 0; i < key.size(); ++i) {
      for (std::size_t kind = 0; kind < kSymbols.size(); ++kind) {
        const bool is_one = kSymbols[kind].find(key[i]) != std::string_view::npos;
        places_[i][kind] = places_[i][kind] && is_one;
      }
    }
  }

  // The position of `key` between the two, from 0 to 1.
  double PartBefore(const std::string& key, const std::string& smallest,
                    const std::string& largest) const {
    const std::size_t common = rocksdb::Slice(smallest).difference_offset(largest);
    const double begin = NumberOf(smallest, common);
    const double width = NumberOf(largest, common) - begin;
    return width == 0.0 ? 0.0 : std::clamp((NumberOf(key, common) - begin) / width, 0.0, 1.0);
  }

 private:
  static constexpr std::array<std::string_view, 4> kSymbols = {
      "0123456789", "0123456789abcdef", "0123456789ABCDEF", "abcdefghijklmnopqrstuvwxyz"};

  double NumberOf(const std::string& key, std::size_t begin) const {
    constexpr double kLeastUnit = 1e-18;
    double number = 0.0;
    double unit = 1.0;
    for (std::size_t i = begin; i < key.size() && unit > kLeastUnit; ++i) {
      double base = 256.0;
      double value = static_cast<unsigned char>(key[i]);
      for (std::size_t kind = kSymbols.size(); kind-- > 0 && i < places_.size();) {
        const std::size_t symbol = kSymbols[kind].find(key[i]);
        if (!places_[i][kind] || symbol == std::string_view::npos) continue;
        base = static_cast<double>(kSymbols[kind].size());
        value = static_cast<double>(symbol);
      }
      unit /= base;
      number += value * unit;
    }
    return number;
  }

  // Whether all keys have symbols of these kinds at a position.
  std::vector<std::array<bool, kSymbols.size()>> places_;
};

// Tables of one column family whose ranges do not overlap, in the order of their keys.
class SortedRun {
 public:
  // The scale must outlive the run.
  SortedRun(const Comparator& order, const KeyScale& scale) : order_(order), scale_(scale) {}

  void Append(const TableLocation& table, std::uint64_t keys) {
    tables_.push_back(&table);
    sums_.push_back(sums_.back() + static_cast<double>(keys));
  }

  bool IsOfLevel0() const { return tables_.front()->level == 0; }

  // The number of keys up to this one, without the key of a table of one key.
  double KeysBefore(const std::string& key) const {
    const std::size_t table = FirstEndingAtOrAfter(key);
    if (table == tables_.size() || order_.Compare(key, tables_[table]->smallest) <= 0) {
      return sums_[table];
    }
    return sums_[table] +
           (sums_[table + 1] - sums_[table]) *
               scale_.PartBefore(key, tables_[table]->smallest, tables_[table]->largest);
  }

  double KeysWithin(const TableLocation& range) const {
    const double keys = KeysBefore(range.largest) - KeysBefore(range.smallest);
    const std::size_t last = FirstEndingAtOrAfter(range.largest);
    // A table of one key at the end of the range.
    const bool has_point = last != tables_.size() &&
                           order_.Compare(tables_[last]->smallest, range.largest) == 0 &&
                           tables_[last]->smallest == tables_[last]->largest;
    return has_point ? keys + sums_[last + 1] - sums_[last] : keys;
  }

  // The table that would have the key, or null.
  const TableLocation* Find(const std::string& key) const {
    const std::size_t table = FirstEndingAtOrAfter(key);
    const bool has_it =
        table != tables_.size() && order_.Compare(tables_[table]->smallest, key) <= 0;
    return has_it ? tables_[table] : nullptr;
  }

 private:
  std::size_t FirstEndingAtOrAfter(const std::string& key) const {
    const auto found = std::partition_point(
        tables_.begin(), tables_.end(),
        [&](const TableLocation* table) { return order_.Compare(table->largest, key) < 0; });
    return static_cast<std::size_t>(found - tables_.begin());
  }

  const Comparator& order_;
  const KeyScale& scale_;
  std::vector<const TableLocation*> tables_;
  std::vector<double> sums_ = {0.0};  // of the keys before each table, and of all
};

struct FamilyRuns {
  KeyScale scale;
  std::vector<SortedRun> runs;
};

// Of the column families whose keys have a known order.
using SortedRuns = std::map<std::string, FamilyRuns>;

SortedRuns RunsOf(const std::vector<CountedTable>& tables) {
  std::vector<const TableLocation*> locations;
  locations.reserve(tables.size());
  for (const auto& [table, keys] : tables) locations.push_back(table);
  SortedRuns runs;
  const TableLocation* before = nullptr;
  for (const std::size_t place : OrderInTree(locations)) {
    const TableLocation& table = *locations[place];
    const Comparator* order = ComparatorOf(table.comparator);
    if (order == nullptr) continue;
    const bool goes_on = before != nullptr && before->column_family == table.column_family &&
                         before->level == table.level && table.level > 0;
    FamilyRuns& family = runs[table.column_family];
    family.scale.Look(table.smallest);
    family.scale.Look(table.largest);
    if (!goes_on) family.runs.emplace_back(*order, family.scale);
    family.runs.back().Append(table, tables[place].second);
    before = &table;
  }
  return runs;
}

bool IsAskedAlways(const FamilyRuns& family) {
  return family.runs.size() <= support::kFewTables &&
         std::all_of(family.runs.begin(), family.runs.end(),
                     [](const SortedRun& run) { return run.IsOfLevel0(); });
}

// If the comparator is not known.
std::vector<double> ChancesByKeys(const std::vector<CountedTable>& tables) {
  std::map<std::pair<std::string, int>, double> levels;
  for (const auto& [table, keys] : tables) {
    levels[{table->column_family, table->level}] += static_cast<double>(keys);
  }
  std::vector<double> chances;
  for (const auto& [table, keys] : tables) {
    const double level = levels[{table->column_family, table->level}];
    const bool is_run = table->level <= 0 || level == 0.0;
    chances.push_back(is_run ? 1.0 : static_cast<double>(keys) / level);
  }
  return chances;
}

}  // namespace

std::vector<std::size_t> OrderInTree(const std::vector<const TableLocation*>& tables) {
  std::vector<std::size_t> order(tables.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return IsBeforeInTree(*tables[one], *tables[other]);
  });
  return order;
}

std::vector<bool> AreBottommost(const std::vector<const TableLocation*>& tables) {
  std::map<std::pair<std::string, int>, std::vector<const TableLocation*>> levels;
  for (const std::size_t place : OrderInTree(tables)) {
    levels[{tables[place]->column_family, tables[place]->level}].push_back(tables[place]);
  }
  std::vector<bool> are_bottommost;
  for (const TableLocation* table : tables) {
    const Comparator* order = ComparatorOf(table->comparator);
    const auto own = levels.find({table->column_family, table->level});
    bool is_bottommost = table->level > 0 || own->second.back() == table;
    for (auto below = std::next(own); below != levels.end() && is_bottommost; ++below) {
      if (below->first.first != table->column_family) break;
      const auto& level = below->second;
      if (order == nullptr || table->level == 0) {
        is_bottommost = false;
        break;
      }
      const auto next = std::partition_point(level.begin(), level.end(), [&](const auto* at) {
        return order->Compare(at->largest, table->smallest) < 0;
      });
      is_bottommost = next == level.end() || order->Compare(table->largest, (*next)->smallest) < 0;
    }
    are_bottommost.push_back(is_bottommost);
  }
  return are_bottommost;
}

std::vector<double> ChancesAsked(const std::vector<CountedTable>& tables) {
  std::vector<double> chances = ChancesByKeys(tables);
  const SortedRuns runs = RunsOf(tables);
  std::map<std::string, double> all_keys;
  for (const auto& [table, keys] : tables) {
    all_keys[table->column_family] += static_cast<double>(keys);
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const TableLocation& table = *tables[i].first;
    const auto family = runs.find(table.column_family);
    const double all = all_keys[table.column_family];
    if (family == runs.end() || all == 0.0 || IsAskedAlways(family->second)) continue;
    chances[i] = 0.0;
    for (const SortedRun& run : family->second.runs) chances[i] += run.KeysWithin(table) / all;
  }
  return chances;
}

std::vector<double> ChancesAsked(const std::vector<const TableLocation*>& tables,
                                 const std::vector<std::string>& lookups) {
  std::vector<CountedTable> counted;
  counted.reserve(tables.size());
  for (const TableLocation* table : tables) counted.emplace_back(table, 1);
  std::vector<double> chances = ChancesByKeys(counted);
  std::map<const TableLocation*, std::uint64_t> asked;
  const SortedRuns runs = RunsOf(counted);
  for (const auto& [name, family] : runs) {
    for (const SortedRun& run : family.runs) {
      for (const std::string& key : lookups) {
        const TableLocation* table = run.Find(key);
        if (table != nullptr) asked[table] += 1;
      }
    }
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto family = runs.find(tables[i]->column_family);
    if (family == runs.end() || IsAskedAlways(family->second)) continue;
    chances[i] = static_cast<double>(asked[tables[i]]) / static_cast<double>(lookups.size());
  }
  return chances;
}

}  // namespace exactbloom::tool
