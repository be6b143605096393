// The options of the policies: their text form, their ranges, their errors.
#pragma once

#include <rocksdb/status.h>
#include <rocksdb/utilities/options_type.h>

#include <string>
#include <unordered_map>

#include "exactbloom/filter_policy.h"

namespace exactbloom {

using PolicyOptions = BloomFilterPolicyOptions;

// For Configurable::RegisterOptions, with a PolicyOptions.
const std::unordered_map<std::string, rocksdb::OptionTypeInfo>& PolicyOptionTypes();

// Reads the part of `classic_bloom:10` behind the colon.
rocksdb::Status ParseBitsPerKey(const std::string& text, PolicyOptions* options);

// InvalidArgument, naming option, value and range or the options that exclude each other, or OK.
rocksdb::Status ValidatePolicyOptions(const PolicyOptions& options);

// Returns `name=value` of the options that have not their defaults, bits_per_key left out, each
// followed by `delimiter`.
std::string FormatChangedOptions(const PolicyOptions& options, const std::string& delimiter);

// The shortest text that reads back as the same number.
std::string FormatNumber(double value);

}  // namespace exactbloom
