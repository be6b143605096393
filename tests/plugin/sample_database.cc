#include "sample_database.h"

#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <stdlib.h>

#include <algorithm>
#include <utility>

#include "exactbloom/filter_policy.h"
#include "plugin/rocksdb_compat.h"

namespace exactbloom {
namespace {

std::uint64_t Take(rocksdb::DB& db, rocksdb::Tickers ticker) {
  return db.GetDBOptions().statistics->getAndResetTickerCount(ticker);
}

// 0 where this RocksDB has no such ticker.
std::uint64_t Take(rocksdb::DB& db, const std::string& name) {
  for (const auto& [ticker, known] : rocksdb::TickersNameMap) {
    if (known == name) return Take(db, static_cast<rocksdb::Tickers>(ticker));
  }
  return 0;
}

rocksdb::ColumnFamilyHandle* FamilyOrDefault(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
  return family != nullptr ? family : db.DefaultColumnFamily();
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "exactbloom.XXXXXX").string();
  const char* made = mkdtemp(name.data());
  EXPECT_NE(made, nullptr);
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

PolicyPointer NewPolicy(BloomKind kind, double bits_per_key) {
  return kind == BloomKind::kClassic ? NewFilterPolicy(ClassicBloomOptions{bits_per_key})
                                     : NewFilterPolicy(StandardBloomOptions{bits_per_key});
}

rocksdb::Options OptionsWith(const rocksdb::BlockBasedTableOptions& table_options) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.statistics = rocksdb::CreateDBStatistics();
  options.stats_dump_period_sec = 0;  // the first dump into the log may come at any time
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  return options;
}

rocksdb::BlockBasedTableOptions PlannedSizes() {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.optimize_filters_for_memory = false;
  return table_options;
}

rocksdb::Options OptionsWith(PolicyPointer policy) {
  rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
  table_options.filter_policy = std::move(policy);
  return OptionsWith(table_options);
}

void PartitionFilters(std::uint64_t metadata_block_size,
                      rocksdb::BlockBasedTableOptions* table_options) {
  table_options->partition_filters = true;
  table_options->index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table_options->metadata_block_size = metadata_block_size;
  // Without it, RocksDB 9.6 and later make every second partition a small one, with any policy. It
  // is the default from 10.6 on; earlier versions do not know it.
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = true;
  EXPECT_TRUE(rocksdb::GetBlockBasedTableOptionsFromString(
                  config, rocksdb::BlockBasedTableOptions(*table_options),
                  "decouple_partitioned_filters=true", table_options)
                  .ok());
}

const rocksdb::FilterPolicy* PolicyOf(const rocksdb::ColumnFamilyOptions& options) {
  const auto* table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  return table == nullptr ? nullptr : table->filter_policy.get();
}

std::string KeyOf(std::uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < 8) digits.insert(0, 8 - digits.size(), '0');
  return "key " + digits;
}

Database Open(const rocksdb::Options& options, const std::string& path) {
  Database db;
  const rocksdb::Status status = rocksdb::DB::Open(options, path, Receive(&db));
  EXPECT_TRUE(status.ok()) << status.ToString();
  return db;
}

// In batches, since single writes take four times as long.
void PutAndFlush(rocksdb::DB& db, std::uint64_t count, const std::string& value,
                 std::uint64_t first, rocksdb::ColumnFamilyHandle* family) {
  constexpr std::uint64_t kBatch = 100;
  family = FamilyOrDefault(db, family);
  for (std::uint64_t begin = 0; begin < count; begin += kBatch) {
    rocksdb::WriteBatch batch;
    for (std::uint64_t i = begin; i < std::min(begin + kBatch, count); ++i) {
      ASSERT_TRUE(batch.Put(family, KeyOf(2 * (first + i)), value).ok());
    }
    ASSERT_TRUE(db.Write({}, &batch).ok());
  }
  ASSERT_TRUE(db.Flush({}, family).ok());
}

void MoveDown(rocksdb::DB& db, int level) {
  rocksdb::CompactionOptions options;
  options.compression = rocksdb::kDisableCompressionOption;  // that of the database
  std::vector<rocksdb::LiveFileMetaData> tables;
  db.GetLiveFilesMetaData(&tables);
  for (const auto& table : tables) {
    if (table.level != 0) continue;
    const rocksdb::Status status = db.CompactFiles(options, {table.relative_filename}, level);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
}

void ExpectPresent(rocksdb::DB& db, std::uint64_t count, const std::string& value,
                   std::uint64_t first, rocksdb::ColumnFamilyHandle* family) {
  family = FamilyOrDefault(db, family);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string found;
    const std::string key = KeyOf(2 * (first + i));
    const rocksdb::Status status = db.Get({}, family, key, &found);
    ASSERT_TRUE(status.ok()) << key << ": " << status.ToString();
    ASSERT_EQ(found, value);
  }
}

FilterCounts AskAbsent(rocksdb::DB& db, std::uint64_t count, rocksdb::ColumnFamilyHandle* family,
                       std::uint64_t first) {
  family = FamilyOrDefault(db, family);
  TakeCounts(db);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string value;
    EXPECT_TRUE(db.Get({}, family, KeyOf(2 * (first + i) + 1), &value).IsNotFound());
  }
  return TakeCounts(db);
}

FilterCounts MultiGetAll(rocksdb::DB& db, std::uint64_t count,
                         const rocksdb::ReadOptions& read_options) {
  TakeCounts(db);
  constexpr std::size_t kBatch = 100;
  const std::uint64_t end = 2 * count - 1;
  for (std::uint64_t start = 0; start < end; start += kBatch) {
    std::vector<std::string> texts;
    for (std::uint64_t i = start; i < std::min(start + kBatch, end); ++i) {
      texts.push_back(KeyOf(i));
    }
    const std::vector<rocksdb::Slice> keys(texts.begin(), texts.end());
    std::vector<rocksdb::PinnableSlice> values(keys.size());
    std::vector<rocksdb::Status> statuses(keys.size());
    db.MultiGet(read_options, db.DefaultColumnFamily(), keys.size(), keys.data(), values.data(),
                statuses.data());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool is_present = (start + i) % 2 == 0;
      EXPECT_TRUE(is_present ? statuses[i].ok() : statuses[i].IsNotFound()) << texts[i];
    }
  }
  return TakeCounts(db);
}

std::vector<std::filesystem::path> TableFilesIn(const std::string& directory) {
  std::vector<std::filesystem::path> tables;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    if (file.path().extension() == ".sst") tables.push_back(file.path());
  }
  std::sort(tables.begin(), tables.end());
  return tables;
}

rocksdb::Status RewriteTables(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
  family = FamilyOrDefault(db, family);
  rocksdb::CompactionOptions options;
  options.compression = rocksdb::kDisableCompressionOption;  // that of the database
  rocksdb::ColumnFamilyMetaData tree;
  db.GetColumnFamilyMetaData(family, &tree);
  for (const rocksdb::LevelMetaData& level : tree.levels) {
    for (const rocksdb::SstFileMetaData& table : level.files) {
      const rocksdb::Status status =
          db.CompactFiles(options, family, {table.relative_filename}, level.level);
      const bool is_left = status.IsAborted() || status.IsInvalidArgument();
      if (!status.ok() && !is_left) return status;
    }
  }
  return rocksdb::Status::OK();
}

rocksdb::Status ForceCompaction(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family) {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  return db.CompactRange(options, FamilyOrDefault(db, family), nullptr, nullptr);
}

FilterCounts TakeCounts(rocksdb::DB& db) {
  FilterCounts counts;
  counts.useful = Take(db, rocksdb::BLOOM_FILTER_USEFUL);
  counts.positive = Take(db, rocksdb::BLOOM_FILTER_FULL_POSITIVE);
  counts.true_positive = Take(db, rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  counts.prefix_checked = Take(db, rocksdb::BLOOM_FILTER_PREFIX_CHECKED);
  counts.prefix_useful = Take(db, rocksdb::BLOOM_FILTER_PREFIX_USEFUL);
  // Where iterators count by level, they do not count as prefixes.
  for (const std::string level : {"last.level", "non.last.level"}) {
    const std::uint64_t useful = Take(db, "rocksdb." + level + ".seek.filtered");
    counts.prefix_useful += useful;
    counts.prefix_checked += useful + Take(db, "rocksdb." + level + ".seek.filter.match");
  }
  counts.data_blocks =
      Take(db, rocksdb::BLOCK_CACHE_DATA_HIT) + Take(db, rocksdb::BLOCK_CACHE_DATA_MISS);
  return counts;
}

void ExpectFiltering(const FilterCounts& counts, std::uint64_t checks) {
  EXPECT_EQ(counts.useful + counts.FalsePositives(), checks);
  EXPECT_GT(static_cast<double>(counts.useful), 0.97 * static_cast<double>(checks));
}

}  // namespace exactbloom
