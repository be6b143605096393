// What a run of readamp comes to: who wastes how many reads, in how much memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exactbloom/theory/confidence_interval.h"
#include "readamp/readamp_settings.h"
#include "readamp_report.h"

namespace exactbloom::readamp {

struct PolicySummary {
  std::string policy;
  std::uint64_t filter_bytes = 0;
  double wasted_reads = 0.0;  // per lookup
  Interval rate;              // 99.9%, of the filters' false positives
};

// Of one workload, in the order of the policies.
struct Summary {
  std::string workload;
  std::optional<double> unfiltered;     // wasted reads per lookup without filters, if measured
  std::vector<PolicySummary> policies;  // those with filters

  // The policy that wastes least, compared with the first one and with the next best, in a few
  // short lines. Nothing is claimed that chance may explain.
  std::string Conclusion() const;

  // Bars for a terminal, and the conclusion below them.
  std::string Text() const;
};

// Of the first workload whose wasted reads are known; none without one, or without filters.
std::optional<Summary> SummaryOf(const Report& report);

// A page with the bars and the conclusion, complete in itself.
std::string SummaryPage(const Summary& summary, const Report& report,
                        const ReadampSettings& settings);

}  // namespace exactbloom::readamp
