#include "lost_policy.h"

#include <fmt/format.h>
#include <rocksdb/env.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <system_error>
#include <vector>

#include "plugin/policy_options.h"
#include "sst/regular_files.h"
#include "sst/table_file.h"
#include "tool/database/database_files.h"
#include "tool/database/database_options.h"
#include "tool/output.h"

namespace exactbloom::tool {
namespace {

namespace fs = std::filesystem;

// Where a policy is named.
struct Trace {
  std::string policy;
  std::string place;
};
using Traces = std::map<std::string, Trace>;  // by column family

bool IsOurPolicy(const std::string& text) {
  PolicyOptions ignored;
  return ParsePolicy(text, &ignored).ok();
}

// The files of the directory whose names begin so, the newest first.
std::vector<std::string> FilesNamed(const std::string& directory, const std::string& beginning) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator file(directory, error), end; !error && file != end;
       file.increment(error)) {
    const std::string name = file->path().filename().string();
    if (name.rfind(beginning, 0) == 0) files.push_back(file->path().string());
  }
  std::sort(files.rbegin(), files.rend());
  return files;
}

void ReadOptionsFile(const std::string& path, Traces* traces) {
  std::string text;
  if (!rocksdb::ReadFileToString(files::RegularFilesEnv(), path, &text).ok()) return;
  for (const OptionsSection& section : SectionsOfOptions(text)) {
    const OptionsLine* line = section.Find("filter_policy");
    if (section.title != kBlockBasedTables || line == nullptr || !IsOurPolicy(line->value))
      continue;
    traces->try_emplace(section.argument, Trace{line->value, FileName(path)});
  }
}

void ReadLog(const std::string& path, Traces* traces) {
  std::string text;
  if (!files::ReadBothEnds(path, &text).ok()) return;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto logged = PolicyInLog(line);
    if (!logged || !IsOurPolicy(logged->second)) continue;
    traces->try_emplace(logged->first, Trace{logged->second, FileName(path)});
  }
}

void AddTable(const TableLocation& table, Traces* traces) {
  if (traces->count(table.column_family) != 0) return;
  std::unique_ptr<files::TableFile> file;
  std::map<std::string, std::string> properties;
  const bool is_read = files::TableFile::Open(*files::RegularFiles(), table.path, &file).ok() &&
                       file->ReadProperties(&properties).ok();
  const std::string policy = properties[rocksdb::TablePropertiesNames::kFilterPolicy];
  if (is_read && IsOurPolicy(policy) && policy != PolicyName(PolicyKind::kRocksDBBloom)) {
    (*traces)[table.column_family] = {policy, FileName(table.path)};
  }
}

// Of tables whose filters only ExactBloom reads.
Traces ReadTables(const std::string& database) {
  Traces traces;
  try {
    for (const TableLocation& table : ListTables({database}).tables) AddTable(table, &traces);
  } catch (const std::exception&) {
    // Without a MANIFEST there are no tables to ask.
  }
  return traces;
}
}  // namespace

void CheckLostPolicies(const std::string& database, CheckedFile* file) {
  const auto& policies = file->policies;
  const bool are_ours = std::all_of(policies.begin(), policies.end(),
                                    [](const auto& policy) { return IsOurPolicy(policy.text); });
  if (are_ours) return;
  Traces traces;
  for (const std::string& path : FilesNamed(database, "OPTIONS-")) {
    if (path != file->path) ReadOptionsFile(path, &traces);
  }
  for (const std::string& path : FilesNamed(database, "LOG")) ReadLog(path, &traces);
  const Traces tables = ReadTables(database);
  traces.insert(tables.begin(), tables.end());
  for (const WrittenPolicy& policy : policies) {
    const auto trace = traces.find(policy.family);
    const auto table = tables.find(policy.family);
    const OptionsLine line = {policy.line, "filter_policy", policy.text};
    if (policy.IsNone() && trace != traces.end()) {
      file->Add(line,
                fmt::format("the policy {} was lost, which {} names: new tables get no filter, and "
                            "lookups use none. A program that does not know it has opened the "
                            "database. Set it again in a program that registers it, and compact",
                            trace->second.policy, trace->second.place),
                "filter_policy=" + trace->second.policy);
    } else if (!policy.IsNone() && !IsOurPolicy(policy.text) && table != tables.end()) {
      file->Add(line,
                fmt::format("{} and perhaps other tables have filters of ExactBloom, with which "
                            "this policy lets every key pass. Set {} again in a program that "
                            "registers it; before ExactBloom is removed, set rocksdb_bloom, and "
                            "compact",
                            table->second.place, trace->second.policy),
                "filter_policy=" + trace->second.policy);
    }
  }
}

}  // namespace exactbloom::tool
