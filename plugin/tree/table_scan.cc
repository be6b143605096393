#include "table_scan.h"

#include <rocksdb/metadata.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>

#include "../files/table_file.h"

namespace exactbloom::tree {
namespace {

using Files = std::vector<rocksdb::SstFileMetaData>;

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

// Reads the counts of the tables of a level whose filter sizes are unknown. Of many it reads some:
// to read thousands of files would keep a job's thread.
void ReadUnknown(rocksdb::DB& db, const Files& files, LiveTable* tables,
                 const std::vector<std::size_t>& unknown, double standard_errors) {
  constexpr std::size_t kSample = 64;
  const std::size_t step = unknown.size() / kSample + 1;
  double read = 0.0;
  Tally sum;
  double squares = 0.0;  // of bytes per key
  for (std::size_t i = 0; i < unknown.size(); i += step) {
    TableCount& count = tables[unknown[i]].count;
    count = ReadCount(db, files[unknown[i]]);
    if (!count.filter_bytes || count.keys == 0) continue;
    const double bytes_per_key =
        static_cast<double>(*count.filter_bytes) / static_cast<double>(count.keys);
    read += 1.0;
    sum.Add(count);
    squares += bytes_per_key * bytes_per_key;
  }
  if (step == 1 || read == 0.0) return;
  const double mean = static_cast<double>(sum.filter_bytes) / static_cast<double>(sum.keys);
  const double variance = std::max(0.0, squares / read - mean * mean);
  const double bytes_per_key = mean + standard_errors * std::sqrt(variance / read);
  for (const std::size_t i : unknown) {
    TableCount& count = tables[i].count;
    if (count.filter_bytes) continue;
    count.filter_bytes =
        static_cast<std::uint64_t>(bytes_per_key * static_cast<double>(count.keys));
  }
}

void ScanLevel(rocksdb::DB& db, const LsmShape& known, const rocksdb::LevelMetaData& level,
               Sample sample, std::vector<LiveTable>& tables) {
  const std::size_t first = tables.size();
  std::vector<std::size_t> unknown;
  for (std::size_t i = 0; i < level.files.size(); ++i) {
    const rocksdb::SstFileMetaData& table = level.files[i];
    const std::optional<TableCount> count = known.CountOf(table.file_number);
    if (!count) unknown.push_back(i);
    tables.push_back({level.level, table.file_number,
                      count.value_or(TableCount{table.num_entries, std::nullopt})});
  }
  ReadUnknown(db, level.files, tables.data() + first, unknown, sample == Sample::kSafe ? 2.0 : 0.0);
}

}  // namespace

// RocksDB before 7.0 did not count the keys of filters; a filter of prefixes has fewer.
TableCount CountOf(const rocksdb::TableProperties& properties) {
  const std::uint64_t keys =
      properties.num_filter_entries != 0 ? properties.num_filter_entries : properties.num_entries;
  return {keys, properties.filter_size};
}

std::map<std::string, std::vector<LiveTable>> ScanTables(rocksdb::DB& db, const LsmShape& known,
                                                         Sample sample) {
  std::map<std::string, std::vector<LiveTable>> families;
  std::vector<rocksdb::ColumnFamilyMetaData> metadata;
  db.GetAllColumnFamilyMetaData(&metadata);
  for (const rocksdb::ColumnFamilyMetaData& family : metadata) {
    std::vector<LiveTable>& tables = families[family.name];
    for (const rocksdb::LevelMetaData& level : family.levels) {
      ScanLevel(db, known, level, sample, tables);
    }
  }
  return families;
}

}  // namespace exactbloom::tree
