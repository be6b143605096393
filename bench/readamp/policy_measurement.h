// All workloads under one filter policy, each with the counts that must agree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "readamp/keys/key_set.h"
#include "readamp/lookups/workload.h"
#include "readamp/report/readamp_report.h"
#include "readamp/tree/database.h"
#include "readamp_settings.h"
#include "tool/support/progress.h"

namespace exactbloom::readamp {

// Stands in a policy for the number with which its filters take as many bytes as those of another
// policy, whatever its own number of bits per key means.
inline constexpr char kEqualBytes[] = "{equal_bytes}";

// Of a filter before there is one to compare with.
inline constexpr double kDefaultBits = 10.0;

// Returns the policy with that number in the place of kEqualBytes, and any other as it is.
//   keys          in a filter
//   bits_per_key  of the filters it is compared with
std::string WithEqualBytes(const std::string& policy, std::uint64_t keys, double bits_per_key);

// Makes the workload's lookups in the database and predicts what they see. Throws WrongAnswer if an
// answer is wrong or counts that must agree do not (CheckAgreement).
//   step   the name of the run in the line of progress and in errors
WorkloadResult MeasureWorkload(const Workload& workload, const Database& database,
                               const std::string& step, Progress& progress);

// Loads a database under the policy of this string, runs every workload on it and removes it.
PolicyResult MeasurePolicy(const std::string& policy, const KeySet& keys,
                           const std::vector<Workload>& workloads, const ReadampSettings& settings,
                           Progress& progress);

// Bloom's example of 1970: a program hyphenates words by rule, but a tenth of the dictionary's
// words need a disk read. A filter of those words saves the reads for the others. His Table I gives
// the share of reads saved for six sizes of the filter. This measures each of the table's hash
// areas, scaled to the number of stored keys, in a database of one sorted run: the reads saved are
// the lookups that the filter answered.
std::vector<BloomTableRow> MeasureBloomTable(ReadampSettings settings, Progress& progress);

}  // namespace exactbloom::readamp
