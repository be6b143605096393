#include "policy_options.h"

#include <cstddef>
#include <limits>
#include <locale>
#include <sstream>

#include "exactbloom/layout.h"

namespace exactbloom {
namespace {

using rocksdb::Status;

Status RefuseBitsPerKey(const std::string& value) {
  return Status::InvalidArgument("exactbloom: bits_per_key is '" + value +
                                 "', but must be a number from 0 to " +
                                 FormatNumber(kMaxBitsPerKey));
}

Status RefuseLines(const std::string& value) {
  return Status::InvalidArgument("exactbloom: lines is '" + value +
                                 "', but must be a whole number from 0 to " +
                                 std::to_string(kMaxLines));
}

// The whole text must be one number, written as in C whatever the process's locale is.
template <typename Number>
bool ReadNumber(const std::string& text, Number* value) {
  std::istringstream in(text);
  in.imbue(std::locale::classic());
  in >> std::noskipws >> *value;
  return !in.fail() && in.peek() == std::istringstream::traits_type::eof();
}

}  // namespace

std::string FormatNumber(double value) {
  constexpr int kUsualDigits = 6;  // fewer would write 10 as 1e+01
  for (int digits = kUsualDigits;; ++digits) {
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out.precision(digits);
    out << value;
    double read_back = 0.0;
    const bool same = ReadNumber(out.str(), &read_back) && read_back == value;
    if (same || digits == std::numeric_limits<double>::max_digits10) return out.str();
  }
}

Status ValidatePolicyOptions(const PolicyOptions& options) {
  if (!(options.bits_per_key >= 0.0 && options.bits_per_key <= kMaxBitsPerKey)) {
    return RefuseBitsPerKey(FormatNumber(options.bits_per_key));
  }
  if (options.lines < 0 || options.lines > kMaxLines) {
    return RefuseLines(std::to_string(options.lines));
  }
  return Status::OK();
}

Status ParseBitsPerKey(const std::string& text, double* bits_per_key) {
  PolicyOptions options;
  if (!ReadNumber(text, &options.bits_per_key)) return RefuseBitsPerKey(text);
  Status status = ValidatePolicyOptions(options);
  if (status.ok()) *bits_per_key = options.bits_per_key;
  return status;
}

Status ParseLines(const std::string& text, int* lines) {
  PolicyOptions options;
  if (!ReadNumber(text, &options.lines)) return RefuseLines(text);
  Status status = ValidatePolicyOptions(options);
  if (status.ok()) *lines = options.lines;
  return status;
}

const std::unordered_map<std::string, rocksdb::OptionTypeInfo>& PolicyOptionTypes() {
  using rocksdb::OptionTypeInfo;
  static const std::unordered_map<std::string, OptionTypeInfo> types = {
      // Not serialized: the policy's id carries it, as in classic_bloom:10.
      {"bits_per_key",
       OptionTypeInfo(offsetof(PolicyOptions, bits_per_key), rocksdb::OptionType::kDouble,
                      rocksdb::OptionVerificationType::kNormal,
                      rocksdb::OptionTypeFlags::kDontSerialize)
           .SetParseFunc([](const rocksdb::ConfigOptions&, const std::string&,
                            const std::string& value, void* address) {
             return ParseBitsPerKey(value, static_cast<double*>(address));
           })},
      {"lines", OptionTypeInfo(offsetof(PolicyOptions, lines), rocksdb::OptionType::kInt)
                    .SetParseFunc([](const rocksdb::ConfigOptions&, const std::string&,
                                     const std::string& value, void* address) {
                      return ParseLines(value, static_cast<int*>(address));
                    })},
  };
  return types;
}

}  // namespace exactbloom
