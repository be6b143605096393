// exactbloom rebuild: rewrites tables that lack the filter of the current policy.
#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/rebuild_filters.h"
#include "exactbloom/tree_listener.h"
#include "plugin/rocksdb_compat.h"
#include "tool/database/database_files.h"
#include "tool/database/database_options.h"
#include "tool/output.h"
#include "tool/subcommands.h"
#include "tool/support/errors.h"
#include "tool/support/own_policy.h"
#include "tool/support/policy_name.h"
#include "tool/support/progress.h"

namespace exactbloom {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RebuildResult, tables, bytes, lacking_tables, lacking_bytes,
                                   rewritten_tables, rewritten_bytes, along_tables, along_bytes,
                                   written_bytes, gone_tables, gone_bytes, still_lacking_tables,
                                   remaining_tables, remaining_bytes, busy_tables, too_large_tables,
                                   damaged_files, vanished_files)

namespace tool {
namespace {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::Status;

using PolicyPointer = std::shared_ptr<const rocksdb::FilterPolicy>;

PolicyPointer PolicyNamed(const std::string& text) {
  RegisterFilterPolicies();
  PolicyPointer policy;
  rocksdb::ConfigOptions config;
  config.ignore_unsupported_options = false;
  const Status status = rocksdb::FilterPolicy::CreateFromString(config, text, &policy);
  if (!status.ok() || policy == nullptr) {
    throw support::InputError(fmt::format("--policy {} is not understood{}{}", text,
                                          status.ok() ? "" : ": " + Describe(status),
                                          support::WhichPolicyWasMeant(text)));
  }
  return policy;
}

bool NeedsTreeListener(const rocksdb::FilterPolicy& policy, const rocksdb::DBOptions& options) {
  const auto* ours = support::OwnPolicy(&policy);
  return ours != nullptr && FollowsTree(ours->Options()) && !HasTreeListener(options);
}

void SetPolicy(const PolicyPointer& policy, std::vector<ColumnFamilyDescriptor>& families) {
  for (ColumnFamilyDescriptor& family : families) {
    const auto* table = family.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (table == nullptr) continue;
    rocksdb::BlockBasedTableOptions changed = *table;
    changed.filter_policy = policy;
    family.options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(changed));
  }
}

// Opening the database rewrites its OPTIONS file, so no option may be lost: here, unknown options
// are errors. RocksDB drops unknown filter policies nevertheless.
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

[[noreturn]] void RefuseToOpen(const std::string& directory, const Status& status) {
  const std::string reason = Describe(status);
  const bool locked = status.IsIOError() && reason.find("/LOCK") != std::string::npos;
  throw support::InputError(
      fmt::format("{} {}: {}", directory,
                  locked ? "is in use by another process" : "cannot be opened", reason));
}

// A database opened with the options that it was last opened with, all its column families.
class OpenDatabase {
 public:
  // Opens the database in a directory; to write to it, unless `read_only`.
  //   policy  a filter policy as in option strings, which replaces that of every column family; if
  //           empty, the one of the options is used
  // Automatic compactions rest until the database is closed. Throws support::InputError where there
  // is no database, another process has it open, this program does not know all that the options
  // name, or the policy is not understood.
  OpenDatabase(const std::string& directory, const std::string& policy, bool read_only) {
    if (ListTables({directory}).database.empty()) {
      throw support::InputError(fmt::format("{} is not a directory", directory));
    }
    RegisterFilterPolicies();
    rocksdb::DBOptions options;
    std::vector<ColumnFamilyDescriptor> families = LoadOptions(directory, policy.empty(), &options);
    if (!policy.empty()) {
      const PolicyPointer named = PolicyNamed(policy);
      SetPolicy(named, families);
      if (NeedsTreeListener(*named, options)) options.listeners.push_back(NewTreeListener());
    }
    options.create_if_missing = false;
    std::vector<bool> compacted;
    for (ColumnFamilyDescriptor& family : families) {
      compacted.push_back(!family.options.disable_auto_compactions);
      if (!read_only) family.options.disable_auto_compactions = true;
    }
    Status status;
    if (read_only) {
      status = OpenBesideAWriter(options, directory, families);
    } else {
      status = rocksdb::DB::Open(options, directory, families, &families_, Receive(&db_));
    }
    if (!status.ok()) RefuseToOpen(directory, status);
    if (!read_only) RestoreOptions(compacted);
  }
  ~OpenDatabase() {
    for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family);
  }
  OpenDatabase(const OpenDatabase&) = delete;
  OpenDatabase& operator=(const OpenDatabase&) = delete;

  rocksdb::DB& db() { return *db_; }
  const std::vector<rocksdb::ColumnFamilyHandle*>& families() const { return families_; }

 private:
  // Opening wrote disable_auto_compactions=true into the OPTIONS file. From here on it is the pause
  // that lets no compaction begin, so that the file is right even if this process is killed.
  void RestoreOptions(const std::vector<bool>& compacted) {
    if (!db_->PauseBackgroundWork().ok()) return;
    for (std::size_t i = 0; i < families_.size(); ++i) {
      if (!compacted[i]) continue;
      const Status status = db_->SetOptions(families_[i], {{"disable_auto_compactions", "false"}});
      if (status.ok()) continue;
      fmt::print(stderr,
                 "exactbloom: the OPTIONS file of {} still says disable_auto_compactions=true for "
                 "column family {}: {}\n",
                 db_->GetName(), families_[i]->GetName(), Describe(status));
    }
  }

  // Its compactions may delete a table that was listed before it is opened.
  Status OpenBesideAWriter(const rocksdb::DBOptions& options, const std::string& directory,
                           const std::vector<ColumnFamilyDescriptor>& families) {
    constexpr int kTries = 5;
    Status status;
    for (int i = 0; i == 0 || (i < kTries && (status.IsPathNotFound() || status.IsCorruption()));
         ++i) {
      status =
          rocksdb::DB::OpenForReadOnly(options, directory, families, &families_, Receive(&db_));
    }
    return status;
  }

  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

std::string TablesOf(std::uint64_t tables, std::uint64_t bytes) {
  return fmt::format("{}, {} bytes", Counted(tables, "table"), bytes);
}

// A bar, on a terminal only.
class RebuildProgress {
 public:
  RebuildProgress() { bar_.Begin("reading filters", 0); }

  void Show(const RebuildResult& result) {
    if (result.rewritten_tables == rewritten_tables_) return;
    if (rewritten_tables_ == 0) bar_.Begin("rewriting tables", result.lacking_bytes);
    bar_.Add(result.rewritten_bytes - rewritten_bytes_);
    rewritten_tables_ = result.rewritten_tables;
    rewritten_bytes_ = result.rewritten_bytes;
  }

 private:
  support::Progress bar_;
  std::uint64_t rewritten_tables_ = 0;
  std::uint64_t rewritten_bytes_ = 0;
};

void PrintText(const RebuildResult& result, bool dry_run, bool interrupted) {
  const auto line = [](const char* what, const std::string& tables) {
    fmt::print("{:<12}{}\n", what, tables);
  };
  line("looked at", TablesOf(result.tables, result.bytes));
  line("to rewrite", TablesOf(result.lacking_tables, result.lacking_bytes));
  if (!dry_run) {
    line("rewritten", TablesOf(result.rewritten_tables, result.rewritten_bytes));
    line("remaining", TablesOf(result.remaining_tables, result.remaining_bytes));
    if (result.along_tables != 0) {
      line("besides", TablesOf(result.along_tables, result.along_bytes) +
                          ", whose ranges touch those of rewritten ones");
    }
    line("written", fmt::format("{} bytes", result.written_bytes));
  }
  const auto say = [](std::uint64_t tables, const char* what) {
    if (tables != 0) fmt::print("{} {}\n", tables, what);
  };
  say(result.busy_tables, "held by a compaction");
  say(result.too_large_tables, "larger than --max-bytes");
  say(result.still_lacking_tables, "written without the wanted filter");
  for (const std::string& file : result.damaged_files) fmt::print("damaged: {}\n", file);
  for (const std::string& file : result.vanished_files) {
    fmt::print("vanished, by a compaction of the running database: {}\n", file);
  }
  if (interrupted) fmt::print("Interrupted. The same command continues with what remains.\n");
}

RebuildResult Rebuild(const RebuildArguments& arguments) {
  OpenDatabase database(arguments.path, arguments.policy, arguments.dry_run);
  RebuildProgress progress;
  RebuildOptions options;
  options.column_families = database.families();
  options.max_bytes = arguments.max_bytes;
  options.bytes_per_second = arguments.bytes_per_second;
  options.dry_run = arguments.dry_run;
  if (arguments.other_sizes) options.scope = RebuildScope::kOtherSize;
  if (arguments.all) options.scope = RebuildScope::kAll;
  options.cancel = &support::InterruptFlag();
  options.progress = [&progress](const RebuildResult& result) { progress.Show(result); };
  RebuildResult result;
  const rocksdb::Status status = RebuildFilters(database.db(), options, &result);
  if (!status.ok()) {
    throw support::InputError(fmt::format("stopped after {}: {}",
                                          TablesOf(result.rewritten_tables, result.rewritten_bytes),
                                          tool::Describe(status)));
  }
  return result;
}

// A compaction of a running database may delete tables after the MANIFEST was read; a new attempt
// finds those that replaced them.
RebuildResult LookOnly(const RebuildArguments& arguments) {
  constexpr int kLooks = 5;
  RebuildResult result = Rebuild(arguments);
  for (int look = 1; look < kLooks && !result.vanished_files.empty(); ++look) {
    result = Rebuild(arguments);
  }
  return result;
}

}  // namespace

void RunRebuild(const RebuildArguments& arguments) {
  const RebuildResult result = arguments.dry_run ? LookOnly(arguments) : Rebuild(arguments);
  const bool interrupted = support::InterruptArrived();
  if (arguments.json) {
    nlohmann::json document = result;
    document.update({{"dry_run", arguments.dry_run}, {"interrupted", interrupted}});
    PrintJson(document);
  } else {
    PrintText(result, arguments.dry_run, interrupted);
  }
  std::fflush(stdout);
  if (interrupted) throw support::Interrupted();
  if (!result.damaged_files.empty()) {
    const std::size_t files = result.damaged_files.size();
    throw support::Findings(
        fmt::format("{} damaged {}", files,
                    files == 1 ? "file is left as it is" : "files are left as they are"));
  }
  if (result.still_lacking_tables != 0) {
    throw support::Findings(fmt::format("{} tables were written without the wanted filter",
                                        result.still_lacking_tables));
  }
}

}  // namespace tool
}  // namespace exactbloom
