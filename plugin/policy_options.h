// The options of the policies: their text form, their ranges, their errors.
#pragma once

#include <rocksdb/status.h>
#include <rocksdb/utilities/options_type.h>

#include <string>
#include <unordered_map>

namespace exactbloom {

struct PolicyOptions {
  // The name under which RocksDB's Configurable hands out a pointer to this struct.
  static const char* kName() { return "ExactBloomOptions"; }

  double bits_per_key = 10.0;
  int lines = 0;  // of the layout: 0 .. kMaxLines
};

// For Configurable::RegisterOptions.
const std::unordered_map<std::string, rocksdb::OptionTypeInfo>& PolicyOptionTypes();

// Reads the part of `classic_bloom:10` behind the colon.
rocksdb::Status ParseBitsPerKey(const std::string& text, double* bits_per_key);

// InvalidArgument, naming option, value and range, or OK.
rocksdb::Status ValidatePolicyOptions(const PolicyOptions& options);

// The shortest text that reads back as the same number.
std::string FormatNumber(double value);

}  // namespace exactbloom
