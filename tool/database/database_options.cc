#include "database_options.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "sst/regular_files.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Status;

constexpr char kBloom[] = "bloomfilter";
constexpr char kRibbon[] = "ribbonfilter";

using Sections = std::vector<OptionsSection>;

// Of several sections for the same, RocksDB keeps the last. Empty if there is no such line.
std::string ValueIn(const Sections& sections, const std::string& title, const std::string& argument,
                    const std::string& name) {
  const auto section = std::find_if(sections.rbegin(), sections.rend(), [&](const auto& it) {
    return it.title == title && it.argument == argument;
  });
  const OptionsLine* line = section == sections.rend() ? nullptr : section->Find(name);
  return line == nullptr ? "" : line->value;
}

// A # with a backslash before it does not begin a comment.
std::string WithoutComment(const std::string& line) {
  std::size_t hash = line.find('#');
  while (hash != std::string::npos && hash != 0 && line[hash - 1] == '\\') {
    hash = line.find('#', hash + 1);
  }
  return Trimmed(line.substr(0, hash));
}

std::string Unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 1 < text.size();
    const char letter = escaped ? text[++i] : text[i];
    plain += escaped && letter == 'n' ? '\n' : escaped && letter == 'r' ? '\r' : letter;
  }
  return plain;
}

OptionsSection SectionOf(std::size_t number, const std::string& line) {
  const std::size_t begin = line.find('"');
  const std::size_t end = line.rfind('"');
  if (begin == end) return {number, line, Trimmed(line.substr(1, line.size() - 2)), "", {}};
  return {number,
          line,
          Trimmed(line.substr(1, begin - 1)),
          Unescaped(line.substr(begin + 1, end - begin - 1)),
          {}};
}

// Every built-in policy reads the filters of all built-in policies, with any bits per key.
std::shared_ptr<const rocksdb::FilterPolicy> ReaderOf(const FamilyOptions& options) {
  constexpr double kAnyBits = 10.0;
  if (options.table == nullptr) return nullptr;
  if (options.filter_policy == kBloom) {
    return std::shared_ptr<const rocksdb::FilterPolicy>(rocksdb::NewBloomFilterPolicy(kAnyBits));
  }
  if (options.filter_policy == kRibbon) {
    return std::shared_ptr<const rocksdb::FilterPolicy>(rocksdb::NewRibbonFilterPolicy(kAnyBits));
  }
  return options.table->filter_policy;
}

FamilyOptions OptionsOf(const rocksdb::ColumnFamilyDescriptor& family, const Sections& written) {
  FamilyOptions result;
  result.options = family.options;
  if (family.options.table_factory != nullptr) {
    result.table = family.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  }
  result.prefix_extractor = ValueIn(written, "CFOptions", family.name, "prefix_extractor");
  result.comparator = ValueIn(written, "CFOptions", family.name, "comparator");
  result.filter_policy = ValueIn(written, kBlockBasedTables, family.name, "filter_policy");
  result.reader = ReaderOf(result);
  return result;
}

}  // namespace

bool IsNameAlone(const std::string& filter_policy) {
  return filter_policy == kBloom || filter_policy == kRibbon;
}

Status LoadDatabaseOptions(const std::string& database, DatabaseOptions* options) {
  RegisterFilterPolicies();
  // A running database may write a new file and remove this one before it is read.
  constexpr int kAttempts = 5;
  Status status;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    *options = DatabaseOptions();
    std::string name;
    status = rocksdb::GetLatestOptionsFileName(database, files::RegularFilesEnv(), &name);
    if (!status.ok()) return status;
    options->file = fmt::format("{}/{}", database, name);
    std::string text;
    status = rocksdb::ReadFileToString(files::RegularFilesEnv(), options->file, &text);
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    rocksdb::ConfigOptions config;
    config.ignore_unknown_options = true;
    config.ignore_unsupported_options = true;
    config.env = files::RegularFilesEnv();
    if (status.ok()) {
      status = rocksdb::LoadOptionsFromFile(config, options->file, &options->database, &families);
    }
    if (status.IsPathNotFound()) continue;
    if (!status.ok()) return status;
    const Sections written = SectionsOfOptions(text);
    for (const auto& family : families) options->families[family.name] = OptionsOf(family, written);
    // RocksDB writes several listeners in braces, and RocksDB 7.8 reads these as one name, which it
    // drops.
    const auto names = options->listeners =
        NamesOfListeners(ValueIn(written, "DBOptions", "", "listeners"));
    const bool named = std::find(names.begin(), names.end(), kTreeListenerName) != names.end();
    if (named && !HasTreeListener(options->database)) {
      options->database.listeners.push_back(NewTreeListener());
    }
    return status;
  }
  return status;
}

const OptionsLine* OptionsSection::Find(const std::string& name) const {
  const auto line = std::find_if(lines.begin(), lines.end(),
                                 [&](const OptionsLine& each) { return each.name == name; });
  return line == lines.end() ? nullptr : &*line;
}

std::vector<OptionsSection> SectionsOfOptions(const std::string& text) {
  std::vector<OptionsSection> sections(1);
  std::istringstream stream(text);
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line); ++number) {
    line = WithoutComment(line);
    const std::size_t equals = line.find('=');
    if (line.size() > 1 && line.front() == '[' && line.back() == ']') {
      sections.push_back(SectionOf(number, line));
    } else if (equals != std::string::npos) {
      sections.back().lines.push_back(
          {number, Trimmed(line.substr(0, equals)), Unescaped(Trimmed(line.substr(equals + 1)))});
    }
  }
  return sections;
}

std::vector<std::string> NamesOfListeners(const std::string& value) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < value.size();) {
    const std::size_t end = std::min(value.find_first_of(":{}", begin), value.size());
    std::string name = Trimmed(value.substr(begin, end - begin));
    name = Trimmed(name.substr(0, name.find(';')));  // options follow
    if (name.rfind("id=", 0) == 0) name = name.substr(3);
    if (!name.empty()) names.push_back(name);
    begin = end + 1;
  }
  return names;
}

// "exactbloom: column family [default]: exactbloom:10, kernel avx2; ..."
std::optional<std::pair<std::string, std::string>> PolicyInLog(const std::string& line) {
  constexpr std::string_view kTitle = "exactbloom: column family [";
  constexpr std::string_view kPolicy = "]: ";
  const std::size_t title = line.find(kTitle);
  const std::size_t end = line.rfind(", kernel ");
  if (title == std::string::npos || end == std::string::npos) return std::nullopt;
  const std::size_t family = title + kTitle.size();
  const std::size_t policy = line.rfind(kPolicy, end);
  if (policy == std::string::npos || policy < family) return std::nullopt;
  const std::size_t text = policy + kPolicy.size();
  return std::pair(line.substr(family, policy - family), line.substr(text, end - text));
}

std::string Trimmed(const std::string& text) {
  const char* const blanks = " \t\r\v\f";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace exactbloom::tool
