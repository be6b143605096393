// The tables of a database with their filters, and how its options use them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "database_options.h"
#include "table_report.h"

namespace exactbloom::tool {

// A weighted mean of the known values.
class Mean {
 public:
  void Add(double weight, const std::optional<double>& value) {
    if (!value) return;
    weights_ += weight;
    sum_ += weight * *value;
  }
  void Add(const Mean& other) {
    weights_ += other.weights_;
    sum_ += other.sum_;
  }
  std::optional<double> Value() const {
    return weights_ > 0.0 ? std::optional(sum_ / weights_) : std::nullopt;
  }

 private:
  double weights_ = 0.0;
  double sum_ = 0.0;
};

// Sums over tables. Rates are means over the tables' keys.
struct FilterSummary {
  std::string column_family;
  int level = -1;

  std::uint64_t tables = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t filtering = 0;                    // that have a filter, which is used
  std::uint64_t without_keys = 0;                 // of which lookups read nothing
  std::uint64_t with_empty_partitions = 0;        // at which MultiGet fails
  std::map<std::string, std::uint64_t> families;  // tables by NameOf(their filter's)
  std::uint64_t file_bytes = 0;
  std::uint64_t entries = 0;
  std::uint64_t filter_bytes = 0;
  std::uint64_t index_bytes = 0;
  std::uint64_t build_bytes = 0;  // of the table that takes most

  std::uint64_t keys = 0;  // in filters
  std::uint64_t bits = 0;  // of filters
  // Of the filters, or of the tables if there is none.
  std::uint64_t KeysOrEntries() const { return keys != 0 ? keys : entries; }
  Mean fill;
  Mean exact_rate;  // of the tables that have one
  Mean fill_rate;
  // On average per lookup.
  double asked = 0.0;         // tables whose range has the key, and that lack it
  double wasted_reads = 0.0;  // those of them that it reads

  void Add(const TableReport& table);
  void Add(const FilterSummary& other);
};

struct Inspection {
  std::string database;  // empty: single files, whose levels are not known
  // The OPTIONS file, or why there is none.
  std::optional<DatabaseOptions> options;
  std::string no_options_reason;
  bool options_unreadable = false;  // there is one

  std::vector<TableReport> tables;
  // Of the column families that the answer leaves out, which may share a memory budget with its
  // own.
  std::vector<TableReport> left_out;
  std::vector<FilterSummary> levels;              // of a database, by column family and level
  std::map<std::string, FilterSummary> families;  // of a database
  FilterSummary totals;

  // Whether the tables are single files, whose levels are not known.
  bool IsOfFiles() const { return !tables.empty() && tables.front().location.level < 0; }
  // Of a column family in the OPTIONS file, or null.
  const FamilyOptions* OptionsOf(const std::string& column_family) const;
};

// Reads the filters of the tables that ListTables finds; writes nothing. Throws as ReadTables.
//   lookups  absent keys, which give the probability that a lookup asks a table; if empty, absent
//            keys are assumed to be distributed like the stored keys
//   family     the only column family of the answer; empty: all. Throws support::InputError if it
//              has no tables
//   present    the share of lookups that find their key, 0 .. 1; the others are of absent keys
Inspection Inspect(const std::vector<std::string>& paths, const std::vector<std::string>& lookups,
                   const std::string& family = "", double present = 0.0);

// Finds which tables a lookup asks and uses, and sums up, of an inspection that has its tables and
// its options; the other parameters are as above.
void Conclude(const std::vector<std::string>& lookups, double present, Inspection& inspection,
              const std::string& family = "");

// Returns the wasted reads of a lookup of an absent key, as a mean over the column families.
double MeanWastedReads(const Inspection& inspection);

}  // namespace exactbloom::tool
