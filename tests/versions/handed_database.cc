// One step of two builds that use a database in turns (back_and_forth.py):
//
//   handed_database write   DIRECTORY POLICY TABLE_OPTIONS BATCH
//   handed_database check   DIRECTORY POLICY TABLE_OPTIONS BATCHES
//   handed_database rebuild DIRECTORY POLICY TABLE_OPTIONS
//   handed_database options DIRECTORY POLICY
//   handed_database version
//
// POLICY is exactbloom, lines (lines=1), stock (RocksDB's Bloom filter), or none. TABLE_OPTIONS are
// in RocksDB's text form. Prints its findings as JSON. Exit status: 0, or 1 with the message of
// RocksDB's error.
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>
#include <rocksdb/version.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/rebuild_filters.h"
#include "exactbloom/table_filters.h"
#include "plugin/rocksdb_compat.h"

namespace exactbloom {
namespace {

using nlohmann::json;
using rocksdb::Status;

constexpr int kKeysOfBatch = 2000;
constexpr int kLogged = 4;       // one in so many keys stays in the log for the next opening
constexpr int kDistance = 1000;  // between the keys of a batch

void Require(const Status& status) {
  if (status.ok()) return;
  std::cerr << status.ToString() << '\n';
  std::exit(1);
}

// The keys of each batch are spread over the whole range, so absent keys lie in the ranges of all
// tables.
std::string KeyOf(int batch, int number, bool absent = false) {
  return std::to_string(100'000'000 + number * kDistance + 2 * batch + (absent ? 1 : 0));
}

std::string ValueOf(int batch, int number) {
  return "value " + std::to_string(batch) + " " + std::to_string(number);
}

const rocksdb::FilterPolicy* NewPolicy(const std::string& name) {
  constexpr double kBitsPerKey = 10.0;
  if (name == "none") return nullptr;
  if (name == "stock") return rocksdb::NewBloomFilterPolicy(kBitsPerKey);
  BloomFilterPolicyOptions options;
  options.bits_per_key = kBitsPerKey;
  options.lines = name == "lines" ? 1 : 0;
  return NewClassicBloomFilterPolicy(options);
}

rocksdb::Options OptionsWith(const std::string& policy, const std::string& table_text) {
  constexpr int kManyTables = 1000;
  rocksdb::BlockBasedTableOptions table_options;
  Require(rocksdb::GetBlockBasedTableOptionsFromString(rocksdb::ConfigOptions(), {}, table_text,
                                                       &table_options));
  table_options.filter_policy.reset(NewPolicy(policy));
  rocksdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.level0_slowdown_writes_trigger = kManyTables;
  options.level0_stop_writes_trigger = kManyTables;
  options.statistics = rocksdb::CreateDBStatistics();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  return options;
}

void WriteBatch(rocksdb::DB& db, int batch) {
  for (const bool logged : {false, true}) {
    for (int i = 0; i < kKeysOfBatch; ++i) {
      if ((i % kLogged == 0) == logged) {
        Require(db.Put({}, KeyOf(batch, i), ValueOf(batch, i)));
      }
    }
    if (!logged) Require(db.Flush({}));
  }
}

// Asks for all keys of the batches, and for absent ones.
json Check(rocksdb::DB& db, int batches) {
  int wrong = 0;
  int found_absent = 0;
  std::string value;
  for (int batch = 0; batch < batches; ++batch) {
    for (int i = 0; i < kKeysOfBatch; ++i) {
      const Status status = db.Get({}, KeyOf(batch, i), &value);
      if (!status.IsNotFound()) Require(status);
      if (!status.ok() || value != ValueOf(batch, i)) ++wrong;
    }
  }
  rocksdb::Statistics& counters = *db.GetDBOptions().statistics;
  const auto count = [&counters](rocksdb::Tickers ticker) {
    return counters.getTickerCount(ticker);
  };
  const std::uint64_t true_positives = count(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  Require(counters.Reset());
  // The least and the largest keys are not in the ranges of all tables.
  int absent = 0;
  for (int i = kLogged; i < kKeysOfBatch - kLogged; ++i, ++absent) {
    const Status status = db.Get({}, KeyOf(batches / 2, i, true), &value);
    if (!status.IsNotFound()) Require(status);
    if (status.ok()) ++found_absent;
  }
  std::uint64_t scanned = 0;
  const std::unique_ptr<rocksdb::Iterator> all(db.NewIterator({}));
  for (all->SeekToFirst(); all->Valid(); all->Next()) ++scanned;
  Require(all->status());
  return {{"wrong", wrong},
          {"found_absent", found_absent},
          {"scanned", scanned},
          {"absent", absent},
          {"true_positives", true_positives},
          {"useful", count(rocksdb::BLOOM_FILTER_USEFUL)},
          {"passed", count(rocksdb::BLOOM_FILTER_FULL_POSITIVE)}};
}

json Tables(rocksdb::DB& db) {
  std::map<std::string, int> families;
  for (const TableFilter& table : ListTableFilters(db)) {
    Require(table.status);
    std::string name = NameOf(table.family);
    if (table.family == FilterFamily::kExactBloom && table.layout.Lines() != 0) name = "lines";
    ++families[name];
  }
  return families;
}

// Opens the database with its OPTIONS file, which the other build may have written.
json ReopenWithOptionsFile(const std::string& path) {
  json result;
  for (const bool lenient : {false, true}) {
    rocksdb::ConfigOptions config;
    config.ignore_unknown_options = lenient;
    rocksdb::DBOptions db_options;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    Status status = rocksdb::LoadLatestOptions(config, path, &db_options, &families);
    bool filters = false;
    if (status.ok()) {
      const auto* table =
          families.at(0).options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
      filters = table != nullptr && table->filter_policy != nullptr;
      std::unique_ptr<rocksdb::DB> db;
      std::vector<rocksdb::ColumnFamilyHandle*> handles;
      status = rocksdb::DB::OpenForReadOnly(db_options, path, families, &handles, Receive(&db));
      for (rocksdb::ColumnFamilyHandle* handle : handles) {
        Require(db->DestroyColumnFamilyHandle(handle));
      }
    }
    result[lenient ? "lenient" : "strict"] = {{"status", status.ToString()}, {"filters", filters}};
  }
  return result;
}

json TakeTurn(const std::vector<std::string>& arguments) {
  const std::string& action = arguments.at(0);
  const std::string& path = arguments.at(1);
  const std::string& policy = arguments.at(2);
  if (action == "options") {
    if (policy == "exactbloom") RegisterFilterPolicies();
    return ReopenWithOptionsFile(path);
  }
  json result;
  std::unique_ptr<rocksdb::DB> db;
  Require(rocksdb::DB::Open(OptionsWith(policy, arguments.at(3)), path, Receive(&db)));
  if (action == "write") {
    WriteBatch(*db, std::stoi(arguments.at(4)));
  } else if (action == "check") {
    result = Check(*db, std::stoi(arguments.at(4)));
  } else {
    RebuildResult rebuilt;
    Require(RebuildFilters(*db, {}, &rebuilt));
    result["remaining"] = rebuilt.remaining_tables;
  }
  result["tables"] = Tables(*db);
  return result;
}

}  // namespace
}  // namespace exactbloom

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    nlohmann::json result;
    if (arguments.at(0) != "version") result = exactbloom::TakeTurn(arguments);
    result["rocksdb"] = rocksdb::GetRocksVersionAsString();
    std::cout << result.dump() << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "handed_database: " << error.what() << '\n';
    return 2;
  }
}
