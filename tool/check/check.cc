// exactbloom check: whether RocksDB understands the filter policies of an OPTIONS file.
#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/utilities/options_util.h>

#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "plugin/allocation/allocation.h"
#include "plugin/policy_options.h"
#include "plugin/tree/current_table.h"
#include "policy_text.h"
#include "tool/database/database_files.h"
#include "tool/database/database_options.h"
#include "tool/output.h"
#include "tool/subcommands.h"
#include "tool/support/errors.h"
#include "tool/support/text_table.h"

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
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Finding, line, text, problem, meant)

struct CheckedFile {
  std::string path;
  std::vector<WrittenPolicy> policies;
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
    if (line.name == "listeners") file.listeners = line.value;
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
  PolicyOptions options;
  const bool follows = ParsePolicy(policy.text, &options).ok() && FollowsTree(options);
  if (follows && file->listeners.find(tree::kTreeListenerName) == std::string::npos) {
    file->findings.push_back(
        {policy.line, written,
         "the policy follows the tree, so DB::Open refuses it without a listener",
         fmt::format("listeners={} in [DBOptions], or options.listeners in the program",
                     tree::kTreeListenerName)});
  }
}

// Whether RocksDB reads the file.
void CheckReading(CheckedFile* file) {
  RegisterFilterPolicies();
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = true;
  config.ignore_unsupported_options = true;
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const rocksdb::Status status =
      rocksdb::LoadOptionsFromFile(config, file->path, &options, &families);
  if (status.ok() || !file->findings.empty()) return;
  file->findings.push_back({0, "", "RocksDB does not read the file: " + Describe(status), ""});
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
  nlohmann::json policies = nlohmann::json::array();
  for (const WrittenPolicy& policy : file.policies) {
    policies.push_back({{"column_family", policy.family},
                        {"line", policy.line},
                        {"filter_policy", policy.IsNone() ? "" : policy.text}});
  }
  return {{"file", file.path}, {"findings", file.findings}, {"policies", policies}};
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
