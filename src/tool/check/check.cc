// exactbloom check: whether RocksDB understands the filter policies of an OPTIONS file.
#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "plugin/policy_options.h"
#include "plugin/tree/table_in_making.h"
#include "policy_text.h"
#include "support/errors.h"
#include "support/nearest_name.h"
#include "support/text_table.h"
#include "tool/database/database_files.h"
#include "tool/database/options_text.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

struct WrittenPolicy {
  std::string family;
  std::size_t line = 0;
  std::string text;

  bool IsNone() const { return text.empty() || text == "nullptr"; }
};

struct Finding {
  std::size_t line = 0;  // 0: of the file as a whole
  std::string text;      // of the line
  std::string problem;
  std::string meant;
};

struct CheckedFile {
  std::string path;
  std::vector<WrittenPolicy> policies;
  std::size_t listeners_line = 0;  // 0: there is none
  std::string listeners;
  std::vector<Finding> findings;
};

// The name in [TableOptions/BlockBasedTable "name"].
std::string NameIn(const std::string& section) {
  const std::size_t begin = section.find('"');
  const std::size_t end = section.rfind('"');
  return begin == end ? "" : section.substr(begin + 1, end - begin - 1);
}

CheckedFile ReadLines(const std::string& path, const std::string& text) {
  CheckedFile file;
  file.path = path;
  for (const OptionsLine& line : LinesOfOptions(text)) {
    if (line.name == "filter_policy") {
      file.policies.push_back({NameIn(line.section), line.number, line.value});
    }
    if (line.name == "listeners") {
      file.listeners_line = line.number;
      file.listeners = line.value;
    }
  }
  return file;
}

void CheckPolicy(const WrittenPolicy& policy, CheckedFile* file) {
  if (policy.IsNone()) return;
  const std::string written = "filter_policy=" + policy.text;
  for (const TextProblem& found : ProblemsOfPolicy(policy.text)) {
    const std::string meant = found.meant.empty() ? "" : "filter_policy=" + found.meant;
    file->findings.push_back({policy.line, written, found.problem, meant});
  }
  NamedPolicy named;
  const bool follows = ParsePolicy(policy.text, &named).ok() && FollowsTree(named.options);
  if (follows && file->listeners.find(tree::kTreeListenerName) == std::string::npos) {
    file->findings.push_back(
        {policy.line, written,
         "the policy follows the tree, so DB::Open refuses it without a listener",
         fmt::format("listeners={} in [DBOptions], or options.listeners in the program",
                     tree::kTreeListenerName)});
  }
}

void CheckListeners(CheckedFile* file) {
  std::string word;
  for (const char c : file->listeners + ";") {
    const bool is_part = c != ';' && c != ':' && c != '{' && c != '}' && c != '=';
    if (is_part) {
      word += c;
      continue;
    }
    if (word != tree::kTreeListenerName &&
        !support::NearestName(word, {tree::kTreeListenerName}).empty()) {
      file->findings.push_back({file->listeners_line, "listeners=" + file->listeners,
                                fmt::format("there is no listener '{}' here", word),
                                fmt::format("listeners={}", tree::kTreeListenerName)});
    }
    word.clear();
  }
}

// What RocksDB itself makes of the file.
void CheckReading(CheckedFile* file) {
  RegisterFilterPolicies();
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = true;
  config.ignore_unsupported_options = true;
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const rocksdb::Status status =
      rocksdb::LoadOptionsFromFile(config, file->path, &options, &families);
  if (!status.ok()) {
    const std::string problem = "RocksDB does not read the file: " + Describe(status);
    if (file->findings.empty()) file->findings.push_back({0, "", problem, ""});
    return;
  }
  std::map<std::string, bool> has_policy;
  for (const auto& family : families) {
    const auto* table = family.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    has_policy[family.name] = table != nullptr && table->filter_policy != nullptr;
  }
  for (const WrittenPolicy& policy : file->policies) {
    const bool is_found =
        std::any_of(file->findings.begin(), file->findings.end(),
                    [&](const Finding& finding) { return finding.line == policy.line; });
    if (policy.IsNone() || is_found || has_policy[policy.family]) continue;
    file->findings.push_back({policy.line, "filter_policy=" + policy.text,
                              "RocksDB does not know it, and would write tables without filters",
                              ""});
  }
}

CheckedFile Check(const std::string& path) {
  std::string text;
  const rocksdb::Status status = rocksdb::ReadFileToString(rocksdb::Env::Default(), path, &text);
  if (!status.ok()) {
    throw support::InputError(fmt::format("{} cannot be read: {}", path, Describe(status)));
  }
  CheckedFile file = ReadLines(path, text);
  if (text.find("[CFOptions") == std::string::npos) {
    throw support::InputError(fmt::format(
        "{} is not an OPTIONS file of RocksDB: it has no section [CFOptions ...]", path));
  }
  for (const WrittenPolicy& policy : file.policies) CheckPolicy(policy, &file);
  CheckListeners(&file);
  CheckReading(&file);
  return file;
}

void PrintText(const CheckedFile& file) {
  for (const Finding& finding : file.findings) {
    const std::string place = finding.line == 0 ? "" : fmt::format("{}: ", finding.line);
    fmt::print("{}:{}{}\n", file.path, place.empty() ? " " : place,
               finding.text.empty() ? finding.problem : finding.text);
    if (!finding.text.empty()) fmt::print("  {}\n", finding.problem);
    if (!finding.meant.empty()) fmt::print("  meant is perhaps {}\n", finding.meant);
  }
  if (!file.findings.empty()) fmt::print("\n");
  support::TextTable table({"column family", "line", "filter policy"});
  for (const WrittenPolicy& policy : file.policies) {
    table.AddRow({policy.family, policy.line, policy.IsNone() ? "none" : policy.text});
  }
  fmt::print("{}", table.Format());
}

nlohmann::json ToJson(const CheckedFile& file) {
  nlohmann::json findings = nlohmann::json::array();
  for (const Finding& finding : file.findings) {
    findings.push_back({{"line", finding.line},
                        {"text", finding.text},
                        {"problem", finding.problem},
                        {"meant", finding.meant}});
  }
  nlohmann::json policies = nlohmann::json::array();
  for (const WrittenPolicy& policy : file.policies) {
    policies.push_back({{"column_family", policy.family},
                        {"line", policy.line},
                        {"filter_policy", policy.IsNone() ? "" : policy.text}});
  }
  return {{"file", file.path}, {"findings", findings}, {"policies", policies}};
}

}  // namespace

void RunCheck(const CheckArguments& arguments) {
  const CheckedFile file = Check(arguments.path);
  if (arguments.json) {
    PrintJson(ToJson(file));
  } else {
    PrintText(file);
  }
  if (!file.findings.empty()) {
    throw support::Findings(
        fmt::format("{}: {}", file.path, Counted(file.findings.size(), "problem")));
  }
}

}  // namespace exactbloom::tool
