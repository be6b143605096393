// The subcommands of exactbloom: the arguments of each, with the defaults, and the function that
// prints the answer. They throw support::InputError for a question that has no answer, and
// support::Findings after an answer that found something wrong in the database. None of them writes
// to a database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugin/policy_options.h"
#include "support/key_file.h"

namespace exactbloom::tool {

// The rate of a filter of m bits, n keys and k probes, or for each k; or what the number of its
// ones tells of a filter. Kinds of filters are those of plain policies.
struct RateArguments {
  PolicyKind kind = PolicyKind::kClassicBloom;
  std::uint64_t bits = 0;
  std::optional<std::uint64_t> keys;
  std::optional<int> probes;          // of Bloom filters
  std::optional<std::uint64_t> ones;  // of one Bloom filter, which has been filled
  // Of another filter of the same bits and probes, and of the bitwise OR of both.
  std::optional<std::uint64_t> other_ones;
  std::optional<std::uint64_t> union_ones;
  bool json = false;
};
void RunRate(const RateArguments& arguments);

// The filter for a number of keys. One of the targets is given.
struct PlanArguments {
  PolicyKind kind = PolicyKind::kClassicBloom;
  std::uint64_t keys = 0;
  std::optional<double> bits_per_key;
  std::optional<double> rate;
  std::optional<std::uint64_t> memory_bytes;
  bool json = false;
};
void RunPlan(const PlanArguments& arguments);

// Absent keys from a file.
struct Lookups {
  support::KeyFormat format = support::KeyFormat::kText;
  std::vector<std::string> keys;  // none: drawn
};

// What lines are sorted by: the largest first, or the names.
enum class SortKey { kName, kWasted, kKeys, kBits, kSize };

// The filters of a database's tables, and their rates.
struct InspectArguments {
  std::vector<std::string> paths;  // here and below: a database's directory, or table files
  Lookups lookups;                 // drawn as the stored ones
  std::string column_family;       // the only one; empty: all
  SortKey sort = SortKey::kName;
  std::optional<std::uint64_t> top;  // column families, and tables, that are shown
  bool tables = false;               // with a line per table
  bool prometheus = false;           // its text format instead
  bool fails_on_unfiltered = false;  // whether tables without a working filter are a finding
  std::string html;                  // the file of a page instead; empty: none
  bool json = false;
};
void RunInspect(const InspectArguments& arguments);

// Whether every filter contains its keys and has its exact rate.
struct VerifyArguments {
  static constexpr int kMostThreads = 256;

  std::vector<std::string> paths;
  std::uint64_t absent = 10'000;  // keys per table
  std::uint64_t seed = 0;         // of these keys
  Lookups lookups;                // in place of drawn ones
  int threads = 1;
  bool json = false;
};
void RunVerify(const VerifyArguments& arguments);

// The keys that newer sorted runs have made obsolete, and what a compaction would free.
struct OverlapArguments {
  std::vector<std::string> paths;
  std::string column_family;  // the only one; empty: all
  bool json = false;
};
void RunOverlap(const OverlapArguments& arguments);

// The best filter policy for a database.
struct AdviseArguments {
  std::vector<std::string> paths;             // a database's directory, or its info logs
  std::optional<std::uint64_t> memory_bytes;  // of all column families
  std::string column_family;                  // the only one that is advised on; empty: all
  Lookups lookups;
  std::optional<double> present;  // the share of lookups that find their key; nothing: of the LOG
  bool details = false;           // with what each setting gives, all ways to set it and warnings
  bool json = false;
};
void RunAdvise(const AdviseArguments& arguments);

// Whether RocksDB understands the filter policies of an OPTIONS file. Throws support::Need if only
// a program that registers ExactBloom's policies does, and it is not said whether this one does.
struct CheckArguments {
  std::string path;  // or of a database, whose newest OPTIONS file counts
  bool registers = false;
  bool stock = false;                        // the program does not register them
  std::vector<std::string> known_listeners;  // the program's own
  bool json = false;
};
void RunCheck(const CheckArguments& arguments);

}  // namespace exactbloom::tool
