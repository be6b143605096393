#include "database.h"

#include <fmt/format.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/options.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "counting_file_system.h"
#include "support/machine.h"
#include "support/progress.h"
#include "tree_loader.h"

namespace exactbloom::readamp {
namespace {

using rocksdb::BlockBasedTableOptions;

// While the keys are loaded.
constexpr std::size_t kLoadingCacheBytes = std::size_t{8} << 20;

// The capacity of a cache that holds the whole database; only what is needed is used.
constexpr std::size_t kUnlimited = std::size_t{1} << 40;

void Check(const rocksdb::Status& status, const std::string& what) {
  if (!status.ok()) throw InputError(fmt::format("{}: {}", what, status.ToString()));
}

void ReadWhole(rocksdb::DB& db) {
  rocksdb::ReadOptions read_options;
  read_options.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(db.NewIterator(read_options));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) support::CheckForInterrupts();
  Check(iterator->status(), "cannot read the database");
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

rocksdb::Options Database::MakeOptions(const std::shared_ptr<rocksdb::Cache>& block_cache) const {
  BlockBasedTableOptions table_options;
  table_options.filter_policy = policy_;
  table_options.block_cache = block_cache;
  table_options.no_block_cache = block_cache == nullptr;
  table_options.max_auto_readahead_size = 0;  // each wanted block is one read
  if (settings_.partitioned_filters) {
    table_options.partition_filters = true;
    table_options.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
    table_options.metadata_block_size = settings_.partition_bytes;
    table_options.metadata_cache_options.partition_pinning = rocksdb::PinningTier::kAll;
  }
  rocksdb::Options options = TreeOptions(settings_);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  options.compression = rocksdb::kSnappyCompression;
  options.avoid_flush_during_shutdown = true;
  if (settings_.prefix_bytes > 0) {
    options.prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(settings_.prefix_bytes));
  }
  return options;
}

void Database::Load(const KeySet& keys) {
  rocksdb::Options options = MakeOptions(rocksdb::NewLRUCache(kLoadingCacheBytes));
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  Check(rocksdb::DB::Open(options, path_ + "/db", &opened),
        fmt::format("cannot make the database {}", path_));
  const std::unique_ptr<rocksdb::DB> db(opened);
  const double cpu_before = support::ProcessCpuMicroseconds();
  LoadTree(*db, settings_, keys);
  load_cpu_us_ =
      (support::ProcessCpuMicroseconds() - cpu_before) / static_cast<double>(keys.stored);
  tables_ = TableList(*db, keys, settings_);
}

// Partitions of filters and indexes are pinned in the block cache, and the rest of it is for data,
// so its capacity is set after they have been read.
void Database::PrepareCache(OpenDatabase& open, std::size_t block_cache_bytes) const {
  if (open.block_cache == nullptr) return;
  if (block_cache_bytes == kWholeDatabase) {
    open.block_cache->SetCapacity(kUnlimited);
    ReadWhole(*open.db);
    Check(open.statistics->Reset(), "cannot reset the statistics");
  } else {
    open.block_cache->SetCapacity(block_cache_bytes + open.block_cache->GetPinnedUsage());
  }
}

OpenDatabase Database::PrepareToOpen(const ReadConditions& conditions,
                                     rocksdb::Options* options) const {
  OpenDatabase result;
  if (conditions.block_cache_bytes > 0 || settings_.partitioned_filters) {
    result.block_cache = rocksdb::NewLRUCache(std::min(conditions.block_cache_bytes, kUnlimited));
  }
  *options = MakeOptions(result.block_cache);
  result.env = rocksdb::NewCompositeEnv(std::make_shared<CountingFileSystem>(
      rocksdb::FileSystem::Default(), conditions.read_latency));
  result.statistics = rocksdb::CreateDBStatistics();
  options->env = result.env.get();
  options->statistics = result.statistics;
  return result;
}

void Database::OpenWith(rocksdb::Options options, const std::string& path, bool read_only,
                        OpenDatabase* result) const {
  rocksdb::DB* opened = nullptr;
  rocksdb::Status status;
  for (const bool direct : {true, false}) {
    if (direct && !settings_.direct_reads) continue;
    options.use_direct_reads = direct;
    status = read_only ? rocksdb::DB::OpenForReadOnly(options, path, &opened)
                       : rocksdb::DB::Open(options, path, &opened);
    result->direct_reads = direct;
    if (status.ok()) break;
  }
  Check(status, fmt::format("cannot open the database {}", path));
  result->db.reset(opened);
}

OpenDatabase Database::OpenForReads(const ReadConditions& conditions) const {
  rocksdb::Options options;
  OpenDatabase result = PrepareToOpen(conditions, &options);
  OpenWith(options, path_ + "/db", true, &result);
  PrepareCache(result, conditions.block_cache_bytes);
  return result;
}

OpenDatabase Database::OpenCopyForWrites(const ReadConditions& conditions) const {
  const std::string copy = path_ + "/copy";
  const std::string what = fmt::format("cannot copy the database {}", path_);
  std::error_code ignored;
  std::filesystem::remove_all(copy, ignored);
  rocksdb::Options options;
  OpenDatabase result = PrepareToOpen(conditions, &options);
  rocksdb::DB* opened = nullptr;
  {
    rocksdb::Options at_rest = options;
    at_rest.disable_auto_compactions = true;
    Check(rocksdb::DB::Open(at_rest, path_ + "/db", &opened), what);
    const std::unique_ptr<rocksdb::DB> db(opened);
    rocksdb::Checkpoint* made = nullptr;
    Check(rocksdb::Checkpoint::Create(db.get(), &made), what);
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
    Check(checkpoint->CreateCheckpoint(copy), what);
  }
  if (options.compaction_style == rocksdb::kCompactionStyleLevel) {
    CompactByLevels(settings_, &options);
  }
  OpenWith(options, copy, false, &result);
  PrepareCache(result, conditions.block_cache_bytes);
  return result;
}

}  // namespace exactbloom::readamp
