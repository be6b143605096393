#include "table_scan.h"

#include <rocksdb/metadata.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "../files/table_file.h"

namespace exactbloom::tree {
namespace {

using Files = std::vector<rocksdb::SstFileMetaData>;

std::atomic<int> filter_size_demands{0};

// Returns the count by the file's properties. The filter size is unknown if they cannot be read.
TableCount ReadCount(rocksdb::DB& db, const rocksdb::SstFileMetaData& table) {
  TableCount count{table.num_entries, std::nullopt};
  std::unique_ptr<files::TableFile> file;
  std::map<std::string, std::string> properties;
  const std::string path = table.directory + "/" + table.relative_filename;
  if (!files::TableFile::Open(*db.GetFileSystem(), path, &file).ok()) return count;
  if (!file->ReadProperties(&properties).ok()) return count;
  using Names = rocksdb::TablePropertiesNames;
  count.filter_bytes = files::TableFile::NumberIn(properties, Names::kFilterSize);
  const std::uint64_t keys = files::TableFile::NumberIn(properties, Names::kNumFilterEntries);
  if (keys != 0) count.keys = keys;
  return count;
}

// Gives tables of unknown filter size the bits per key of the sample: reading thousands of files
// would delay the first job of a large database.
void Extrapolate(const Tally& sample, LiveTable* tables, const std::vector<std::size_t>& unknown) {
  const double bytes_per_key =
      static_cast<double>(sample.filter_bytes) / static_cast<double>(sample.keys);
  for (const std::size_t i : unknown) {
    TableCount& count = tables[i].count;
    if (count.filter_bytes) continue;
    count.filter_bytes =
        static_cast<std::uint64_t>(bytes_per_key * static_cast<double>(count.keys));
  }
}

// Reads the counts of the tables of a level whose filter sizes are unknown.
void ReadUnknown(rocksdb::DB& db, const Files& files, LiveTable* tables,
                 const std::vector<std::size_t>& unknown) {
  constexpr std::size_t kSample = 64;
  const bool reads_all = filter_size_demands > 0;
  const std::size_t step = reads_all ? 1 : unknown.size() / kSample + 1;
  Tally sample;
  for (std::size_t i = 0; i < unknown.size(); i += step) {
    TableCount& count = tables[unknown[i]].count;
    count = ReadCount(db, files[unknown[i]]);
    if (count.filter_bytes) sample.Add(count);
  }
  if (!reads_all && sample.keys != 0) Extrapolate(sample, tables, unknown);
}

void ScanLevel(rocksdb::DB& db, const LsmShape& known, const rocksdb::LevelMetaData& level,
               std::vector<LiveTable>& tables) {
  const std::size_t first = tables.size();
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < level.files.size(); ++i) {
    const rocksdb::SstFileMetaData& table = level.files[i];
    const std::optional<TableCount> count = known.CountOf(table.file_number);
    if (!count) unknown.push_back(i);
    tables.push_back({level.level, table.file_number,
                      count.value_or(TableCount{table.num_entries, std::nullopt})});
  }
  ReadUnknown(db, level.files, tables.data() + first, unknown);
}

}  // namespace

// RocksDB before 7.0 did not count the keys of filters; a filter of prefixes has fewer.
TableCount CountOf(const rocksdb::TableProperties& properties) {
  const std::uint64_t keys =
      properties.num_filter_entries != 0 ? properties.num_filter_entries : properties.num_entries;
  return {keys, properties.filter_size};
}

std::map<std::string, std::vector<LiveTable>> ScanTables(rocksdb::DB& db, const LsmShape& known) {
  std::map<std::string, std::vector<LiveTable>> families;
  std::vector<rocksdb::ColumnFamilyMetaData> metadata;
  db.GetAllColumnFamilyMetaData(&metadata);
  for (const rocksdb::ColumnFamilyMetaData& family : metadata) {
    std::vector<LiveTable>& tables = families[family.name];
    for (const rocksdb::LevelMetaData& level : family.levels) ScanLevel(db, known, level, tables);
  }
  return families;
}

FilterSizeDemand::FilterSizeDemand() { ++filter_size_demands; }
FilterSizeDemand::~FilterSizeDemand() { --filter_size_demands; }

}  // namespace exactbloom::tree
