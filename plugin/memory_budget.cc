#include "exactbloom/memory_budget.h"

#include <algorithm>
#include <tuple>

#include "live_tree/open_databases.h"
#include "out_of_memory.h"
#include "policy_options.h"

namespace exactbloom {

rocksdb::Status SetMemoryBudget(const std::string& name, const std::string& size) {
  return ResultOr(rocksdb::Status::MemoryLimit(), [&] {
    PolicyOptions options;
    rocksdb::Status status = ParseBudget(name, size, &options);
    if (!status.ok()) return status;
    const std::uint64_t bytes = BytesOfBudget(options);
    tree::FilterBudget& budget = tree::FilterBudget::Named(name);
    const auto lock = tree::OpenDatabases::All().Lock();
    budget.SetBound(bytes, tree::FilterBudget::Now());
    return status;
  });
}

MemoryBudgetUse GetMemoryBudgetUse(const std::string& name) {
  MemoryBudgetUse use;
  const tree::FilterBudget* const budget = tree::FilterBudget::Find(name);
  if (budget == nullptr) return use;
  const auto lock = tree::OpenDatabases::All().Lock();
  use.bound = budget->bound;
  use.used = budget->held;
  for (const tree::Family* family : budget->families) {
    use.families.push_back({family->database, family->name, family->held});
  }
  std::sort(use.families.begin(), use.families.end(), [](const auto& first, const auto& second) {
    return std::tie(first.database, first.column_family) <
           std::tie(second.database, second.column_family);
  });
  return use;
}

}  // namespace exactbloom
