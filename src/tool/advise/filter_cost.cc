#include "filter_cost.h"

namespace exactbloom::tool {

const std::array<CheckCost, 6> kCheckCosts = {{
    {CheckedFilter::kNone, "none", 0, 0},
    {CheckedFilter::kAnywhere, "lines=0", 48, 104},
    {CheckedFilter::kOneLine, "lines=1", 32, 81},
    {CheckedFilter::kTwoLines, "lines=2", 35, 85},
    {CheckedFilter::kBloom, "bloom", 39, 83},
    {CheckedFilter::kRibbon, "ribbon", 57, 109},
}};

double CheckNanoseconds(CheckedFilter filter, std::uint64_t filter_bytes) {
  for (const CheckCost& cost : kCheckCosts) {
    if (cost.filter != filter) continue;
    return filter_bytes <= kCachedFilterBytes ? cost.in_cache : cost.in_memory;
  }
  return 0.0;
}

CheckedFilter CheckedFilterOf(Layout layout) {
  if (!layout.InLines()) return CheckedFilter::kAnywhere;
  return layout.Lines() == 1 ? CheckedFilter::kOneLine : CheckedFilter::kTwoLines;
}

CheckedFilter CheckedFilterOf(const TableFilter& filter) {
  switch (filter.family) {
    case FilterFamily::kExactBloom:
      return CheckedFilterOf(filter.layout);
    case FilterFamily::kBloom:
    case FilterFamily::kLegacyBloom:
      return CheckedFilter::kBloom;
    case FilterFamily::kRibbon:
      return CheckedFilter::kRibbon;
    default:
      return CheckedFilter::kNone;
  }
}

}  // namespace exactbloom::tool
