#include "exactbloom/tree_listener.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sized_table.h"

namespace exactbloom {
namespace tree {
namespace {

using rocksdb::DB;

std::vector<LiveFile> FilesOf(const rocksdb::CompactionJobInfo& info,
                              const std::vector<std::string>& paths,
                              const std::vector<rocksdb::CompactionFileInfo>& infos) {
  std::vector<LiveFile> files;
  for (std::size_t i = 0; i < std::min(paths.size(), infos.size()); ++i) {
    LiveFile& file = files.emplace_back();
    file.number = infos[i].file_number;
    file.level = infos[i].level;
    // A compaction service returns tables without properties.
    const auto properties = info.table_properties.find(paths[i]);
    if (properties != info.table_properties.end() && properties->second != nullptr) {
      file.facts = TableFacts::Of(*properties->second);
    }
  }
  return files;
}

bool AreKnown(const std::vector<LiveFile>& files) {
  return std::all_of(files.begin(), files.end(),
                     [](const LiveFile& file) { return file.facts.has_value(); });
}

// What is known of databases is not the listener's: a database may have two, or two databases one.
class TreeListener : public rocksdb::EventListener {
 public:
  explicit TreeListener(bool warns_of_other_policies)
      : warns_of_other_policies_(warns_of_other_policies) {}

  const char* Name() const override { return kTreeListenerName; }

  void OnFlushBegin(DB* db, const rocksdb::FlushJobInfo& info) override {
    Guard([&] {
      Update(*db, [&](OpenDatabase& database) {
        database.BeginFlush(info.cf_name, info.cf_id, info.job_id, info.thread_id);
      });
    });
  }

  void OnFlushCompleted(DB* db, const rocksdb::FlushJobInfo& info) override {
    Guard([&] {
      const std::vector<LiveFile> outputs = {
          {info.file_number, 0, TableFacts::Of(info.table_properties)}};
      Update(*db, [&](OpenDatabase& database) {
        database.EndJob(info.cf_name, info.cf_id, info.job_id, {}, outputs);
      });
      WarnOfOtherPolicy(*db, info.cf_name);
    });
  }

  void OnCompactionBegin(DB* db, const rocksdb::CompactionJobInfo& info) override {
    Guard([&] {
      const auto inputs = FilesOf(info, info.input_files, info.input_file_infos);
      Update(*db, [&](OpenDatabase& database) {
        database.BeginCompaction(info.cf_name, info.cf_id, info.job_id, info.thread_id,
                                 info.base_input_level, info.output_level, inputs);
      });
    });
  }

  void OnCompactionCompleted(DB* db, const rocksdb::CompactionJobInfo& info) override {
    Guard([&] {
      const auto inputs = FilesOf(info, info.input_files, info.input_file_infos);
      const auto outputs = FilesOf(info, info.output_files, info.output_file_infos);
      Update(*db, [&](OpenDatabase& database) {
        if (!info.status.ok()) return database.CancelJob(info.cf_name, info.job_id);
        database.EndJob(info.cf_name, info.cf_id, info.job_id, inputs, outputs);
        if (!AreKnown(outputs)) database.is_stale = true;
      });
      // CompactRange may move the outputs to another level after this event.
      if (info.compaction_reason == rocksdb::CompactionReason::kManualCompaction) MarkStale(*db);
      WarnOfOtherPolicy(*db, info.cf_name);
    });
  }

  void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& info) override {
    Guard([&] {
      TableInProgress table{info.file_path, info.cf_name, info.job_id, nullptr, false};
      {
        const auto lock = OpenDatabases::All().Lock();
        table.database = OpenDatabases::All().Find(info.db_name);
      }
      BeginTableInProgress(std::move(table));
    });
  }

  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    Guard([&] {
      const TableInProgress table = EndTableInProgress(info.file_path);
      if (table.database == nullptr) return;
      const std::uint64_t number = NumberOf(info.file_path);
      const auto lock = OpenDatabases::All().Lock();
      OpenDatabase& database = *table.database;
      if (database.is_closed()) return;
      if (!info.status.ok()) return database.AbandonTable(number);
      database.FinishTable(table.family, table.job, number, info.table_properties);
      const bool is_of_a_job = info.reason == rocksdb::TableFileCreationReason::kFlush ||
                               info.reason == rocksdb::TableFileCreationReason::kCompaction;
      if (warns_of_other_policies_ && is_of_a_job && !table.is_ours) {
        NoteOtherPolicy(info.table_properties, database.FindOrAdd(table.family));
      }
      // RocksDB asks no policy for a table that gets no filter.
      const bool is_of_others = !table.is_sized && info.table_properties.filter_size != 0;
      if (is_of_others) database.FindOrAdd(table.family).Use(nullptr);
    });
  }

  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override {
    Guard([&] {
      const auto lock = OpenDatabases::All().Lock();
      const auto database = OpenDatabases::All().Find(info.db_name);
      if (database != nullptr) database->DeleteTable(NumberOf(info.file_path));
    });
  }

  void OnExternalFileIngested(DB* db, const rocksdb::ExternalFileIngestionInfo& info) override {
    Guard([&] {
      Update(*db, [&](OpenDatabase& database) {
        constexpr int kNoJob = -1;
        database.FinishTable(info.cf_name, kNoJob, NumberOf(info.internal_file_path),
                             info.table_properties);
      });
    });
  }

  void OnColumnFamilyHandleDeletionStarted(rocksdb::ColumnFamilyHandle* handle) override {
    const auto lock = OpenDatabases::All().Lock();
    OpenDatabases::All().Close(handle);
  }

  // The job that failed, of a database that is not named, may fire no end event.
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/,
                         rocksdb::Status* /*error*/) override {
    const auto lock = OpenDatabases::All().Lock();
    OpenDatabases::All().MarkAllStale();
  }

 private:
  // No exception may reach RocksDB.
  template <typename Function>
  static void Guard(Function function) {
    try {
      function();
    } catch (...) {
      const auto lock = OpenDatabases::All().Lock();
      OpenDatabases::All().MarkAllStale();
    }
  }

  template <typename Change>
  static void Update(DB& db, Change change) {
    const std::shared_ptr<OpenDatabase> database = Follow(db);
    SnapshotIfWanted(db, database);
    {
      const auto lock = OpenDatabases::All().Lock();
      change(*database);
    }
    SnapshotIfWanted(db, database);
  }

  static void NoteOtherPolicy(const rocksdb::TableProperties& properties, Family& family) {
    if (family.other_policy) return;
    std::string policy = DescribeOtherPolicy(properties);
    if (!policy.empty()) family.other_policy = std::move(policy);
  }

  // Once for each family and opening.
  static void WarnOfOtherPolicy(DB& db, const std::string& family_name) {
    std::string policy;
    {
      const std::shared_ptr<OpenDatabase> database = Follow(db);
      const auto lock = OpenDatabases::All().Lock();
      Family* const family = database->Find(family_name);
      if (family != nullptr && family->other_policy) policy.swap(*family->other_policy);
    }
    if (policy.empty()) return;
    rocksdb::Warn(
        db.GetDBOptions().info_log,
        "exactbloom: column family [%s]: its tables have %s, and none of ExactBloom; was it "
        "opened without one, or its table factory replaced after SetFilterPolicy, as "
        "OptimizeForPointLookup does?",
        family_name.c_str(), policy.c_str());
  }

  static void MarkStale(DB& db) {
    const std::shared_ptr<OpenDatabase> database = Follow(db);
    const auto lock = OpenDatabases::All().Lock();
    database->is_stale = true;
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
