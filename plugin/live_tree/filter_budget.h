// A bound for the bytes of filters that column families of this process share by its name.
//
// `held` is kept and not recomputed: the filters of live tables, of inputs of running jobs among
// them, and of tables in the making. All members are read and changed under OpenDatabases::Lock().
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "../../src/analysis/run_division.h"

namespace exactbloom::tree {

struct Family;

struct FilterBudget {
  // Returns the budget of this name, which lives as long as the process. Throws std::bad_alloc.
  static FilterBudget& Named(const std::string& name);
  // Returns null if no policy and no SetMemoryBudget() has named it.
  static FilterBudget* Find(const std::string& name);

  // Sets the bound, unless one was set at a later moment (Now()).
  void SetBound(std::uint64_t bytes, std::uint64_t moment);
  // A moment is later than all that were returned before, in the whole process.
  static std::uint64_t Now();

  // The runs of all families but this one, those of about the same size together.
  std::vector<analysis::EqualRuns> RunsBeside(const Family& own) const;

  std::string name;
  std::uint64_t bound = 0;  // bytes; 0: none
  std::uint64_t set_at = 0;
  std::uint64_t held = 0;  // bytes
  std::set<Family*> families;
};

}  // namespace exactbloom::tree
