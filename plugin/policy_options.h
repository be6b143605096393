// The options of the policies: their text form, their ranges, their errors.
#pragma once

#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>
#include <rocksdb/table.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exactbloom/filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/layout.h"
#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

enum class PolicyKind : std::uint8_t {
  kExactBloom,
  kExactRibbon,
  kClassicBloom,
  kStandardBloom,
  kRocksDBBloom
};
inline constexpr std::array<PolicyKind, 5> kPolicyKinds = {
    PolicyKind::kExactBloom, PolicyKind::kExactRibbon, PolicyKind::kClassicBloom,
    PolicyKind::kStandardBloom, PolicyKind::kRocksDBBloom};

// A policy: the options of its kind, which filter_policy.h describes; the others have their
// defaults.
struct PolicyOptions {
  // NOLINTNEXTLINE(google-explicit-constructor): a kind is the policy with its defaults
  PolicyOptions(PolicyKind policy = PolicyKind::kClassicBloom) : kind(policy) {}

  PolicyKind kind;
  double bits_per_key = 10.0;
  std::uint64_t hash_seed = 0;
  // Of exactbloom.
  std::uint64_t memory_budget = 0;
  double memory_percent = 0.0;  // instead: of the memory that the process may use
  std::string budget;           // the name of the budget
  BudgetCovers covers = BudgetCovers::kFilters;
  bool ribbon = true;
  // Of the plain policies.
  double fpr = 0.0;
};

// Returns the options of a policy of ExactBloom, or of one that forwards to it; nothing for
// another, or null.
std::optional<PolicyOptions> OptionsOf(const rocksdb::FilterPolicy* policy);

// Whether a policy builds filters of ExactBloom.
inline bool HasOwnFilters(const PolicyOptions& options) {
  return options.kind != PolicyKind::kRocksDBBloom;
}

// The Bloom filters of a policy that has its own.
inline BloomKind BloomKindOf(const PolicyOptions& options) {
  const bool standard = options.kind == PolicyKind::kStandardBloom;
  return standard ? BloomKind::kStandard : BloomKind::kClassic;
}

// The plain policy with Bloom filters of a kind.
inline PolicyOptions PlainPolicy(BloomKind kind) {
  const bool standard = kind == BloomKind::kStandard;
  return {standard ? PolicyKind::kStandardBloom : PolicyKind::kClassicBloom};
}

// Whether a policy has Ribbon filters, and Bloom filters only where few keys are.
inline bool HasRibbon(const PolicyOptions& options) {
  return options.kind == PolicyKind::kExactRibbon ||
         (options.kind == PolicyKind::kExactBloom && options.ribbon);
}

// Whether no table gets a filter by these options.
bool MakesNoFilters(const PolicyOptions& options);

// What a policy with its own filters asks of a builder.
FilterOptions ToFilterOptions(const PolicyOptions& options);

// Whether the live tree decides how many bits per key a table gets, which needs a tree listener.
inline bool FollowsTree(const PolicyOptions& options) {
  return options.kind == PolicyKind::kExactBloom;
}

bool HasTreeListener(const rocksdb::DBOptions& options);

inline bool HasBudget(const PolicyOptions& options) {
  return options.memory_budget != 0 || options.memory_percent != 0.0 || !options.budget.empty();
}

// The size that the options give their budget; 0: none.
std::uint64_t BytesOfBudget(const PolicyOptions& options);

// Returns the text that the option `covers` takes, and reads it; nothing for another one.
std::string FormatCovers(BudgetCovers covers);
std::optional<BudgetCovers> ReadCovers(const std::string& text);

// Reads and checks the name and the size of a budget, as the options `budget` and `memory_budget`
// have them, of which the others keep their defaults. InvalidArgument names what is wrong.
rocksdb::Status ParseBudget(const std::string& name, const std::string& size,
                            PolicyOptions* options);

// Returns the shortest text that reads back as the same number, in C's notation whatever the
// process's locale is.
std::string FormatNumber(double value);

// Returns by how many bits the unit behind a number of bytes shifts it: K, M, G or T, also with B
// or iB, in capitals or not, which are powers of 1024, or none; nothing for another text.
std::optional<int> ShiftOfUnit(std::string_view text);

// Returns the names of the options that policies of a kind have.
std::vector<std::string> OptionNames(PolicyKind kind);

// Returns the name of the policies of a kind: exactbloom, exact_ribbon, classic_bloom,
// standard_bloom or rocksdb_bloom.
const char* PolicyName(PolicyKind kind);

// Reads a name alone, `classic_bloom`, or with bits_per_key, `classic_bloom:10`. `:true` or
// `:false` may follow, which mean nothing, as in RocksDB's `bloomfilter:10:false`. The name stays
// if the number is wrong.
rocksdb::Status ParsePolicyId(const std::string& id, PolicyOptions* options);

// Sets the options of `values`, of the policy that `options` is. InvalidArgument for an option that
// it does not have, naming all that exist, for bits_per_key beside fpr, and for what
// ValidatePolicyOptions refuses. The options that come before an error are changed.
rocksdb::Status ParsePolicyFields(const std::unordered_map<std::string, std::string>& values,
                                  PolicyOptions* options, bool ignores_unknown = false);

// Reads what filter_policy= takes: `classic_bloom`, `exactbloom:10` or
// `{id=classic_bloom;bits_per_key=9;hash_seed=1}`, with or without braces. Errors as above, and for
// another policy.
//   sets_bits   null, or becomes whether the text has bits_per_key or fpr
rocksdb::Status ParsePolicy(const std::string& text, PolicyOptions* options,
                            bool* sets_bits = nullptr);

// Takes over what a program set, by a text or by the options of a policy. Errors as above.
rocksdb::Status TakeSetting(const PolicySetting& setting, PolicyOptions* options);

// InvalidArgument, naming option, value and range, or OK.
rocksdb::Status ValidatePolicyOptions(const PolicyOptions& options);

// Whether a false-positive rate sizes the filters, beside which bits_per_key means nothing.
inline bool HasRate(const PolicyOptions& options) { return options.fpr != 0.0; }

// Returns the text that filter_policy= takes for a policy: exactbloom:10 where only bits_per_key
// matters, and otherwise `{id=classic_bloom;bits_per_key=9;hash_seed=1}`: the name, and the options
// that have not their defaults. bits_per_key is always among them, unless fpr is.
std::string FormatPolicy(const PolicyOptions& options);

// The same without braces, and with other delimiters between the options.
std::string FormatPolicyFields(const PolicyOptions& options, const std::string& delimiter);

// The part of it that names the policy: exactbloom:10, or classic_bloom.
std::string FormatPolicyId(const PolicyOptions& options);

// A text in place of these that cannot be made: it names the policy, and every reader refuses it,
// so that no other policy takes its place. It fits into the string object, and so takes no memory.
//   name   of up to 14 characters
std::string RefusedPolicyId(const char* name);

}  // namespace exactbloom
