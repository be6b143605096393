#include "listing.h"

#include <rocksdb/env.h>
#include <rocksdb/metadata.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace exactbloom::tree {
namespace {

using Clock = std::chrono::steady_clock;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyMetaData;

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

void AddFiles(const ColumnFamilyMetaData& metadata, Tree& tree, Listing& listing) {
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      listing.push_back({file.file_number, &tree, level.level, file.being_compacted,
                         Source::kNothing, TableFacts(), file.num_entries, file.size});
    }
  }
}

// Calls function(first, last) for pieces of the files under the lock as long as the database is
// open; at least once.
template <typename Function>
void ForPieces(Database& database, std::size_t count, Function function) {
  std::size_t first = 0;
  do {
    const auto lock = database.Lock();
    if (database.is_closed) return;
    const std::size_t last = std::min(first + kPiece, count);
    function(first, last);
    first = last;
  } while (first < count);
}

// Keys and bytes of tables whose properties nobody has read follow from those of others: of the
// same level if a sample of it was read, since each run has its own bits per key, or else of all of
// the family that are known, or else from what RocksDB lists of the table.
struct Sample {
  TableFacts facts;
  double entries = 0.0;
  bool is_read = false;

  void Add(const ListedFile& file, double file_entries) {
    facts.Add(file.facts);
    entries += file_entries;
    is_read |= file.source == Source::kProperties;
  }
};

void Estimate(Database& database, Listing& listing) {
  std::sort(listing.begin(), listing.end(),
            [](const auto& first, const auto& second) { return first.number < second.number; });
  ForPieces(database, listing.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const Table* const known = database.tables.Find(listing[i].number);
      const bool is_exact = known != nullptr && known->source == Source::kProperties;
      if (!is_exact || listing[i].source != Source::kNothing) continue;
      listing[i].facts = known->sum;
      listing[i].source = Source::kAssumed;
    }
  });
  std::map<const Tree*, std::pair<double, double>> listed;  // entries, bytes
  for (const ListedFile& file : listing) {
    if (file.entries == 0) continue;
    listed[file.tree].first += Real(file.entries);
    listed[file.tree].second += Real(file.bytes);
  }
  const auto entries_of = [&](const ListedFile& file) {
    const auto& [entries, bytes] = listed[file.tree];
    if (file.entries != 0) return Real(file.entries);
    return Real(file.bytes) * (bytes == 0.0 ? kEntriesPerByte : entries / bytes);
  };
  std::map<std::pair<const Tree*, int>, Sample> samples;  // by level; kUnplaced: of all
  for (const ListedFile& file : listing) {
    if (file.source == Source::kNothing || file.facts.keys == 0) continue;
    for (const int level : {file.level, kUnplaced}) {
      samples[{file.tree, level}].Add(file, entries_of(file));
    }
  }
  for (ListedFile& file : listing) {
    if (file.source != Source::kNothing) continue;
    const double entries = entries_of(file);
    const Sample& level = samples[{file.tree, file.level}];
    const Sample& like = level.is_read ? level : samples[{file.tree, kUnplaced}];
    file.source = level.is_read ? Source::kSampled : Source::kAssumed;
    file.facts.Add(like.facts, entries / std::max(1.0, like.entries));
    file.facts.keys = static_cast<std::uint64_t>(
        like.entries == 0.0 ? entries : std::min(entries, Real(file.facts.keys)));
    if (like.entries == 0.0) {
      file.facts.index_bytes = static_cast<std::uint64_t>(kIndexPerByte * Real(file.bytes));
    }
  }
}

// If it throws, RocksDB keeps no reference, as GetColumnFamilyMetaData() of one family does.
Families ListFamilies(rocksdb::DB& root) {
  std::vector<ColumnFamilyMetaData> families;
  root.GetAllColumnFamilyMetaData(&families);
  Families listed;
  // A family that was dropped and is still held comes before its namesake.
  for (ColumnFamilyMetaData& family : families) listed[family.name] = std::move(family);
  return listed;
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

// Forgets families that were known and are not listed.
void Apply(const Families& listed, const std::set<std::string>& known, Database& database) {
  Listing listing;
  std::vector<std::shared_ptr<Family>> families;  // which may be forgotten meanwhile
  {
    const auto lock = database.Lock();
    if (database.is_closed) return;
    for (const std::string& name : known) {
      if (listed.count(name) == 0) database.Forget(name);
    }
    for (const auto& [name, metadata] : listed) {
      families.push_back(database.FindOrAdd(name));
      AddFiles(metadata, *families.back(), listing);
    }
  }
  Estimate(database, listing);
  ForPieces(database, listing.size(), [&](std::size_t first, std::size_t last) {
    database.tables.Replace(listing, first, last);
  });
  ForPieces(database, families.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) families[i]->Count();
  });
}

// RocksDB finds tables by key range only. A range of one key finds one table of each level, and
// each of level 0 that has the key in its range.
std::vector<std::string> ChooseKeys(const ColumnFamilyMetaData& metadata, Database& database,
                                    std::size_t sample) {
  std::vector<std::string> keys;
  const auto lock = database.Lock();
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    const std::size_t step = (level.files.size() + sample - 1) / sample;
    for (std::size_t i = 0; i < level.files.size(); i += step) {
      const Table* const known = database.tables.Find(level.files[i].file_number);
      if (known != nullptr && known->source == Source::kProperties) continue;
      keys.push_back(level.files[i].smallestkey);
    }
  }
  return keys;
}

void LearnProperties(const ColumnFamilyMetaData& metadata, Family& family,
                     const rocksdb::TablePropertiesCollection& properties, Database& database) {
  std::map<std::uint64_t, TableFacts> facts;
  for (const auto& [path, table] : properties) facts[ParseNumber(path)] = ReadFacts(*table);
  Listing listing;
  AddFiles(metadata, family, listing);
  for (ListedFile& file : listing) {
    const auto read = facts.find(file.number);
    if (read == facts.end()) continue;
    file.source = Source::kProperties;
    file.facts = read->second;
  }
  Estimate(database, listing);
  ForPieces(database, listing.size(), [&](std::size_t first, std::size_t last) {
    database.tables.Learn(listing, first, last);
    family.Count();
  });
}

}  // namespace

// RocksDB before 7.0 did not count the keys of filters, and where there is no filter there are
// none. A range deletion is an entry, but no key. No property tells the index of partitions from
// the filters: there are about as many partitions as of the index, each with a key and a handle.
TableFacts ReadFacts(const rocksdb::TableProperties& properties) {
  constexpr std::uint64_t kHandle = 8;
  const std::uint64_t keys = properties.num_filter_entries;
  const std::uint64_t ranges = std::min(properties.num_range_deletions, properties.num_entries);
  const std::uint64_t key_bytes =
      properties.raw_key_size / std::max<std::uint64_t>(1, properties.num_entries);
  TableFacts facts;
  facts.keys = keys != 0 ? keys : properties.num_entries - ranges;
  facts.filter_bytes = properties.filter_size;
  facts.index_bytes = properties.index_size;
  facts.partition_bytes =
      std::min(properties.filter_size, properties.index_partitions * (key_bytes + kHandle));
  return facts;
}

std::uint64_t ParseNumber(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return std::strtoull(path.c_str() + (slash == std::string::npos ? 0 : slash + 1), nullptr, 10);
}

Families ListIfWanted(rocksdb::DB& root, Database& database, bool is_asked) {
  Families listed;
  std::set<std::string> known;
  if (!Begin(database, is_asked, known)) return listed;
  std::chrono::nanoseconds taken{};
  std::exception_ptr error;
  try {
    rocksdb::Env& clock = *rocksdb::Env::Default();
    const std::uint64_t begin = clock.NowCPUNanos();
    listed = ListFamilies(root);
    taken = std::chrono::nanoseconds(clock.NowCPUNanos() - begin);
    Apply(listed, known, database);
  } catch (...) {
    error = std::current_exception();
  }
  const auto lock = database.Lock();
  database.is_being_listed = false;
  database.listing_ended.notify_all();
  database.next_listing =
      Clock::now() + (taken > kLongListing ? kPauseInLongListings : kPauseInListings) * taken;
  if (error != nullptr) {
    database.tables.MarkStale();
    std::rethrow_exception(error);
  }
  database.is_listed = true;
  return listed;
}

bool ReadProperties(rocksdb::DB& root, Database& database,
                    const std::vector<ColumnFamilyHandle*>& families, Families listed) {
  if (listed.empty()) listed = ListFamilies(root);
  const std::size_t sample = std::clamp(
      kSample * kSample / std::max<std::size_t>(1, families.size()), kLeastSample, kSample);
  bool are_read = true;
  for (ColumnFamilyHandle* const handle : families) {
    const auto found = listed.find(handle->GetName());
    if (found == listed.end()) continue;  // it was made later
    const ColumnFamilyMetaData& metadata = found->second;
    std::vector<rocksdb::Range> ranges;
    const std::vector<std::string> keys = ChooseKeys(metadata, database, sample);
    ranges.reserve(keys.size());
    for (const std::string& key : keys) ranges.emplace_back(key, key);
    if (ranges.empty()) continue;
    rocksdb::TablePropertiesCollection properties;
    const rocksdb::Status status =
        root.GetPropertiesOfTablesInRange(handle, ranges.data(), ranges.size(), &properties);
    are_read &= status.ok();
    std::shared_ptr<Family> family;
    {
      const auto lock = database.Lock();
      family = database.Find(handle->GetName());
    }
    if (status.ok() && family != nullptr) LearnProperties(metadata, *family, properties, database);
  }
  return are_read;
}

}  // namespace exactbloom::tree
