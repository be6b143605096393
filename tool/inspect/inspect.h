// The answer of `exactbloom inspect`: as text, and as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tool/database/inspection.h"
#include "tool/database/tree_filters.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {

// "exact", "model" or "mixed", by the filters that tables have.
std::string KindOfRate(const std::map<std::string, std::uint64_t>& families);

// What policies that follow the tree would give if all tables were written now, by the column
// families that the OPTIONS file sets them for.
std::map<std::string, TreePlan> PlansOf(const Inspection& inspection);

// Whether the OPTIONS file names ExactBloom's policies.
bool NamesOurs(const Inspection& inspection);

// The answer in a sentence, for the database, or for single files, which have no lookups.
std::string AnswerOf(const Inspection& inspection);

// "2 bloom, 1 none".
std::string Kinds(const FilterSummary& summary);

// Whether there are tables with keys whose filter does not work, or that have none.
bool HasUnfiltered(const FilterSummary& sums);

// Column families whose filters and wasted reads are alike.
struct FamilyGroup {
  std::vector<std::string> names;
  FilterSummary first;
  FilterSummary sums;
};
std::vector<FamilyGroup> GroupsOf(const Inspection& inspection);

// In lines as wide as the terminal: the database in a sentence, its column families, its levels.
std::string FormatInspection(const Inspection& inspection, const InspectArguments& arguments);

nlohmann::json ToJson(const Inspection& inspection);

// In the text format of Prometheus.
std::string MetricsOf(const Inspection& inspection);

}  // namespace exactbloom::tool
