// Makes a tree of sorted runs from the stored keys.
#include <rocksdb/metadata.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "database.h"
#include "readamp/open_rocksdb.h"

namespace exactbloom::readamp {
namespace {

// Flushes go to level 0, so the smallest sorted run is in level 1.
int LevelOf(int sorted_run) { return sorted_run + 1; }

// A sorted run of up to some ten million keys is one flush.
constexpr std::size_t kSettledBufferBytes = std::size_t{2} << 30;

class Loader {
 public:
  Loader(rocksdb::DB& db, const ReadampSettings& settings, const KeySet& keys,
         LoadObserver* observer)
      : db_(db), settings_(settings), keys_(keys), observer_(observer) {
    write_options_.disableWAL = true;
  }

  void Load() {
    const auto level0_files = static_cast<std::size_t>(settings_.level0_files);
    switch (settings_.tree) {
      case Tree::kSettled:
        for (int run = settings_.sorted_runs - 1; run >= 0; --run) {
          LoadSortedRun(run, LevelOf(run));
        }
        break;
      case Tree::kDatabase: {
        // From the deepest on; the tables are in the order of lookups.
        int loaded = settings_.user_tables.back().sorted_run + 1;
        for (auto table = settings_.user_tables.rbegin(); table != settings_.user_tables.rend();
             ++table) {
          if (table->sorted_run == loaded) continue;
          loaded = table->sorted_run;
          LoadSortedRun(loaded, table->level);
        }
        break;
      }
      case Tree::kLevel0:
        // Every file gets an equal part of the keys.
        Put(std::nullopt, (keys_.stored + level0_files - 1) / level0_files);
        break;
      case Tree::kLoaded:
      case Tree::kUniversal:
        Put(std::nullopt, keys_.stored);
        WaitForCompactions();
        break;
    }
    if (observer_ != nullptr) observer_->AtRest(db_);
  }

 private:
  void Check(const rocksdb::Status& status) const {
    if (!status.ok()) CheckStatus(status, "cannot load the database " + db_.GetName());
  }

  void Flush() { Check(db_.Flush(rocksdb::FlushOptions())); }

  // Writes the stored keys, or those of one sorted run, in the set's order, which is random.
  // Flushes whenever `part` of them are written, and at the end.
  void Put(std::optional<int> run, std::size_t part) {
    std::size_t written = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (!keys_.IsStored(i) || keys_.sorted_run[i] != run.value_or(keys_.sorted_run[i])) continue;
      const std::string key = keys_.Key(i);
      Check(db_.Put(write_options_, key, keys_.Value(i)));
      ++written;
      if (observer_ != nullptr) observer_->AfterPut(db_, written);
      if (written % part == 0) Flush();
    }
    Flush();
  }

  // A sorted run of level 0 is the file of its flush.
  void LoadSortedRun(int run, int level) {
    Put(run, keys_.stored);
    if (level == 0) return;
    rocksdb::ColumnFamilyMetaData tree;
    db_.GetColumnFamilyMetaData(&tree);
    std::vector<std::string> flushed;
    for (const auto& file : tree.levels.front().files) flushed.push_back(file.name);
    if (flushed.empty()) return;  // the run's share of the keys is less than one key
    rocksdb::CompactionOptions compaction;
    compaction.compression = rocksdb::kDisableCompressionOption;  // the column family's
    compaction.output_file_size_limit = settings_.table_bytes;
    Check(db_.CompactFiles(compaction, flushed, level));
  }

  bool Is(const std::string& property) const {
    std::uint64_t count = 0;
    return db_.GetIntProperty(property, &count) && count != 0;
  }

  // One compaction may follow another, so the tree must be idle for a while. It must be idle for
  // longer if RocksDB reports a pending compaction, which it may keep reporting without doing it.
  void WaitForCompactions() const {
    using Properties = rocksdb::DB::Properties;
    constexpr auto kInterval = std::chrono::milliseconds(20);
    constexpr int kQuiet = 5;
    constexpr int kQuietThoughPending = 50;
    for (int quiet = 0; quiet < (Is(Properties::kCompactionPending) ? kQuietThoughPending : kQuiet);
         ++quiet) {
      if (Is(Properties::kMemTableFlushPending) || Is(Properties::kNumRunningFlushes) ||
          Is(Properties::kNumRunningCompactions)) {
        quiet = 0;
      }
      std::this_thread::sleep_for(kInterval);
    }
  }

  rocksdb::DB& db_;
  const ReadampSettings& settings_;
  const KeySet& keys_;
  LoadObserver* observer_;
  rocksdb::WriteOptions write_options_;
};

// Nothing compacts but what the loader asks for, and nothing is flushed before.
void LoadAtOnce(rocksdb::Options* options) {
  options->disable_auto_compactions = true;
  options->write_buffer_size = kSettledBufferBytes;
  options->arena_block_size = std::size_t{8} << 20;
}

// RocksDB compacts by levels automatically, with its own ratios of write buffer, table and level
// sizes.
void CompactByLevels(const ReadampSettings& settings, rocksdb::Options* options) {
  const rocksdb::Options defaults;
  const auto scaled = [&](std::uint64_t bytes) {
    return static_cast<std::uint64_t>(static_cast<double>(bytes) /
                                      static_cast<double>(defaults.write_buffer_size) *
                                      static_cast<double>(settings.write_buffer_bytes));
  };
  options->write_buffer_size = settings.write_buffer_bytes;
  options->level0_file_num_compaction_trigger = settings.level0_trigger;
  options->target_file_size_base = scaled(defaults.target_file_size_base);
  options->max_bytes_for_level_base = scaled(defaults.max_bytes_for_level_base);
}

}  // namespace

rocksdb::Options TreeOptions(const ReadampSettings& settings) {
  rocksdb::Options options;
  switch (settings.tree) {
    case Tree::kSettled:
      options.num_levels = LevelOf(settings.sorted_runs);
      LoadAtOnce(&options);
      break;
    case Tree::kDatabase:
      options.num_levels = settings.num_levels;
      if (settings.compacts_universally) {
        options.compaction_style = rocksdb::kCompactionStyleUniversal;
      }
      LoadAtOnce(&options);
      break;
    case Tree::kLevel0:
      LoadAtOnce(&options);
      break;
    case Tree::kUniversal:
      options.compaction_style = rocksdb::kCompactionStyleUniversal;
      options.write_buffer_size = settings.write_buffer_bytes;
      options.level0_file_num_compaction_trigger = settings.level0_trigger;
      break;
    case Tree::kLoaded:
      CompactByLevels(settings, &options);
      break;
  }
  return options;
}

void LoadTree(rocksdb::DB& db, const ReadampSettings& settings, const KeySet& keys,
              LoadObserver* observer) {
  Loader(db, settings, keys, observer).Load();
}

}  // namespace exactbloom::readamp
