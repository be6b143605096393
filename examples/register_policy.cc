// Gives a database ExactBloom's policy from C++, and shows with RocksDB's own counters that its
// filters work.
//
//   example_register_policy DIRECTORY      a directory for the database; it is created
#include <exactbloom/filter_policy.h>
#include <rocksdb/db.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "open_database.h"

namespace {

constexpr std::uint64_t kKeys = 20000;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: example_register_policy DIRECTORY\n";
    return 2;
  }

  // The policy goes into the table options, as those of RocksDB do. One that follows the tree, as
  // exactbloom:10, also needs a listener, which SetFilterPolicy adds (cpp/quick_start.cc).
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy = exactbloom::NewFilterPolicy("classic_bloom:10");

  rocksdb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.statistics = rocksdb::CreateDBStatistics();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));

  std::unique_ptr<rocksdb::DB> db;
  Require(OpenDatabase(options, argv[1], &db));

  for (std::uint64_t i = 0; i < kKeys; ++i)
    Require(db->Put({}, "user" + std::to_string(i), "a value"));
  Require(db->Flush({}));  // writes a table and its filter

  // None of these keys exists, but all lie between keys that do, so only the filter can save the
  // read.
  std::string value;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const rocksdb::Status status = db->Get({}, "user" + std::to_string(i) + "?", &value);
    if (!status.IsNotFound()) return 1;
  }
  const auto stopped = options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL);
  const auto let_through = options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
  std::cout << "policy " << table_options.filter_policy->GetId() << ": of " << kKeys
            << " lookups of absent keys the filter stopped " << stopped << " and let "
            << let_through << " through\n";
  return 100 * stopped > 98 * kKeys ? 0 : 1;
}
