// SampleKeys: the keys of a user's own database.
#include <rocksdb/env.h>
#include <rocksdb/utilities/options_util.h>

#include <cstdarg>
#include <random>

#include "key_set.h"
#include "readamp/open_rocksdb.h"
#include "support/progress.h"

namespace exactbloom::readamp {
namespace {

// RocksDB opens an info log in the database's directory, even for reads, unless it is given one.
class NoLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, std::va_list /*arguments*/) override {}
};

// With the database's own options, as far as they are known here, since its comparator orders the
// keys.
rocksdb::Options OwnOptions(const std::string& directory, const std::string& problem) {
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = true;
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;  // the default one comes first
  CheckStatus(rocksdb::LoadLatestOptions(config, directory, &options, &families), problem);
  options.info_log = std::make_shared<NoLog>();
  options.stats_dump_period_sec = 0;
  options.create_if_missing = false;
  return {options, families.front().options};
}

}  // namespace

std::vector<std::string> SampleKeys(const std::string& directory, std::uint64_t limit,
                                    std::uint64_t seed) {
  const std::string problem = fmt::format("the database {} cannot be read", directory);
  std::unique_ptr<rocksdb::DB> db;
  CheckStatus(OpenRocksDB(OwnOptions(directory, problem), directory, Access::kRead, &db), problem);
  rocksdb::ReadOptions read_options;
  read_options.total_order_seek = true;
  read_options.fill_cache = false;
  read_options.readahead_size = std::size_t{2} << 20;
  std::mt19937_64 random(seed);
  std::vector<std::string> sample;
  std::uint64_t seen = 0;
  const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(read_options));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    support::CheckForInterrupts();
    ++seen;
    if (sample.size() < limit) {
      sample.push_back(iterator->key().ToString());
      continue;
    }
    // Every key so far is in the sample with the same probability.
    const std::uint64_t place = std::uniform_int_distribution<std::uint64_t>(0, seen - 1)(random);
    if (place < limit) sample[place] = iterator->key().ToString();
  }
  CheckStatus(iterator->status(), problem);
  return sample;
}

}  // namespace exactbloom::readamp
