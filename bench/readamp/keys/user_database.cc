#include "user_database.h"

#include <rocksdb/table_properties.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <cstdarg>
#include <random>
#include <tuple>

#include "readamp/open_rocksdb.h"
#include "readamp/tree/table_list.h"
#include "sst/regular_files.h"

namespace exactbloom::readamp {
namespace {

// RocksDB opens an info log in the database's directory, even for reads, unless it is given one.
class NoLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, std::va_list /*arguments*/) override {}
};

// With the database's own options, as far as they are known here, since its comparator orders the
// keys. All tables are opened at once, so that compactions cannot remove them later.
rocksdb::Status LoadOwnOptions(const std::string& directory, rocksdb::Options* options,
                               std::vector<std::string>* other_families) {
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = true;
  config.env = files::RegularFilesEnv();
  rocksdb::DBOptions database;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;  // the default one comes first
  rocksdb::Status status = rocksdb::LoadLatestOptions(config, directory, &database, &families);
  if (!status.ok()) return status;
  database.env = files::RegularFilesEnv();
  database.info_log = std::make_shared<NoLog>();
  database.stats_dump_period_sec = 0;
  database.create_if_missing = false;
  database.max_open_files = -1;
  *options = {database, families.front().options};
  other_families->clear();
  for (std::size_t i = 1; i < families.size(); ++i) other_families->push_back(families[i].name);
  return status;
}

struct OpenUserDatabase {
  rocksdb::Options options;
  std::vector<std::string> other_families;
  std::unique_ptr<rocksdb::DB> db;
};

std::string ProblemWith(const std::string& directory) {
  return fmt::format("the database {} cannot be read", directory);
}

// A process that writes to it may remove files that were listed before they are opened.
OpenUserDatabase OpenToRead(const std::string& directory) {
  constexpr int kTries = 5;
  OpenUserDatabase open;
  rocksdb::Status status;
  for (int i = 0; i == 0 || (i < kTries && (status.IsPathNotFound() || status.IsCorruption()));
       ++i) {
    status = LoadOwnOptions(directory, &open.options, &open.other_families);
    if (status.ok()) status = OpenReadOnly(open.options, directory, &open.db);
  }
  CheckStatus(status, ProblemWith(directory));
  return open;
}

void AddProperties(const rocksdb::TableProperties& properties, UserDatabase* database) {
  database->entries += properties.num_entries;
  database->value_bytes += properties.raw_value_size;
  database->filter_bytes += properties.filter_size;
  // RocksDB before 6.21 did not count the keys of filters.
  if (properties.filter_size != 0) {
    database->filter_keys +=
        properties.num_filter_entries != 0 ? properties.num_filter_entries : properties.num_entries;
  }
  if (properties.filter_size > 0) database->filter_policy = properties.filter_policy_name;
  const std::string& prefix = properties.prefix_extractor_name;
  if (!prefix.empty() && prefix != "nullptr") database->prefix_extractor = prefix;
}

}  // namespace

std::vector<std::string> SampleKeys(const std::string& directory, std::uint64_t limit,
                                    std::uint64_t seed) {
  const OpenUserDatabase open = OpenToRead(directory);
  rocksdb::ReadOptions read_options;
  read_options.total_order_seek = true;
  read_options.fill_cache = false;
  read_options.readahead_size = std::size_t{2} << 20;
  std::mt19937_64 random(seed);
  std::vector<std::string> sample;
  std::uint64_t seen = 0;
  const std::unique_ptr<rocksdb::Iterator> iterator(open.db->NewIterator(read_options));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    ++seen;
    std::uint64_t place = sample.size();
    if (place < limit) {
      sample.emplace_back();
    } else {
      // Every key so far is in the sample with the same probability.
      place = std::uniform_int_distribution<std::uint64_t>(0, seen - 1)(random);
    }
    if (place >= limit) continue;
    sample[place] = iterator->key().ToString();
  }
  CheckStatus(iterator->status(), ProblemWith(directory));
  return sample;
}

UserDatabase ReadUserDatabase(const std::string& directory) {
  const OpenUserDatabase open = OpenToRead(directory);
  UserDatabase database;
  database.options = static_cast<const rocksdb::ColumnFamilyOptions&>(open.options);
  database.other_families = open.other_families;
  rocksdb::TablePropertiesCollection all_properties;
  CheckStatus(open.db->GetPropertiesOfAllTables(&all_properties), ProblemWith(directory));
  for (const auto& [path, properties] : all_properties) AddProperties(*properties, &database);
  const ListedTables tables = ListTables(*open.db);
  const model::SortedRuns runs = RunsOf(tables);
  int run = 0;
  for (const std::vector<std::size_t>& places : runs.Runs()) {
    for (const std::size_t place : places) {
      const auto& [level, file] = tables[place];
      if (file.oldest_blob_file_number != 0) database.has_blob_files = true;
      // In an order of keys other than bytewise the smallest may be the larger one.
      const auto [smallest, largest] = std::minmax(file.smallestkey, file.largestkey);
      database.tables.push_back({run, level, smallest, largest, file.num_entries});
    }
    ++run;
  }
  std::stable_sort(database.tables.begin(), database.tables.end(),
                   [](const UserTable& a, const UserTable& b) {
                     return std::tie(a.sorted_run, a.smallest) < std::tie(b.sorted_run, b.smallest);
                   });
  return database;
}

}  // namespace exactbloom::readamp
