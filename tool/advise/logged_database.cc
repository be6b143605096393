#include "logged_database.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "exactbloom/filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/rocksdb_ribbon_rate.h"
#include "exactbloom/tree_listener.h"
#include "plugin/policy_options.h"
#include "sst/regular_files.h"
#include "support/errors.h"
#include "support/filter_interfaces.h"
#include "table_events.h"
#include "tool/database/filter_fill.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

using support::InputError;

constexpr double kLeastKnown = 0.5;

// Which filters a policy of this name builds, as far as the name tells it.
FilterFamily FamilyOf(const std::string& policy) {
  PolicyOptions ours;
  if (ParsePolicyId(policy, &ours).ok() && HasOwnFilters(ours)) {
    return HasRibbon(ours) ? FilterFamily::kExactRibbon : FilterFamily::kExactBloom;
  }
  if (policy == "ribbonfilter") return FilterFamily::kRibbon;
  const bool is_bloom = policy == "bloomfilter" || policy == PolicyName(PolicyKind::kRocksDBBloom);
  return is_bloom ? FilterFamily::kBloom : FilterFamily::kUnknown;
}

// As of a table of a level from 1 on, or of level 0, where ribbonfilter has Bloom filters.
std::unique_ptr<rocksdb::FilterBitsBuilder> BuilderOf(const rocksdb::FilterPolicy& policy,
                                                      int level) {
  rocksdb::BlockBasedTableOptions table;
  // What the allocator had free is not known.
  table.optimize_filters_for_memory = false;
  rocksdb::FilterBuildingContext context(table);
  context.level_at_creation = level;
  context.reason = level == 0 ? rocksdb::TableFileCreationReason::kFlush
                              : rocksdb::TableFileCreationReason::kCompaction;
  return std::unique_ptr<rocksdb::FilterBitsBuilder>(policy.GetBuilderWithContext(context));
}

// The policy of this name with the bits per key by which the filter got its bytes. Where a cache
// line makes the difference, as in small filters, these are the usual ones or a whole number.
std::string PolicyBySize(const std::string& name, const TableReport& table) {
  constexpr double kStep = 0.1;
  constexpr int kMostSteps = 1000;
  constexpr double kLineBits = 512.0;
  int fits = 0;
  for (int too_many = kMostSteps + 1; too_many - fits > 1;) {
    const int middle = fits + (too_many - fits) / 2;
    std::shared_ptr<const rocksdb::FilterPolicy> policy;
    const rocksdb::Status status = rocksdb::FilterPolicy::CreateFromString(
        {}, fmt::format("{}:{:.1f}", name, kStep * middle), &policy);
    if (!status.ok() || policy == nullptr) return name;
    const auto builder = BuilderOf(*policy, table.location.level);
    const bool holds = builder == nullptr || builder->ApproximateNumEntries(table.filter.bytes) >=
                                                 table.filter.filter_keys;
    (holds ? fits : too_many) = middle;
  }
  const double most = kStep * (fits + 1);
  const double least =
      most - 2.0 * kStep - kLineBits / static_cast<double>(table.filter.filter_keys);
  const double usual = PolicyOptions().bits_per_key;
  const double whole = std::floor(most);
  const double bits = least <= usual && usual <= most ? usual
                      : least <= whole                ? whole
                                                      : kStep * fits;
  return fmt::format("{}:{:g}", name, bits);
}

// Of the tables that a policy of this name wrote, the one with most keys, of level 0 only if there
// is no other; null if there is none.
const TableReport* LargestOf(const std::string& policy, const std::vector<TableReport>& tables,
                             const std::string& family) {
  const auto size_of = [](const TableReport& table) {
    return std::pair(table.location.level > 0, table.filter.filter_keys);
  };
  const TableReport* largest = nullptr;
  for (const TableReport& table : tables) {
    const TableFilter& filter = table.filter;
    const bool counts = filter.column_family == family && filter.policy == policy &&
                        filter.bytes != 0 && filter.filter_keys != 0;
    if (counts && (largest == nullptr || size_of(table) > size_of(*largest))) largest = &table;
  }
  return largest;
}

FamilyOptions OptionsOf(const LoggedOptions& logged, const std::string& policy) {
  const auto value = [&logged](const std::string& name) {
    const auto option = logged.find(name);
    return option == logged.end() ? std::string() : option->second;
  };
  const auto some = [&](std::initializer_list<const char*> names) {
    std::unordered_map<std::string, std::string> map;
    for (const char* name : names) {
      if (!value(name).empty()) map[name] = value(name);
    }
    return map;
  };
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = true;
  config.ignore_unsupported_options = true;
  FamilyOptions family;
  rocksdb::Status status = rocksdb::GetColumnFamilyOptionsFromMap(
      config, {}, some({"optimize_filters_for_hits", "compaction_style", "prefix_extractor"}),
      &family.options);
  family.prefix_extractor = value("prefix_extractor");
  family.comparator = value("comparator");
  family.filter_policy = policy;
  rocksdb::BlockBasedTableOptions table;
  // RocksDB drops the partitions of filters without it, and logs it as a number.
  if (value("partition_filters") == "1") {
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  }
  if (status.ok()) {
    status = rocksdb::GetBlockBasedTableOptionsFromMap(
        config, table,
        some({"whole_key_filtering", "partition_filters", "metadata_block_size",
              "block_size_deviation", "format_version", "cache_index_and_filter_blocks",
              "pin_l0_filter_and_index_blocks_in_cache", "optimize_filters_for_memory"}),
        &table);
  }
  if (!status.ok()) throw InputError("the options in the log: " + Describe(status));
  if (value("table_factory") != "BlockBasedTable") return family;
  if (family.NamesFilterPolicy()) {
    rocksdb::FilterPolicy::CreateFromString(config, policy, &table.filter_policy)
        .PermitUncheckedError();
  }
  family.reader = table.filter_policy;
  family.options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.table = family.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  return family;
}

// The rate of a filter of these bytes, of which `filters` are alike.
double RateOf(const TableFilter& filter, double filters) {
  const auto keys =
      static_cast<std::uint64_t>(std::llround(static_cast<double>(filter.filter_keys) / filters));
  const auto bytes =
      static_cast<std::uint64_t>(std::llround(static_cast<double>(filter.bytes) / filters));
  const std::uint64_t bits = 8 * (bytes - std::min(bytes, kRocksDBRibbonMetadataBytes));
  if (keys == 0 || bits == 0) return 1.0;
  if (filter.family == FilterFamily::kRibbon) return RocksDBRibbonFalsePositiveRate(keys, bits);
  if (filter.family == FilterFamily::kBloom) {
    constexpr std::uint64_t kFewKeys = 64;
    const double bits_per_key = static_cast<double>(bits) / static_cast<double>(keys);
    const std::unique_ptr<const rocksdb::FilterPolicy> policy(
        rocksdb::NewBloomFilterPolicy(bits_per_key));
    const auto builder = BuilderOf(*policy, /*level=*/0);
    if (builder == nullptr) return 1.0;
    for (std::uint64_t key = 0; key < kFewKeys; ++key) builder->AddKey(std::to_string(key));
    std::unique_ptr<const char[]> buffer;
    BlockFill block = MeasureBlock(builder->Finish(&buffer));
    block.bits = bits;
    return BuiltInRate(block, static_cast<double>(keys));
  }
  PolicyOptions ours;
  if (!ParsePolicyId(filter.policy, &ours).ok() || !HasOwnFilters(ours)) return 1.0;
  const auto plan = FilterBuilder::Create(ToFilterOptions(ours))->PlanWithin(keys, bytes);
  return plan ? plan->FalsePositiveRate() : 1.0;
}

// RocksDB's ribbonfilter builds Bloom filters in level 0 unless its option bloom_before_level is
// -1. They take the bits of the policy, which Ribbon filters do not.
bool IsBloomOfRibbonPolicy(const FamilyOptions& options, const TableReport& table) {
  constexpr double kLeastPart = 0.85;
  const std::size_t colon = options.filter_policy.find(':');
  if (table.location.level != 0 || colon == std::string::npos) return false;
  const double bits_per_key = std::atof(options.filter_policy.c_str() + colon + 1);
  return 8.0 * static_cast<double>(table.filter.bytes) >
         kLeastPart * bits_per_key * static_cast<double>(table.filter.filter_keys);
}

// Completes what the events say by the options.
void SetFilter(const FamilyOptions& options, TableReport* table) {
  TableFilter& filter = table->filter;
  const bool has_table_options = options.table != nullptr;
  filter.whole_key_filtering = !has_table_options || options.table->whole_key_filtering;
  filter.prefix_filtering = !filter.prefix_extractor.empty();
  filter.compatibility_name = "rocksdb.BuiltinBloomFilter";
  filter.blocks = 1;
  if (filter.bytes == 0) return;
  filter.family = FamilyOf(filter.policy);
  if (filter.family == FilterFamily::kUnknown) filter.reason = "a policy that is not known here";
  if (filter.family == FilterFamily::kRibbon && IsBloomOfRibbonPolicy(options, *table)) {
    filter.family = FilterFamily::kBloom;
  }
  filter.partitioned = has_table_options && options.table->partition_filters;
  if (filter.partitioned) {
    filter.blocks = std::max<std::uint64_t>(1, filter.bytes / options.table->metadata_block_size);
  }
  filter.keys = table->keys = filter.filter_keys;
  table->bits = 8 * filter.bytes;
  table->exact_rate = RateOf(filter, static_cast<double>(filter.blocks));
}

// What grows with a table.
constexpr std::initializer_list<std::uint64_t TableFilter::*> kSizes = {
    &TableFilter::file_bytes,  &TableFilter::entries, &TableFilter::range_deletes,
    &TableFilter::filter_keys, &TableFilter::bytes,   &TableFilter::index_bytes,
    &TableFilter::data_blocks};

// A table of these bytes like `known` ones.
TableFilter TableLike(const TableFilter& known, double bytes) {
  const double factor = bytes / static_cast<double>(known.file_bytes);
  TableFilter table = known;
  for (const auto size : kSizes) {
    table.*size =
        static_cast<std::uint64_t>(std::llround(factor * static_cast<double>(known.*size)));
  }
  return table;
}

// The sums over the tables of a level, of a column family, and of all.
class KnownTables {
 public:
  void Add(const LoggedTable& table) {
    for (const auto& [family, level] : PlacesOf(table.column_family, table.level)) {
      TableFilter& sum = sums_[{family, level}];
      const TableFilter& filter = table.filter;
      if (filter.bytes != 0 || sum.policy.empty()) sum.policy = filter.policy;
      sum.prefix_extractor = filter.prefix_extractor;
      for (const auto size : kSizes) sum.*size += filter.*size;
      sum.blocks += 1;  // the tables
    }
  }

  // There must be a table.
  const TableFilter& NearestTo(const std::string& family, int level) const {
    for (const Place& place : PlacesOf(family, level)) {
      if (const auto sum = sums_.find(place); sum != sums_.end()) return sum->second;
    }
    return sums_.begin()->second;
  }

 private:
  using Place = std::pair<std::string, int>;

  static std::vector<Place> PlacesOf(const std::string& family, int level) {
    constexpr int kAny = -1;
    return {{family, level}, {family, kAny}, {"", kAny}};
  }

  std::map<Place, TableFilter> sums_;
};

TableReport ReportOf(const std::string& family, int level, std::uint64_t number,
                     const TableFilter& filter) {
  TableReport report;
  report.location.level = level;
  report.location.number = number;
  report.location.column_family = family;
  report.filter = filter;
  report.filter.column_family = family;
  return report;
}

// Reads the logs in the order of their first lines, which begin with their times. Returns the last.
std::string ReadLines(const std::vector<std::string>& paths, InfoLogReader* log,
                      TableEvents* events) {
  std::multimap<std::string, std::string> by_time;
  for (const std::string& path : paths) {
    std::string first;
    const rocksdb::Status status = files::ReadLines(path, [&first](const std::string& line) {
      first = line;
      return false;
    });
    if (!status.ok()) throw InputError(Describe(status));
    constexpr std::size_t kYear = 4;  // "2026/11/28-02:40:28.538135 1470 RocksDB version: 9.11.2"
    const bool is_log = first.empty() || (first.size() > kYear && first[kYear] == '/');
    if (!is_log) {
      throw InputError(fmt::format(
          "{} is neither a database's directory nor an info log of RocksDB", ForShell(path)));
    }
    by_time.emplace(first, path);
  }
  for (const auto& [time, path] : by_time) {
    const rocksdb::Status status = files::ReadLines(path, [&](const std::string& line) {
      log->Read(line);
      events->Read(line);
      return true;
    });
    if (!status.ok()) throw InputError(Describe(status));
  }
  return by_time.rbegin()->second;
}

// The tables with an event, and those that are taken to be like them. Returns which share of the
// bytes the former have.
double ListTables(const TableEvents& events, std::vector<TableReport>* reports) {
  const std::map<std::uint64_t, LoggedTable> tables = events.Tables();
  KnownTables known_tables;
  double known = 0.0;
  for (const auto& [number, table] : tables) {
    known_tables.Add(table);
    reports->push_back(ReportOf(table.column_family, table.level, number, table.filter));
    known += static_cast<double>(table.filter.file_bytes);
  }
  if (tables.empty()) return 0.0;
  double unknown =
      static_cast<double>(events.Unlisted()) * known / static_cast<double>(tables.size());
  for (const auto& [family, levels] : events.Unknown()) {
    for (const auto& [level, size] : levels) {
      const TableFilter& like = known_tables.NearestTo(family, level);
      const double bytes = size.bytes_of_one != 0.0 ? size.bytes_of_one
                                                    : static_cast<double>(like.file_bytes) /
                                                          static_cast<double>(like.blocks);
      unknown += bytes * static_cast<double>(size.tables);
      reports->insert(reports->end(), size.tables,
                      ReportOf(family, level, /*number=*/0, TableLike(like, bytes)));
    }
  }
  return known / (known + unknown);
}

// With the policy as ExactBloom logged it, or else by its name and the bytes of its filters.
DatabaseOptions ReadOptions(const InfoLogReader& log, const std::vector<TableReport>& tables) {
  DatabaseOptions options;
  std::map<std::string, LoggedOptions> all = log.Options();
  // A log that was rolled has no options of column families: the newest table names the policy.
  for (auto table = tables.rbegin(); table != tables.rend(); ++table) {
    all.try_emplace(table->filter.column_family,
                    LoggedOptions{{"table_factory", "BlockBasedTable"},
                                  {"filter_policy", table->filter.policy},
                                  {"prefix_extractor", table->filter.prefix_extractor}});
  }
  for (const auto& [family, logged] : all) {
    const auto name = logged.find("filter_policy");
    std::string policy = name == logged.end() ? "" : name->second;
    if (const auto text = log.Policies().find(family); text != log.Policies().end()) {
      policy = text->second;
    } else if (const TableReport* largest = LargestOf(policy, tables, family)) {
      policy = PolicyBySize(policy, *largest);
    }
    const FamilyOptions& made = options.families[family] = OptionsOf(logged, policy);
    const std::optional<PolicyOptions> ours = made.Ours();
    const bool has_listener = ours && FollowsTree(*ours);  // or else it had not been opened
    if (has_listener && !HasTreeListener(options.database)) {
      options.database.listeners.push_back(NewTreeListener());
    }
  }
  return options;
}

}  // namespace

LoggedDatabase ReadLogs(const std::vector<std::string>& paths) {
  RegisterFilterPolicies();
  InfoLogReader log;
  TableEvents events;
  LoggedDatabase database;
  const std::string last = ReadLines(paths, &log, &events);
  database.log = log.Log();
  std::vector<TableReport>& tables = database.inspection.tables;
  database.known = ListTables(events, &tables);
  if (tables.empty()) {
    throw InputError(
        "no event in the logs tells of a table that is still there: a program that logs errors "
        "only writes none (info_log_level), and older ones are in LOG.old files");
  }
  if (database.known < kLeastKnown) {
    throw InputError(fmt::format(
        "events in the logs tell of only {} of the bytes of the tables: give the LOG.old files, "
        "too, or wait until compactions have rewritten more",
        FormatRate(database.known)));
  }
  database.inspection.options = ReadOptions(log, tables);
  database.inspection.options->file = last;
  for (TableReport& table : tables) {
    const FamilyOptions* family = database.inspection.OptionsOf(table.location.column_family);
    SetFilter(family == nullptr ? FamilyOptions() : *family, &table);
  }
  return database;
}

}  // namespace exactbloom::tool
