// Gives all tables of a database the filters of another policy: switches from RocksDB's Bloom
// filter to ExactBloom, to another setting of it, and back, by the policy that reads both.
//
//   example_replace_filters DIRECTORY      a directory for the database; it is created
#include <exactbloom/filter_policy.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "open_database.h"

namespace {

using rocksdb::ColumnFamilyHandle;

// Writes all tables anew. Reads and writes may go on meanwhile. Tables of FIFO compaction stay as
// they are.
rocksdb::Status ReplaceFilters(rocksdb::DB& db, const std::vector<ColumnFamilyHandle*>& families) {
  rocksdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  rocksdb::Status status;
  for (ColumnFamilyHandle* family : families) {
    if (status.ok()) status = db.CompactRange(options, family, nullptr, nullptr);
  }
  return status;
}

constexpr const char* kBuiltIn = "bloomfilter:10";

rocksdb::Options OptionsWith(const std::string& policy) {
  rocksdb::Options options;
  options.create_if_missing = true;
  if (policy != kBuiltIn) {
    Require(exactbloom::SetFilterPolicy(&options, policy));
    return options;
  }
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  return options;
}

// The name of the policy that made a table's filter is among its properties.
bool HasOnlyFiltersOf(const std::string& name, rocksdb::DB& db, ColumnFamilyHandle& family) {
  rocksdb::TablePropertiesCollection tables;
  Require(db.GetPropertiesOfAllTables(&family, &tables));
  for (const auto& [path, properties] : tables) {
    if (properties->filter_policy_name != name) return false;
  }
  return !tables.empty();
}

void WriteTables(rocksdb::DB& db, const std::vector<ColumnFamilyHandle*>& families) {
  constexpr int kKeys = 10000;
  for (ColumnFamilyHandle* family : families) {
    for (int i = 0; i < kKeys; ++i) Require(db.Put({}, family, std::to_string(i), "a value"));
    Require(db.Flush({}, family));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: example_replace_filters DIRECTORY\n";
    return 2;
  }
  for (const std::string policy :
       {kBuiltIn, "exactbloom:10", "exactbloom:14", "rocksdb_bloom:10", kBuiltIn}) {
    std::unique_ptr<rocksdb::DB> db;
    Require(OpenDatabase(OptionsWith(policy), argv[1], &db));
    const std::vector<ColumnFamilyHandle*> families = {db->DefaultColumnFamily()};
    WriteTables(*db, families);
    Require(ReplaceFilters(*db, families));
    const std::string name = policy.substr(0, policy.find(':'));
    for (ColumnFamilyHandle* family : families) {
      if (HasOnlyFiltersOf(name, *db, *family)) continue;
      std::cerr << "a table has no filter of " << policy << '\n';
      return 1;
    }
    std::cout << "all tables have filters of " << policy << '\n';
  }
  return 0;
}
