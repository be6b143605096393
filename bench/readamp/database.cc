#include "database.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/metadata.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "report/machine.h"
#include "report/progress.h"

namespace exactbloom::readamp {
namespace {

// Level 0 is where flushes arrive, so the smallest sorted run settles in level 1.
int LevelOf(int sorted_run) { return sorted_run + 1; }

void Check(const rocksdb::Status& status, const std::string& what) {
  if (!status.ok()) throw InputError(fmt::format("{}: {}", what, status.ToString()));
}

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace

std::shared_ptr<const rocksdb::FilterPolicy> MakePolicy(const std::string& policy) {
  if (policy == "none") return nullptr;
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = false;
  config.ignore_unsupported_options = false;
  std::shared_ptr<const rocksdb::FilterPolicy> result;
  const auto status = rocksdb::FilterPolicy::CreateFromString(config, policy, &result);
  if (!status.ok() || result == nullptr) {
    throw InputError(fmt::format("policy '{}': {}", policy,
                                 status.ok() ? "names no filter policy" : status.ToString()));
  }
  return result;
}

Database::Database(const Settings& settings, const KeySet& keys,
                   std::shared_ptr<const rocksdb::FilterPolicy> policy)
    : settings_(settings), policy_(std::move(policy)) {
  std::string path = (std::filesystem::path(settings.directory) / "readamp-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    throw InputError(fmt::format("cannot make a database in the directory {}: {}",
                                 settings.directory,
                                 std::error_code(errno, std::generic_category()).message()));
  }
  path_ = path;
  try {
    Load(keys);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    throw;
  }
}

Database::~Database() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

rocksdb::Options Database::MakeOptions(std::size_t block_cache_bytes) const {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy = policy_;
  table_options.block_cache = rocksdb::NewLRUCache(block_cache_bytes);

  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  options.compression = rocksdb::kSnappyCompression;
  options.num_levels = LevelOf(settings_.sorted_runs);
  options.disable_auto_compactions = true;
  // A sorted run is one memtable, however many keys are stored.
  options.write_buffer_size = std::size_t{1} << 40;
  options.arena_block_size = std::size_t{8} << 20;
  options.avoid_flush_during_shutdown = true;
  return options;
}

void Database::Load(const KeySet& keys) {
  rocksdb::Options options = MakeOptions(settings_.block_cache_bytes);
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  Check(rocksdb::DB::Open(options, path_, &opened),
        fmt::format("cannot make the database {}", path_));
  const std::unique_ptr<rocksdb::DB> db(opened);
  const double cpu_before = bench::ProcessCpuMicroseconds();
  for (int run = settings_.sorted_runs - 1; run >= 0; --run) LoadSortedRun(db.get(), keys, run);
  load_cpu_us_ = (bench::ProcessCpuMicroseconds() - cpu_before) / static_cast<double>(keys.stored);
  ListTables(db.get());
}

void Database::LoadSortedRun(rocksdb::DB* db, const KeySet& keys, int run) const {
  const std::string what = fmt::format("cannot load the database {}", path_);
  rocksdb::WriteOptions write_options;
  write_options.disableWAL = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys.sorted_run[i] != run) continue;
    bench::CheckForInterrupts();
    Check(db->Put(write_options, keys.keys[i], MakeValue(keys.keys[i], settings_.value_bytes)),
          what);
  }
  Check(db->Flush(rocksdb::FlushOptions()), what);

  rocksdb::ColumnFamilyMetaData tree;
  db->GetColumnFamilyMetaData(&tree);
  std::vector<std::string> flushed;
  for (const auto& file : tree.levels.front().files) flushed.push_back(file.name);
  if (flushed.empty()) return;  // a run too small for its share of the keys to be one key
  rocksdb::CompactionOptions compaction;
  compaction.compression = rocksdb::kSnappyCompression;
  compaction.output_file_size_limit = settings_.table_bytes;
  Check(db->CompactFiles(compaction, flushed, LevelOf(run)), what);
}

void Database::ListTables(rocksdb::DB* db) {
  rocksdb::TablePropertiesCollection properties;
  Check(db->GetPropertiesOfAllTables(&properties), "cannot read the tables' properties");
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  for (const auto& file : files) {
    const auto found = std::find_if(properties.begin(), properties.end(), [&](const auto& entry) {
      return FileName(entry.first) == FileName(file.name);
    });
    if (found == properties.end())
      throw InputError(fmt::format("no properties of table {}", file.name));
    tables_.push_back({file.level - LevelOf(0), file.level, file.smallestkey, file.largestkey,
                       found->second->num_filter_entries, found->second->filter_size});
  }
  std::sort(tables_.begin(), tables_.end(), [](const Table& a, const Table& b) {
    return std::tie(a.sorted_run, a.smallest) < std::tie(b.sorted_run, b.smallest);
  });
}

OpenDatabase Database::OpenForReads(std::size_t block_cache_bytes) const {
  rocksdb::Options options = MakeOptions(block_cache_bytes);
  OpenDatabase result;
  result.statistics = rocksdb::CreateDBStatistics();
  options.statistics = result.statistics;
  rocksdb::DB* opened = nullptr;
  options.use_direct_reads = true;
  auto status = rocksdb::DB::OpenForReadOnly(options, path_, &opened);
  result.direct_reads = status.ok();
  if (!status.ok()) {
    options.use_direct_reads = false;
    status = rocksdb::DB::OpenForReadOnly(options, path_, &opened);
  }
  Check(status, fmt::format("cannot open the database {}", path_));
  result.db.reset(opened);
  return result;
}

}  // namespace exactbloom::readamp
