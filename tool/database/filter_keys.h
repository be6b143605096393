// How many keys and prefixes go into the filters of tables that are written with the options of
// now. A filter counts its own: where other ones would go into it, whole keys are taken to be as
// many as the table's entries, and prefixes are counted among the keys of alike tables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tool/database/inspection.h"

namespace exactbloom::tool {

// Whether none of the keys of a table has a prefix, and only prefixes go into filters, when it was
// written as by the present options of its column family.
bool IsWithoutPrefix(const TableReport& table, const FamilyOptions& options);

class FilterKeys {
 public:
  // Of these tables, which have to stay.
  FilterKeys(const std::vector<TableReport>& tables, const Inspection& inspection);

  struct Count {
    std::uint64_t keys = 0;  // of whole keys and prefixes; 0: none goes into a filter
    std::string unknown;     // why that is not known, and `keys` are the table's entries
  };

  // Of one of the tables, which must be readable. Reads keys where prefixes are to be counted: of
  // all alike tables, or some that have about a million entries.
  Count Of(const TableReport& table);

 private:
  // By column family, level and size class.
  using Place = std::tuple<std::string, int, int>;
  static Place PlaceOf(const TableReport& table);
  // What goes into a filter for each of the entries.
  struct Ratio {
    double of_entries = 0.0;
    std::string unknown;
  };
  static Ratio Read(const std::vector<const TableReport*>& tables, const FamilyOptions& options);

  const Inspection& inspection_;
  std::map<Place, std::vector<const TableReport*>> tables_;
  std::map<Place, Ratio> ratios_;
};

}  // namespace exactbloom::tool
