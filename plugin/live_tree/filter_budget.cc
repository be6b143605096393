#include "filter_budget.h"

#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "family.h"

namespace exactbloom::tree {
namespace {

// Never destroyed: databases may be closed when the process ends.
struct Budgets {
  std::mutex mutex;
  std::map<std::string, FilterBudget> by_name;
  std::uint64_t moment = 0;

  static Budgets& All() {
    static Budgets& all = *new Budgets;
    return all;
  }
};

}  // namespace

FilterBudget& FilterBudget::Named(const std::string& name) {
  Budgets& all = Budgets::All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  FilterBudget& budget = all.by_name[name];
  budget.name = name;
  return budget;
}

FilterBudget* FilterBudget::Find(const std::string& name) {
  Budgets& all = Budgets::All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.by_name.find(name);
  return found == all.by_name.end() ? nullptr : &found->second;
}

std::uint64_t FilterBudget::Now() {
  Budgets& all = Budgets::All();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return ++all.moment;
}

void FilterBudget::SetBound(std::uint64_t bytes, std::uint64_t moment) {
  if (moment <= set_at) return;
  set_at = moment;
  bound = bytes;
}

// A process may have thousands of runs.
std::vector<analysis::EqualRuns> FilterBudget::RunsBeside(const Family& own) const {
  constexpr double kClassesPerDoubling = 8.0;
  std::map<std::pair<int, bool>, analysis::EqualRuns> classes;
  for (const Family* family : families) {
    if (family == &own) continue;
    for (const analysis::EqualRuns& run : family->Runs()) {
      const int size = static_cast<int>(kClassesPerDoubling * std::log2(run.keys + 1.0));
      analysis::EqualRuns& sum =
          classes.try_emplace({size, run.ribbon}, analysis::EqualRuns{0.0, 0.0, run.ribbon})
              .first->second;
      const double count = sum.count + run.count;
      sum.keys = (sum.keys * sum.count + run.keys * run.count) / count;
      sum.count = count;
    }
  }
  std::vector<analysis::EqualRuns> merged;
  merged.reserve(classes.size());
  for (const auto& [size, sum] : classes) merged.push_back(sum);
  return merged;
}

}  // namespace exactbloom::tree
