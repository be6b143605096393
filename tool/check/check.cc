// exactbloom check: whether RocksDB understands the filter policies of an OPTIONS file.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/policy_options.h"
#include "policy_text.h"
#include "tool/database/database_files.h"
#include "tool/database/database_options.h"
#include "tool/output.h"
#include "tool/subcommands.h"
#include "tool/support/errors.h"
#include "tool/support/nearest_name.h"
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
  std::vector<WrittenPolicy> policies;  // that RocksDB keeps
  std::vector<Finding> findings;
  bool names_ours = false;  // whether one of the policies is ExactBloom's

  void Add(const OptionsLine& line, const std::string& problem, const std::string& meant = "") {
    findings.push_back({line.number, line.name + "=" + line.value, problem, meant});
  }
  void Add(const OptionsSection& section, const std::string& problem,
           const std::string& meant = "") {
    findings.push_back({section.number, section.text, problem, meant});
  }
};

bool IsOfTables(const OptionsSection& section) {
  return section.title.rfind("TableOptions/", 0) == 0;
}

void CheckTitle(const OptionsSection& section, CheckedFile* file) {
  const std::vector<std::string> known = {"Version", "DBOptions", "CFOptions", kBlockBasedTables,
                                          "TableOptions/PlainTable"};
  if (std::find(known.begin(), known.end(), section.title) != known.end()) return;
  std::string meant = support::NearestName(section.title, known);
  if (!meant.empty()) {
    const std::string& argument = section.argument;
    meant =
        argument.empty() ? fmt::format("[{}]", meant) : fmt::format("[{} \"{}\"]", meant, argument);
  }
  file->Add(section,
            IsOfTables(section) ? "RocksDB does not know this table format, and drops the section"
                                : "RocksDB does not know this section",
            meant);
}

void CheckRepeats(const OptionsSection& section, CheckedFile* file) {
  for (const OptionsLine& line : section.lines) {
    const OptionsLine& kept = *section.Find(line.name);
    if (kept.value == line.value) continue;
    file->Add(line,
              fmt::format("RocksDB drops this line, since line {} has the same name", kept.number));
  }
}

// The options with the listeners that RocksDB makes of a text.
rocksdb::DBOptions WithListeners(const std::string& text) {
  rocksdb::DBOptions options;
  rocksdb::GetDBOptionsFromMap({}, {}, {{"listeners", text}}, &options).PermitUncheckedError();
  return options;
}

void CheckListeners(const OptionsLine& line, CheckedFile* file) {
  const std::vector<std::string> names = NamesOfListeners(line.value);
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
    if (!WithListeners(name).listeners.empty()) continue;
    const std::string nearest = support::NearestName(name, {kTreeListenerName});
    std::string meant = line.value;
    meant.replace(meant.find(name), name.size(), nearest);
    file->Add(line,
              fmt::format("the listener '{}' is not registered here, and RocksDB drops it", name),
              nearest.empty() ? "" : "listeners=" + meant);
  }
  const std::string list = fmt::format("{}", fmt::join(names, ":"));
  if (names.size() > 1 &&
      WithListeners(line.value).listeners.size() < WithListeners(list).listeners.size()) {
    file->Add(line, "RocksDB reads the names in braces as one, and drops all of them",
              "listeners=" + list);
  }
}

void CheckPolicy(const WrittenPolicy& policy, const std::string& listeners, CheckedFile* file) {
  if (policy.IsNone()) return;
  const OptionsLine line = {policy.line, "filter_policy", policy.text};
  for (const TextProblem& found : ProblemsOfPolicy(policy.text)) {
    file->Add(line, found.problem, found.meant.empty() ? "" : "filter_policy=" + found.meant);
  }
  PolicyOptions options;
  if (!ParsePolicy(policy.text, &options).ok()) return;
  file->names_ours = true;
  if (FollowsTree(options) && !HasTreeListener(WithListeners(listeners))) {
    file->Add(line, "the policy follows the tree, so DB::Open refuses it without a listener",
              fmt::format("listeners={} in [DBOptions], or options.listeners in the program",
                          kTreeListenerName));
  }
}

// RocksDB keeps the last of the sections for the tables of a column family.
void CheckTables(const std::vector<OptionsSection>& sections,
                 std::vector<OptionsSection>::const_iterator section, CheckedFile* file) {
  const auto later = std::find_if(section + 1, sections.end(), [&](const auto& other) {
    return IsOfTables(other) && other.argument == section->argument;
  });
  const OptionsLine* policy = section->Find("filter_policy");
  if (later != sections.end() && !section->lines.empty()) {
    file->Add(*section, fmt::format("RocksDB drops this section, since the one of line {} follows",
                                    later->number));
  } else if (section->title == kBlockBasedTables && policy != nullptr) {
    file->policies.push_back({section->argument, policy->number, policy->value});
  }
}

void CheckSections(const std::vector<OptionsSection>& sections, CheckedFile* file) {
  for (const OptionsLine& line : sections.front().lines) {
    file->Add(line, "RocksDB drops this line, which is in no section");
  }
  std::string listeners;
  for (auto section = sections.begin() + 1; section != sections.end(); ++section) {
    CheckTitle(*section, file);
    CheckRepeats(*section, file);
    if (IsOfTables(*section)) CheckTables(sections, section, file);
    const OptionsLine* line = section->Find("listeners");
    if (section->title != "DBOptions" || line == nullptr) continue;
    listeners = line->value;
    CheckListeners(*line, file);
  }
  for (const WrittenPolicy& policy : file->policies) CheckPolicy(policy, listeners, file);
}

// Whether RocksDB reads the file.
void CheckReading(bool has_version, CheckedFile* file) {
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = has_version;  // then RocksDB ignores those of newer versions only
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const rocksdb::Status status =
      rocksdb::LoadOptionsFromFile(config, file->path, &options, &families);
  if (status.ok()) return;
  file->findings.push_back({0, "", "RocksDB does not read the file: " + Describe(status), ""});
}

// The path of a file, or of the newest OPTIONS file in a directory.
std::string FindFile(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  std::string name;
  const rocksdb::Status status =
      rocksdb::GetLatestOptionsFileName(path, rocksdb::Env::Default(), &name);
  if (!status.ok()) throw support::InputError(fmt::format("{} has no OPTIONS file", path));
  return (std::filesystem::path(path) / name).string();
}

CheckedFile Check(const std::string& path) {
  CheckedFile file;
  file.path = FindFile(path);
  std::string text;
  const rocksdb::Status status =
      rocksdb::ReadFileToString(rocksdb::Env::Default(), file.path, &text);
  if (!status.ok()) {
    throw support::InputError(fmt::format("{} cannot be read: {}", file.path, Describe(status)));
  }
  const std::vector<OptionsSection> sections = SectionsOfOptions(text);
  if (sections.size() == 1) {
    throw support::InputError(fmt::format(
        "{} is not an OPTIONS file of RocksDB: it has no section such as [DBOptions]", file.path));
  }
  RegisterFilterPolicies();
  CheckSections(sections, &file);
  CheckReading(text.find("[Version]") != std::string::npos, &file);
  std::stable_sort(file.findings.begin(), file.findings.end(),
                   [](const Finding& one, const Finding& other) { return one.line < other.line; });
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
  if (file.names_ours) fmt::print("\n{}\n", kBeforeRemoval);
}

nlohmann::json ToJson(const CheckedFile& file) {
  nlohmann::json policies = nlohmann::json::array();
  for (const WrittenPolicy& policy : file.policies) {
    policies.push_back({{"column_family", policy.family},
                        {"line", policy.line},
                        {"filter_policy", policy.IsNone() ? "" : policy.text}});
  }
  return {{"file", file.path},
          {"findings", file.findings},
          {"policies", policies},
          {"names_exactbloom", file.names_ours}};
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
