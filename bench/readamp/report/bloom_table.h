// Bloom's example of 1970: a program hyphenates words by rule, but a tenth of the dictionary's
// words need a disk read. A filter of those words saves the reads for the others. His Table I gives
// the share of reads saved for six sizes of the filter.
#pragma once

#include <vector>

#include "readamp/keys/key_set.h"
#include "readamp/readamp_settings.h"
#include "readamp_report.h"
#include "support/progress.h"

namespace exactbloom::readamp {

// Measures each of the table's hash areas, scaled to the number of stored keys, in a database of
// one sorted run: the reads saved are the lookups that the filter answered.
std::vector<BloomTableRow> MeasureBloomTable(const Settings& settings, const KeySet& keys,
                                             Progress& progress);

}  // namespace exactbloom::readamp
