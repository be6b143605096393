// The answer of `exactbloom advise`: the setting that wastes the fewest reads in the same memory.
//
// Each kind of setting (ribbonfilter, classic_bloom, exact_ribbon, exactbloom with and without
// Ribbon filters) has one number, the bits per key, by which both the memory and the reads that it
// saves grow. So each gets as many bits per key as the memory allows, and then they are compared
// with each other and with the present setting, each as if all tables were rewritten with it now.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plugin/policy_options.h"
#include "tool/database/tree_filters.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {

// A simpler setting is preferred if it wastes at most this share of reads more.
inline constexpr double kWorthwhileGain = 0.02;
// So is RocksDB's own ribbonfilter, which needs no library.
inline constexpr double kLibraryGain = 0.05;
// The present setting stays unless another one wastes this many times fewer reads.
inline constexpr double kLeastGain = 1.2;
// Column families get one setting if theirs are of one kind and differ by less than this.
inline constexpr double kSameSettingBits = 0.2;
// On average. More is of no use: at 20 a Bloom filter lets one of 15,000 absent keys pass.
inline constexpr double kMostAdvisedBits = 20.0;

// Returns the settings in at most `memory` bytes, the one that wastes the fewest reads first; none
// if no setting gives filters in it. They keep memory_budget and hash_seed of `base`.
std::vector<TreePlan> FindCandidates(const Tree& tree, const PolicyOptions& base,
                                     std::uint64_t memory);

// Returns why there are no candidates.
std::string WhyNoCandidates(const Tree& tree, const PolicyOptions& base, std::uint64_t memory);

// Returns the index of the simplest candidate within kWorthwhileGain of the first, or kLibraryGain
// for ribbonfilter; of equally simple ones the first. `candidates` must be in order and not empty.
std::size_t Choose(const std::vector<TreePlan>& candidates);

// What prevents filters from working as the advice assumes, and what to do.
struct Warning {
  std::string name;  // for programs, such as "tables_without_filter"
  std::string seen;  // with its figures
  std::string remedy;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Warning, name, seen, remedy)

struct BlockCache {
  std::string address;  // column families with the same one share the cache
  std::uint64_t capacity = 0;
  int shard_bits = 0;
};

// What a database's file LOG says beyond its OPTIONS file.
struct InfoLog {
  std::string problem;                       // why there is one that cannot be read
  std::map<std::string, BlockCache> caches;  // by column family
  // The last dump of statistics, of the whole database since it was opened; 0 seconds: none.
  double seconds = 0.0;
  std::uint64_t lookups = 0;
  std::uint64_t passed_in_vain = 0;   // tables whose filter let a whole key pass that they lack
  std::uint64_t data_block_hits = 0;  // in the block cache
  std::uint64_t data_block_misses = 0;
};

// Knows nothing where there is no such file, or in another directory.
InfoLog ReadInfoLog(const std::string& database);

std::vector<Warning> WarningsOf(const std::string& column_family, const Inspection& inspection,
                                const InfoLog& log = {});

struct FamilyAdvice {
  Tree tree;
  std::string policy;                 // now
  std::optional<TreePlan> rewritten;  // what it gives if all tables are written anew,
  std::string unpredictable;          // or why that is not known
  bool has_other_filters = false;     // the tables, than the present setting gives
  bool has_our_filters = false;       // ExactBloom's, which need the library
  std::uint64_t memory = 0;           // the most bytes
  std::vector<TreePlan> candidates;
  std::optional<std::size_t> best;  // none: no candidate is better by kLeastGain
  bool compacts = false;            // the present setting is advised, and a compaction

  // Why there is no advice, and what to do first, if anything.
  std::string refusal;
  std::string remedy;

  // What sets the best one: a line of C++, and the lines that replace those of the OPTIONS file, of
  // the database and of the column family.
  std::string code_line;
  std::string listener_lines;
  std::string options_lines;

  std::vector<Warning> warnings;

  // Nothing if the setting stays.
  const TreePlan* Best() const { return best ? &candidates[*best] : nullptr; }
  // After the advice is followed.
  FilterSums Then() const {
    return best ? candidates[*best].filters : compacts ? rewritten->filters : tree.Now();
  }
};

struct Advice {
  std::string database;
  std::string options_file;       // empty if there is none,
  std::string no_options_reason;  // and why
  std::vector<FamilyAdvice> families;
  std::uint64_t unreadable = 0;       // tables
  std::vector<std::string> left_out;  // what could not be read
  InfoLog log;
};

// Returns the advice for all column families of an inspected database; no families if it has no
// keys in tables.
Advice AdviseOn(const Inspection& inspection, const AdviseArguments& arguments);

// "exactbloom:10", "keep it".
std::string ShortAdvice(const FamilyAdvice& family);

// Column families with one setting now, one advice, and nearly the same wasted reads.
using EqualFamilies = std::vector<const FamilyAdvice*>;
std::vector<EqualFamilies> GroupsOf(const std::vector<FamilyAdvice>& families);

// A part of how the advice is followed.
struct AdviceStep {
  std::string title;  // for a page; empty: it belongs to the one before
  std::string text;
  std::string lines;  // to copy; may be empty
};

// None if every setting stays.
std::vector<AdviceStep> StepsOf(const std::vector<FamilyAdvice>& families);

std::string FormatAdvice(const Advice& advice);
nlohmann::json ToJson(const Advice& advice);

}  // namespace exactbloom::tool
