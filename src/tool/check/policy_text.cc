#include "policy_text.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "exactbloom/filter_policy.h"
#include "plugin/policy_options.h"
#include "support/nearest_name.h"
#include "support/policy_name.h"
#include "tool/database/database_files.h"
#include "tool/database/database_options.h"
#include "tool/database/options_text.h"

namespace exactbloom::tool {
namespace {

using support::PolicyNames;

std::vector<std::string> OptionNames() {
  std::vector<std::string> names = {"id"};
  for (const auto& [name, type] : PolicyOptionTypes()) names.push_back(name);
  return names;
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    const std::string part = Trimmed(text.substr(begin, end - begin));
    if (!part.empty()) parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

// The text of a policy, taken apart as it may have been meant.
struct PolicyFields {
  std::string id;
  std::vector<std::pair<std::string, std::string>> options;

  std::string Format() const {
    std::string text;
    for (const auto& [name, value] : options) text += fmt::format(";{}={}", name, value);
    return options.empty() ? id : fmt::format("{{id={}{}}}", id, text);
  }
};

PolicyFields FieldsOf(const std::string& inside, char separator) {
  PolicyFields fields;
  for (const std::string& part : Split(inside, separator)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      if (fields.id.empty()) fields.id = part;
      continue;
    }
    const std::string name = Trimmed(part.substr(0, equals));
    const std::string value = Trimmed(part.substr(equals + 1));
    if (name == "id") {
      fields.id = value;
    } else {
      fields.options.emplace_back(name, value);
    }
  }
  return fields;
}

class PolicyText {
 public:
  explicit PolicyText(const std::string& text) : text_(Trimmed(text)) {}

  std::vector<TextProblem> Find() {
    LookAtPunctuation();
    if (problems_.empty() && !IsBuiltIn()) {
      LookAtNames();
      LookAtOverrides();
      LookAtValues();
    }
    return std::move(problems_);
  }

 private:
  bool Starts(char first) const { return !text_.empty() && text_.front() == first; }

  void Add(const std::string& problem, const std::string& meant = "") {
    problems_.push_back({problem, meant == text_ ? "" : meant});
  }

  void LookAtPunctuation() {
    const auto opened = std::count(text_.begin(), text_.end(), '{');
    const auto closed = std::count(text_.begin(), text_.end(), '}');
    std::string inside = text_;
    inside.erase(
        std::remove_if(inside.begin(), inside.end(), [](char c) { return c == '{' || c == '}'; }),
        inside.end());
    const bool has_commas = inside.find(',') != std::string::npos;
    fields_ = FieldsOf(inside, inside.find(';') == std::string::npos && has_commas ? ',' : ';');
    const bool has_no_id = fields_.id.empty();
    if (has_no_id) fields_.id = "classic_bloom";
    const std::string meant = fields_.Format();
    if (opened != closed) return Add(opened > closed ? "'}' is missing" : "'{' is missing", meant);
    if (opened == 0 && inside.find('=') != std::string::npos) {
      return Add("options stand between braces", meant);
    }
    if (has_commas) return Add("options are separated by ';' and not by ','", meant);
    if (has_no_id) return Add("id= is missing, so no policy is named", meant);
    if (Starts('{') && inside.find("id=") == std::string::npos) {
      return Add("the policy's name stands behind id=", meant);
    }
  }

  // One that RocksDB reads as it is.
  bool IsBuiltIn() {
    if (IsNameAlone(text_)) {
      Add("RocksDB does not read the name without bits per key", text_ + ":10");
      return true;
    }
    if (Name() == PolicyNames()[0] || Name() == PolicyNames()[1]) return false;
    std::shared_ptr<const rocksdb::FilterPolicy> policy;
    rocksdb::ConfigOptions config;
    config.ignore_unsupported_options = false;
    const rocksdb::Status status = rocksdb::FilterPolicy::CreateFromString(config, text_, &policy);
    return status.ok() && policy != nullptr;
  }

  std::string Name() const { return fields_.id.substr(0, fields_.id.find(':')); }

  void LookAtNames() {
    const std::string name = Name();
    const auto& known = PolicyNames();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string nearest = support::NearestName(name, known);
      PolicyFields meant = fields_;
      meant.id = nearest + fields_.id.substr(name.size());
      Add(fmt::format("there is no filter policy '{}' here", name),
          nearest.empty() ? "" : meant.Format());
      return;
    }
    const std::vector<std::string> names = OptionNames();
    for (std::size_t i = 0; i < fields_.options.size(); ++i) {
      const std::string& option = fields_.options[i].first;
      if (std::find(names.begin(), names.end(), option) != names.end()) continue;
      PolicyFields meant = fields_;
      meant.options[i].first = support::NearestName(option, names);
      Add(fmt::format("there is no option '{}'", option),
          meant.options[i].first.empty() ? "" : meant.Format());
    }
  }

  // An option that has no effect beside another one. RocksDB itself writes all options, each once.
  void LookAtOverrides() {
    std::map<std::string, std::string> given;
    for (const auto& [option, value] : fields_.options) {
      const auto [other, is_new] = given.emplace(option, value);
      if (!is_new && other->second != value) {
        Add(fmt::format("{} is given twice, as {} and {}", option, other->second, value));
      }
    }
    const auto bits = given.find("bits_per_key");
    const std::size_t colon = fields_.id.find(':');
    const std::string number = colon == std::string::npos ? "" : fields_.id.substr(colon + 1);
    if (bits != given.end() && !number.empty() && number != bits->second &&
        number.find_first_not_of("0123456789.") == std::string::npos) {
      Add(fmt::format("bits per key are given twice, as {} and {}", number, bits->second));
    }
    for (const char* option : {"fpr", "level_bits"}) {
      if (given.count(option) == 0 || given[option].empty() || given[option] == "0") continue;
      if (bits == given.end() && number.empty()) continue;
      Add(fmt::format("bits_per_key means nothing beside {}", option));
    }
  }

  void LookAtValues() {
    if (!problems_.empty()) return;
    NamedPolicy policy;
    const rocksdb::Status status = ParsePolicy(text_, &policy);
    if (!status.ok()) Add(Describe(status));
  }

  std::string text_;
  PolicyFields fields_;
  std::vector<TextProblem> problems_;
};

}  // namespace

std::vector<TextProblem> ProblemsOfPolicy(const std::string& text) {
  return PolicyText(text).Find();
}

}  // namespace exactbloom::tool
