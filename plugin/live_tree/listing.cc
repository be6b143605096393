#include "listing.h"

#include <rocksdb/env.h>
#include <rocksdb/metadata.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace exactbloom::tree {
namespace {

using Clock = std::chrono::steady_clock;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyMetaData;
using Handles = std::vector<ColumnFamilyHandle*>;
using Families = std::map<std::string, ColumnFamilyMetaData>;  // by name
using ReadProperties = std::map<std::uint64_t, TableFacts>;    // by number

// A listing of 12,000 tables takes 19 to 33 ms under the database's mutex, of 100,000 160 to 270:
// 5 ms in a second, or 1 if it is long. It is the thread's processor time that counts: on a busy
// machine the mutex is waited for.
constexpr int kPauseInListings = 200;
constexpr int kPauseInLongListings = 1'000;
constexpr std::chrono::milliseconds kLongListing{50};

// So many tables of a level have their properties read, and at least kLeastSample of many families.
constexpr std::size_t kSample = 64;
constexpr std::size_t kLeastSample = 8;

// These are assumed before RocksDB has opened any table: small rows, in blocks of 4 KiB.
constexpr double kEntriesPerByte = 0.01;
constexpr double kIndexPerByte = 0.006;

// The lock is free between pieces, each of which takes some .2 ms.
constexpr std::size_t kPiece = 1'024;

// If it throws, RocksDB keeps no reference, as GetColumnFamilyMetaData() of one family does.
Families ListFamilies(rocksdb::DB& root) {
  std::vector<ColumnFamilyMetaData> families;
  root.GetAllColumnFamilyMetaData(&families);
  Families listed;
  // A family that was dropped and is still held comes before its namesake.
  for (ColumnFamilyMetaData& family : families) listed[family.name] = std::move(family);
  return listed;
}

bool IsRead(const Database& database, std::uint64_t number) {
  const Table* const known = database.tables.Find(number);
  return known != nullptr && known->facts.source == Source::kProperties;
}

// RocksDB finds tables by key range only. A range of one key finds one table of each level, and
// each of level 0 that has the key in its range.
std::vector<std::string> ChooseKeys(const ColumnFamilyMetaData& metadata, Database& database,
                                    std::size_t sample) {
  std::vector<std::string> keys;
  const auto lock = database.Lock();
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    const std::size_t step = level.level == 0 ? 1 : (level.files.size() + sample - 1) / sample;
    for (std::size_t i = 0; i < level.files.size(); i += step) {
      const auto& file = level.files[i];
      if (!IsRead(database, file.file_number)) keys.push_back(file.smallestkey);
    }
  }
  return keys;
}

// Returns whether all that were chosen could be read.
bool ReadSample(rocksdb::DB& root, Database& database, const Handles& handles,
                const Families& listed, ReadProperties& read) {
  const std::size_t sample = std::clamp(
      kSample * kSample / std::max<std::size_t>(1, handles.size()), kLeastSample, kSample);
  bool are_read = true;
  for (ColumnFamilyHandle* const handle : handles) {
    const auto family = listed.find(handle->GetName());
    if (family == listed.end()) continue;  // it was made later
    std::vector<rocksdb::Range> ranges;
    const std::vector<std::string> keys = ChooseKeys(family->second, database, sample);
    ranges.reserve(keys.size());
    for (const std::string& key : keys) ranges.emplace_back(key, key);
    if (ranges.empty()) continue;
    rocksdb::TablePropertiesCollection properties;
    are_read &=
        root.GetPropertiesOfTablesInRange(handle, ranges.data(), ranges.size(), &properties).ok();
    for (const auto& [path, table] : properties) read[ParseNumber(path)] = ReadFacts(*table);
  }
  return are_read;
}

// Keys and bytes of tables whose properties nobody has read follow from those of the same run, a
// level below 0 of which some were read. Else the policy tells the bytes, and the tables of the
// family that were read the keys; without them each entry is one.
class Densities {
 public:
  // Entries are counted once RocksDB has opened all tables of a family, or else bytes.
  explicit Densities(const ColumnFamilyMetaData& family) {
    for (const auto& level : family.levels) {
      for (const auto& file : level.files) has_entries_ &= file.num_entries != 0;
    }
  }

  void Add(int level, const rocksdb::SstFileMetaData& file, const TableFacts& facts) {
    for (const int of : {level, kUnplaced}) {
      Density& density = read_[of];
      density.size += Size(file);
      density.facts.keys += facts.keys;
      density.facts.filter_bytes += facts.filter_bytes;
      density.facts.index_bytes += facts.index_bytes;
      density.facts.beside_bytes += facts.beside_bytes;
    }
  }

  TableFacts Estimate(int level, const rocksdb::SstFileMetaData& file) const {
    auto like = level == 0 ? read_.end() : read_.find(level);
    const Source source = like == read_.end() ? Source::kAssumed : Source::kSampled;
    if (like == read_.end()) like = read_.find(kUnplaced);
    if (like == read_.end() || like->second.facts.keys == 0) {
      const double keys = has_entries_ ? Size(file) : kEntriesPerByte * Size(file);
      return {Round(keys), 0, Round(kIndexPerByte * Real(file.size)), 0, Source::kAssumed};
    }
    const TableFacts& facts = like->second.facts;
    const double part = Size(file) / std::max(1.0, like->second.size);
    return {Round(part * Real(facts.keys)), Round(part * Real(facts.filter_bytes)),
            Round(part * Real(facts.index_bytes)), Round(part * Real(facts.beside_bytes)), source};
  }

 private:
  struct Density {
    TableFacts facts;
    double size = 0.0;
  };

  static std::uint64_t Round(double count) {
    return static_cast<std::uint64_t>(std::llround(count));
  }
  double Size(const rocksdb::SstFileMetaData& file) const {
    return Real(has_entries_ ? file.num_entries : file.size);
  }

  bool has_entries_ = true;
  std::map<int, Density> read_;  // by level; kUnplaced: of all
};

// Calls function(level, file) for all files of the family, for pieces of them under the lock.
template <typename Function>
void ForFiles(const ColumnFamilyMetaData& family, Database& database, Function function) {
  auto lock = database.Lock();
  std::size_t count = 0;
  for (const rocksdb::LevelMetaData& level : family.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      if (++count % kPiece == 0) {
        lock.unlock();
        lock.lock();
      }
      function(level.level, file);
    }
  }
}

void Apply(const ColumnFamilyMetaData& metadata, Family& family, const ReadProperties& read) {
  Database& database = family.database;
  Densities densities(metadata);
  ForFiles(metadata, database, [&](int level, const rocksdb::SstFileMetaData& file) {
    const auto facts = read.find(file.file_number);
    if (facts != read.end()) {
      densities.Add(level, file, facts->second);
    } else if (IsRead(database, file.file_number)) {
      densities.Add(level, file, database.tables.Find(file.file_number)->facts);
    }
  });
  ForFiles(metadata, database, [&](int level, const rocksdb::SstFileMetaData& file) {
    const auto facts = read.find(file.file_number);
    database.tables.TakeOver(
        {file.file_number, level,
         facts != read.end() ? facts->second : densities.Estimate(level, file)},
        family, file.being_compacted);
  });
}

// Forgets families that were known and are not listed. The database stays open meanwhile.
void Apply(const Families& listed, const std::set<std::string>& known, const ReadProperties& read,
           Database& database) {
  std::vector<std::shared_ptr<Family>> families;
  {
    const auto lock = database.Lock();
    for (const std::string& name : known) {
      if (listed.count(name) == 0) database.Forget(name);
    }
    for (const auto& [name, metadata] : listed) families.push_back(database.FindOrAdd(name));
  }
  for (const auto& family : families) Apply(listed.at(family->name), *family, read);
  std::optional<std::uint64_t> next = 0;
  while (next) {
    const auto lock = database.Lock();
    next = database.tables.Sweep(*next, kPiece);
  }
  for (const auto& family : families) {
    const auto lock = database.Lock();
    family->Count();
  }
}

// Returns whether this thread is to list the tables now. It waits for another thread's listing if
// it is asked for one, or if that is the first, without which no table is sized.
bool Begin(Database& database, bool is_asked, std::set<std::string>& known) {
  auto lock = database.Lock();
  const bool waits = is_asked || !database.is_listed;
  if (waits) database.listing_ended.wait(lock, [&] { return !database.is_being_listed; });
  const bool is_due = is_asked || !database.is_listed ||
                      (database.tables.IsStale() && Clock::now() >= database.next_listing);
  if (!is_due || database.is_being_listed || database.is_closed) return false;
  for (const auto& [name, family] : database.families) known.insert(name);
  database.tables.BeginListing();
  database.is_being_listed = true;
  return true;
}

void End(Database& database, std::chrono::nanoseconds taken, bool has_failed) {
  const auto lock = database.Lock();
  database.is_being_listed = false;
  database.is_listed |= !has_failed;
  if (std::exchange(database.lists_twice, false) || has_failed) database.tables.MarkStale();
  database.takes_long = taken > kLongListing;
  database.next_listing =
      Clock::now() + (database.takes_long ? kPauseInLongListings : kPauseInListings) * taken;
  database.listing_ended.notify_all();
}

// Returns what it has listed; nothing if that is not wanted now.
Families List(rocksdb::DB& root, Database& database, bool is_asked, const ReadProperties& read) {
  std::set<std::string> known;
  Families listed;
  if (!Begin(database, is_asked, known)) return listed;
  std::chrono::nanoseconds taken{};
  try {
    rocksdb::Env& clock = *rocksdb::Env::Default();
    const std::uint64_t begin = clock.NowCPUNanos();
    listed = ListFamilies(root);
    taken = std::chrono::nanoseconds(clock.NowCPUNanos() - begin);
    Apply(listed, known, read, database);
  } catch (...) {
    End(database, taken, /*has_failed=*/true);
    throw;
  }
  End(database, taken, /*has_failed=*/false);
  return listed;
}

}  // namespace

// RocksDB before 7.0 did not count the keys of filters, and where there is no filter there are
// none. A range deletion is an entry, but no key. No property tells the index of partitions from
// the filters: there are about as many partitions as of the index, each with a key and a handle.
TableFacts ReadFacts(const rocksdb::TableProperties& properties) {
  constexpr std::uint64_t kHandleBytes = 8;
  constexpr std::uint64_t kTrailerBytes = 20;
  const std::uint64_t keys = properties.num_filter_entries;
  const std::uint64_t ranges = std::min(properties.num_range_deletions, properties.num_entries);
  const std::uint64_t key_bytes =
      properties.raw_key_size / std::max<std::uint64_t>(1, properties.num_entries);
  const std::uint64_t partitions = properties.index_partitions;
  TableFacts facts;
  facts.keys = keys != 0 ? keys : properties.num_entries - ranges;
  facts.filter_bytes = properties.filter_size;
  facts.index_bytes = properties.index_size;
  facts.beside_bytes =
      std::min(properties.filter_size, partitions * (key_bytes + kHandleBytes) +
                                           std::max<std::uint64_t>(1, partitions) * kTrailerBytes);
  return facts;
}

std::uint64_t ParseNumber(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return std::strtoull(path.c_str() + (slash == std::string::npos ? 0 : slash + 1), nullptr, 10);
}

void ReadFamilies(rocksdb::DB& root, Database& database, const Handles& handles) {
  bool are_read = false;
  try {
    const Families listed = List(root, database, /*is_asked=*/true, {});
    ReadProperties read;
    are_read = ReadSample(root, database, handles, listed, read);
    List(root, database, /*is_asked=*/true, read);
  } catch (...) {
    const auto lock = database.Lock();
    database.has_read_files = false;
    throw;
  }
  const auto lock = database.Lock();
  database.has_read_files = are_read;
}

// For other families a program calls FollowDatabase, since a listener has no handles of them. The
// default one is read in the thread of the first event, which RocksDB awaits when the database is
// closed.
void ListIfWanted(rocksdb::DB& root, Database& database) {
  bool is_read = true;
  {
    const auto lock = database.Lock();
    is_read = std::exchange(database.has_read_files, true);
  }
  if (!is_read) return ReadFamilies(root, database, {root.DefaultColumnFamily()});
  List(root, database, /*is_asked=*/false, {});
}

void ListForUntoldJob(Database& database, const std::string& family, JobId job) {
  {
    const auto lock = database.Lock();
    const auto known = database.Find(family);
    const bool is_told = known != nullptr && known->IsRunning(job);
    if (is_told || database.takes_long || job <= database.newest_untold) return;
    database.newest_untold = job;
  }
  List(*database.root, database, /*is_asked=*/true, {});
}

}  // namespace exactbloom::tree
