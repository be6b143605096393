#include "tree_loader.h"

#include <fmt/format.h>
#include <rocksdb/metadata.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/progress.h"

namespace exactbloom::readamp {
namespace {

// Flushes go to level 0, so the smallest sorted run is in level 1.
int LevelOf(int sorted_run) { return sorted_run + 1; }

// For a settled tree: a sorted run of up to some ten million keys is one flush.
constexpr std::size_t kWriteBufferBytes = std::size_t{2} << 30;

class Loader {
 public:
  Loader(rocksdb::DB& db, const Settings& settings, const KeySet& keys)
      : db_(db), settings_(settings), keys_(keys) {
    write_options_.disableWAL = true;
  }

  void Load() {
    switch (settings_.tree) {
      case Tree::kSettled:
        for (int run = settings_.sorted_runs - 1; run >= 0; --run) LoadSortedRun(run);
        break;
      case Tree::kLevel0:
        LoadLevel0();
        break;
      case Tree::kLoaded:
      case Tree::kUniversal:
        PutIf([](std::size_t) { return true; });
        Flush();
        WaitForCompactions();
        break;
    }
  }

 private:
  void Check(const rocksdb::Status& status) const {
    if (status.ok()) return;
    throw InputError(
        fmt::format("cannot load the database {}: {}", db_.GetName(), status.ToString()));
  }

  // Writes the stored keys for whose number `wanted` is true. The order of the set is random.
  template <typename Wanted>
  void PutIf(const Wanted& wanted) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_.SortedRun(i) == kAbsent || !wanted(i)) continue;
      support::CheckForInterrupts();
      const std::string key = keys_.Key(i);
      Check(db_.Put(write_options_, key, MakeValue(key, settings_.value_bytes)));
    }
  }

  void Flush() { Check(db_.Flush(rocksdb::FlushOptions())); }

  void LoadSortedRun(int run) {
    PutIf([&](std::size_t i) { return keys_.SortedRun(i) == run; });
    Flush();
    rocksdb::ColumnFamilyMetaData tree;
    db_.GetColumnFamilyMetaData(&tree);
    std::vector<std::string> flushed;
    for (const auto& file : tree.levels.front().files) flushed.push_back(file.name);
    if (flushed.empty()) return;  // the run's share of the keys is less than one key
    rocksdb::CompactionOptions compaction;
    compaction.compression = rocksdb::kSnappyCompression;
    compaction.output_file_size_limit = settings_.table_bytes;
    Check(db_.CompactFiles(compaction, flushed, LevelOf(run)));
  }

  // Every file gets an equal part of the keys.
  void LoadLevel0() {
    const auto files = static_cast<std::size_t>(settings_.level0_files);
    const std::size_t part = (keys_.stored + files - 1) / files;
    std::size_t written = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_.SortedRun(i) == kAbsent) continue;
      support::CheckForInterrupts();
      const std::string key = keys_.Key(i);
      Check(db_.Put(write_options_, key, MakeValue(key, settings_.value_bytes)));
      if (++written % part == 0) Flush();
    }
    Flush();
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
      support::CheckForInterrupts();
      if (Is(Properties::kMemTableFlushPending) || Is(Properties::kNumRunningFlushes) ||
          Is(Properties::kNumRunningCompactions)) {
        quiet = 0;
      }
      std::this_thread::sleep_for(kInterval);
    }
  }

  rocksdb::DB& db_;
  const Settings& settings_;
  const KeySet& keys_;
  rocksdb::WriteOptions write_options_;
};

}  // namespace

rocksdb::Options TreeOptions(const Settings& settings) {
  rocksdb::Options options;
  switch (settings.tree) {
    case Tree::kSettled:
      options.num_levels = LevelOf(settings.sorted_runs);
      [[fallthrough]];
    case Tree::kLevel0:
      options.disable_auto_compactions = true;
      options.write_buffer_size = kWriteBufferBytes;
      options.arena_block_size = std::size_t{8} << 20;
      break;
    case Tree::kUniversal:
      options.compaction_style = rocksdb::kCompactionStyleUniversal;
      options.write_buffer_size = settings.write_buffer_bytes;
      break;
    case Tree::kLoaded:
      CompactByLevels(settings, &options);
      break;
  }
  return options;
}

void CompactByLevels(const Settings& settings, rocksdb::Options* options) {
  const rocksdb::Options defaults;
  const auto scaled = [&](std::uint64_t bytes) {
    return static_cast<std::uint64_t>(static_cast<double>(bytes) /
                                      static_cast<double>(defaults.write_buffer_size) *
                                      static_cast<double>(settings.write_buffer_bytes));
  };
  options->disable_auto_compactions = false;
  options->write_buffer_size = settings.write_buffer_bytes;
  options->arena_block_size = defaults.arena_block_size;
  options->target_file_size_base = scaled(defaults.target_file_size_base);
  options->max_bytes_for_level_base = scaled(defaults.max_bytes_for_level_base);
}

void LoadTree(rocksdb::DB& db, const Settings& settings, const KeySet& keys) {
  Loader(db, settings, keys).Load();
}

}  // namespace exactbloom::readamp
