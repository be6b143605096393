// The subcommands of exactbloom: the arguments of each, with the defaults, and the function that
// prints the answer. They throw support::InputError for a question that has no answer, and
// support::Findings after an answer that found something wrong in the database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exactbloom/layout.h"

namespace exactbloom::tool {

// The rate of a filter of m bits, n keys and k probes.
struct RateArguments {
  Layout layout;
  std::uint64_t bits = 0;
  std::uint64_t keys = 0;
  int probes = 0;
  bool json = false;
};
void RunRate(const RateArguments& arguments);

// The filter for a number of keys, or for the levels of a tree. One of the targets is given.
struct PlanArguments {
  Layout layout;
  std::optional<std::uint64_t> keys;
  std::vector<std::uint64_t> levels;  // keys of each, smallest first
  std::optional<double> bits_per_key;
  std::optional<double> rate;  // without levels only
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> wasted_reads;  // with levels only
  bool ribbon = false;
  bool json = false;
};
void RunPlan(const PlanArguments& arguments);

// The filters of a database's tables, and their rates.
struct InspectArguments {
  std::vector<std::string> paths;    // here and below: a database's directory, or table files
  std::vector<std::string> lookups;  // absent keys; none: drawn as the stored ones
  bool summary = false;
  bool json = false;
};
void RunInspect(const InspectArguments& arguments);

// Whether every filter contains its keys and has its exact rate.
struct VerifyArguments {
  static constexpr int kMostThreads = 256;

  std::vector<std::string> paths;
  std::uint64_t absent = 10'000;  // keys per table
  std::uint64_t seed = 0;         // of these keys
  int threads = 1;
  bool json = false;
};
void RunVerify(const VerifyArguments& arguments);

// The best filter policy for a database.
struct AdviseArguments {
  std::string path;
  std::optional<std::uint64_t> memory_bytes;  // of all column families
  std::vector<std::string> lookups;
  bool json = false;
};
void RunAdvise(const AdviseArguments& arguments);

// Whether RocksDB understands the filter policies of an OPTIONS file.
struct CheckArguments {
  std::string path;
  bool json = false;
};
void RunCheck(const CheckArguments& arguments);

// Rewrites tables that lack the filter of the present policy.
struct RebuildArguments {
  std::string path;
  std::string policy;                  // empty: that of the OPTIONS file
  std::uint64_t bytes_per_second = 0;  // 0: unlimited
  std::uint64_t max_bytes = 0;         // 0: unlimited
  bool other_sizes = false;            // tables whose filter has another size as well
  bool all = false;                    // all tables
  bool dry_run = false;
  bool json = false;
};
void RunRebuild(const RebuildArguments& arguments);

}  // namespace exactbloom::tool
