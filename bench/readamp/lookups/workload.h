// Which keys are looked up.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "readamp/keys/key_set.h"
#include "readamp/readamp_settings.h"

namespace exactbloom::readamp {

struct Workload {
  std::string name;                // as on the command line and in the JSON
  std::string description;         // for the table
  std::vector<std::size_t> order;  // numbers of keys

  // Whether the lookups are made while the database is loaded.
  bool IsGrowth() const { return name == "growth"; }
};

// The names that --workloads takes.
std::vector<std::string> WorkloadNames();

// The workloads that the settings name, of WorkloadNames(). Throws InputError for one that the
// settings do not fit.
std::vector<Workload> MakeWorkloads(const KeySet& keys, const ReadampSettings& settings);

}  // namespace exactbloom::readamp
