// The answer of `exactbloom advise`: one setting for all column families that wastes the fewest
// reads in the same memory.
//
// Each kind of setting (ribbonfilter, classic_bloom, exact_ribbon, exactbloom with and without
// Ribbon filters) has one number, the bits per key, by which both the memory and the reads that it
// saves grow. So each gets as many bits per key as the memory allows, or as save reads of files,
// and then they are compared with each other and with the present settings, each as if all tables
// were rewritten with it now.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "info_log.h"
#include "plugin/policy_options.h"
#include "tool/database/tree_filters.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {

// A simpler setting is preferred if lookups read at most this share more tables.
inline constexpr double kWorthwhileGain = 0.02;
// So is RocksDB's own ribbonfilter, which needs no library.
inline constexpr double kLibraryGain = 0.05;
// The present settings stay unless lookups read so many times fewer tables with another one, or its
// filters take so many times fewer bytes.
inline constexpr double kLeastGain = 1.1;
// Fewer bits are advised where lookups read at most this share more tables than with
// kUsualBits bits per key: where nearly all find their key, filters save little.
inline constexpr double kFreeReads = 0.002;
inline constexpr double kUsualBits = 10.0;
// On average. More is of no use: at 20 a Bloom filter lets one of 15,000 absent keys pass.
inline constexpr double kMostAdvisedBits = 20.0;

// Returns the settings for all of these trees in at most `memory` bytes, the one with the fewest
// reads first; none if no setting gives filters in it. They keep memory_budget and hash_seed of
// `base`.
//   present   the share of lookups that find their key, by which the trees were inspected
std::vector<TreePlan> FindCandidates(const std::vector<Tree>& trees, const PolicyOptions& base,
                                     std::uint64_t memory, double present = 0.0);

// Whether any lookup asks a table of it that lacks the key.
bool IsAsked(const Tree& tree);

// Returns why there are no candidates for a tree.
//   present   as for FindCandidates
std::string WhyNoCandidates(const Tree& tree, const PolicyOptions& base, std::uint64_t memory,
                            double present = 0.0);

// Returns the index of the simplest candidate that `serves`, if that is given, with which lookups
// read at most kWorthwhileGain more than with the first, or kLibraryGain for ribbonfilter; of
// equally simple ones the first. Nothing if none serves. `candidates` must be in order and not
// empty.
//   read   the tables that lookups of present keys read, one each
std::optional<std::size_t> Choose(const std::vector<TreePlan>& candidates, double read = 0.0,
                                  const std::function<bool(const TreePlan&)>& serves = nullptr);

// What prevents filters from working as the advice assumes, and what to do.
struct Warning {
  std::string name;  // for programs, such as "tables_without_filter"
  std::string seen;  // with its figures
  std::string remedy;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Warning, name, seen, remedy)

std::vector<Warning> WarningsOf(const std::string& column_family, const Inspection& inspection,
                                const InfoLog& log = {});

// A prefix extractor for seeks, which no filter serves without one.
struct SeekAdvice {
  std::size_t prefix_bytes = 0;  // 0: the keys suggest none
  double keys_per_prefix = 0.0;
  double reads_now = 0.0;   // of blocks, by a seek of an absent prefix
  double reads_then = 0.0;  // with filters of prefixes
};

// Returns the extractor that the keys of a column family suggest. Reads the keys of one table.
SeekAdvice AdviseOnSeeks(const Tree& tree, const TreePlan& setting, const Inspection& inspection);

// Returns the length of the prefixes that consecutive keys share in groups, 0 if there are none: of
// the longest range of lengths that tell the same groups apart, the one that ends at a punctuation
// mark, or else a multiple of eight or four.
std::size_t FindPrefixLength(const std::vector<std::string>& keys);

// Column families that get one setting: one, or all.
struct FamilyAdvice {
  std::vector<Tree> trees;
  std::string policy;                 // now; "3 settings" for several
  std::optional<TreePlan> rewritten;  // what it gives if all tables are written anew,
  std::string unpredictable;          // or why that is not known
  bool has_other_filters = false;     // the tables, than the present setting gives
  bool has_our_filters = false;       // ExactBloom's, which need the library
  PolicyOptions base;                 // whose budget and seed stay
  std::uint64_t memory = 0;           // the most bytes
  double present = 0.0;               // the share of lookups that find their key
  std::vector<TreePlan> candidates;
  std::optional<std::size_t> best;  // none: no candidate is better by kLeastGain
  bool compacts = false;            // the present setting is advised, and a compaction

  // Why there is no advice, and what to do first, if anything.
  std::string refusal;
  std::string remedy;

  // What sets the best one: a line of C++, and the lines that replace those of the OPTIONS file, of
  // the database and of the column families.
  std::string code_line;
  std::string listener_lines;
  std::string options_lines;

  std::vector<Warning> warnings;
  std::optional<SeekAdvice> seeks;  // where the LOG has seeks that no filter serves

  const std::string& Name() const { return trees.front().column_family; }
  std::uint64_t Keys() const;
  std::uint64_t Runs() const;
  FilterSums Now() const;
  // Of the tables rewritten with the present setting, where that is known.
  FilterSums Kept() const { return rewritten ? rewritten->filters : Now(); }
  // Since all lookups find their key before they ask another table.
  bool ReadsNothingInVain() const;
  // Nothing if the setting stays.
  const TreePlan* Best() const { return best ? &candidates[*best] : nullptr; }
  // After the advice is followed.
  FilterSums Then() const {
    return best ? candidates[*best].filters : compacts ? rewritten->filters : Now();
  }
  // Per lookup, as a mean over the column families.
  double Wasted(const FilterSums& filters) const {
    return filters.wasted_reads / static_cast<double>(trees.size());
  }
  double Reads(const FilterSums& filters) const { return present + Wasted(filters); }
};

struct Advice {
  std::string database;           // empty: of info logs alone,
  double known = 1.0;             // which tell of this share of the tables' bytes
  std::string options_file;       // empty if there is none,
  std::string no_options_reason;  // and why
  // One setting for all column families with keys, but for those that are refused one; the advice
  // for each alone. `all` has no trees if every one is refused.
  FamilyAdvice all;
  std::vector<FamilyAdvice> families;
  double present = 0.0;               // the share of lookups that find their key
  bool present_is_given = false;      // by --present, or by the counters of the LOG
  std::uint64_t unreadable = 0;       // tables
  std::vector<std::string> left_out;  // what could not be read
  InfoLog log;
  // The part that the column families of `all` have of the tables that filters let pass in vain, if
  // all of the database are asked alike.
  double passes = 1.0;

  // Column families whose keys suggest a prefix extractor for their seeks.
  std::vector<const FamilyAdvice*> WithPrefixes() const;
  // Mostly seeks that no filter serves, but would with a prefix extractor: info logs alone do not
  // tell whether the keys suggest one.
  bool SeeksOnly() const;
  // Per lookup, as a mean over the column families of `all`, if each had its own setting.
  double WastedApart() const;
};

// Returns the advice for the column families of an inspected database; no families if it has no
// keys in tables. The inspection must be by the present share of PresentShareOf.
//   log   of the same database
Advice AdviseOn(const Inspection& inspection, const InfoLog& log, const AdviseArguments& arguments);

// Returns the share of lookups that find their key: that of the arguments, or of the LOG, or 0.
double PresentShareOf(const AdviseArguments& arguments, const InfoLog& log);

// "exactbloom:10", "keep it".
std::string ShortAdvice(const FamilyAdvice& family);

// The advice in a sentence.
std::string VerdictOf(const Advice& advice);

// A part of how the advice is followed.
struct AdviceStep {
  std::string title;  // for a page; empty: it belongs to the one before
  std::string text;
  std::string lines;  // to copy; may be empty
};

// None if the setting stays.
std::vector<AdviceStep> StepsOf(const FamilyAdvice& all);

// The answer in at most kMostLines lines, or with details all that is known.
inline constexpr int kMostLines = 20;
std::string FormatAdvice(const Advice& advice, bool details);
nlohmann::json ToJson(const Advice& advice);

}  // namespace exactbloom::tool
