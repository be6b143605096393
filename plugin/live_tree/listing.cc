#include "listing.h"

#include <rocksdb/env.h>
#include <rocksdb/metadata.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <utility>

namespace exactbloom::tree {
namespace {

using Clock = std::chrono::steady_clock;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyMetaData;

// A listing of 12,000 tables takes 19 to 33 ms under the database's mutex: 5 ms in a second. It is
// the thread's processor time that counts: on a busy machine the mutex is waited for.
constexpr int kPauseInListings = 200;

// So many tables of a level have their properties read, and at least kLeastSample of many families.
constexpr std::size_t kSample = 64;
constexpr std::size_t kLeastSample = 8;

Listing ListFamily(const ColumnFamilyMetaData& family) {
  Listing listing;
  listing.files.reserve(family.file_count);
  for (const rocksdb::LevelMetaData& level : family.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      listing.files.push_back(
          {file.file_number, level.level, file.num_entries, file.size, std::nullopt});
    }
  }
  std::sort(listing.files.begin(), listing.files.end(),
            [](const auto& first, const auto& second) { return first.number < second.number; });
  return listing;
}

// Returns whether this thread is to list the tables now. It waits for another thread's listing if
// it is asked for one, or if that is the first, without which no table is sized.
bool Begin(Database& database, bool is_asked) {
  auto lock = Registry::Get().Lock();
  while ((is_asked || !database.is_listed) && database.is_being_listed) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
  }
  const bool is_due = is_asked || !database.is_listed ||
                      (database.is_stale && Clock::now() >= database.next_listing);
  if (!is_due || database.is_being_listed || database.is_closed) return false;
  database.is_being_listed = true;
  database.is_stale = false;
  for (auto& [name, family] : database.families) family->tree.BeginListing();
  return true;
}

// Forgets families that are listed no longer, and starts the first listing of each.
void ApplyFamilies(const Families& listed, Database& database) {
  const auto lock = Registry::Get().Lock();
  if (database.is_closed) return;
  std::vector<std::string> dropped;
  for (const auto& [name, family] : database.families) {
    if (listed.count(name) == 0 && family->tree.IsBeingListed()) dropped.push_back(name);
  }
  for (const std::string& name : dropped) database.Forget(name);
  for (const auto& [name, metadata] : listed) {
    Family& family = database.FindOrAdd(name);
    if (!database.is_listed) family.tree.BeginListing();
  }
}

// Calls function(family) under the lock if the listing still counts.
template <typename Function>
void WithListedFamily(Database& database, const std::string& name, Function function) {
  const auto lock = Registry::Get().Lock();
  Family* const family = database.Find(name);
  if (family != nullptr && family->tree.IsBeingListed()) function(*family);
}

// The lock is free between pieces, each of which takes some .1 ms.
void ApplyFamily(const std::string& name, const Listing& listing, Database& database) {
  constexpr std::size_t kPiece = 1024;
  for (std::size_t begin = 0; begin < listing.files.size(); begin += kPiece) {
    WithListedFamily(database, name, [&](Family& family) {
      const std::size_t end = std::min(begin + kPiece, listing.files.size());
      for (std::size_t i = begin; i < end; ++i) {
        database.owners[listing.files[i].number] = family.weak_from_this();
      }
    });
  }
  WithListedFamily(database, name, [&](Family& family) {
    family.tree.Replace(listing, family.bits_per_key);
    if (family.budget != nullptr) family.budget->Recount(family);
  });
}

// RocksDB finds tables by key range only. A range of one key finds one table of each level, and
// each of level 0 that has the key in its range.
std::vector<std::string> ChooseKeys(const ColumnFamilyMetaData& metadata, const Tree& tree,
                                    std::size_t sample) {
  std::vector<std::string> keys;
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    const std::size_t step = (level.files.size() + sample - 1) / sample;
    for (std::size_t i = 0; i < level.files.size(); i += step) {
      if (!tree.IsExact(level.files[i].file_number)) keys.push_back(level.files[i].smallestkey);
    }
  }
  return keys;
}

}  // namespace

// RocksDB before 7.0 did not count the keys of filters, and where there is no filter there are
// none. A range deletion is an entry, but no key.
TableFacts ReadFacts(const rocksdb::TableProperties& properties) {
  const std::uint64_t keys = properties.num_filter_entries;
  const std::uint64_t ranges = std::min(properties.num_range_deletions, properties.num_entries);
  return {keys != 0 ? keys : properties.num_entries - ranges, properties.filter_size};
}

std::uint64_t ParseNumber(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return std::strtoull(path.c_str() + (slash == std::string::npos ? 0 : slash + 1), nullptr, 10);
}

Families ListIfWanted(rocksdb::DB& root, const std::shared_ptr<Database>& database, bool is_asked) {
  Families listed;
  if (!Begin(*database, is_asked)) return listed;
  std::chrono::nanoseconds taken{};
  std::exception_ptr error;
  try {
    std::vector<ColumnFamilyMetaData> families;
    rocksdb::Env& clock = *rocksdb::Env::Default();
    const std::uint64_t begin = clock.NowCPUNanos();
    root.GetAllColumnFamilyMetaData(&families);
    taken = std::chrono::nanoseconds(clock.NowCPUNanos() - begin);
    // A family that was dropped and is still held comes before its namesake.
    for (ColumnFamilyMetaData& family : families) listed[family.name] = std::move(family);
    ApplyFamilies(listed, *database);
    for (const auto& [name, family] : listed) ApplyFamily(name, ListFamily(family), *database);
  } catch (...) {
    error = std::current_exception();
  }
  std::vector<std::shared_ptr<Family>> forgotten;
  const auto lock = Registry::Get().Lock();
  forgotten.swap(database->forgotten);
  database->is_being_listed = false;
  database->next_listing = Clock::now() + kPauseInListings * taken;
  if (error != nullptr) {
    database->is_stale = true;
    std::rethrow_exception(error);
  }
  database->is_listed = true;
  return listed;
}

void ReadProperties(rocksdb::DB& root, Database& database,
                    const std::vector<ColumnFamilyHandle*>& families, const Families& listed) {
  const std::size_t sample = std::clamp(
      kSample * kSample / std::max<std::size_t>(1, families.size()), kLeastSample, kSample);
  for (ColumnFamilyHandle* const handle : families) {
    const auto found = listed.find(handle->GetName());
    ColumnFamilyMetaData own;
    if (found == listed.end()) root.GetColumnFamilyMetaData(handle, &own);
    const ColumnFamilyMetaData& metadata = found == listed.end() ? own : found->second;
    std::vector<std::string> keys;
    {
      const auto lock = Registry::Get().Lock();
      const Family* const family = database.Find(handle->GetName());
      if (family != nullptr) keys = ChooseKeys(metadata, family->tree, sample);
    }
    std::vector<rocksdb::Range> ranges;
    ranges.reserve(keys.size());
    for (const std::string& key : keys) ranges.emplace_back(key, key);
    rocksdb::TablePropertiesCollection properties;
    if (ranges.empty() ||
        !root.GetPropertiesOfTablesInRange(handle, ranges.data(), ranges.size(), &properties)
             .ok()) {
      continue;
    }
    std::map<std::uint64_t, TableFacts> facts;
    for (const auto& [path, table] : properties) facts[ParseNumber(path)] = ReadFacts(*table);
    Listing listing = ListFamily(metadata);
    for (Listing::File& file : listing.files) {
      const auto known = facts.find(file.number);
      if (known != facts.end()) file.facts = known->second;
    }
    const auto lock = Registry::Get().Lock();
    Family* const family = database.Find(handle->GetName());
    if (family == nullptr) continue;
    family->tree.Learn(listing, family->bits_per_key);
    if (family->budget != nullptr) family->budget->Recount(*family);
  }
}

}  // namespace exactbloom::tree
