#include "open_database.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include "exactbloom/filter_policy.h"
#include "support/errors.h"
#include "tool/database/database_files.h"
#include "tool/database/database_options.h"

namespace exactbloom::tool {
namespace {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::Status;

using Policy = std::shared_ptr<const rocksdb::FilterPolicy>;

Policy PolicyOf(const std::string& text) {
  RegisterFilterPolicies();
  Policy policy;
  rocksdb::ConfigOptions config;
  config.ignore_unsupported_options = false;
  const Status status = rocksdb::FilterPolicy::CreateFromString(config, text, &policy);
  if (!status.ok() || policy == nullptr) {
    throw support::InputError(fmt::format("--policy {} is not understood{}", text,
                                          status.ok() ? "" : ": " + Describe(status)));
  }
  return policy;
}

void SetPolicy(const Policy& policy, std::vector<ColumnFamilyDescriptor>& families) {
  for (ColumnFamilyDescriptor& family : families) {
    const auto* table = family.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (table == nullptr) continue;
    rocksdb::BlockBasedTableOptions changed = *table;
    changed.filter_policy = policy;
    family.options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(changed));
  }
}

// Opening the database rewrites its options, so none may be lost: unlike elsewhere in this program,
// unknown options are errors. RocksDB drops unknown filter policies all the same.
std::vector<ColumnFamilyDescriptor> LoadOptions(const std::string& directory, bool needs_policy,
                                                rocksdb::DBOptions* options) {
  std::vector<ColumnFamilyDescriptor> families;
  rocksdb::ConfigOptions strict;
  strict.ignore_unknown_options = false;
  strict.ignore_unsupported_options = false;
  const Status status = rocksdb::LoadLatestOptions(strict, directory, options, &families);
  if (!status.ok()) {
    throw support::InputError(fmt::format(
        "{} cannot be opened with its own options: {}. Its own program can call RebuildFilters",
        directory, Describe(status)));
  }
  DatabaseOptions written;
  if (needs_policy && LoadDatabaseOptions(directory, &written).ok()) {
    for (const auto& [name, family] : written.families) {
      if (!family.NamesFilterPolicy() || family.table == nullptr ||
          family.table->filter_policy != nullptr) {
        continue;
      }
      throw support::InputError(
          fmt::format("the options of {} name the filter policy {}, which is not known here: give "
                      "another one with --policy",
                      directory, family.filter_policy));
    }
  }
  return families;
}

[[noreturn]] void Refuse(const std::string& directory, const Status& status) {
  const std::string reason = Describe(status);
  const bool locked = status.IsIOError() && reason.find("/LOCK") != std::string::npos;
  throw support::InputError(
      fmt::format("{} {}: {}", directory,
                  locked ? "is in use by another process" : "cannot be opened", reason));
}

}  // namespace

OpenDatabase::OpenDatabase(const std::string& directory, const std::string& policy,
                           bool read_only) {
  if (ListTables({directory}).database.empty()) {
    throw support::InputError(fmt::format("{} is not a directory", directory));
  }
  RegisterFilterPolicies();
  rocksdb::DBOptions options;
  std::vector<ColumnFamilyDescriptor> families = LoadOptions(directory, policy.empty(), &options);
  if (!policy.empty()) SetPolicy(PolicyOf(policy), families);
  options.create_if_missing = false;
  rocksdb::DB* db = nullptr;
  const Status status =
      read_only ? rocksdb::DB::OpenForReadOnly(options, directory, families, &families_, &db)
                : rocksdb::DB::Open(options, directory, families, &families_, &db);
  db_.reset(db);
  if (!status.ok()) Refuse(directory, status);
}

OpenDatabase::~OpenDatabase() {
  for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family);
}

}  // namespace exactbloom::tool
