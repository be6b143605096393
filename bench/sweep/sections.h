// The sections of the report. Each adds what it found to the answers at the top of the page; all
// numbers in their sentences come from the results.
#pragma once

#include <string>
#include <vector>

#include "document.h"
#include "results_file.h"

namespace exactbloom::sweep {

using Answers = std::vector<std::string>;

// Wasted reads against filter bytes, measured and predicted.
Section WastedReadsSection(const Results& results, Answers& answers);

// Which policy is fastest at which bits per key and read latency.
Section WinnersSection(const Results& results, Answers& answers);

// What dividing the memory among levels saves.
Section LevelsSection(const Results& results, Answers& answers);

// What exact sizing is worth.
Section SizingSection(const Results& results, Answers& answers);

// What building costs.
Section BuildSection(const Results& results, Answers& answers);

// Whether what was predicted was measured.
Section AgreementSection(const Results& results, Answers& answers);

// Every point, and how to measure them again.
Section PointsSection(const Results& results);
Section RepeatSection(const Results& results);

// Modelled read latencies, microseconds: memory, flash, a disk.
inline const std::vector<double> kReadLatenciesUs = {0, 1, 10, 100, 1000, 10'000};

// "100 us", "1 ms"
std::string LatencyText(double microseconds);

}  // namespace exactbloom::sweep
