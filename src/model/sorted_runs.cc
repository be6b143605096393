#include "sorted_runs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "wasted_reads.h"

namespace exactbloom::model {
namespace {

constexpr std::array<std::string_view, 4> kSymbols = {
    "0123456789", "0123456789abcdef", "0123456789ABCDEF", "abcdefghijklmnopqrstuvwxyz"};

bool IsBefore(const Table& one, const Table& other, KeyOrder order) {
  if (one.level != other.level) return one.level < other.level;
  if (one.level == 0) {
    return std::tie(one.largest_sequence, one.number) >
           std::tie(other.largest_sequence, other.number);
  }
  const int keys = order == nullptr ? 0 : order(one.smallest, other.smallest);
  return keys != 0 ? keys < 0 : one.number < other.number;
}

}  // namespace

int SizeClass(double keys) {
  constexpr double kClassesPerDoubling = 8.0;
  return static_cast<int>(kClassesPerDoubling * std::log2(keys + 1.0));
}

void KeyScale::Look(std::string_view key) {
  if (places_.size() < key.size()) places_.resize(key.size(), {true, true, true, true});
  for (std::size_t i = 0; i < key.size(); ++i) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const bool is_one = kSymbols[kind].find(key[i]) != std::string_view::npos;
      places_[i][kind] = places_[i][kind] && is_one;
    }
  }
}

KeyScale::Range KeyScale::RangeOf(std::string_view smallest, std::string_view largest) const {
  const std::size_t shorter = std::min(smallest.size(), largest.size());
  const auto differ = std::mismatch(smallest.begin(), smallest.begin() + shorter, largest.begin());
  Range range;
  range.common = static_cast<std::size_t>(differ.first - smallest.begin());
  range.begin = NumberOf(smallest, range.common);
  range.width = NumberOf(largest, range.common) - range.begin;
  return range;
}

double KeyScale::PartBefore(Place& place, const Range& range) const {
  if (range.width == 0.0) return 1.0;
  if (place.begin != range.common) {
    place.begin = range.common;
    place.number = NumberOf(place.key, range.common);
  }
  return std::clamp((place.number - range.begin) / range.width, 0.0, 1.0);
}

double KeyScale::NumberOf(std::string_view key, std::size_t begin) const {
  constexpr double kLeastUnit = 1e-18;
  double number = 0.0;
  double unit = 1.0;
  for (std::size_t i = begin; i < key.size() && unit > kLeastUnit; ++i) {
    double base = 256.0;
    double value = static_cast<unsigned char>(key[i]);
    for (std::size_t kind = kKinds; kind-- > 0;) {
      if (!places_[i][kind]) continue;
      base = static_cast<double>(kSymbols[kind].size());
      value = static_cast<double>(kSymbols[kind].find(key[i]));
    }
    unit /= base;
    number += value * unit;
  }
  return number;
}

SortedRuns::SortedRuns(std::vector<Table> tables, std::vector<double> keys, KeyOrder order)
    : tables_(std::move(tables)), keys_(std::move(keys)), order_(order), run_of_(tables_.size()) {
  std::vector<std::size_t> places(tables_.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](std::size_t one, std::size_t other) {
    return IsBefore(tables_[one], tables_[other], order_);
  });
  for (const std::size_t place : places) {
    const Table& table = tables_[place];
    scale_.Look(table.smallest);
    scale_.Look(table.largest);
    const bool goes_on =
        !runs_.empty() && table.level > 0 && tables_[runs_.back().back()].level == table.level;
    if (!goes_on) {
      runs_.emplace_back();
      sums_.push_back({0.0});
    }
    runs_.back().push_back(place);
    sums_.back().push_back(sums_.back().back() + keys_[place]);
    run_of_[place] = runs_.size() - 1;
    all_keys_ += keys_[place];
  }
  if (order_ == nullptr) return;
  for (const Table& table : tables_) {
    ranges_.push_back(scale_.RangeOf(table.smallest, table.largest));
  }
}

std::optional<std::size_t> SortedRuns::Find(std::size_t run, std::string_view key) const {
  const std::size_t place = FirstEndingAtOrAfter(run, key);
  if (place == runs_[run].size()) return std::nullopt;
  const std::size_t table = runs_[run][place];
  return order_(tables_[table].smallest, key) <= 0 ? std::optional(table) : std::nullopt;
}

bool SortedRuns::AreAllAsked() const {
  constexpr std::size_t kFewTables = 3;  // FilePicker in RocksDB's db/version_set.cc
  return tables_.size() <= kFewTables &&
         std::all_of(tables_.begin(), tables_.end(), [](const Table& t) { return t.level == 0; });
}

bool SortedRuns::IsBottommost(std::size_t table) const {
  const std::size_t next = run_of_[table] + 1;
  if (next == runs_.size()) return true;
  if (order_ == nullptr || tables_[table].level == 0) return false;
  for (std::size_t run = next; run < runs_.size(); ++run) {
    const std::size_t place = FirstEndingAtOrAfter(run, tables_[table].smallest);
    const bool overlaps = place != runs_[run].size() &&
                          order_(tables_[runs_[run][place]].smallest, tables_[table].largest) <= 0;
    if (overlaps) return false;
  }
  return true;
}

void SortedRuns::SetLookups(const std::vector<std::string>& absent_keys) {
  if (order_ == nullptr || absent_keys.empty()) return;
  counted_.assign(tables_.size(), 0.0);
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    for (const std::string& key : absent_keys) {
      if (const auto table = Find(run, key)) {
        counted_[*table] += 1.0 / static_cast<double>(absent_keys.size());
      }
    }
  }
}

Asked SortedRuns::Ask(std::size_t table) const {
  if (all_keys_ == 0.0) return {};
  const std::size_t own = run_of_[table];
  Asked asked{0.0, 0.0};
  KeyScale::Place smallest(tables_[table].smallest);
  KeyScale::Place largest(tables_[table].largest);
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    const double share = KeysAskedFor(run, table, smallest, largest) / all_keys_;
    asked.absent += share;
    if (run > own) asked.present += share;
  }
  if (!counted_.empty() && !AreAllAsked()) asked.absent = counted_[table];
  return asked;
}

double SortedRuns::KeysAskedFor(std::size_t run, std::size_t table, KeyScale::Place& smallest,
                                KeyScale::Place& largest) const {
  const double keys = sums_[run].back();
  if (order_ == nullptr) {
    const double keys_of_run = sums_[run_of_[table]].back();
    return keys * AskedOfRun(tables_[table].level, 1.0, keys_[table], keys_of_run);
  }
  return AreAllAsked() ? keys : KeysWithin(run, smallest, largest);
}

std::size_t SortedRuns::FirstEndingAtOrAfter(std::size_t run, std::string_view key) const {
  const auto& tables = runs_[run];
  const auto found = std::partition_point(tables.begin(), tables.end(), [&](std::size_t table) {
    return order_(tables_[table].largest, key) < 0;
  });
  return static_cast<std::size_t>(found - tables.begin());
}

// The number of keys up to this one, without the key of a table of one key.
double SortedRuns::KeysBefore(std::size_t run, KeyScale::Place& key) const {
  const std::size_t place = FirstEndingAtOrAfter(run, key.key);
  const std::vector<double>& sums = sums_[run];
  if (place == runs_[run].size()) return sums[place];
  const std::size_t table = runs_[run][place];
  if (order_(key.key, tables_[table].smallest) <= 0) return sums[place];
  return sums[place] + (sums[place + 1] - sums[place]) * scale_.PartBefore(key, ranges_[table]);
}

double SortedRuns::KeysWithin(std::size_t run, KeyScale::Place& smallest,
                              KeyScale::Place& largest) const {
  const double keys = KeysBefore(run, largest) - KeysBefore(run, smallest);
  const std::size_t last = FirstEndingAtOrAfter(run, largest.key);
  if (last == runs_[run].size()) return keys;
  const Table& table = tables_[runs_[run][last]];
  // A table of one key at the end of the range.
  const bool has_point =
      order_(table.smallest, largest.key) == 0 && table.smallest == table.largest;
  return has_point ? keys + sums_[run][last + 1] - sums_[run][last] : keys;
}

}  // namespace exactbloom::model
