// What a check of a filter costs in processor time: the model behind `exactbloom advise`.
//
// The constants are measured, for an absent key and a call that waits for the one before, on the
// processor and in the way of docs/performance.md, "What a check costs". Other processors differ by
// a factor; the order of the filters stays, and beside a read from a disk all of them are small.
#pragma once

#include <array>
#include <cstdint>

#include "exactbloom/layout.h"
#include "exactbloom/table_filters.h"

namespace exactbloom::tool {

enum class CheckedFilter : std::uint8_t { kNone, kAnywhere, kOneLine, kTwoLines, kBloom, kRibbon };

struct CheckCost {
  CheckedFilter filter;
  const char* name;
  double in_cache;   // nanoseconds, where all filters fit into kCachedFilterBytes
  double in_memory;  // and where they do not
};

// The second-level cache of the processor that was measured.
inline constexpr std::uint64_t kCachedFilterBytes = std::uint64_t{2} << 20;

// Of every filter.
extern const std::array<CheckCost, 6> kCheckCosts;

// Returns the nanoseconds of one check.
//   filter_bytes   of all filters that lookups ask, which decide where they lie
double CheckNanoseconds(CheckedFilter filter, std::uint64_t filter_bytes);

CheckedFilter CheckedFilterOf(Layout layout);

// Of a table's filter; kNone where nothing is asked.
CheckedFilter CheckedFilterOf(const TableFilter& filter);

}  // namespace exactbloom::tool
