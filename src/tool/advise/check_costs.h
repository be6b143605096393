// The processor time of a check of a filter, for an absent key and a call that waits for the one
// before: the cost model of `exactbloom advise`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "exactbloom/layout.h"
#include "exactbloom/table_filters.h"

namespace exactbloom::tool {

enum class CheckedFilter : std::uint8_t { kAnywhere, kOneLine, kTwoLines, kBloom, kRibbon, kNone };

inline constexpr std::array<CheckedFilter, 5> kCheckedFilters = {
    CheckedFilter::kAnywhere, CheckedFilter::kOneLine, CheckedFilter::kTwoLines,
    CheckedFilter::kBloom, CheckedFilter::kRibbon};

// "lines=0", "bloom", "none" and so on.
const char* NameOf(CheckedFilter filter);

CheckedFilter CheckedFilterOf(Layout layout);

// The kind of a table's filter; kNone if it is not asked.
CheckedFilter CheckedFilterOf(const TableFilter& filter);

// Filters of up to this many bytes in all are assumed to lie in a processor's second-level cache.
inline constexpr std::uint64_t kCachedFilterBytes = std::uint64_t{2} << 20;

// Nanoseconds per check.
struct CheckCost {
  double in_cache = 0.0;   // if all filters fit into kCachedFilterBytes
  double in_memory = 0.0;  // and if they do not
};

struct LookupCosts {
  bool measured = false;                                          // the checks, on this processor
  std::array<CheckCost, kCheckedFilters.size() + 1> checks = {};  // by CheckedFilter
  double read_nanoseconds = 0.0;                                  // per wasted read

  const CheckCost& Of(CheckedFilter filter) const {
    return checks[static_cast<std::size_t>(filter)];
  }
};

// The costs of docs/performance.md, "What a check costs", the same on each machine. Other
// processors differ by a factor, but not in the order of the filters.
LookupCosts FixedCosts(double read_nanoseconds);

// Builds a filter of each kind, queries copies of it for absent keys, and takes the fastest of some
// passes: about a tenth of a second in all. Throws std::bad_alloc.
LookupCosts MeasureCosts(double read_nanoseconds);

}  // namespace exactbloom::tool
