#include <rocksdb/db.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../../src/model/wasted_reads.h"
#include "../live_tree/registry.h"
#include "exactbloom/filter.h"
#include "exactbloom/tree_listener.h"

namespace exactbloom {
namespace {

// Returns the filter that the mean keys and bytes of these tables give, if any.
std::optional<FilterPlan> PlanMean(const tree::TableSum& tables, const FilterBuilder& builder) {
  return builder.PlanWithin(tables.keys / tables.tables, tables.filter_bytes / tables.tables);
}

FilterBuilder NewPlanner(bool ribbon) {
  FilterOptions options;
  if (!ribbon) options.kind = FilterKind::kClassicBloom;
  return *FilterBuilder::Create(options);
}

// Adds up tables of a listed run whose filters are alike.
struct Part {
  std::size_t runs = 0;  // its place
  tree::TableSum sum;
  bool ribbon = false;
};

}  // namespace

std::vector<SortedRuns> GetSortedRuns(const rocksdb::DB& db) {
  std::vector<SortedRuns> all;
  std::vector<Part> parts;
  const auto database = tree::Registry::Get().Find(*const_cast<rocksdb::DB&>(db).GetRootDB());
  if (database == nullptr) return all;
  {
    const auto lock = database->Lock();
    for (const auto& [name, family] : database->families) {
      std::optional<std::pair<int, int>> last;
      for (const auto& [place, sum] : family->ListAll()) {
        const std::pair<int, int> run = {place.level, place.size_class};
        if (std::exchange(last, run) != run) {
          all.emplace_back().column_family = name;
          all.back().level = place.level;
        }
        SortedRuns& runs = all.back();
        runs.tables += sum.tables;
        runs.keys += sum.keys;
        runs.filter_bytes += sum.filter_bytes;
        parts.push_back({all.size() - 1, sum, place.ribbon});
      }
    }
  }
  const FilterBuilder bloom = NewPlanner(/*ribbon=*/false);
  const FilterBuilder ribbon = NewPlanner(/*ribbon=*/true);
  std::vector<std::uint64_t> ribbon_keys(all.size());
  for (const Part& part : parts) {
    if (part.sum.keys == 0) continue;  // lookups ask no table without keys
    SortedRuns& runs = all[part.runs];
    const auto filter = PlanMean(part.sum, part.ribbon ? ribbon : bloom);
    // Where Ribbon filters are built, tables of few keys have Bloom filters.
    if (filter && filter->Kind() == FilterKind::kRibbon) ribbon_keys[part.runs] += part.sum.keys;
    const double asked = model::AskedOfRun(runs.level, tree::Real(part.sum.tables),
                                           tree::Real(part.sum.keys), tree::Real(runs.keys));
    runs.wasted_per_1000 += 1000.0 * asked * (filter ? filter->FalsePositiveRate() : 1.0);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].runs = all[i].level == 0 ? all[i].tables : 1;
    all[i].ribbon = all[i].keys != 0 && 2 * ribbon_keys[i] >= all[i].keys;
  }
  return all;
}

}  // namespace exactbloom
