#include "exactbloom/tree_listener.h"

#include <rocksdb/db.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "current_table.h"
#include "manifest_scan.h"

namespace exactbloom {
namespace tree {
namespace {

using Clock = std::chrono::steady_clock;
using rocksdb::DB;

// The tables that this thread is writing. With per-key placement, a compaction writes two at once.
thread_local std::vector<TableInProgress> tables_in_progress;

// Of the database that this thread is about to open, the last that a policy named; null if none.
thread_local FilterBudget* opening_budget = nullptr;

// Of the PlannedTables of this thread; nothing if none lives.
thread_local std::optional<std::uint64_t> planned_keys;

// A thread runs one job at a time, so tables of another one were abandoned.
void StartTable(TableInProgress table) {
  std::vector<TableInProgress>& tables = tables_in_progress;
  if (!tables.empty() && (tables[0].job != table.job || tables[0].family != table.family)) {
    tables.clear();
  }
  tables.push_back(std::move(table));
}

// The result has no shape if the thread did not start the table.
TableInProgress FinishTable(const std::string& path) {
  std::vector<TableInProgress>& tables = tables_in_progress;
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const TableInProgress& table) { return table.path == path; });
  if (found == tables.end()) return {};
  TableInProgress table = std::move(*found);
  tables.erase(found);
  return table;
}

// The number in `.../000123.sst`.
std::uint64_t NumberOf(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return std::strtoull(path.c_str() + (slash == std::string::npos ? 0 : slash + 1), nullptr, 10);
}

std::vector<LiveTable> TablesOf(const rocksdb::CompactionJobInfo& info,
                                const std::vector<std::string>& paths,
                                const std::vector<rocksdb::CompactionFileInfo>& files) {
  std::vector<LiveTable> tables;
  for (std::size_t i = 0; i < std::min(paths.size(), files.size()); ++i) {
    const auto properties = info.table_properties.find(paths[i]);
    // A compaction service returns tables without properties.
    const bool is_known =
        properties != info.table_properties.end() && properties->second != nullptr;
    const TableCount count = is_known ? CountOf(*properties->second) : TableCount{0, std::nullopt};
    tables.push_back({files[i].level, files[i].file_number, count});
  }
  return tables;
}

// The listeners of this process. RocksDB may be built without RTTI, and a listener that forwards to
// another may have its name.
class TreeListeners {
 public:
  static TreeListeners& All() {
    static TreeListeners& all = *new TreeListeners;  // never destroyed: listeners may outlive it
    return all;
  }

  void Add(const rocksdb::EventListener* listener) {
    const std::lock_guard<std::mutex> lock(mutex_);
    listeners_.insert(listener);
  }
  void Remove(const rocksdb::EventListener* listener) {
    const std::lock_guard<std::mutex> lock(mutex_);
    listeners_.erase(listener);
  }
  bool Has(const rocksdb::EventListener* listener) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return listeners_.count(listener) != 0;
  }

 private:
  std::mutex mutex_;
  std::set<const rocksdb::EventListener*> listeners_;
};

// Returns the shape of a database that is being opened, before the tables that this writes; null if
// it cannot be read. A database with many column families asks for each of them, so the thread
// keeps the shape until the next opening, which begins with another MANIFEST.
std::shared_ptr<LsmShape> ShapeOfOpening(const std::string& path) {
  thread_local std::string known;
  thread_local std::shared_ptr<LsmShape> shape;
  std::string manifest;
  const auto file_system = rocksdb::FileSystem::Default();
  rocksdb::ReadFileToString(file_system.get(), path + "/CURRENT", &manifest).PermitUncheckedError();
  manifest.insert(0, path + "\n");
  if (known == manifest) return shape;
  known.clear();
  shape.reset();
  const std::map<std::string, std::vector<LiveTable>> families = ScanManifest(path);
  if (families.empty()) return nullptr;
  shape = std::make_shared<LsmShape>(path);
  shape->Refresh(shape->Changes(), families);
  known = manifest;
  return shape;
}

struct OpenDatabase {
  std::shared_ptr<LsmShape> shape;
  std::string session;
  // RocksDB deletes this handle when the database is closed. Handles of its user have other
  // addresses.
  const rocksdb::ColumnFamilyHandle* default_family = nullptr;
  Clock::time_point next_rescan;
  // The shape is what the MANIFEST said, with a budget until the first job has ended.
  bool is_by_manifest = false;
};

// A database that was opened with a budget and had no event yet.
struct Announced {
  std::shared_ptr<LsmShape> shape;
  int deleted_handles = 0;  // of the default family
};

// Whether an event may wait for the properties of tables to be read: at the end of a job nobody
// waits for the event.
enum class Reading : std::uint8_t { kNot, kAllowed };

class TreeListener : public rocksdb::EventListener {
 public:
  TreeListener() { TreeListeners::All().Add(this); }
  ~TreeListener() override { TreeListeners::All().Remove(this); }
  TreeListener(const TreeListener&) = delete;
  TreeListener& operator=(const TreeListener&) = delete;

  const char* Name() const override { return kTreeListenerName; }

  void RefreshShape(DB& db) {
    Update(db, Reading::kAllowed, [](LsmShape& /*shape*/) {});
  }

  void OnFlushBegin(DB* db, const rocksdb::FlushJobInfo& info) override {
    Update(*db, Reading::kNot,
           [&](LsmShape& shape) { shape.BeginFlush(info.cf_name, info.job_id); });
  }

  void OnFlushCompleted(DB* db, const rocksdb::FlushJobInfo& info) override {
    Update(*db, Reading::kAllowed, [&](LsmShape& shape) {
      shape.EndJob(info.cf_name, info.job_id,
                   {{0, info.file_number, CountOf(info.table_properties)}});
    });
  }

  void OnCompactionBegin(DB* db, const rocksdb::CompactionJobInfo& info) override {
    Update(*db, Reading::kNot, [&](LsmShape& shape) {
      shape.BeginCompaction(info.cf_name, info.job_id, info.output_level,
                            TablesOf(info, info.input_files, info.input_file_infos));
    });
  }

  void OnCompactionCompleted(DB* db, const rocksdb::CompactionJobInfo& info) override {
    Update(*db, Reading::kAllowed, [&](LsmShape& shape) {
      if (!info.status.ok()) return shape.CancelJob(info.cf_name, info.job_id);
      const auto outputs = TablesOf(info, info.output_files, info.output_file_infos);
      shape.EndJob(info.cf_name, info.job_id, outputs);
      const bool all_known = std::all_of(outputs.begin(), outputs.end(), [](const auto& table) {
        return table.count.filter_bytes.has_value();
      });
      if (!all_known) shape.MarkStale();
    });
    // CompactRange may move the outputs to another level after this event.
    if (info.compaction_reason != rocksdb::CompactionReason::kManualCompaction) return;
    Guard([&] { Open(*db)->MarkStale(); });
  }

  void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& info) override {
    Guard([&] {
      TableInProgress table;
      table.path = info.file_path;
      table.family = info.cf_name;
      table.job = info.job_id;
      table.is_planned = planned_keys.has_value();
      table.keys = planned_keys.value_or(0);
      const bool is_recovery = info.reason == rocksdb::TableFileCreationReason::kRecovery;
      if (is_recovery) {
        table.opening = info.db_name;
      } else {
        table.shape = Find(info.db_name);
      }
      StartTable(std::move(table));
    });
  }

  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    Guard([&] {
      const TableInProgress table = FinishTable(info.file_path);
      if (table.shape == nullptr) return;
      if (!info.status.ok()) {
        table.shape->SetPromised(table.family, table.job, 0.0);
        return;
      }
      const std::uint64_t number = NumberOf(info.file_path);
      const TableCount count = CountOf(info.table_properties);
      const bool is_reported = table.shape->AddWritten(table.family, table.job, number, count);
      if (!is_reported && table.has_policy) {
        table.shape->AddUnreported(table.family, table.job, {table.level, number, count});
      }
      // RocksDB asks no policy for a table that gets no filter.
      const bool is_foreign = !table.has_policy && info.table_properties.filter_size != 0;
      if (is_foreign) table.shape->SetPolicy(table.family, LsmShape::kForeignPolicy);
    });
  }

  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override {
    Guard([&] {
      const std::shared_ptr<LsmShape> shape = Find(info.db_name);
      if (shape != nullptr) shape->Delete(NumberOf(info.file_path));
    });
  }

  void OnExternalFileIngested(DB* db, const rocksdb::ExternalFileIngestionInfo& info) override {
    Update(*db, Reading::kAllowed, [&](LsmShape& shape) {
      shape.AddIngested(info.cf_name, NumberOf(info.internal_file_path),
                        CountOf(info.table_properties));
    });
  }

  // Closing a database deletes its own handle of the default family.
  void OnColumnFamilyHandleDeletionStarted(rocksdb::ColumnFamilyHandle* handle) override {
    Guard([&] { ForgetAnnounced(handle); });
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto closed = std::find_if(databases_.begin(), databases_.end(), [&](const auto& known) {
      return known.second.default_family == handle;
    });
    if (closed == databases_.end()) return;
    closed->second.shape->Close();
    databases_.erase(closed);
  }

  // Not for all that is read: this is asked when a file is opened.
  bool ShouldBeNotifiedOnFileIO() override { return opening_budget != nullptr; }

  void OnFileReadFinish(const rocksdb::FileOperationInfo& info) override {
    const std::size_t name = info.path.rfind("/MANIFEST-");
    if (opening_budget == nullptr || name == std::string::npos) return;
    FilterBudget& budget = *std::exchange(opening_budget, nullptr);
    Guard([&] { Announce(info.path.substr(0, name), budget); });
  }

  // The flush that failed, of a database that is not named, fires no end event.
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/,
                         rocksdb::Status* /*error*/) override {
    MarkAllStale();
  }

  // Returns null if there was no event of an open database at this path.
  std::shared_ptr<LsmShape> Find(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = databases_.find(path);
    return known == databases_.end() ? nullptr : known->second.shape;
  }

 private:
  // No exception may reach RocksDB.
  template <typename Function>
  void Guard(Function function) {
    try {
      function();
    } catch (...) {
      MarkAllStale();
    }
  }

  // Applies an event to the shape, and rescans the tables if the shape is still incomplete then.
  template <typename Change>
  void Update(DB& db, Reading reading, Change change) {
    Guard([&] {
      const std::shared_ptr<LsmShape> shape = Open(db);
      change(*shape);
      if (IsRescanDue(db, *shape, reading)) Rescan(db, *shape);
    });
  }

  // A database that is being opened counts by its MANIFEST. Its families share the budget until
  // their first tables show which policies they have.
  void Announce(const std::string& path, FilterBudget& budget) {
    const auto families = ScanManifest(path);
    if (families.empty()) return;
    const auto shape = std::make_shared<LsmShape>(path);
    shape->Refresh(shape->Changes(), families);
    for (const auto& [family, tables] : families) shape->SetPolicy(family, budget.Id());
    budget.Follow(shape);
    const std::lock_guard<std::mutex> lock(mutex_);
    announced_[path] = {shape, 0};
  }

  // Null if the database was not announced.
  std::shared_ptr<LsmShape> TakeAnnounced(const std::string& path) {
    const auto known = announced_.find(path);
    if (known == announced_.end()) return nullptr;
    std::shared_ptr<LsmShape> shape = std::move(known->second.shape);
    announced_.erase(known);
    return shape;
  }

  // A handle of a database that had no event yet is deleted. There are two of the default family,
  // and that of the database itself is the last. RocksDB puts the path into the families' options.
  void ForgetAnnounced(rocksdb::ColumnFamilyHandle* handle) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (announced_.empty()) return;
    }
    rocksdb::ColumnFamilyDescriptor family;
    if (handle->GetName() != rocksdb::kDefaultColumnFamilyName) return;
    if (!handle->GetDescriptor(&family).ok() || family.options.cf_paths.empty()) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = announced_.find(family.options.cf_paths.front().path);
    if (known != announced_.end() && ++known->second.deleted_handles == 2) announced_.erase(known);
  }

  void MarkAllStale() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [path, database] : databases_) database.shape->MarkStale();
  }

  std::shared_ptr<LsmShape> Open(DB& db) {
    std::string session;
    db.GetDbSessionId(session).PermitUncheckedError();
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = databases_.find(db.GetName());
    if (known != databases_.end()) {
      if (known->second.session == session) return known->second.shape;
      known->second.shape->Close();
    }
    OpenDatabase opened{TakeAnnounced(db.GetName()), session, db.DefaultColumnFamily(), {}, false};
    opened.is_by_manifest = opened.shape != nullptr;
    if (opened.shape == nullptr) opened.shape = std::make_shared<LsmShape>(db.GetName());
    return databases_.insert_or_assign(db.GetName(), std::move(opened)).first->second.shape;
  }

  bool IsRescanDue(DB& db, const LsmShape& shape, Reading reading) {
    if (!shape.IsLoaded()) return true;
    const std::lock_guard<std::mutex> lock(mutex_);
    const OpenDatabase& database = databases_.at(db.GetName());
    if (database.is_by_manifest) return reading == Reading::kAllowed;
    return shape.IsStale() && Clock::now() >= database.next_rescan;
  }

  void Rescan(DB& db, LsmShape& shape) {
    constexpr int kPauseInScans = 100;  // rescans take at most a hundredth of the time
    const Clock::time_point begin = Clock::now();
    bool is_by_manifest = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_by_manifest = std::exchange(databases_.at(db.GetName()).is_by_manifest, false);
    }
    if (is_by_manifest) {
      Refresh(db, shape, LsmShape(), Sample::kSafe);  // what it has are estimates
    } else {
      Refresh(db, shape, shape, Sample::kMean);
    }
    const Clock::time_point end = Clock::now();
    const std::lock_guard<std::mutex> lock(mutex_);
    databases_.at(db.GetName()).next_rescan = end + kPauseInScans * (end - begin);
  }

  static void Refresh(DB& db, LsmShape& shape, const LsmShape& known, Sample sample) {
    constexpr int kTries = 3;
    for (int i = 0; i < kTries; ++i) {
      const std::uint64_t changes = shape.Changes();
      if (shape.Refresh(changes, ScanTables(db, known, sample))) return;
    }
    // Jobs of other threads end all the time. The next rescan corrects what they changed meanwhile.
    const auto tables = ScanTables(db, known, sample);
    while (!shape.Refresh(shape.Changes(), tables)) {
    }
    shape.MarkStale();
  }

  std::mutex mutex_;
  std::map<std::string, OpenDatabase> databases_;  // by path
  std::map<std::string, Announced> announced_;     // by path
};

// The options of the open database keep them alive.
std::vector<TreeListener*> TreeListenersOf(const DB& db) {
  std::vector<TreeListener*> listeners;
  for (const auto& listener : db.GetDBOptions().listeners) {
    if (!TreeListeners::All().Has(listener.get())) continue;
    listeners.push_back(static_cast<TreeListener*>(listener.get()));
  }
  return listeners;
}

}  // namespace

TableInProgress* CurrentTable(const rocksdb::FilterBuildingContext& context) {
  if (tables_in_progress.empty()) return nullptr;
  TableInProgress& table = tables_in_progress.back();
  const bool fits = context.reason != rocksdb::TableFileCreationReason::kMisc &&
                    context.column_family_name == table.family;
  if (!fits) return nullptr;
  if (table.shape == nullptr && !table.opening.empty()) {
    table.shape = ShapeOfOpening(table.opening);
  }
  return table.shape != nullptr ? &table : nullptr;
}

void ExpectOpening(FilterBudget& budget) { opening_budget = &budget; }

PlannedTables::PlannedTables(std::uint64_t keys) { planned_keys = keys; }
PlannedTables::~PlannedTables() { planned_keys.reset(); }

TrialTable::TrialTable(DB& db, const std::string& family, std::uint64_t keys) {
  constexpr LsmShape::JobId kNoJob = -1;
  const std::vector<TreeListener*> listeners = TreeListenersOf(db);
  for (TreeListener* listener : listeners) listener->RefreshShape(db);
  if (listeners.empty()) return;
  TableInProgress table;
  table.shape = listeners.front()->Find(db.GetName());
  table.family = family;
  table.job = kNoJob;
  table.is_planned = true;
  table.is_trial = true;
  table.keys = keys;
  tables_in_progress.push_back(std::move(table));
  is_started_ = true;
}

TrialTable::~TrialTable() {
  if (is_started_) tables_in_progress.pop_back();
}

void RefreshShape(DB& db) {
  for (TreeListener* listener : TreeListenersOf(db)) listener->RefreshShape(db);
}

std::unique_ptr<rocksdb::EventListener> MakeTreeListener() {
  return std::make_unique<TreeListener>();
}

std::shared_ptr<LsmShape> ShapeOf(rocksdb::EventListener& listener, const std::string& path) {
  return static_cast<TreeListener&>(listener).Find(path);
}

}  // namespace tree

std::shared_ptr<rocksdb::EventListener> NewTreeListener() { return tree::MakeTreeListener(); }

}  // namespace exactbloom
