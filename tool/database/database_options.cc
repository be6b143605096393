#include "database_options.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/utilities/options_util.h>

#include <sstream>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/tree/current_table.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Status;

constexpr char kBloom[] = "bloomfilter";
constexpr char kRibbon[] = "ribbonfilter";

// The values as written, by section and name: [CFOptions "default"] and so on.
using WrittenOptions = std::map<std::string, std::map<std::string, std::string>>;

WrittenOptions ReadText(const std::string& text) {
  WrittenOptions written;
  for (const OptionsLine& line : LinesOfOptions(text)) {
    written[line.section][line.name] = line.value;
  }
  return written;
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

FamilyOptions OptionsOf(const rocksdb::ColumnFamilyDescriptor& family, WrittenOptions& written) {
  FamilyOptions result;
  result.options = family.options;
  if (family.options.table_factory != nullptr) {
    result.table = family.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  }
  auto& options = written[fmt::format("[CFOptions \"{}\"]", family.name)];
  result.prefix_extractor = options["prefix_extractor"];
  result.comparator = options["comparator"];
  auto& table = written[fmt::format("[TableOptions/BlockBasedTable \"{}\"]", family.name)];
  result.filter_policy = table["filter_policy"];
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
    status = rocksdb::GetLatestOptionsFileName(database, rocksdb::Env::Default(), &name);
    if (!status.ok()) return status;
    options->file = fmt::format("{}/{}", database, name);
    std::string text;
    status = rocksdb::ReadFileToString(rocksdb::Env::Default(), options->file, &text);
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    rocksdb::ConfigOptions config;
    config.ignore_unknown_options = true;
    config.ignore_unsupported_options = true;
    if (status.ok()) {
      status = rocksdb::LoadOptionsFromFile(config, options->file, &options->database, &families);
    }
    if (status.IsPathNotFound()) continue;
    if (!status.ok()) return status;
    WrittenOptions written = ReadText(text);
    for (const auto& family : families) options->families[family.name] = OptionsOf(family, written);
    // If one listener of the list is not registered here, such as the program's own, RocksDB drops
    // the whole list.
    const std::string& listeners = written["[DBOptions]"]["listeners"];
    if (listeners.find(tree::kTreeListenerName) != std::string::npos &&
        !HasTreeListener(options->database)) {
      options->database.listeners.push_back(NewTreeListener());
    }
    return status;
  }
  return status;
}

std::vector<OptionsLine> LinesOfOptions(const std::string& text) {
  std::vector<OptionsLine> lines;
  std::istringstream stream(text);
  std::string section;
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line); ++number) {
    line = Trimmed(line);
    const std::size_t equals = line.find('=');
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      section = line;
    } else if (equals != std::string::npos) {
      lines.push_back(
          {number, section, Trimmed(line.substr(0, equals)), Trimmed(line.substr(equals + 1))});
    }
  }
  return lines;
}

std::string Trimmed(const std::string& text) {
  const char* const blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace exactbloom::tool
