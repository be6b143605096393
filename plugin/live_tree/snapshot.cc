// Snapshots of what RocksDB lists of an open database.
#include <rocksdb/env.h>
#include <rocksdb/metadata.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "open_databases.h"

namespace exactbloom::tree {
namespace {

using Clock = std::chrono::steady_clock;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyMetaData;

// A snapshot of 12,000 tables takes 19 to 33 ms under the database's mutex: 5 ms in a second. It is
// the thread's processor time that counts: on a busy machine the mutex is waited for.
constexpr int kPauseInSnapshots = 200;
constexpr std::size_t kSample = 64;  // tables of a level whose properties are read

// Reads the properties of tables of a family, evenly in each level. RocksDB finds tables by key
// range only, so each range is that of one key and finds one table of each level, or each of level
// 0.
void ReadProperties(rocksdb::DB& root, ColumnFamilyHandle* handle,
                    const ColumnFamilyMetaData& family, const OpenDatabase& database,
                    Snapshot& snapshot) {
  std::vector<std::string> keys;
  {
    const auto lock = OpenDatabases::All().Lock();
    const std::size_t of_level = family.file_count <= kSample
                                     ? kSample
                                     : kSample / std::max<std::size_t>(1, family.levels.size());
    for (const rocksdb::LevelMetaData& level : family.levels) {
      const std::size_t step = (level.files.size() + of_level - 1) / of_level;
      for (std::size_t i = 0; i < level.files.size(); i += step) {
        const rocksdb::SstFileMetaData& file = level.files[i];
        if (!database.Knows(file.file_number)) keys.push_back(file.smallestkey);
      }
    }
  }
  std::vector<rocksdb::Range> ranges;
  ranges.reserve(keys.size());
  for (const std::string& key : keys) ranges.emplace_back(key, key);
  rocksdb::TablePropertiesCollection properties;
  if (ranges.empty() ||
      !root.GetPropertiesOfTablesInRange(handle, ranges.data(), ranges.size(), &properties).ok()) {
    return;
  }
  for (const auto& [path, table] : properties) {
    snapshot.facts[NumberOf(path)] = TableFacts::Of(*table);
  }
}

// Whether this thread is to take a snapshot now. It waits for the end of another thread's if that
// is the first, without which no table is sized, or if this one is to read properties.
bool Begin(OpenDatabase& database, bool reads, Snapshot& snapshot) {
  auto lock = OpenDatabases::All().Lock();
  while ((reads || !database.is_loaded) && database.is_being_read) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
  }
  const bool is_due =
      !database.is_loaded || reads || (database.is_stale && Clock::now() >= database.next_snapshot);
  if (!is_due || database.is_being_read || database.is_closed()) return false;
  database.is_being_read = true;
  database.is_stale = false;
  snapshot.began = database.changes();
  return true;
}

// Returns how long it kept the database's mutex, at most.
std::chrono::nanoseconds Read(rocksdb::DB& root, const OpenDatabase& database,
                              const std::vector<ColumnFamilyHandle*>& handles, Snapshot& snapshot) {
  std::vector<ColumnFamilyMetaData> families;
  rocksdb::Env& clock = *rocksdb::Env::Default();
  const std::uint64_t begin = clock.NowCPUNanos();
  root.GetAllColumnFamilyMetaData(&families);
  const std::chrono::nanoseconds taken(clock.NowCPUNanos() - begin);
  for (const ColumnFamilyMetaData& family : families) {
    // A family that was dropped and is still held comes before its namesake.
    std::vector<Snapshot::File>& files = snapshot.families[family.name];
    files.clear();
    for (const rocksdb::LevelMetaData& level : family.levels) {
      for (const rocksdb::SstFileMetaData& file : level.files) {
        files.push_back(
            {file.file_number, level.level, file.num_entries, file.size, file.being_compacted});
      }
    }
    for (ColumnFamilyHandle* handle : handles) {
      if (handle->GetName() == family.name) {
        ReadProperties(root, handle, family, database, snapshot);
      }
    }
  }
  return taken;
}

}  // namespace

void SnapshotIfWanted(rocksdb::DB& root, const std::shared_ptr<OpenDatabase>& database,
                      const std::vector<ColumnFamilyHandle*>& families) {
  Snapshot snapshot;
  if (!Begin(*database, !families.empty(), snapshot)) return;
  std::chrono::nanoseconds taken{};
  std::exception_ptr error;
  try {
    taken = Read(root, *database, families, snapshot);
  } catch (...) {
    error = std::current_exception();
  }
  const auto lock = OpenDatabases::All().Lock();
  database->is_being_read = false;
  database->next_snapshot = Clock::now() + kPauseInSnapshots * taken;
  if (error != nullptr) {
    database->is_stale = true;
    std::rethrow_exception(error);
  }
  if (!database->is_closed()) database->Apply(snapshot);
}

}  // namespace exactbloom::tree
