#include "exactbloom/memory_budget.h"

#include <algorithm>
#include <tuple>

#include "../exception_barrier.h"
#include "../live_tree/registry.h"
#include "../policy_options.h"

namespace exactbloom {

rocksdb::Status SetMemoryBudget(const std::string& name, const BudgetSize& size,
                                const std::optional<BudgetCovers>& covers) {
  return StatusOf([&] {
    PolicyOptions options;
    rocksdb::Status status = ParseBudget(name, size.text(), &options);
    if (!status.ok()) return status;
    const std::uint64_t bytes = BytesOfBudget(options);
    tree::Registry& registry = tree::Registry::Get();
    const auto lock = registry.Lock();
    std::optional<bool> covers_indexes;
    if (covers) covers_indexes = *covers == BudgetCovers::kFiltersAndIndexes;
    registry.NamedBudget(name).Set({bytes, covers_indexes, registry.NextMoment()});
    return status;
  });
}

MemoryBudgetUse GetMemoryBudgetUse(const std::string& name) {
  MemoryBudgetUse use;
  const auto lock = tree::Registry::Get().Lock();
  const tree::Budget* const budget = tree::Registry::Get().FindBudget(name);
  if (budget == nullptr) return use;
  use.bound_bytes = budget->setting().bound;
  if (budget->CoversIndexes()) use.covers = BudgetCovers::kFiltersAndIndexes;
  use.index_bytes = budget->held().index_bytes;
  use.used_bytes = budget->Used();
  for (const tree::Family* family : budget->families()) {
    const tree::TableSum& held = family->counted;
    use.families.push_back({family->database.path, family->name, held.filter_bytes,
                            held.index_bytes, held.without_filter});
  }
  std::sort(use.families.begin(), use.families.end(), [](const auto& first, const auto& second) {
    return std::tie(first.database, first.column_family) <
           std::tie(second.database, second.column_family);
  });
  return use;
}

}  // namespace exactbloom
