// Opens a database with the options of a file. The policy's name is in the file, not in the
// program.
//
//   example_options_file OPTIONS DIRECTORY      such as examples/options.ini; the directory is
//   created
#include <exactbloom/filter_policy.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "open_database.h"

namespace {

constexpr std::uint64_t kKeys = 20000;

// RocksDB continues without a filter if it does not know a policy's name, so check the policy that
// it made.
const rocksdb::FilterPolicy* PolicyOf(const rocksdb::ColumnFamilyOptions& options) {
  const auto* table = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  return table == nullptr ? nullptr : table->filter_policy.get();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: example_options_file OPTIONS DIRECTORY\n";
    return 2;
  }

  // Before any options are read, and once per process.
  exactbloom::RegisterFilterPolicies();

  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  Require(rocksdb::LoadOptionsFromFile({}, argv[1], &db_options, &families));
  const rocksdb::FilterPolicy* policy = PolicyOf(families[0].options);
  if (policy == nullptr) {
    std::cerr << "options_file: " << argv[1] << " names no filter policy that is known\n";
    return 2;
  }
  std::cout << argv[1] << " asks for " << policy->GetId() << '\n';

  rocksdb::Options options(db_options, families[0].options);
  options.statistics = rocksdb::CreateDBStatistics();
  std::unique_ptr<rocksdb::DB> db;
  Require(OpenDatabase(options, argv[2], &db));
  for (std::uint64_t i = 0; i < kKeys; ++i)
    Require(db->Put({}, "user" + std::to_string(i), "a value"));
  Require(db->Flush({}));
  std::string value;
  for (std::uint64_t i = 0; i < kKeys; ++i) db->Get({}, "user" + std::to_string(i) + "?", &value);
  const auto stopped = options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL);
  std::cout << "of " << kKeys << " lookups of absent keys the filter stopped " << stopped << '\n';
  db.reset();

  // Every database has an OPTIONS file of RocksDB's, which also names the policy.
  Require(rocksdb::LoadLatestOptions({}, argv[2], &db_options, &families));
  policy = PolicyOf(families[0].options);
  const std::string kept = policy == nullptr ? "no policy" : policy->GetId();
  std::cout << "the database's own OPTIONS file names " << kept << '\n';
  return 100 * stopped > 98 * kKeys && kept == "classic_bloom:10" ? 0 : 1;
}
