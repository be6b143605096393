// Settings under which filters cost memory and save nothing, or less than they could.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "tool/database/database_options.h"
#include "tool/database/inspection.h"
#include "tool/database/table_report.h"
#include "tree_filters.h"

namespace exactbloom::tool {

// RocksDB's counters, of all column families since the statistics were made.
struct FilterCounters {
  std::uint64_t lookups = 0;         // keys that were asked for
  std::uint64_t useful = 0;          // filters that answered "absent"
  std::uint64_t positives = 0;       // and "may be contained"
  std::uint64_t true_positives = 0;  // and it was contained
  // Filter blocks in the block cache; zero if filters are kept outside of it.
  std::uint64_t cache_hits = 0;
  std::uint64_t cache_misses = 0;

  std::uint64_t FalsePositives() const;
  std::uint64_t AbsentChecks() const { return useful + FalsePositives(); }
};

// Reads the text of rocksdb::Statistics::ToString(). Accepts any text; of repeated lines of a
// counter the last one counts. Returns nothing for a text without any of these counters.
std::optional<FilterCounters> ReadStatistics(std::istream& text);

struct Diagnostic {
  std::string name;    // for programs, such as "tables_without_filter"
  std::string seen;    // what was found, with its figures
  std::string remedy;  // what to do
};

// All that is known about a column family.
struct FamilyFindings {
  const Tree* tree = nullptr;
  std::vector<const TableReport*> tables;        // those that could be read
  const FamilyOptions* options = nullptr;        // null without an OPTIONS file
  const rocksdb::DBOptions* database = nullptr;  // the same
  std::optional<FilterCounters> counters;        // of the whole database

  // The table options of the OPTIONS file, or null.
  const rocksdb::BlockBasedTableOptions* TableOptions() const {
    return options == nullptr ? nullptr : options->table;
  }
  // Whether a policy that follows the tree would see it.
  bool HasTreeListener() const;
};

// The tree and the inspection must outlive the result.
FamilyFindings FindingsOf(const Tree& tree, const Inspection& inspection,
                          const std::optional<FilterCounters>& counters);

// With fewer prefixes per table on average, a filter distinguishes almost nothing.
inline constexpr double kFewPrefixes = 16.0;
// The share of lookups of filters in the block cache that do not find them.
inline constexpr double kManyFilterMisses = 0.01;
// By which share the filters may exceed their budget before that is worth a word.
inline constexpr double kBudgetTolerance = 0.03;

std::vector<Diagnostic> Diagnose(const FamilyFindings& family);

}  // namespace exactbloom::tool
