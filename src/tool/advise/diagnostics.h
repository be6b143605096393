// Settings under which filters cost memory and save nothing, or less than they could.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "database_log.h"
#include "tool/database/database_options.h"
#include "tool/database/inspection.h"
#include "tool/database/table_report.h"
#include "tree_shape.h"

namespace exactbloom::tool {

struct Trap {
  std::string name;    // for programs, such as "tables_without_filter"
  std::string seen;    // what was found, with its figures
  std::string remedy;  // what to do
};

// All that is known of a column family.
struct FamilyFindings {
  const TreeShape* tree = nullptr;
  std::vector<const TableReport*> tables;  // those that could be read
  const FamilyOptions* options = nullptr;  // null without an OPTIONS file
  std::optional<FilterCounters> counters;  // of the whole database
  std::optional<std::uint64_t> block_cache_bytes;
};

// The tree, the inspection and the log must outlive the result.
FamilyFindings FindingsOf(const TreeShape& tree, const Inspection& inspection,
                          const LogFindings& log);

// A prefix that so few keys share on average tells nothing apart within a table.
inline constexpr double kFewPrefixes = 16.0;
// The share of lookups of filters in the block cache that find them gone.
inline constexpr double kManyFilterMisses = 0.01;
// How far, as a factor, the size ratio that a policy is told may lie from the tree's own.
inline constexpr double kSizeRatioTolerance = 2.0;

std::vector<Trap> FindTraps(const FamilyFindings& family);

// Parts of it, by what they look at.
void FindTableTraps(const FamilyFindings& family, std::vector<Trap>* traps);
void FindPrefixTraps(const FamilyFindings& family, std::vector<Trap>* traps);
void FindCacheTraps(const FamilyFindings& family, std::vector<Trap>* traps);
void FindOptionTraps(const FamilyFindings& family, std::vector<Trap>* traps);

}  // namespace exactbloom::tool
