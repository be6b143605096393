// Bloom's example of 1970: a program hyphenates words by rule, but a tenth of the dictionary's
// words need a disk read. A filter of those words saves the reads for the others. His Table I gives
// the share of all reads that six sizes of the filter save: with an allowed error P, 0.9 (1 - P).
//
// Here each of the table's hash areas, scaled to the number of stored keys, is the filter of a
// database of one sorted run: the reads saved are the lookups that the filter answered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "readamp_settings.h"
#include "support/progress.h"

namespace exactbloom::readamp {

// A line of the table, and the same hash area measured. The names are those of the JSON.
struct BloomTableRow {
  double allowed_error = 0.0;
  std::uint64_t printed_bits = 0;
  bool misprint = false;  // the area
  double printed_percent = 0.0;
  std::string policy;
  std::uint64_t filter_bytes = 0;
  double measured_percent = 0.0;   // of all lookups: those that avoided a disk read
  double predicted_percent = 0.0;  // by the exact rate
};

// Measures the table with the keys of the settings, a tenth of them stored, each looked up once.
// Throws as MeasurePolicy.
std::vector<BloomTableRow> MeasureBloomTable(ReadampSettings settings, Progress& progress);

// The rows with what was printed, for the report.
std::string BloomTableText(const std::vector<BloomTableRow>& rows);

}  // namespace exactbloom::readamp
