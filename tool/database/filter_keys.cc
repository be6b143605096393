#include "filter_keys.h"

#include <rocksdb/slice_transform.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "src/model/sorted_runs.h"
#include "support/errors.h"
#include "tool/database/table_keys.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

// RocksDB before 9.6 adds an empty key behind the first prefix, and then the prefix again, to
// filters of prefixes alone: a twentieth of those of a small table.
constexpr bool kRepeatsFirstPrefix = ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR < 906;
constexpr std::uint64_t kMostKeysRead = 1'000'000;  // in about a second; of alike tables

bool HasWholeKeys(const FamilyOptions& options) {
  return options.table == nullptr || options.table->whole_key_filtering;
}

// Whether the table gets no filter by optimize_filters_for_hits.
bool IsLeftOut(const TableReport& table, const FamilyOptions& options) {
  return options.options.optimize_filters_for_hits && table.bottommost;
}

// Whether the same goes into the filter of a table and into those of the options. An info log has
// the name of an extractor without its length.
bool HoldsTheSame(const TableFilter& filter, const FamilyOptions& options) {
  if (filter.whole_key_filtering != HasWholeKeys(options)) return false;
  if (!filter.prefix_filtering || !options.HasPrefixes()) {
    return filter.prefix_filtering == options.HasPrefixes();
  }
  const std::string& name = filter.prefix_extractor;
  const rocksdb::SliceTransform* extractor = options.options.prefix_extractor.get();
  if (extractor != nullptr) return name == extractor->AsString();
  return name == options.prefix_extractor || name.rfind(options.prefix_extractor + ".", 0) == 0;
}

// The keys that a filter holds. With prefixes alone, neighbouring partitions have two in common.
std::uint64_t HeldBy(const TableReport& table) {
  const TableFilter& filter = table.filter;
  if (!filter.partitioned || filter.whole_key_filtering) return table.keys;
  return table.keys - std::min(table.keys - 1, 2 * (filter.blocks - 1));
}

// Counts what RocksDB adds to filters for keys in order: each prefix once, and not beside a key
// that is its own prefix.
class AddedKeys {
 public:
  explicit AddedKeys(const FamilyOptions& options)
      : extractor_(*options.options.prefix_extractor), whole_keys_(HasWholeKeys(options)) {}

  // Of the first keys of a table.
  rocksdb::Status AddTable(const TableReport& table) {
    std::unique_ptr<TableKeys> keys;
    rocksdb::Status status = TableKeys::Open(table.location.path, &keys);
    if (!status.ok()) return status;
    has_prefix_ = false;
    repeats_prefix_ = kRepeatsFirstPrefix && !whole_keys_;
    std::uint64_t read = 0;
    for (; keys->Valid() && read < kMostKeysRead; keys->Next(), ++read) Add(keys->Key());
    entries_ += keys->Valid() ? read : table.filter.PointEntries();
    return keys->status();
  }

  double OfEntries() const { return static_cast<double>(count_) / static_cast<double>(entries_); }

 private:
  void Add(const rocksdb::Slice& key) {
    if (whole_keys_) ++count_;
    if (repeats_prefix_ && has_prefix_) {
      ++count_;
      repeats_prefix_ = has_prefix_ = false;
    }
    if (!extractor_.InDomain(key)) return;
    const rocksdb::Slice prefix = extractor_.Transform(key);
    if (has_prefix_ && prefix == rocksdb::Slice(prefix_)) return;
    has_prefix_ = true;
    prefix_.assign(prefix.data(), prefix.size());
    if (!whole_keys_ || prefix != key) ++count_;
  }

  const rocksdb::SliceTransform& extractor_;
  const bool whole_keys_;
  bool repeats_prefix_ = false;
  bool has_prefix_ = false;
  std::string prefix_;  // the last one
  std::uint64_t count_ = 0;
  std::uint64_t entries_ = 0;  // of the tables, as far as they were read
};

}  // namespace

bool IsWithoutPrefix(const TableReport& table, const FamilyOptions& options) {
  const TableFilter& filter = table.filter;
  const bool got_none = filter.family == FilterFamily::kNone && !filter.policy.empty();
  if (!got_none || IsLeftOut(table, options) || filter.whole_key_filtering) return false;
  return options.HasPrefixes() && HoldsTheSame(filter, options);
}

FilterKeys::FilterKeys(const std::vector<TableReport>& tables, const Inspection& inspection)
    : inspection_(inspection) {
  for (const TableReport& table : tables) {
    if (table.NeedsFilter()) tables_[PlaceOf(table)].push_back(&table);
  }
}

FilterKeys::Place FilterKeys::PlaceOf(const TableReport& table) {
  const TableLocation& location = table.location;
  const auto entries = static_cast<double>(table.filter.PointEntries());
  return {location.column_family, location.level, model::SizeClass(location.level, entries)};
}

FilterKeys::Count FilterKeys::Of(const TableReport& table) {
  const std::uint64_t entries = table.filter.PointEntries();
  const std::uint64_t held = table.keys != 0 ? HeldBy(table) : entries;
  const FamilyOptions* options = inspection_.OptionsOf(table.location.column_family);
  if (options == nullptr || entries == 0) return {held, ""};
  if (IsLeftOut(table, *options) || options->FiltersNothing()) return {held, ""};
  if (IsWithoutPrefix(table, *options)) return {0, ""};
  if (table.keys != 0 && HoldsTheSame(table.filter, *options)) return {held, ""};
  if (!options->HasPrefixes()) return {entries, ""};
  const Place place = PlaceOf(table);
  auto ratio = ratios_.find(place);
  if (ratio == ratios_.end()) {
    ratio = ratios_.emplace(place, Read(tables_.at(place), *options)).first;
  }
  if (!ratio->second.unknown.empty()) return {entries, ratio->second.unknown};
  if (ratio->second.of_entries == 0.0) return {0, ""};
  const double added = ratio->second.of_entries * static_cast<double>(entries);
  return {std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(added))), ""};
}

FilterKeys::Ratio FilterKeys::Read(const std::vector<const TableReport*>& tables,
                                   const FamilyOptions& options) {
  if (tables.front()->location.path.empty()) {
    return {0.0, "the logs do not have the keys, of which the database tells"};
  }
  if (options.options.prefix_extractor == nullptr) {
    return {0.0,
            "this program does not know the prefix extractor " + Escaped(options.prefix_extractor)};
  }
  std::uint64_t entries = 0;
  for (const TableReport* table : tables) entries += table->filter.PointEntries();
  const std::size_t step = std::min<std::size_t>(tables.size(), 1 + entries / kMostKeysRead);
  AddedKeys added(options);
  for (std::size_t i = step / 2; i < tables.size(); i += step) {
    try {
      const rocksdb::Status status = added.AddTable(*tables[i]);
      if (!status.ok()) return {0.0, Describe(status)};
    } catch (const std::length_error& error) {  // a block of more than a gigabyte
      return {0.0, error.what()};
    }
  }
  return {added.OfEntries(), ""};
}

}  // namespace exactbloom::tool
