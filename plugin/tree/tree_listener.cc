#include "exactbloom/tree_listener.h"

#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "../files/table_file.h"
#include "table_in_making.h"

namespace exactbloom {
namespace tree {
namespace {

using Clock = std::chrono::steady_clock;
using rocksdb::DB;
using rocksdb::TableProperties;

thread_local TableInMaking current_table;

std::atomic<int> needs_of_filter_sizes{0};

// Older RocksDB did not count the keys of filters; and a filter of prefixes has fewer.
TableCount CountOf(const TableProperties& properties) {
  const std::uint64_t keys =
      properties.num_filter_entries != 0 ? properties.num_filter_entries : properties.num_entries;
  return {keys, properties.filter_size};
}

// The number in `.../000123.sst`.
std::uint64_t NumberOf(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return std::strtoull(path.c_str() + (slash == std::string::npos ? 0 : slash + 1), nullptr, 10);
}

// Reads the properties of a table. What cannot be read stays unknown.
TableCount ReadCount(DB& db, const rocksdb::SstFileMetaData& table) {
  TableCount count{table.num_entries, std::nullopt};
  std::unique_ptr<files::TableFile> file;
  std::map<std::string, std::string> properties;
  const std::string path = table.directory + "/" + table.relative_filename;
  if (!files::TableFile::Open(*db.GetFileSystem(), path, &file).ok()) return count;
  if (!file->ReadProperties(&properties).ok()) return count;
  using Names = rocksdb::TablePropertiesNames;
  count.filter_bytes = files::TableFile::NumberIn(properties, Names::kFilterSize);
  const std::uint64_t keys = files::TableFile::NumberIn(properties, Names::kNumFilterEntries);
  if (keys != 0) count.keys = keys;
  return count;
}

// Completes the counts of tables of one level whose sizes of filters are not known. All are read if
// a budget has to be kept. Else some show how many bits per key the level has: reading thousands
// would hold up the first job of a large database.
void CountUnknown(DB& db, const std::vector<rocksdb::SstFileMetaData>& files, LiveTable* tables,
                  const std::vector<std::size_t>& unknown) {
  constexpr std::size_t kSample = 64;
  const bool reads_all = needs_of_filter_sizes > 0;
  const std::size_t step = reads_all ? 1 : unknown.size() / kSample + 1;
  double keys = 0.0;
  double filter_bytes = 0.0;
  for (std::size_t i = 0; i < unknown.size(); i += step) {
    TableCount& count = tables[unknown[i]].count;
    count = ReadCount(db, files[unknown[i]]);
    if (!count.filter_bytes) continue;
    keys += static_cast<double>(count.keys);
    filter_bytes += static_cast<double>(*count.filter_bytes);
  }
  if (reads_all || keys == 0.0) return;
  for (const std::size_t i : unknown) {
    TableCount& count = tables[i].count;
    if (count.filter_bytes) continue;
    count.filter_bytes =
        static_cast<std::uint64_t>(filter_bytes / keys * static_cast<double>(count.keys));
  }
}

// `census` has counts of tables of this session, or is null: in another one the numbers may be
// those of other files.
std::map<std::string, std::vector<LiveTable>> ListTables(DB& db, const TreeCensus* census) {
  std::map<std::string, std::vector<LiveTable>> families;
  std::vector<rocksdb::ColumnFamilyMetaData> metadata;
  db.GetAllColumnFamilyMetaData(&metadata);
  for (const rocksdb::ColumnFamilyMetaData& family : metadata) {
    std::vector<LiveTable>& tables = families[family.name];
    for (const rocksdb::LevelMetaData& level : family.levels) {
      const std::size_t first = tables.size();
      std::vector<std::size_t> unknown;
      for (std::size_t i = 0; i < level.files.size(); ++i) {
        const rocksdb::SstFileMetaData& table = level.files[i];
        std::optional<TableCount> count;
        if (census != nullptr) count = census->CountOf(table.file_number);
        if (!count) unknown.push_back(i);
        tables.push_back({level.level, table.file_number,
                          count.value_or(TableCount{table.num_entries, std::nullopt})});
      }
      CountUnknown(db, level.files, tables.data() + first, unknown);
    }
  }
  return families;
}

// The census of one database, and when it was looked at.
struct WatchedDatabase {
  std::shared_ptr<TreeCensus> census = std::make_shared<TreeCensus>();
  Clock::time_point next_look;
};

// The listeners of this process. RocksDB may be built without run-time types, and a listener that
// passes everything on may have the name.
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

class TreeListener : public rocksdb::EventListener {
 public:
  TreeListener() { TreeListeners::All().Add(this); }
  ~TreeListener() override { TreeListeners::All().Remove(this); }
  TreeListener(const TreeListener&) = delete;
  TreeListener& operator=(const TreeListener&) = delete;

  const char* Name() const override { return kTreeListenerName; }

  void LookAt(DB& db) {
    Note(db, [](TreeCensus& /*census*/) {});
  }

  void OnFlushBegin(DB* db, const rocksdb::FlushJobInfo& info) override {
    Note(*db, [&](TreeCensus& census) { census.BeginFlush(info.cf_name, info.job_id); });
  }

  void OnFlushCompleted(DB* db, const rocksdb::FlushJobInfo& info) override {
    Note(*db, [&](TreeCensus& census) {
      census.EndJob(info.cf_name, info.job_id,
                    {{0, info.file_number, CountOf(info.table_properties)}});
    });
  }

  void OnCompactionBegin(DB* db, const rocksdb::CompactionJobInfo& info) override {
    Note(*db, [&](TreeCensus& census) {
      census.BeginCompaction(info.cf_name, info.job_id, info.output_level,
                             TablesOf(info, info.input_files, info.input_file_infos));
    });
  }

  void OnCompactionCompleted(DB* db, const rocksdb::CompactionJobInfo& info) override {
    Note(*db, [&](TreeCensus& census) {
      if (!info.status.ok()) return census.CancelJob(info.cf_name, info.job_id);
      census.EndJob(info.cf_name, info.job_id,
                    TablesOf(info, info.output_files, info.output_file_infos));
      // CompactRange may change the level afterwards, without a word.
      if (info.compaction_reason == rocksdb::CompactionReason::kManualCompaction) census.Doubt();
    });
  }

  void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& info) override {
    Guard([&] {
      current_table = TableInMaking();
      const std::shared_ptr<TreeCensus> census = Find(info.db_name);
      // While a database is opened, nothing is known of it, and that of an earlier session is old.
      if (info.reason == rocksdb::TableFileCreationReason::kRecovery) return;
      if (census == nullptr) return;
      current_table.census = census;
      current_table.family = info.cf_name;
      current_table.job = info.job_id;
    });
  }

  void OnTableFileCreated(const rocksdb::TableFileCreationInfo& info) override {
    Guard([&] {
      const TableInMaking table = std::exchange(current_table, TableInMaking());
      if (table.census == nullptr || !info.status.ok()) return;
      const TableCount count = CountOf(info.table_properties);
      const bool is_heard = table.census->AddWritten(table.family, table.job, count);
      if (!is_heard && table.has_owner) {
        table.census->AddUnheard(table.family, table.job,
                                 {table.level, NumberOf(info.file_path), count});
      }
      // Where RocksDB wants no filter, it asks no policy.
      const bool is_others = !table.has_owner && info.table_properties.filter_size != 0;
      if (is_others) table.census->SetOwner(table.family, TreeCensus::kOtherOwner);
    });
  }

  void OnTableFileDeleted(const rocksdb::TableFileDeletionInfo& info) override {
    Guard([&] {
      const std::shared_ptr<TreeCensus> census = Find(info.db_name);
      if (census != nullptr) census->Delete(NumberOf(info.file_path));
    });
  }

  void OnExternalFileIngested(DB* db, const rocksdb::ExternalFileIngestionInfo& info) override {
    Note(*db, [&](TreeCensus& census) {
      census.AddIngested(info.cf_name, NumberOf(info.internal_file_path),
                         CountOf(info.table_properties));
    });
  }

  // Null: there was no event of it.
  std::shared_ptr<TreeCensus> Find(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = databases_.find(name);
    return known == databases_.end() ? nullptr : known->second.census;
  }

  // The default family's handle goes when a database is closed. It does not say of which one.
  void OnColumnFamilyHandleDeletionStarted(rocksdb::ColumnFamilyHandle* handle) override {
    const bool is_default = handle->GetID() == 0;
    ForAll([&](TreeCensus& census) { is_default ? census.Close() : census.Doubt(); });
  }

  // A failed flush tells no more.
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/,
                         rocksdb::Status* /*error*/) override {
    ForAll([](TreeCensus& census) {
      census.CancelJobs();
      census.Doubt();
    });
  }

 private:
  // No exception may reach RocksDB.
  template <typename Function>
  void Guard(Function function) {
    try {
      function();
    } catch (const std::bad_alloc&) {
      ForAll([](TreeCensus& census) { census.Doubt(); });
    }
  }

  template <typename Change>
  void Note(DB& db, Change change) {
    Guard([&] { change(*Watch(db)); });
  }

  template <typename Change>
  void ForAll(Change change) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [name, database] : databases_) change(*database.census);
  }

  // Returns the census of an open database, after a look if it needs one.
  std::shared_ptr<TreeCensus> Watch(DB& db) {
    std::string session;
    db.GetDbSessionId(session).PermitUncheckedError();
    std::shared_ptr<TreeCensus> census;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      WatchedDatabase& database = databases_[db.GetName()];
      census = database.census;
      if (census->IsOf(session) && (!census->IsDoubtful() || Clock::now() < database.next_look)) {
        return census;
      }
    }
    const Clock::time_point begin = Clock::now();
    Look(db, session, *census);
    const Clock::time_point end = Clock::now();
    const std::lock_guard<std::mutex> lock(mutex_);
    databases_[db.GetName()].next_look = end + kLeastTimeBetweenLooks * (end - begin);
    return census;
  }

  static void Look(DB& db, const std::string& session, TreeCensus& census) {
    constexpr int kTries = 3;
    const TreeCensus* const known = census.IsOf(session) ? &census : nullptr;
    for (int i = 0; i < kTries; ++i) {
      const std::uint64_t changes = census.Changes();
      if (census.Look(changes, session, ListTables(db, known))) return;
    }
    // Other threads' jobs end all the time. What they changed since is made good by the next look.
    const auto tables = ListTables(db, known);
    while (!census.Look(census.Changes(), session, tables)) {
    }
    census.Doubt();
  }

  static std::vector<LiveTable> TablesOf(const rocksdb::CompactionJobInfo& info,
                                         const std::vector<std::string>& paths,
                                         const std::vector<rocksdb::CompactionFileInfo>& files) {
    std::vector<LiveTable> tables;
    for (std::size_t i = 0; i < std::min(paths.size(), files.size()); ++i) {
      const auto properties = info.table_properties.find(paths[i]);
      const TableCount count = properties == info.table_properties.end()
                                   ? TableCount{0, std::nullopt}
                                   : CountOf(*properties->second);
      tables.push_back({files[i].level, files[i].file_number, count});
    }
    return tables;
  }

  // In durations of the last look: looks take at most a hundredth of the time.
  static constexpr int kLeastTimeBetweenLooks = 100;

  std::mutex mutex_;
  std::map<std::string, WatchedDatabase> databases_;  // by path
};

}  // namespace

TableInMaking* CurrentTable(const rocksdb::FilterBuildingContext& context) {
  const bool fits = current_table.census != nullptr &&
                    context.reason != rocksdb::TableFileCreationReason::kMisc &&
                    context.column_family_name == current_table.family;
  return fits ? &current_table : nullptr;
}

void LookAt(DB& db) {
  for (const auto& listener : db.GetDBOptions().listeners) {
    if (!TreeListeners::All().Has(listener.get())) continue;
    static_cast<TreeListener&>(*listener).LookAt(db);
  }
}

std::unique_ptr<rocksdb::EventListener> MakeTreeListener() {
  return std::make_unique<TreeListener>();
}

std::shared_ptr<TreeCensus> CensusOf(rocksdb::EventListener& listener, const std::string& path) {
  return static_cast<TreeListener&>(listener).Find(path);
}

NeedOfFilterSizes::NeedOfFilterSizes() { ++needs_of_filter_sizes; }
NeedOfFilterSizes::~NeedOfFilterSizes() { --needs_of_filter_sizes; }

}  // namespace tree

std::shared_ptr<rocksdb::EventListener> NewTreeListener() { return tree::MakeTreeListener(); }

}  // namespace exactbloom
