#include "tree_shape.h"

#include <algorithm>
#include <numeric>

namespace exactbloom::tool {
namespace {

std::uint64_t KeysForFilters(const TableReport& table) {
  if (table.keys != 0) return table.keys;
  return table.filter.entries - std::min(table.filter.entries, table.filter.range_deletes);
}

CheckedFilter AskedFilter(const TableReport& table) {
  const bool unused = table.use && table.use->use == FilterUse::kUnused;
  return unused ? CheckedFilter::kNone : CheckedFilterOf(table.filter);
}

void SetOptions(const FamilyOptions& family, TreeShape* tree) {
  tree->num_levels = family.options.num_levels;
  tree->size_multiplier = family.options.max_bytes_for_level_multiplier;
  tree->compaction_style = family.options.compaction_style;
  tree->deepest_unfiltered = family.options.optimize_filters_for_hits;
  if (family.table != nullptr) tree->table_options = *family.table;
}

void AddTable(const TableReport& table, LevelShape* level) {
  const std::uint64_t keys = KeysForFilters(table);
  level->tables += 1;
  level->keys += keys;
  level->filter_bytes += table.filter.bytes;
  level->filters[AskedFilter(table)] += static_cast<double>(keys);
}

void Finish(TreeShape* tree) {
  for (LevelShape& level : tree->levels) {
    level.runs = level.level == 0 ? level.tables : 1;
    for (auto& [filter, keys] : level.filters) {
      keys /= std::max(1.0, static_cast<double>(level.keys));
    }
  }
  LevelShape& last = tree->levels.back();
  last.deepest = last.level > 0;
}

}  // namespace

std::uint64_t TreeShape::Keys() const {
  return std::accumulate(levels.begin(), levels.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& level) { return sum + level.keys; });
}

std::uint64_t TreeShape::Runs() const {
  return std::accumulate(levels.begin(), levels.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& level) { return sum + level.runs; });
}

std::uint64_t TreeShape::FilterBytes() const {
  return std::accumulate(
      levels.begin(), levels.end(), std::uint64_t{0},
      [](std::uint64_t sum, const auto& level) { return sum + level.filter_bytes; });
}

double TreeShape::WastedReads() const {
  return std::accumulate(levels.begin(), levels.end(), 0.0,
                         [](double sum, const auto& level) { return sum + level.wasted_reads; });
}

double TreeShape::CheckNanoseconds() const {
  double sum = 0.0;
  for (const LevelShape& level : levels) {
    for (const auto& [filter, share] : level.filters) {
      sum +=
          static_cast<double>(level.runs) * share * tool::CheckNanoseconds(filter, FilterBytes());
    }
  }
  return sum;
}

std::vector<TreeShape> ShapesOf(const Inspection& inspection) {
  std::map<std::string, std::map<int, LevelShape>> families;
  for (const TableReport& table : inspection.tables) {
    if (!table.status.ok()) continue;
    AddTable(table, &families[table.filter.column_family][table.filter.level]);
  }
  for (const FilterSummary& summary : inspection.levels) {
    const auto family = families.find(summary.column_family);
    if (family == families.end()) continue;
    const auto level = family->second.find(summary.level);
    if (level != family->second.end()) level->second.wasted_reads = summary.wasted_reads;
  }
  std::vector<TreeShape> trees;
  for (const auto& [name, levels] : families) {
    TreeShape& tree = trees.emplace_back();
    tree.column_family = name;
    if (inspection.options && inspection.options->families.count(name) != 0) {
      SetOptions(inspection.options->families.at(name), &tree);
    }
    for (const auto& [number, level] : levels) {
      tree.levels.push_back(level);
      tree.levels.back().level = number;
    }
    Finish(&tree);
  }
  return trees;
}

}  // namespace exactbloom::tool
