// The answer of `exactbloom advise`: the best setting of a database's filter policy.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "diagnostics.h"
#include "setting_search.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {

// The lines that set a policy, in an OPTIONS file and in C++.
struct SettingLines {
  std::string options;
  std::string code;
};

struct FamilyAdvice {
  Tree tree;
  Constraint constraint;
  // The present filters, and then the settings that meet the constraint, the cheapest first.
  std::vector<Candidate> candidates;
  std::size_t best = 0;  // index of a candidate; 0: a change gains nothing
  // With --memory: what keeps the filters within it while the tree grows.
  std::optional<Candidate> bounded;

  // What sets the best one and the bounded one, and the command that rewrites the tables.
  SettingLines lines;
  SettingLines bounded_lines;
  std::string rebuild_command;
  // Tables that already have a filter of the best setting's kind and lines, so that rebuild leaves
  // them.
  std::uint64_t left_by_rebuild = 0;
  std::uint64_t tables = 0;

  std::vector<Diagnostic> diagnostics;
};

struct Advice {
  std::string database;
  std::string options_file;       // empty if there is none,
  std::string no_options_reason;  // and why
  std::optional<FilterCounters> counters;
  std::string statistics_file;  // empty: no counters
  LookupCosts costs;
  std::vector<FamilyAdvice> families;
  std::uint64_t unreadable = 0;
};

// Throws support::InputError for a question that has no answer, and as Inspect.
Advice Advise(const AdviseArguments& arguments);

std::string FormatAdvice(const Advice& advice);

nlohmann::json ToJson(const Advice& advice);

}  // namespace exactbloom::tool
