#include "policy_text.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include "exactbloom/layout.h"
#include "plugin/policy_options.h"
#include "support/filter_interfaces.h"
#include "support/nearest_name.h"
#include "support/number_text.h"
#include "support/policy_name.h"
#include "tool/database/database_files.h"
#include "tool/database/database_options.h"

namespace exactbloom::tool {
namespace {

constexpr char kBloomByDefault[] = "bloomfilter:10";

using PolicyPointer = std::shared_ptr<const rocksdb::FilterPolicy>;

// The policy that RocksDB makes of a text, or null.
PolicyPointer PolicyOf(const std::string& text) {
  PolicyPointer policy;
  rocksdb::ConfigOptions config;
  config.ignore_unsupported_options = false;
  try {
    const rocksdb::Status status = rocksdb::FilterPolicy::CreateFromString(config, text, &policy);
    return status.ok() ? policy : nullptr;
  } catch (const std::exception&) {  // RocksDB throws for numbers out of range, and catches it
    return nullptr;                  // where it reads a file
  }
}

// The words of a text, whatever its punctuation is.
struct PolicyFields {
  std::string id;
  std::vector<std::pair<std::string, std::string>> options;

  std::string Name() const { return id.substr(0, id.find(':')); }

  std::string Format() const {
    std::string text;
    for (const auto& [name, value] : options) text += fmt::format(";{}={}", name, value);
    return options.empty() ? id : fmt::format("{{id={}{}}}", id, text);
  }
};

PolicyFields FieldsOf(const std::string& text) {
  const char* const separators = text.find(';') == std::string::npos ? "{}," : "{};";
  PolicyFields fields;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    const std::string part = Trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    const std::size_t equals = part.find('=');
    const std::string name = equals == std::string::npos ? "id" : Trimmed(part.substr(0, equals));
    const std::string value = equals == std::string::npos ? part : Trimmed(part.substr(equals + 1));
    if (part.empty()) continue;
    if (name == "id" && fields.id.empty()) {
      fields.id = value;
    } else if (equals != std::string::npos) {
      fields.options.emplace_back(name, value);
    }
  }
  if (fields.id.empty()) fields.id = PolicyName(PolicyKind::kClassicBloom);
  return fields;
}

std::string NameNear(const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = support::NearestName(name, known);
  return nearest.empty() ? name : nearest;
}

PolicyFields WithKnownNames(PolicyFields fields) {
  const std::string name = fields.Name();
  fields.id.replace(0, name.size(), NameNear(name, support::PolicyNames()));
  std::vector<std::string> options;
  for (const PolicyKind kind : kPolicyKinds) {
    if (fields.Name() == PolicyName(kind)) options = OptionNames(kind);
  }
  for (auto& [option, value] : fields.options) option = NameNear(option, options);
  return fields;
}

// Without the options that come a second time.
PolicyFields WithFirstOfEach(PolicyFields fields) {
  std::set<std::string> seen = {"id"};
  if (fields.id.find(':') != std::string::npos) seen.insert("bits_per_key");
  const auto comes_again = [&](const auto& option) { return !seen.insert(option.first).second; };
  fields.options.erase(std::remove_if(fields.options.begin(), fields.options.end(), comes_again),
                       fields.options.end());
  return fields;
}

// Why RocksDB does not understand a text.
std::string WhyNotUnderstood(const std::string& text, const PolicyFields& fields) {
  if (IsNameAlone(text)) return "RocksDB does not read the name without bits per key";
  const std::vector<std::string>& names = support::PolicyNames();
  if (std::find(names.begin(), names.end(), fields.Name()) == names.end()) {
    return fmt::format("there is no filter policy '{}' here", fields.Name());
  }
  if (PolicyOf(fields.Format()) != nullptr) {
    return "wrong punctuation: a policy with options is written {id=NAME;OPTION=VALUE;...}";
  }
  if (IsNameAlone(fields.Name())) {
    return fmt::format("RocksDB reads {}:BITS, where BITS is a plain number such as 9.5",
                       fields.Name());
  }
  PolicyOptions policy;
  const rocksdb::Status status = ParsePolicy(fields.Format(), &policy);
  return status.ok() ? "RocksDB does not understand it" : Describe(status);
}

bool BuildsFilters(const rocksdb::FilterPolicy& policy) {
  const rocksdb::BlockBasedTableOptions table_options;
  const rocksdb::FilterBuildingContext context(table_options);
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(policy.GetBuilderWithContext(context));
  return builder != nullptr;
}

// Whether a policy's id says the same behind the name: RocksDB rounds bits per key to thousandths.
bool SaysTheSame(const std::string& written, const std::string& kept) {
  std::istringstream written_parts(written.substr(written.find(':') + 1));
  std::istringstream kept_parts(kept.substr(kept.find(':') + 1));
  std::string one, other;
  while (std::getline(written_parts, one, ':') && std::getline(kept_parts, other, ':')) {
    constexpr double kThousandth = 0.001;
    const auto number = support::ReadNumber(one);
    const auto kept_number = support::ReadNumber(other);
    const bool same =
        number && kept_number ? std::abs(*number - *kept_number) < kThousandth : one == other;
    if (!same) return false;
  }
  return true;
}

std::vector<TextProblem> ProblemsOfBuiltIn(const std::string& id,
                                           const rocksdb::FilterPolicy& kept) {
  const bool builds = BuildsFilters(kept);
  if (id.find(':') == std::string::npos) {
    if (builds) return {};
    return {{"RocksDB reads filters by this name, but writes none", kBloomByDefault}};
  }
  if (SaysTheSame(id, kept.GetId())) return {};
  return {{fmt::format("RocksDB takes it for {}{}", kept.GetId(),
                       builds ? "" : ", and tables get no filter"),
           ""}};
}

}  // namespace

std::vector<TextProblem> ProblemsOfPolicy(const std::string& text) {
  const PolicyPointer kept = PolicyOf(text);
  const PolicyFields fields = FieldsOf(text);
  if (kept == nullptr) {
    const std::string meant = IsNameAlone(text) ? text + ":10" : WithKnownNames(fields).Format();
    return {{WhyNotUnderstood(text, fields), PolicyOf(meant) == nullptr ? "" : meant}};
  }
  const std::optional<PolicyOptions> ours = OptionsOf(kept.get());
  if (!ours) return ProblemsOfBuiltIn(fields.id, *kept);
  PolicyOptions written;
  const rocksdb::Status status = ParsePolicy(text, &written);
  if (!status.ok()) return {{Describe(status), ""}};
  // By value: a number can be written in several ways.
  const std::string kept_text = FormatPolicy(*ours);
  if (kept_text != FormatPolicy(written)) {
    return {{"RocksDB would keep other options", kept_text}};
  }
  if (written.bits_per_key != 0.0 && MakesNoFilters(written)) {
    return {
        {fmt::format("with less than {} bits per key tables get no filter", kMinBitsPerKey), ""}};
  }
  const PolicyFields first = WithFirstOfEach(fields);
  if (first.options.size() == fields.options.size()) return {};
  const PolicyPointer by_first = PolicyOf(first.Format());
  if (by_first == nullptr || FormatPolicy(*OptionsOf(by_first.get())) != kept_text) {
    return {{"an option is given twice, and RocksDB takes the last", kept_text}};
  }
  return {};
}

bool MakesNoFilters(const std::string& text) {
  const PolicyPointer policy = PolicyOf(text);
  const std::optional<PolicyOptions> ours = OptionsOf(policy.get());
  return ours ? MakesNoFilters(*ours) : policy != nullptr && !BuildsFilters(*policy);
}

}  // namespace exactbloom::tool
