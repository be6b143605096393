#include "key_ranges.h"

#include <rocksdb/comparator.h>
#include <rocksdb/slice.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>

#include "support/few_tables.h"

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
  // The scale must outlive the run. Without an order, only the keys are counted.
  SortedRun(const Comparator* order, const KeyScale& scale) : order_(order), scale_(scale) {}

  void Append(const TableLocation& table, std::uint64_t keys) {
    tables_.push_back(&table);
    sums_.push_back(sums_.back() + static_cast<double>(keys));
  }

  // The number of keys up to this one, without the key of a table of one key.
  double KeysBefore(const std::string& key) const {
    const std::size_t table = FirstEndingAtOrAfter(key);
    if (table == tables_.size() || order_->Compare(key, tables_[table]->smallest) <= 0) {
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
                           order_->Compare(tables_[last]->smallest, range.largest) == 0 &&
                           tables_[last]->smallest == tables_[last]->largest;
    return has_point ? keys + sums_[last + 1] - sums_[last] : keys;
  }

  double Keys() const { return sums_.back(); }

  bool Overlaps(const TableLocation& range) const {
    const std::size_t table = FirstEndingAtOrAfter(range.smallest);
    return table != tables_.size() && order_->Compare(tables_[table]->smallest, range.largest) <= 0;
  }

  // The table that would have the key, or null.
  const TableLocation* Find(const std::string& key) const {
    const std::size_t table = FirstEndingAtOrAfter(key);
    const bool has_it =
        table != tables_.size() && order_->Compare(tables_[table]->smallest, key) <= 0;
    return has_it ? tables_[table] : nullptr;
  }

 private:
  std::size_t FirstEndingAtOrAfter(const std::string& key) const {
    const auto found = std::partition_point(
        tables_.begin(), tables_.end(),
        [&](const TableLocation* table) { return order_->Compare(table->largest, key) < 0; });
    return static_cast<std::size_t>(found - tables_.begin());
  }

  const Comparator* order_;
  const KeyScale& scale_;
  std::vector<const TableLocation*> tables_;
  std::vector<double> sums_ = {0.0};  // of the keys before each table, and of all
};

// The tables of a column family, in the order of the tree.
class Family {
 public:
  explicit Family(const Comparator* order) : order_(order) {}
  Family(const Family&) = delete;  // the runs refer to the scale
  Family& operator=(const Family&) = delete;

  void Append(const TableLocation& table, std::uint64_t keys) {
    scale_.Look(table.smallest);
    scale_.Look(table.largest);
    const bool goes_on =
        !tables_.empty() && table.level > 0 && tables_.back()->level == table.level;
    if (!goes_on) runs_.emplace_back(order_, scale_);
    runs_.back().Append(table, keys);
    tables_.push_back(&table);
    keys_ += static_cast<double>(keys);
    run_of_[&table] = runs_.size() - 1;
  }

  void Count(const std::vector<std::string>& lookups) {
    if (order_ == nullptr) return;
    for (const SortedRun& run : runs_) {
      for (const std::string& key : lookups) {
        const TableLocation* table = run.Find(key);
        if (table != nullptr) found_[table] += 1;
      }
    }
    lookups_ = lookups.size();
  }

  TablePlace PlaceOf(const TableLocation& table, std::uint64_t keys) const {
    return {IsBottommost(table), ChanceAsked(table, static_cast<double>(keys))};
  }

 private:
  bool IsBottommost(const TableLocation& table) const {
    const std::size_t next = run_of_.at(&table) + 1;
    if (next == runs_.size()) return true;
    if (order_ == nullptr || table.level == 0) return false;
    return std::none_of(runs_.begin() + static_cast<std::ptrdiff_t>(next), runs_.end(),
                        [&table](const SortedRun& run) { return run.Overlaps(table); });
  }

  double ChanceAsked(const TableLocation& table, double keys) const {
    const SortedRun& own = runs_[run_of_.at(&table)];
    if (order_ == nullptr && (table.level == 0 || own.Keys() == 0.0)) return 1.0;
    if (order_ == nullptr) return keys / own.Keys();
    const bool is_asked_always = runs_.size() <= support::kFewTables && tables_.back()->level == 0;
    if (is_asked_always) return 1.0;
    if (lookups_ != 0) {
      const auto found = found_.find(&table);
      return found == found_.end()
                 ? 0.0
                 : static_cast<double>(found->second) / static_cast<double>(lookups_);
    }
    if (keys_ == 0.0) return 1.0;
    return std::accumulate(runs_.begin(), runs_.end(), 0.0, [&](double sum, const SortedRun& run) {
      return sum + run.KeysWithin(table) / keys_;
    });
  }

  const Comparator* order_;  // null: not known
  KeyScale scale_;
  std::vector<SortedRun> runs_;
  std::vector<const TableLocation*> tables_;
  double keys_ = 0.0;
  std::map<const TableLocation*, std::size_t> run_of_;
  std::map<const TableLocation*, std::uint64_t> found_;  // lookups, by the table of their key
  std::size_t lookups_ = 0;
};

}  // namespace

std::vector<std::size_t> OrderInTree(const std::vector<const TableLocation*>& tables) {
  std::vector<std::size_t> places(tables.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](std::size_t one, std::size_t other) {
    return IsBeforeInTree(*tables[one], *tables[other]);
  });
  return places;
}

std::vector<TablePlace> PlacesOf(const std::vector<CountedTable>& tables,
                                 const std::vector<std::string>& lookups) {
  std::vector<CountedTable> ordered = tables;
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& one, const auto& other) {
    return IsBeforeInTree(*one.first, *other.first);
  });
  std::map<std::string, Family> families;
  for (const auto& [table, keys] : ordered) {
    const Comparator* order = ComparatorOf(table->comparator);
    families.try_emplace(table->column_family, order).first->second.Append(*table, keys);
  }
  for (auto& [name, family] : families) family.Count(lookups);
  std::vector<TablePlace> places;
  places.reserve(tables.size());
  for (const auto& [table, keys] : tables) {
    places.push_back(families.at(table->column_family).PlaceOf(*table, keys));
  }
  return places;
}

}  // namespace exactbloom::tool
