#include "user_database.h"

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/options_util.h>

#include <cstdarg>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <random>

#include "readamp/readamp_settings.h"
#include "support/progress.h"

namespace exactbloom::readamp {
namespace {

// RocksDB opens an info log in the database's directory, even for reads, unless it is given one.
class NoLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, std::va_list /*arguments*/) override {}
};

void Check(const rocksdb::Status& status, const std::string& directory) {
  if (!status.ok()) {
    throw InputError(
        fmt::format("the database {} cannot be read: {}", directory, status.ToString()));
  }
}

// With the database's own options, as far as they are known here, since its comparator orders the
// keys.
std::unique_ptr<rocksdb::DB> OpenReadOnly(const std::string& directory) {
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = true;
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  Check(rocksdb::LoadLatestOptions(config, directory, &options, &families), directory);
  options.info_log = std::make_shared<NoLog>();
  options.stats_dump_period_sec = 0;
  options.create_if_missing = false;
  std::vector<rocksdb::ColumnFamilyDescriptor> only_default;
  for (auto& family : families) {
    if (family.name == rocksdb::kDefaultColumnFamilyName) only_default.push_back(family);
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const auto status = rocksdb::DB::OpenForReadOnly(options, directory, only_default, &handles, &db);
  std::unique_ptr<rocksdb::DB> result(db);
  Check(status, directory);
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    Check(result->DestroyColumnFamilyHandle(handle), directory);
  }
  return result;
}

}  // namespace

std::vector<std::string> SampleKeys(const std::string& directory, std::uint64_t limit,
                                    std::uint64_t seed) {
  const std::unique_ptr<rocksdb::DB> db = OpenReadOnly(directory);
  constexpr std::size_t kReadahead = std::size_t{2} << 20;
  rocksdb::ReadOptions read_options;
  read_options.total_order_seek = true;
  read_options.fill_cache = false;
  read_options.readahead_size = kReadahead;
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
  Check(iterator->status(), directory);
  return sample;
}

}  // namespace exactbloom::readamp
