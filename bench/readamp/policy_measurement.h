// All workloads under one filter policy.
#pragma once

#include <string>
#include <vector>

#include "readamp/keys/key_set.h"
#include "readamp/lookups/workload.h"
#include "readamp/report/readamp_report.h"
#include "readamp_settings.h"
#include "support/progress.h"

namespace exactbloom::readamp {

// Loads a database under the policy of this string, runs every workload on it and removes it.
// Throws WrongAnswer where counts that must agree do not (agreement.h), and as Database and Run.
PolicyResult MeasurePolicy(const std::string& policy, const KeySet& keys,
                           const std::vector<Workload>& workloads, const Settings& settings,
                           Progress& progress);

}  // namespace exactbloom::readamp
