// Databases whose filters follow their trees, and what their files hold.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "plugin/filter_bits_interface.h"
#include "sample_database.h"

namespace exactbloom {

using ListenerPointer = std::shared_ptr<rocksdb::EventListener>;

// Sums over tables, read from their files.
struct TableSum {
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;

  double BitsPerKey() const {
    return 8.0 * static_cast<double>(filter_bytes) / static_cast<double>(keys);
  }
};

// The levels that have tables, by column family.
using Trees = std::map<std::string, std::map<int, TableSum>>;

Trees TreesOf(rocksdb::DB& db);
TableSum SumOf(const std::map<int, TableSum>& tree);
TableSum SumOf(const Trees& trees);

// exactbloom without Ribbon filters.
ExactBloomOptions AutoOptions(double bits_per_key = 10.0);
// With memory_budget, too.
ExactBloomOptions BudgetOptions(std::uint64_t bytes, double bits_per_key = 20.0);
PolicyPointer PolicyOf(const ExactBloomOptions& options);

// Options of a small database that flushes and compacts by itself, with small tables.
rocksdb::Options FollowingOptions(const PolicyPointer& policy, const ListenerPointer& listener);

// Puts the keys of `count` even numbers from `first` on, in random order, so that tables overlap,
// and waits for the jobs that this starts.
void Load(rocksdb::DB& db, std::uint64_t count, std::uint64_t first = 0,
          rocksdb::ColumnFamilyHandle* family = nullptr);

// Tells the listeners, as RocksDB does, that the calling thread begins a table.
void NoteTableCreation(rocksdb::DB& db, int job);

// The same, and returns the builder of its filter, for which RocksDB asks the policy next. Nothing
// else is told of the table.
std::unique_ptr<rocksdb::FilterBitsBuilder> BeginTable(rocksdb::DB& db, int job = 1000);

// Rewrites all tables of the family, since a part of them may not be compacted alone.
rocksdb::Status CompactAllFiles(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family);

// The info log of the database at that path.
std::string ReadLog(const std::string& path);

// Returns when no flush or compaction runs, nor has to.
void AwaitQuiet(rocksdb::DB& db);

// What is known of the tables of a family, at least: how many each level has, how many keys these
// have, how many bytes their filters, of partitions with their index, as table properties have it.
enum class Known { kNothing, kTables, kKeys, kPartitions, kAll };
using KnownOf = std::function<Known(const std::string& family)>;

bool AreBytesOf(const TableSum& truth, Known known, std::uint64_t filter_bytes);

// Returns where what is known of the trees of a quiet database differs from the files, or nothing.
std::string FindDifference(rocksdb::DB& db, const KnownOf& known_of);

// Expects that so much is known of the trees of a quiet database, if need be after the next event,
// which triggers a listing.
void ExpectKnownTrees(rocksdb::DB& db, Known known = Known::kPartitions);

// Records the most bits per key of the filters after each flush and compaction, without 8 bytes per
// table, for trailers.
class FilterWatch : public rocksdb::EventListener {
 public:
  // Trees with fewer keys are not watched.
  explicit FilterWatch(std::uint64_t least_keys) : least_keys_(least_keys) {}

  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;
  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& info) override;

  double MostBitsPerKey() const { return most_bits_per_key_; }

 private:
  void Refresh(rocksdb::DB& db);

  const std::uint64_t least_keys_;
  std::mutex mutex_;
  double most_bits_per_key_ = 0.0;
};

}  // namespace exactbloom
