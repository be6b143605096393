// All workloads under one filter policy, each with the counts that must agree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "readamp/keys/key_set.h"
#include "readamp/lookups/workload.h"
#include "readamp/report/readamp_report.h"
#include "readamp_settings.h"
#include "support/progress.h"

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

// Loads a database under the policy of this string, runs every workload on it and removes it.
// Throws WrongAnswer if an answer is wrong or counts that must agree do not (CheckAgreement).
PolicyResult MeasurePolicy(const std::string& policy, const KeySet& keys,
                           const std::vector<Workload>& workloads, const ReadampSettings& settings,
                           Progress& progress);

}  // namespace exactbloom::readamp
