#include "database.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "counting_file_system.h"
#include "equal_memory.h"
#include "exactbloom/tree_listener.h"
#include "readamp/open_rocksdb.h"
#include "support/policy_name.h"

namespace exactbloom::readamp {
namespace {

// A new directory in `parent`, removed with all its files when the pointer to its path is.
std::shared_ptr<const support::TemporaryPath> MakeDirectory(const std::string& parent) {
  std::string path = (std::filesystem::path(parent) / "readamp-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    throw InputError(fmt::format("cannot make a database in the directory {}: {}", parent,
                                 std::error_code(errno, std::generic_category()).message()));
  }
  return std::make_shared<support::TemporaryPath>(path);
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
    throw InputError(fmt::format("policy '{}': {}{}", policy,
                                 status.ok() ? "names no filter policy" : status.ToString(),
                                 support::WhichPolicyWasMeant(policy)));
  }
  return result;
}

Database::Database(const ReadampSettings& settings, const KeySet& keys,
                   std::shared_ptr<const rocksdb::FilterPolicy> policy, LoadObserver* observer)
    : settings_(settings),
      keys_(keys),
      policy_(std::move(policy)),
      directory_(MakeDirectory(settings.directory)) {
  constexpr std::size_t kCacheBytes = std::size_t{8} << 20;
  rocksdb::Options options = MakeOptions(rocksdb::NewLRUCache(kCacheBytes));
  options.create_if_missing = true;
  if (observer != nullptr) observer->Prepare(&options);
  std::unique_ptr<rocksdb::DB> db;
  CheckStatus(rocksdb::DB::Open(options, directory_->Path() + "/db", Receive(&db)),
              fmt::format("cannot make the database {}", directory_->Path()));
  const std::clock_t before = std::clock();  // in microseconds
  LoadTree(*db, settings_, keys_, observer);
  load_cpu_us_ = static_cast<double>(std::clock() - before) / static_cast<double>(keys_.stored);
  tables_ = TableList(*db, keys_);
}

rocksdb::Options Database::MakeOptions(const std::shared_ptr<rocksdb::Cache>& block_cache) const {
  rocksdb::BlockBasedTableOptions table_options = EqualMemoryTableOptions();
  table_options.filter_policy = policy_;
  table_options.block_size = settings_.block_bytes;
  table_options.block_cache = block_cache;
  table_options.no_block_cache = block_cache == nullptr;
  table_options.max_auto_readahead_size = 0;  // each wanted block is one read
  if (settings_.partitioned_filters) {
    table_options.partition_filters = true;
    table_options.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table_options.metadata_block_size = settings_.partition_bytes;
    table_options.metadata_cache_options.partition_pinning = rocksdb::PinningTier::kAll;
  }
  rocksdb::Options options = TreeOptions(settings_);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  options.compression = rocksdb::kSnappyCompression;
  options.avoid_flush_during_shutdown = true;
  options.listeners.push_back(NewTreeListener());
  return options;
}

OpenDatabase Database::Open() const {
  OpenDatabase result;
  if (settings_.block_cache_bytes > 0 || settings_.partitioned_filters) {
    result.block_cache = rocksdb::NewLRUCache(settings_.block_cache_bytes);
  }
  result.env = NewCountingEnv();
  result.statistics = rocksdb::CreateDBStatistics();
  rocksdb::Options options = MakeOptions(result.block_cache);
  options.env = result.env.get();
  options.statistics = result.statistics;
  const std::string path = directory_->Path() + "/db";
  CheckStatus(OpenReadOnly(options, path, &result.db),
              fmt::format("cannot open the database {}", path));
  if (result.block_cache != nullptr) {
    // Partitions of filters and indexes are pinned in the block cache, and the rest of it is for
    // data, so its capacity is set after they have been read.
    result.block_cache->SetCapacity(settings_.block_cache_bytes +
                                    result.block_cache->GetPinnedUsage());
  }
  return result;
}

}  // namespace exactbloom::readamp
