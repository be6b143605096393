// TakeSettings: what a run takes from the database besides its keys.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rocksdb/comparator.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>

#include "plugin/policy_options.h"
#include "user_database.h"

namespace exactbloom::readamp {
namespace {

// The sorted runs of a KeySet are numbers of eight bits.
constexpr int kMostSortedRuns = 127;

// What --policies takes for the policy. RocksDB adds to its Bloom filter that the builder is not
// the one for blocks, which is gone.
std::string TextOf(const rocksdb::FilterPolicy& policy) {
  const std::string no_block_filter = ":false";
  if (const auto ours = OptionsOf(&policy)) return FormatPolicy(*ours);
  std::string text = policy.GetId();
  const std::size_t end = text.size() - std::min(text.size(), no_block_filter.size());
  if (text.compare(end, std::string::npos, no_block_filter) == 0) text.resize(end);
  return text;
}

class Taking {
 public:
  Taking(const UserDatabase& database, const std::function<bool(const char*)>& is_given,
         ReadampSettings& settings)
      : database_(database), is_given_(is_given), settings_(settings) {}

  TakenSettings Take() {
    TakeTree();
    TakeValues();
    const auto* table =
        database_.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (table != nullptr) {
      TakeTableOptions(*table);
    } else {
      NotTaken("table options: the tables are not block-based");
    }
    TakePolicy(table == nullptr ? nullptr : table->filter_policy.get());
    NameTheRest();
    return std::move(result_);
  }

 private:
  void Taken(const std::string& what) { result_.taken.push_back(what); }
  void NotTaken(const std::string& what) { result_.not_taken.push_back(what); }

  // Whether one of the options is given, which then wins.
  bool Loses(const std::string& what, std::initializer_list<const char*> options) {
    const auto given = std::find_if(options.begin(), options.end(), is_given_);
    if (given != options.end()) NotTaken(fmt::format("{}: {} is given", what, *given));
    return given != options.end();
  }

  void TakeTree() {
    const std::vector<UserTable>& tables = database_.tables;
    if (Loses("tree", {"--tree", "--sorted-runs", "--size-ratio", "--level0-files",
                       "--level0-trigger", "--write-buffer"})) {
      return;
    }
    if (tables.empty()) return NotTaken("tree: no key is in a table yet");
    const int runs = tables.back().sorted_run + 1;
    if (runs > kMostSortedRuns) {
      return NotTaken(
          fmt::format("tree: it has {} sorted runs, and {} is the most", runs, kMostSortedRuns));
    }
    settings_.tree = Tree::kDatabase;
    settings_.user_tables = tables;
    settings_.num_levels = std::max(database_.options.num_levels, tables.back().level + 1);
    settings_.compacts_universally =
        database_.options.compaction_style == rocksdb::kCompactionStyleUniversal;
    Taken(fmt::format("tree: {} sorted runs, {} tables", runs, tables.size()));
  }

  void TakeValues() {
    if (Loses("lengths of values", {"--value-bytes"})) return;
    if (database_.entries == 0) return NotTaken("lengths of values: no entry is in a table");
    if (database_.has_blob_files) {
      return NotTaken("blob files: values are in tables here; --value-bytes sets their lengths");
    }
    settings_.value_bytes = database_.value_bytes / database_.entries;
    Taken(fmt::format("lengths of values: {} bytes, the mean", settings_.value_bytes));
  }

  void TakeTableOptions(const rocksdb::BlockBasedTableOptions& table) {
    settings_.block_bytes = table.block_size;
    Taken(fmt::format("block_size: {}", table.block_size));
    if (!Loses("partition_filters", {"--filters"})) {
      settings_.partitioned_filters = table.partition_filters;
      if (table.partition_filters) settings_.partition_bytes = table.metadata_block_size;
      Taken(table.partition_filters ? fmt::format("partition_filters: metadata_block_size {}",
                                                  table.metadata_block_size)
                                    : "partition_filters: false");
    }
    constexpr std::uint32_t kNewBloomFilter = 5;
    if (!table.whole_key_filtering) {
      NotTaken("whole_key_filtering=false: the filters here have whole keys");
    }
    if (table.format_version < kNewBloomFilter) {
      NotTaken(
          fmt::format("format_version {}: RocksDB's older Bloom filters", table.format_version));
    }
    if (table.optimize_filters_for_memory) {
      NotTaken(
          "optimize_filters_for_memory: filters have the sizes that their policies are set for");
    }
  }

  void TakePolicy(const rocksdb::FilterPolicy* policy) {
    if (policy == nullptr) {
      if (database_.filter_keys == 0) return Taken("filter policy: none");
      return NotTaken(fmt::format(
          "filter policy: its OPTIONS file names none that is known here; its tables have {} of "
          "{:.1f} bits per key",
          database_.filter_policy,
          8.0 * static_cast<double>(database_.filter_bytes) /
              static_cast<double>(database_.filter_keys)));
    }
    const std::string text = TextOf(*policy);
    if (Loses("filter policy " + text, {"--policies"})) return;
    auto& policies = settings_.policies;
    if (std::find(policies.begin(), policies.end(), text) == policies.end()) {
      policies.push_back(text);
    }
    Taken("filter policy: " + text);
  }

  void NameTheRest() {
    const rocksdb::ColumnFamilyOptions& options = database_.options;
    const auto name_if = [this](bool is_so, const std::string& what) {
      if (is_so) NotTaken(what);
    };
    name_if(options.optimize_filters_for_hits,
            "optimize_filters_for_hits: the deepest level has filters here");
    name_if(
        options.comparator != rocksdb::BytewiseComparator(),
        fmt::format("comparator {}: keys are in bytewise order here", options.comparator->Name()));
    name_if(!database_.other_families.empty(),
            fmt::format("column families besides default: {}",
                        fmt::join(database_.other_families, ", ")));
    name_if(!database_.prefix_extractor.empty(),
            fmt::format("prefix_extractor {}: filters have whole keys here",
                        database_.prefix_extractor));
    NotTaken("compression and contents of values: Snappy, and half of each value compresses here");
    NotTaken("block cache: see --block-cache");
  }

  const UserDatabase& database_;
  const std::function<bool(const char*)>& is_given_;
  ReadampSettings& settings_;
  TakenSettings result_;
};

}  // namespace

TakenSettings TakeSettings(const UserDatabase& database,
                           const std::function<bool(const char*)>& is_given,
                           ReadampSettings* settings) {
  return Taking(database, is_given, *settings).Take();
}

}  // namespace exactbloom::readamp
