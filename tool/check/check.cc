// exactbloom check: whether RocksDB understands the filter policies of an OPTIONS file.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rocksdb/convenience.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/object_registry.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "checked_file.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "family_settings.h"
#include "lost_policy.h"
#include "plugin/policy_options.h"
#include "policy_text.h"
#include "sst/regular_files.h"
#include "support/errors.h"
#include "support/nearest_name.h"
#include "support/text_table.h"
#include "tool/database/database_files.h"
#include "tool/database/database_options.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

constexpr char kNeed[] = "needs a program that registers it; in any other, tables get no filter";

// What a program does that has ExactBloom's policies.
constexpr char kRegistration[] =
    R"(A program registers ExactBloom's policies if it calls
RegisterFilterPolicies(), is preloaded, or has the plugin built into its
RocksDB. If this one does, give --registers.)";

bool IsOfTables(const OptionsSection& section) {
  return section.title.rfind("TableOptions/", 0) == 0;
}

void CheckTitle(const OptionsSection& section, CheckedFile* file) {
  const std::vector<std::string> known = {"Version",
                                          "DBOptions",
                                          "CFOptions",
                                          kBlockBasedTables,
                                          "TableOptions/PlainTable",
                                          "TableOptions/CuckooTable"};
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
rocksdb::DBOptions WithListeners(const std::string& text, const rocksdb::ConfigOptions& config) {
  rocksdb::DBOptions options;
  rocksdb::GetDBOptionsFromMap(config, {}, {{"listeners", text}}, &options).PermitUncheckedError();
  return options;
}

// Whether RocksDB reads as many listeners as there are names, if all of them are registered.
bool ReadsEach(const std::string& text, const std::vector<std::string>& names) {
  rocksdb::ConfigOptions config;
  config.registry = rocksdb::ObjectRegistry::NewInstance();
  const auto library = config.registry->AddLibrary("check");
  for (const std::string& name : names) {
    library->AddFactory<rocksdb::EventListener>(
        rocksdb::ObjectLibrary::PatternEntry(name),
        [](const std::string&, std::unique_ptr<rocksdb::EventListener>* listener, std::string*) {
          *listener = std::make_unique<rocksdb::EventListener>();
          return listener->get();
        });
  }
  return WithListeners(text, config).listeners.size() == names.size();
}

void CheckListener(const OptionsLine& line, const std::string& name,
                   const CheckArguments& arguments, CheckedFile* file) {
  const std::vector<std::string>& own = arguments.known_listeners;
  if (std::find(own.begin(), own.end(), name) != own.end()) return;
  const bool is_ours = name == kTreeListenerName;
  // What is said of the policies goes for it, too.
  const bool is_in_order = is_ours ? arguments.registers || (file->names_ours && !arguments.stock)
                                   : !WithListeners(name, {}).listeners.empty();
  if (is_in_order) return;
  const std::string nearest = is_ours ? "" : support::NearestName(name, {kTreeListenerName});
  if (nearest.empty()) {
    file->Add(RemarkKind::kNote, line,
              fmt::format("only a program that registers '{}' gets it from this file", name));
    return;
  }
  std::string meant = line.value;
  meant.replace(meant.find(name), name.size(), nearest);
  file->Add(line, fmt::format("the listener '{}' is not known here, and RocksDB drops it", name),
            "listeners=" + meant);
}

// RocksDB 7.8 reads names in braces as one. The tree listener takes one that begins with its own.
void CheckListeners(const OptionsLine& line, const CheckArguments& arguments, CheckedFile* file) {
  const std::vector<std::string> names = NamesOfListeners(line.value);
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
    CheckListener(line, name, arguments, file);
  }
  const std::string list = fmt::format("{}", fmt::join(names, ":"));
  if (names.size() < 2 || !ReadsEach(list, names) || ReadsEach(line.value, names)) return;
  const auto ours = std::find(names.begin(), names.end(), kTreeListenerName);
  if (ours != names.end() && ours != names.begin()) {
    std::vector<std::string> in_order = {kTreeListenerName};
    std::copy_if(names.begin(), names.end(), std::back_inserter(in_order),
                 [](const std::string& name) { return name != kTreeListenerName; });
    file->Add(line, "RocksDB reads the names in braces as one, and drops all of them",
              fmt::format("listeners={}", fmt::join(in_order, ":")));
    return;
  }
  file->Add(RemarkKind::kNote, line,
            fmt::format("RocksDB reads the names in braces as one, so only the program itself can "
                        "add {}",
                        ours == names.end() ? "them" : "the others"));
}

// A policy that programs have only if they register it.
void CheckRegistration(const OptionsLine& line, const PolicyOptions& policy,
                       const std::string& listeners, const CheckArguments& arguments,
                       CheckedFile* file) {
  file->names_ours = true;
  if (arguments.stock) {
    file->Add(line, "stock RocksDB does not know it, and tables get no filter");
    return;
  }
  if (!arguments.registers) file->Add(RemarkKind::kNeed, line, kNeed);
  if (FollowsTree(policy) && !HasTreeListener(WithListeners(listeners, {}))) {
    file->Add(line, "the policy follows the tree, so DB::Open refuses it without a listener",
              fmt::format("listeners={} in [DBOptions], or options.listeners in the program",
                          kTreeListenerName));
  }
}

void CheckPolicy(const WrittenPolicy& policy, const std::string& listeners,
                 const CheckArguments& arguments, CheckedFile* file) {
  if (policy.IsNone()) return;
  const OptionsLine line = {policy.line, "filter_policy", policy.text};
  PolicyOptions ours;
  const bool is_ours = ParsePolicy(policy.text, &ours).ok();
  if (is_ours) CheckRegistration(line, ours, listeners, arguments, file);
  if (is_ours && arguments.stock) return;
  const std::vector<TextProblem> problems = ProblemsOfPolicy(policy.text);
  for (const TextProblem& found : problems) {
    file->Add(line, found.problem, found.meant.empty() ? "" : "filter_policy=" + found.meant);
  }
  if (problems.empty() && MakesNoFilters(policy.text)) {
    file->Add(RemarkKind::kNote, line, "tables get no filter");
  }
}

// Table options that are a line of the column family's section, as a section of their own.
void AddTablesOf(const OptionsSection& family, std::vector<OptionsSection>* sections) {
  for (const OptionsLine& line : family.lines) {
    const bool has_format = line.name == "block_based_table_factory";
    if (!has_format && line.name != "table_factory") continue;
    std::unordered_map<std::string, std::string> options;
    if (!rocksdb::StringToMap(line.value, &options).ok()) continue;  // a name alone
    if (!has_format && options["id"] != rocksdb::TableFactory::kBlockBasedTableName()) continue;
    OptionsSection& tables = sections->emplace_back();
    tables = {line.number, line.name + "=" + line.value, kBlockBasedTables, family.argument, {}};
    for (const auto& [name, value] : options) tables.lines.push_back({line.number, name, value});
  }
}

// The section that RocksDB keeps of those for the tables of a column family, which is the last.
const OptionsSection* TablesOf(const std::string& family,
                               const std::vector<OptionsSection>& sections) {
  const auto last = std::find_if(sections.rbegin(), sections.rend(), [&](const auto& section) {
    return IsOfTables(section) && section.argument == family;
  });
  return last == sections.rend() ? nullptr : &*last;
}

void CheckTables(const OptionsSection& section, const OptionsSection& kept, CheckedFile* file) {
  const OptionsLine* policy = section.Find("filter_policy");
  if (&kept != &section && !section.lines.empty()) {
    file->Add(section,
              fmt::format("RocksDB drops this, since the section of line {} follows", kept.number));
  } else if (section.title == kBlockBasedTables && policy != nullptr) {
    file->policies.push_back({section.argument, policy->number, policy->value});
  }
}

void CheckSections(const std::vector<OptionsSection>& sections, const CheckArguments& arguments,
                   CheckedFile* file) {
  for (const OptionsLine& line : sections.front().lines) {
    file->Add(line, "RocksDB drops this line, which is in no section");
  }
  OptionsLine listeners;
  for (auto section = sections.begin() + 1; section != sections.end(); ++section) {
    CheckTitle(*section, file);
    CheckRepeats(*section, file);
    if (IsOfTables(*section)) CheckTables(*section, *TablesOf(section->argument, sections), file);
    const OptionsLine* line = section->Find("listeners");
    if (section->title == "DBOptions" && line != nullptr) listeners = *line;
  }
  for (const WrittenPolicy& policy : file->policies) {
    CheckPolicy(policy, listeners.value, arguments, file);
  }
  CheckListeners(listeners, arguments, file);
}

// Whether RocksDB reads the file, and what it makes of the column families.
void CheckReading(const std::vector<OptionsSection>& sections, CheckedFile* file) {
  const auto is_version = [](const auto& section) { return section.title == "Version"; };
  rocksdb::ConfigOptions config;
  config.env = files::RegularFilesEnv();
  // With a version RocksDB ignores the options of newer versions only.
  config.ignore_unknown_options = std::any_of(sections.begin(), sections.end(), is_version);
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const rocksdb::Status status =
      rocksdb::LoadOptionsFromFile(config, file->path, &options, &families);
  if (!status.ok()) {
    file->remarks.push_back(
        {RemarkKind::kProblem, 0, "", "RocksDB does not read the file: " + Describe(status), ""});
    return;
  }
  for (const rocksdb::ColumnFamilyDescriptor& family : families) {
    const auto section = std::find_if(sections.begin(), sections.end(), [&](const auto& each) {
      return each.title == "CFOptions" && each.argument == family.name;
    });
    if (section == sections.end()) continue;
    CheckFamily(*section, TablesOf(family.name, sections), family.options, file);
  }
}

// The path of a file, or of the newest OPTIONS file in a directory.
std::string FindFile(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  std::string name;
  const rocksdb::Status status =
      rocksdb::GetLatestOptionsFileName(path, files::RegularFilesEnv(), &name);
  if (!status.ok()) throw support::InputError(fmt::format("{} has no OPTIONS file", path));
  return (std::filesystem::path(path) / name).string();
}

// The lines of a text. RocksDB drops a last one that has no line end.
std::string WholeLines(const std::string& text, CheckedFile* file) {
  const std::size_t rest = text.rfind('\n') + 1;  // npos + 1 is 0
  const std::string line = Trimmed(text.substr(rest));
  if (!line.empty() && line[0] != '#') {
    const auto before = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    file->Add({before + 1, line, "", "", {}}, "RocksDB drops the last line: it has no line end");
  }
  return text.substr(0, rest);
}

CheckedFile Check(const CheckArguments& arguments) {
  CheckedFile file;
  file.path = FindFile(arguments.path);
  std::string text;
  const rocksdb::Status status =
      rocksdb::ReadFileToString(files::RegularFilesEnv(), file.path, &text);
  if (!status.ok()) {
    throw support::InputError(fmt::format("{} cannot be read: {}", file.path, Describe(status)));
  }
  std::vector<OptionsSection> sections;
  for (const OptionsSection& section : SectionsOfOptions(WholeLines(text, &file))) {
    sections.push_back(section);
    if (section.title == "CFOptions") AddTablesOf(section, &sections);
  }
  if (sections.size() == 1) {
    throw support::InputError(fmt::format(
        "{} is not an OPTIONS file of RocksDB: it has no section such as [DBOptions]", file.path));
  }
  if (!arguments.stock) RegisterFilterPolicies();
  CheckSections(sections, arguments, &file);
  CheckReading(sections, &file);
  if (file.path != arguments.path) CheckLostPolicies(arguments.path, &file);
  std::stable_sort(file.remarks.begin(), file.remarks.end(),
                   [](const Remark& one, const Remark& other) { return one.line < other.line; });
  return file;
}

// The lines that need a program which registers the policies, in one paragraph.
void PrintNeeds(const CheckedFile& file) {
  std::string lines;
  for (const Remark& remark : file.remarks) {
    if (remark.kind != RemarkKind::kNeed) continue;
    lines += fmt::format("{}{}", lines.empty() ? "" : ", ", remark.line);
  }
  fmt::print("{}{}  need a program that registers it; in any other, tables get no filter\n",
             Wrapped(file.path + ": lines with filter_policy"), Wrapped(lines, 2));
}

void PrintPolicies(const CheckedFile& file) {
  std::vector<std::pair<std::string, std::vector<const WrittenPolicy*>>> equal;  // by their text
  for (const WrittenPolicy& policy : file.policies) {
    const std::string text = policy.IsNone() ? "none" : policy.text;
    auto known = std::find_if(equal.begin(), equal.end(),
                              [&](const auto& each) { return each.first == text; });
    if (known == equal.end()) known = equal.insert(equal.end(), {text, {}});
    known->second.push_back(&policy);
  }
  support::TextTable table({"column family", "line", "filter policy"});
  for (const auto& [text, policies] : equal) {
    std::vector<std::string> names;
    for (const WrittenPolicy* policy : policies) names.push_back(policy->family);
    const std::size_t line = policies.front()->line;
    table.AddRow({FirstOf(names),
                  names.size() == 1 ? fmt::format("{}", line) : fmt::format("{} ...", line),
                  Escaped(text)});
  }
  fmt::print("{}", table.Format(support::Columns()));
}

void PrintText(const CheckedFile& file, bool is_stock) {
  const bool folds = file.Count(RemarkKind::kNeed) > 1;
  if (folds) PrintNeeds(file);
  for (const Remark& remark : file.remarks) {
    if (folds && remark.kind == RemarkKind::kNeed) continue;
    const std::string place = remark.line == 0 ? "" : fmt::format("{}:", remark.line);
    fmt::print("{}", Wrapped(fmt::format("{}:{} {}", file.path, place,
                                         remark.text.empty() ? remark.remark : remark.text)));
    if (!remark.text.empty()) {
      fmt::print("{}",
                 Wrapped((remark.kind == RemarkKind::kNote ? "note: " : "") + remark.remark, 2));
    }
    if (!remark.meant.empty()) fmt::print("{}", Wrapped("meant is perhaps " + remark.meant, 2));
  }
  if (!file.remarks.empty()) fmt::print("\n");
  PrintPolicies(file);
  if (file.Count(RemarkKind::kNeed) != 0) fmt::print("\n{}\n", kRegistration);
  if (file.names_ours && is_stock) fmt::print("\n{}\n", kHowToRemove);
}

nlohmann::json ToJson(const CheckedFile& file, RemarkKind kind) {
  nlohmann::json remarks = nlohmann::json::array();
  for (const Remark& remark : file.remarks) {
    if (remark.kind != kind) continue;
    remarks.push_back({{"line", remark.line},
                       {"text", remark.text},
                       {kind == RemarkKind::kProblem ? "problem" : "remark", remark.remark},
                       {"meant", remark.meant}});
  }
  return remarks;
}

nlohmann::json ToJson(const CheckedFile& file) {
  nlohmann::json policies = nlohmann::json::array();
  for (const WrittenPolicy& policy : file.policies) {
    policies.push_back({{"column_family", policy.family},
                        {"line", policy.line},
                        {"filter_policy", policy.IsNone() ? "" : policy.text}});
  }
  return {{"file", file.path},
          {"findings", ToJson(file, RemarkKind::kProblem)},
          {"needs", ToJson(file, RemarkKind::kNeed)},
          {"notes", ToJson(file, RemarkKind::kNote)},
          {"policies", policies},
          {"names_exactbloom", file.names_ours}};
}

}  // namespace

void RunCheck(const CheckArguments& arguments) {
  const CheckedFile file = Check(arguments);
  if (arguments.json) {
    PrintJson(ToJson(file));
  } else {
    PrintText(file, arguments.stock);
  }
  const std::size_t problems = file.Count(RemarkKind::kProblem);
  if (problems != 0) {
    throw support::Findings(fmt::format("{}: {}", file.path, Counted(problems, "problem")));
  }
  if (file.Count(RemarkKind::kNeed) != 0) {
    throw support::Need(
        fmt::format("{}: right only if the program registers ExactBloom's policies", file.path));
  }
}

}  // namespace exactbloom::tool
