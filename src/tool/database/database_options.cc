#include "database_options.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/utilities/options_util.h>

#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "options_text.h"
#include "plugin/bloom_filter_policy.h"
#include "plugin/tree/table_in_making.h"

namespace exactbloom::tool {
namespace {

using rocksdb::Status;

constexpr char kBloom[] = "bloomfilter";
constexpr char kRibbon[] = "ribbonfilter";

// The values as they are written, by section and name: [CFOptions "default"] and so on.
using WrittenOptions = std::map<std::string, std::map<std::string, std::string>>;

WrittenOptions ReadText(const std::string& text) {
  WrittenOptions written;
  for (const OptionsLine& line : LinesOfOptions(text)) {
    written[line.section][line.name] = line.value;
  }
  return written;
}

// Every built-in policy reads the filters of all, whatever its bits per key are.
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
  result.partition_filters = table["partition_filters"] == "true";
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
    // RocksDB reads a list with a listener that it does not know, such as the program's own, as
    // none.
    const std::string& listeners = written["[DBOptions]"]["listeners"];
    if (listeners.find(tree::kTreeListenerName) != std::string::npos &&
        !HasTreeListener(options->database)) {
      options->database.listeners.push_back(NewTreeListener());
    }
    return status;
  }
  return status;
}

}  // namespace exactbloom::tool
