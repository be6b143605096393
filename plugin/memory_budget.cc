#include "exactbloom/memory_budget.h"

#include <new>

#include "policy_options.h"
#include "tree/filter_budget.h"

namespace exactbloom {

rocksdb::Status SetMemoryBudget(const std::string& name, const std::string& size) {
  try {
    PolicyOptions options;
    rocksdb::Status status = ParsePolicy(
        "{id=exactbloom;memory_budget=" + size + ";budget=" + name + "}", &options, nullptr);
    if (status.ok() && options.budget != name) {
      status = rocksdb::Status::InvalidArgument("exactbloom: '" + name + "' names no budget");
    }
    if (status.ok()) tree::FilterBudget::Named(name).SetBytes(BytesOfBudget(options));
    return status;
  } catch (const std::bad_alloc&) {
    return rocksdb::Status::MemoryLimit();
  }
}

MemoryBudgetUse GetMemoryBudgetUse(const std::string& name) {
  const tree::FilterBudget& budget = tree::FilterBudget::Named(name);
  MemoryBudgetUse use;
  use.bound = budget.Bytes();
  for (const auto& [path, families] : budget.Use()) {
    for (const auto& [family, total] : families) {
      use.families.push_back({path, family, static_cast<std::uint64_t>(total.filter_bytes),
                              static_cast<std::uint64_t>(total.unknown_keys)});
      use.used += use.families.back().filter_bytes;
    }
  }
  return use;
}

}  // namespace exactbloom
