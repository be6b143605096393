// exactbloom overlap: the keys that tables of different levels share, estimated from their filters.
//
// Two filters that set the same bits for the same key can be laid over each other: the OR of their
// bits is the filter of the union of their keys, and the ones of both and of the union give the
// number of shared keys (key_count_estimate.h). This requires the same family, layout, number of
// bits, probes and hash seed, and one block each. Filters of different sizes set unrelated bits for
// a key, and Ribbon filters store no bits of a key, so neither can be compared.
#include <fmt/format.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "exactbloom/table_filters.h"
#include "exactbloom/theory/key_count_estimate.h"
#include "filter/block_format.h"
#include "support/errors.h"
#include "support/text_table.h"
#include "tool/database/database_files.h"
#include "tool/database/key_ranges.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

using nlohmann::json;
using rocksdb::Slice;
using rocksdb::Status;

// What determines the bits of a filter's keys.
struct FilterGeometry {
  FilterFamily family = FilterFamily::kNone;
  Layout layout;  // for RocksDB's own Bloom filter, the one that describes it
  std::uint64_t bits = 0;
  int probes = 0;
  std::uint64_t hash_seed = 0;
};

constexpr std::size_t kBuiltInFilterTrailerBytes = 5;

std::uint64_t Ones(const std::string& first, const std::string& second) {
  std::uint64_t ones = 0;
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= first.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::memcpy(&a, first.data() + at, sizeof(a));
    std::memcpy(&b, second.data() + at, sizeof(b));
    ones += std::bitset<64>(a | b).count();
  }
  for (; at < first.size(); ++at) {
    ones += std::bitset<8>(static_cast<unsigned char>(first[at] | second[at])).count();
  }
  return ones;
}

// Why filters of a family cannot be compared.
const char* ReasonOf(FilterFamily family) {
  switch (family) {
    case FilterFamily::kNone:
      return "there is no filter";
    case FilterFamily::kRibbon:
      return "Ribbon filters store no bits of a key";
    case FilterFamily::kLegacyBloom:
      return "Bloom filters of RocksDB's older format repeat their bits";
    default:
      return "the filter is empty or of an unknown format";
  }
}

// The geometry of a table's filter, or nothing with the reason why it cannot be compared.
std::optional<FilterGeometry> GeometryOf(const TableFilter& filter, std::string* why_not) {
  FilterGeometry geometry;
  geometry.family = filter.family;
  geometry.probes = filter.max_probes;
  if (!filter.status.ok()) {
    *why_not = "the table cannot be read";
  } else if (filter.family == FilterFamily::kExactBloom) {
    geometry.layout = filter.layout;
    geometry.bits = filter.bits;
    geometry.hash_seed = filter.hash_seed;
  } else if (filter.family == FilterFamily::kBloom && filter.bytes > kBuiltInFilterTrailerBytes) {
    geometry.layout = {FilterKind::kStandard, 1};
    geometry.bits = (filter.bytes - kBuiltInFilterTrailerBytes) * 8;
  } else {
    *why_not = ReasonOf(filter.family);
  }
  if (geometry.bits == 0) return std::nullopt;
  if (filter.blocks == 1) return geometry;
  *why_not = "partitions have no counterpart in another table";
  return std::nullopt;
}

// Why filters of these geometries cannot be laid over each other; empty if they can.
std::string WhyNotComparable(const FilterGeometry& first, const FilterGeometry& second) {
  if (first.family != second.family) return "filters of different families";
  if (first.layout != second.layout) return "filters of different layouts";
  if (first.bits != second.bits) return "filters of different sizes (m)";
  if (first.probes != second.probes) return "different numbers of probes (k)";
  return first.hash_seed == second.hash_seed ? "" : "different hash seeds";
}

// Reads the bits of a table's filter, without the trailer.
// Errors: Corruption where the filter has not this geometry; those of reading.
Status ReadFilterArray(const std::string& path, const FilterGeometry& geometry,
                       std::string* array) {
  array->clear();
  Status status = VisitFilterBlocks(*rocksdb::FileSystem::Default(), path, [&](const Slice& block) {
    if (geometry.family == FilterFamily::kExactBloom) {
      const filter::DecodedBlock decoded = filter::DecodeBlock({block.data(), block.size()});
      if (decoded.array == nullptr) return Status::Corruption(path, "the filter has changed");
      array->assign(reinterpret_cast<const char*>(decoded.array),
                    filter::ArrayBytes(decoded.description.bits));
    } else {
      array->assign(block.data(),
                    block.size() - std::min(block.size(), kBuiltInFilterTrailerBytes));
    }
    return Status::OK();
  });
  if (!status.ok()) return status;
  return array->size() == filter::ArrayBytes(geometry.bits)
             ? Status::OK()
             : Status::Corruption(path, "the filter has changed");
}

struct PairOverlap {
  std::string first;
  std::string second;
  SharedKeysEstimate shared;
};

// The pairs of tables of two levels, or within level 0: tables of any other level share nothing.
struct LevelOverlap {
  std::uint64_t pairs = 0;
  std::uint64_t disjoint = 0;  // of the pairs, those whose key ranges do not meet
  std::uint64_t compared = 0;
  double shared = 0.0;
  double variance = 0.0;

  // Disjoint tables share no key for certain, so they need not be compared.
  bool IsKnown() const { return compared != 0 || disjoint == pairs; }
  double SharedKeys() const { return std::max(0.0, shared); }
  Interval SharedInterval() const {
    const double half = kZ999 * std::sqrt(variance);
    return {std::max(0.0, shared - half), std::max(0.0, shared + half)};
  }
};

struct Overlaps {
  using Levels = std::tuple<std::string, int, int>;  // column family and two levels
  std::map<Levels, LevelOverlap> levels;
  std::vector<PairOverlap> pairs;
  std::map<std::string, std::uint64_t> not_compared;  // pairs by reason
  std::vector<std::string> unreadable;
};

class Comparison {
 public:
  explicit Comparison(const TableResults<TableFilter>& read) {
    for (const auto& [location, filter] : read.tables) {
      Table& table = tables_.emplace_back();
      table.location = location;
      if (read.database.empty()) table.location.column_family = filter.column_family;
      table.geometry = GeometryOf(filter, &table.reason);
      if (!filter.status.ok()) overlaps_.unreadable.push_back(Describe(filter.status));
    }
  }

  Overlaps Run() {
    support::Progress progress;
    progress.Begin("comparing filters", tables_.size());
    for (auto first = tables_.begin(); first != tables_.end(); ++first) {
      first_array_.clear();
      for (auto second = first + 1; second != tables_.end(); ++second) Visit(*first, *second);
      progress.Add(1);
    }
    return std::move(overlaps_);
  }

 private:
  struct Table {
    TableLocation location;
    std::optional<FilterGeometry> geometry;
    std::string reason;  // why there is no geometry
  };

  void Visit(const Table& first, const Table& second) {
    const TableLocation& a = first.location;
    const TableLocation& b = second.location;
    if (a.column_family != b.column_family || (a.level == b.level && a.level > 0)) return;
    support::CheckForInterrupts();
    LevelOverlap& level = overlaps_.levels[{a.column_family, a.level, b.level}];
    ++level.pairs;
    if (HaveDisjointRanges(a, b)) {
      ++level.disjoint;
      return;
    }
    const std::string reason = !first.geometry ? first.reason
                               : !second.geometry
                                   ? second.reason
                                   : WhyNotComparable(*first.geometry, *second.geometry);
    if (reason.empty()) return Compare(a.path, b.path, *first.geometry, &level);
    ++overlaps_.not_compared[reason];
  }

  void Compare(const std::string& first, const std::string& second, const FilterGeometry& geometry,
               LevelOverlap* level) {
    Status status;
    if (first_array_.empty()) status = ReadFilterArray(first, geometry, &first_array_);
    std::string second_array;
    if (status.ok()) status = ReadFilterArray(second, geometry, &second_array);
    if (!status.ok()) {
      ++overlaps_.not_compared["a table was removed or damaged in the meantime"];
      return;
    }
    const auto shared = EstimateSharedKeys(
        geometry.layout, geometry.bits, Ones(first_array_, first_array_),
        Ones(second_array, second_array), Ones(first_array_, second_array), geometry.probes, kZ999);
    if (!shared) {
      ++overlaps_.not_compared["all bits are set"];
      return;
    }
    ++level->compared;
    level->shared += shared->uncut;
    level->variance += shared->deviation * shared->deviation;
    overlaps_.pairs.push_back({first, second, *shared});
  }

  std::vector<Table> tables_;
  std::string first_array_;  // of the pair at hand, from its first comparison on
  Overlaps overlaps_;
};

Overlaps FindOverlaps(const std::vector<std::string>& paths) {
  const auto read = ReadTables<TableFilter>(paths, "reading filters", [](const auto& table) {
    TableFilter filter;
    ReadTableFilter(*rocksdb::FileSystem::Default(), table.path, &filter);  // sets its status
    return filter;
  });
  return Comparison(read).Run();
}

// Estimated keys, and the interval of their number.
support::Cells CellsOf(double keys, const Interval& interval) {
  return {fmt::format("{:.0f}", keys), fmt::format("{:.0f}", interval.low),
          fmt::format("{:.0f}", interval.high)};
}

json JsonOf(double keys, const Interval& interval) {
  return {{"shared_keys", keys}, {"low", interval.low}, {"high", interval.high}};
}

void PrintText(const OverlapArguments& arguments, const Overlaps& overlaps) {
  support::TextTable levels(
      {"levels", "pairs of tables", "disjoint", "compared", "shared keys", "at least", "at most"});
  std::uint64_t disjoint = 0;
  for (const auto& [place, level] : overlaps.levels) {
    const auto& [family, first, second] = place;
    disjoint += level.disjoint;
    const std::string name = fmt::format("{} and {}", LevelName(first), LevelName(second));
    levels.AddRow({family == "default" ? name : fmt::format("{} {}", family, name), level.pairs,
                   level.disjoint, level.compared},
                  level.IsKnown() ? CellsOf(level.SharedKeys(), level.SharedInterval())
                                  : support::Cells(3, "-"));
  }
  fmt::print("{}", levels.Format());
  if (arguments.tables) {
    support::TextTable pairs({"tables", "shared keys", "at least", "at most"});
    for (const PairOverlap& pair : overlaps.pairs) {
      pairs.AddRow({fmt::format("{} and {}", FileName(pair.first), FileName(pair.second))},
                   CellsOf(pair.shared.keys, pair.shared.interval));
    }
    fmt::print("\n{}", pairs.Format());
  }
  if (disjoint != 0) {
    fmt::print("\nPairs left out, because their key ranges are disjoint: {}\n", disjoint);
  }
  if (!overlaps.not_compared.empty()) fmt::print("\nPairs that cannot be compared:\n");
  for (const auto& [reason, pairs] : overlaps.not_compared) {
    fmt::print("  {}: {}\n", pairs, reason);
  }
}

json ToJson(const Overlaps& overlaps) {
  json levels = json::array();
  for (const auto& [place, level] : overlaps.levels) {
    const auto& [family, first, second] = place;
    json document{{"column_family", family},
                  {"pairs", level.pairs},
                  {"disjoint", level.disjoint},
                  {"compared", level.compared}};
    document["levels"] = {first, second};
    if (level.IsKnown()) document.update(JsonOf(level.SharedKeys(), level.SharedInterval()));
    levels.push_back(document);
  }
  json pairs = json::array();
  for (const PairOverlap& pair : overlaps.pairs) {
    pairs.push_back(JsonOf(pair.shared.keys, pair.shared.interval));
    pairs.back().update({{"first", pair.first}, {"second", pair.second}});
  }
  return {{"levels", levels},
          {"pairs", pairs},
          {"not_compared", overlaps.not_compared},
          {"unreadable", overlaps.unreadable}};
}

}  // namespace

void RunOverlap(const OverlapArguments& arguments) {
  const Overlaps overlaps = FindOverlaps(arguments.paths);
  if (arguments.json) {
    PrintJson(ToJson(overlaps));
  } else {
    PrintText(arguments, overlaps);
  }
  if (overlaps.unreadable.empty()) return;
  throw support::Findings(fmt::format("{} of the tables cannot be read, first: {}",
                                      overlaps.unreadable.size(), overlaps.unreadable.front()));
}

}  // namespace exactbloom::tool
