// What `exactbloom advise` has to say, and its text and JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "database_log.h"
#include "diagnostics.h"
#include "setting_search.h"
#include "tool/database/inspection.h"
#include "tree_shape.h"

namespace exactbloom::tool {

struct AdviceQuestion {
  std::string path;
  std::optional<std::uint64_t> memory_bytes;  // of all column families
  std::optional<double> rate;
  std::optional<double> wasted_reads;  // of each column family
  double read_nanoseconds = 0.0;
  std::string statistics_file;
  bool json = false;
};

struct FamilyAdvice {
  TreeShape tree;
  Constraint constraint;
  // What the tables have now, and then the settings that meet the constraint, the cheapest first.
  std::vector<Candidate> candidates;
  std::size_t best = 0;  // of the candidates; 0: nothing is gained by a change
  // Tables that have a filter of the best setting's kind and lines already, which rebuild leaves.
  std::uint64_t left_by_rebuild = 0;
  std::uint64_t tables = 0;
  std::vector<Trap> traps;
};

struct Advice {
  AdviceQuestion question;
  std::string database;
  std::string options_file;       // empty where there is none,
  std::string no_options_reason;  // and why
  std::optional<FilterCounters> counters;
  std::string counters_source;  // or why there are none
  std::vector<FamilyAdvice> families;
  std::uint64_t unreadable = 0;
};

// Throws support::InputError for a question that has no answer, and as Inspect.
Advice Advise(const AdviceQuestion& question);

std::string FormatAdvice(const Advice& advice);

nlohmann::json ToJson(const Advice& advice);

// The lines to paste.
std::string OptionsLines(const FamilyAdvice& family);
std::string CodeLines(const FamilyAdvice& family);
std::string RebuildCommand(const Advice& advice, const FamilyAdvice& family);

// "memory", "fpr" or "wasted_reads".
const char* NameOf(Goal goal);

}  // namespace exactbloom::tool
