// The answer of `exactbloom advise`: the setting that wastes the fewest reads in the same memory.
//
// Each kind of setting (classic_bloom, exactbloom, exactbloom without Ribbon filters) has one
// number, the bits per key, by which both the memory and the reads that it saves grow. So each gets
// as many bits per key as the memory allows, and then they are compared.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugin/allocation/allocation.h"
#include "tool/database/tree_filters.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {

// A simpler setting is preferred if it wastes at most this share of reads more.
inline constexpr double kWorthwhileGain = 0.02;

struct Candidate {
  PolicyOptions options;
  std::string policy;  // the text of filter_policy=
  LevelFilters levels;
  FilterSums filters;
};

// Returns the settings in at most `memory` bytes, the one that wastes the fewest reads first; none
// if the memory is too small for any filter. They keep the lines, memory_budget and hash_seed of
// `base`.
std::vector<Candidate> FindCandidates(const Tree& tree, const PolicyOptions& base,
                                      std::uint64_t memory);

// Returns the index of the simplest candidate within kWorthwhileGain of the first; of equally
// simple ones the first. `candidates` must be in order and not empty.
std::size_t Choose(const std::vector<Candidate>& candidates);

// What prevents filters from working as the advice assumes, and what to do.
struct Warning {
  std::string name;  // for programs, such as "tables_without_filter"
  std::string seen;  // with its figures
  std::string remedy;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Warning, name, seen, remedy)

std::vector<Warning> WarningsOf(const std::string& column_family, const Inspection& inspection);

struct FamilyAdvice {
  Tree tree;
  std::string policy;        // now
  std::uint64_t memory = 0;  // the most bytes
  std::vector<Candidate> candidates;
  std::optional<std::size_t> best;  // none: no candidate is better by kWorthwhileGain

  // What sets the best one: lines of the OPTIONS file, lines of C++, a command.
  std::string options_lines;
  std::string code_lines;
  std::string rebuild_command;

  std::vector<Warning> warnings;
};

struct Advice {
  std::string database;
  std::string options_file;       // empty if there is none,
  std::string no_options_reason;  // and why
  std::vector<FamilyAdvice> families;
  std::uint64_t unreadable = 0;
};

std::string FormatAdvice(const Advice& advice);
nlohmann::json ToJson(const Advice& advice);

}  // namespace exactbloom::tool
