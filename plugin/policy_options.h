// The options of the policies: their text form, their ranges, their errors.
#pragma once

#include <rocksdb/status.h>
#include <rocksdb/utilities/options_type.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "allocation/allocation.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/layout.h"
#include "exactbloom/rocksdb_namespace.h"

namespace exactbloom {

// For Configurable::RegisterOptions, with a PolicyOptions of this kind.
const std::unordered_map<std::string, rocksdb::OptionTypeInfo>& PolicyOptionTypes(PolicyKind kind);

// Returns the name of the policies of a kind: exactbloom, classic_bloom or standard_bloom.
const char* PolicyName(PolicyKind kind);

// Returns `classic_bloom:10`, or where other options are set `classic_bloom:10/lines:1`: the
// options of FormatPolicyFields, bits_per_key without its name. RocksDB makes a policy from it as
// from a name alone, so it contains none of the characters that separate options.
std::string FormatPolicyId(const PolicyOptions& options);

// Reads the part behind the first colon. The options that come before an error are changed.
rocksdb::Status ParsePolicyId(const std::string& text, PolicyOptions* options);

// Reads what filter_policy= takes: `classic_bloom`, `exactbloom:10` or
// `{id=classic_bloom;bits_per_key=9;lines=1}`, with or without braces. InvalidArgument for another
// policy, an option that it does not have, and what ValidatePolicyOptions refuses.
//   sets_bits   null, or becomes whether the text has bits_per_key, or what replaces it
rocksdb::Status ParsePolicy(const std::string& text, PolicyOptions* options,
                            bool* sets_bits = nullptr);

// InvalidArgument, naming an option of `values` that a policy of this kind does not have, its value
// and all options that exist; `otherwise` if it has all.
rocksdb::Status RefuseUnknownOption(PolicyKind kind,
                                    const std::unordered_map<std::string, std::string>& values,
                                    const rocksdb::Status& otherwise);

// InvalidArgument if `values`, which `options` was changed by, have bits_per_key, and another
// option replaces it.
rocksdb::Status RefuseReplacedBits(const std::unordered_map<std::string, std::string>& values,
                                   const PolicyOptions& options);

// InvalidArgument, naming option, value and range or the options that exclude each other, or OK.
rocksdb::Status ValidatePolicyOptions(const PolicyOptions& options);

// Whether bits_per_key means nothing beside other options.
inline bool ReplacesBits(const PolicyOptions& options) {
  return options.fpr != 0.0 || !options.level_bits.empty();
}

// Returns what filter_policy= takes for a policy: exactbloom:10 where only bits_per_key matters,
// and otherwise the fields of FormatPolicyFields between braces.
std::string FormatPolicy(const PolicyOptions& options);

// Returns `id=classic_bloom;bits_per_key=9;lines=1`, separated by `delimiter`: the name, and the
// options that have not their defaults. bits_per_key is always among them, unless other options
// replace it. Empty where the short form says all.
std::string FormatPolicyFields(const PolicyOptions& options, const std::string& delimiter);

// Returns `14:9.5`.
std::string FormatLevelBits(const std::vector<double>& bits_per_key);

// The shortest text that reads back as the same number.
std::string FormatNumber(double value);

}  // namespace exactbloom
