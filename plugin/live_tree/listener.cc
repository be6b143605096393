#include "listener.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/tree_listener.h"
#include "listing.h"
#include "sized_table.h"

namespace exactbloom {
namespace tree {
namespace {

using rocksdb::DB;

template <typename LevelOf>
NamedFiles ListFiles(const rocksdb::CompactionJobInfo& info, const std::vector<std::string>& paths,
                     const std::vector<rocksdb::CompactionFileInfo>& infos, LevelOf level_of) {
  NamedFiles files;
  for (std::size_t i = 0; i < std::min(paths.size(), infos.size()); ++i) {
    NamedFile& file = files.emplace_back();
    file.number = infos[i].file_number;
    file.level = level_of(infos[i]);
    // A compaction service returns tables without properties.
    const auto properties = info.table_properties.find(paths[i]);
    if (properties != info.table_properties.end() && properties->second != nullptr) {
      file.facts = ReadFacts(*properties->second);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// RocksDB tells the place of an input's level among the inputs, and not its number. All but the
// first are the output level in leveled compactions.
NamedFiles ListInputs(const rocksdb::CompactionJobInfo& info) {
  return ListFiles(info, info.input_files, info.input_file_infos, [&](const auto& file) {
    return file.level == 0 ? info.base_input_level : info.output_level;
  });
}

NamedFiles ListOutputs(const rocksdb::CompactionJobInfo& info) {
  return ListFiles(info, info.output_files, info.output_file_infos,
                   [](const auto& file) { return file.level; });
}

// Where the filter of a table comes from that no policy of ExactBloom was asked for; nothing if it
// may have got none because of the options (optimize_filters_for_hits, another table format).
std::optional<std::string> DescribeOtherPolicy(const rocksdb::TableProperties& properties) {
  const bool is_block_based = properties.user_collected_properties.count(
                                  rocksdb::BlockBasedTablePropertyNames::kIndexType) != 0;
  if (!is_block_based) return std::nullopt;
  if (properties.filter_policy_name.empty()) return "no filter policy";
  if (properties.filter_size == 0) return std::nullopt;
  return "filter policy " + properties.filter_policy_name;
}

// The registry, and not the listener, has what is known of databases: a database may have two
// listeners, or two databases one.
class TreeListener : public rocksdb::EventListener {
 public:
  explicit TreeListener(bool warns_of_other_policies)
      : warns_of_other_policies_(warns_of_other_policies) {}

  const char* Name() const override { return kTreeListenerName; }

  void OnFlushBegin(DB* db, const rocksdb::FlushJobInfo& info) override {
    Update(*db, info.cf_name, info.cf_id, [&](Family& family) {
      family.BeginJob({info.job_id, true, 0, info.thread_id}, 0, {});
    });
  }

  void OnFlushCompleted(DB* db, const rocksdb::FlushJobInfo& info) override {
    Update(*db, info.cf_name, info.cf_id, [&](Family& family) {
      // Of a table without entries, which RocksDB does not keep, it tells as of any other.
      if (info.table_properties.num_entries == 0) return family.CancelJob(info.job_id);
      family.EndJob(info.job_id, {}, {{info.file_number, 0, ReadFacts(info.table_properties)}});
    });
  }

  void OnCompactionBegin(DB* db, const rocksdb::CompactionJobInfo& info) override {
    Update(*db, info.cf_name, info.cf_id, [&](Family& family) {
      family.BeginJob({info.job_id, false, info.output_level, info.thread_id},
                      info.base_input_level, ListInputs(info));
    });
  }

  void OnCompactionCompleted(DB* db, const rocksdb::CompactionJobInfo& info) override {
    Update(*db, info.cf_name, info.cf_id, [&](Family& family) {
      if (!info.status.ok()) return family.CancelJob(info.job_id);
      family.EndJob(info.job_id, ListInputs(info), ListOutputs(info));
    });
    if (info.compaction_reason != rocksdb::CompactionReason::kManualCompaction) return;
    // CompactRange may move the outputs to another level after this event, and after the next.
    Guard([&] {
      const auto database = Registry::Get().Follow(*db);
      const auto lock = database->Lock();
      database->tables.MarkStale();
      database->lists_twice = true;
    });
  }

  void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& info) override {
    Guard([&] {
      const std::shared_ptr<Database> writer = FindWriter(info);
      if (writer != nullptr && info.reason == rocksdb::TableFileCreationReason::kCompaction) {
        ListForUntoldJob(*writer, info.cf_name, info.job_id);
      }
      BeginTableInProgress({info.file_path, info.cf_name, info.job_id, writer});
    });
  }

  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    Guard([&] {
      const TableInProgress table = EndTableInProgress(info.file_path);
      if (table.database == nullptr) return;
      const auto id = static_cast<std::uint32_t>(info.table_properties.column_family_id);
      const std::uint64_t number = ParseNumber(info.file_path);
      const auto lock = table.database->Lock();
      if (table.database->is_closed) return;
      const bool is_whole = info.status.ok();
      const auto family =
          is_whole ? table.database->Find(table.family, id) : table.database->Find(table.family);
      if (family == nullptr) return;
      if (!is_whole) return Drop(*table.database, number);
      family->FinishTable(number, table.job, ReadFacts(info.table_properties));
      NotePolicy(info, table, *family);
      family->Count();
    });
  }

  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override {
    Guard([&] {
      const std::uint64_t number = ParseNumber(info.file_path);
      const Databases owners = Registry::Get().OfPath(info.db_name);
      for (const auto& database : owners) {
        const auto lock = database->Lock();
        // One of several with the same path has had the table, and a listing tells which.
        if (owners.size() != 1) database->tables.MarkStale();
        if (owners.size() == 1) Drop(*database, number);
      }
    });
  }

  // The properties of the table do not name the family. One that has only ingested tables has told
  // no policy.
  void OnExternalFileIngested(DB* db, const rocksdb::ExternalFileIngestionInfo& info) override {
    Update(*db, info.cf_name, std::nullopt, [&](Family& family) {
      if (!family.policy && !family.has_tables_of_others) {
        family.SetPolicy(family.database.CommonPolicy());
      }
      family.FinishTable(ParseNumber(info.internal_file_path), kNoJob,
                         ReadFacts(info.table_properties));
    });
  }

  void OnColumnFamilyHandleDeletionStarted(rocksdb::ColumnFamilyHandle* handle) override {
    Guard([&] { Registry::Get().Close(handle); });
  }

  // The job that failed, of a database that is not named, may fire no end event.
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/,
                         rocksdb::Status* /*error*/) override {
    Registry::Get().MarkAllStale();
  }

 private:
  // No exception may reach RocksDB.
  template <typename Function>
  static void Guard(Function function) {
    try {
      function();
    } catch (...) {
      Registry::Get().MarkAllStale();
    }
  }

  //   id   of the family, if the event tells it
  template <typename Function>
  static void Update(DB& db, const std::string& name, std::optional<std::uint32_t> id,
                     Function change) {
    Guard([&] {
      const std::shared_ptr<Database> database = Registry::Get().Follow(db);
      ListIfWanted(db, *database);
      std::string other_policy;
      {
        const auto lock = database->Lock();
        const auto family = id ? database->Find(name, *id) : database->FindOrAdd(name);
        if (family == nullptr || database->is_closed) return;
        change(*family);
        family->Count();
        // It is named once for each family and opening.
        if (family->other_policy) other_policy.swap(*family->other_policy);
      }
      if (!other_policy.empty()) WarnOfOtherPolicy(db, name, other_policy);
      ListIfWanted(db, *database);
    });
  }

  static void Drop(Database& database, std::uint64_t number) {
    const Table* const known = database.tables.Find(number);
    Tree* const tree = known == nullptr ? nullptr : known->tree;
    database.tables.Drop(number);
    if (tree != nullptr) static_cast<Family*>(tree)->Count();
  }

  // Returns the database that runs the job, or else the only one of this path if the table is in
  // its directory: the worker of a compaction service names the path, too, but has numbers of its
  // own and writes elsewhere. Returns null if none is known, or two may be meant: a path names a
  // database only within its file system. Without the job, eight databases of one path took nine
  // times the bound of their budget.
  static std::shared_ptr<Database> FindWriter(const rocksdb::TableFileCreationBriefInfo& info) {
    const std::string& path = info.db_name;
    const Databases of_path = Registry::Get().OfPath(path);
    std::shared_ptr<Database> writer;
    for (const auto& database : of_path) {
      const auto lock = database->Lock();
      const auto family = database->Find(info.cf_name);
      if (family == nullptr || !family->IsRunning(info.job_id)) continue;
      if (writer != nullptr) return nullptr;
      writer = database;
    }
    const bool is_in_directory = info.file_path.compare(0, path.size(), path) == 0 &&
                                 info.file_path.rfind('/') == path.size();
    return writer == nullptr && of_path.size() == 1 && is_in_directory ? of_path[0] : writer;
  }

  // Notes whose policy a whole table's filter is of.
  void NotePolicy(const rocksdb::TableFileCreationInfo& info, const TableInProgress& table,
                  Family& family) const {
    const bool is_of_a_job = info.reason == rocksdb::TableFileCreationReason::kFlush ||
                             info.reason == rocksdb::TableFileCreationReason::kCompaction;
    if (warns_of_other_policies_ && is_of_a_job && !table.is_ours && !family.other_policy) {
      family.other_policy = DescribeOtherPolicy(info.table_properties);
    }
    if (table.job < family.policy_job) return;
    // RocksDB asks no policy for a table that gets no filter.
    family.has_tables_of_others = !table.is_sized && info.table_properties.filter_size != 0;
    if (family.has_tables_of_others) family.SetPolicyOf(table.job, std::nullopt);
  }

  static void WarnOfOtherPolicy(DB& db, const std::string& family, const std::string& policy) {
    rocksdb::Warn(
        db.GetDBOptions().info_log,
        "exactbloom: column family [%s]: its tables have %s, and none of ExactBloom; was it "
        "opened without one, or its table factory replaced after SetFilterPolicy, as "
        "OptimizeForPointLookup does?",
        family.c_str(), policy.c_str());
  }

  const bool warns_of_other_policies_;
};

}  // namespace

std::unique_ptr<rocksdb::EventListener> MakeTreeListener(bool warns_of_other_policies) {
  return std::make_unique<TreeListener>(warns_of_other_policies);
}

}  // namespace tree

std::shared_ptr<rocksdb::EventListener> NewTreeListener() { return tree::MakeTreeListener(); }

}  // namespace exactbloom
