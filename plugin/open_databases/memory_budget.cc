#include "exactbloom/memory_budget.h"

#include <algorithm>
#include <tuple>

#include "../exception_barrier.h"
#include "../live_tree/registry.h"
#include "../policy_options.h"

namespace exactbloom {

rocksdb::Status SetMemoryBudget(const std::string& name, const std::string& size) {
  return StatusOf([&] {
    PolicyOptions options;
    rocksdb::Status status = ParseBudget(name, size, &options);
    if (!status.ok()) return status;
    const std::uint64_t bytes = BytesOfBudget(options);
    tree::Registry& registry = tree::Registry::Get();
    const auto lock = registry.Lock();
    registry.NamedBudget(name).SetBound(bytes, /*covers_indexes=*/false, registry.NextMoment());
    return status;
  });
}

MemoryBudgetUse GetMemoryBudgetUse(const std::string& name) {
  MemoryBudgetUse use;
  const auto lock = tree::Registry::Get().Lock();
  const tree::Budget* const budget = tree::Registry::Get().FindBudget(name);
  if (budget == nullptr) return use;
  use.bound = budget->bound();
  use.used = budget->held().filter_bytes;
  for (const auto& [family, held] : budget->families()) {
    use.families.push_back(
        {family->database.path, family->name, held.filter_bytes, held.without_filter});
  }
  std::sort(use.families.begin(), use.families.end(), [](const auto& first, const auto& second) {
    return std::tie(first.database, first.column_family) <
           std::tie(second.database, second.column_family);
  });
  return use;
}

}  // namespace exactbloom
