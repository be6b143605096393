// Switches an existing database from RocksDB's Bloom filter to ExactBloom and back, rewrites its
// tables one by one each time, and shows what absent keys cost meanwhile. No answer is ever wrong.
//
//   example_switch_over DIRECTORY      a directory for the database; it is created
#include <exactbloom/filter_policy.h>
#include <exactbloom/rebuild_filters.h>
#include <exactbloom/table_filters.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "open_database.h"

namespace {

constexpr int kTables = 4;
constexpr int kKeysOfTable = 10000;

void Expect(bool holds, const std::string& what) {
  if (holds) return;
  std::cerr << "switch_over: " << what << '\n';
  std::exit(1);
}

// The same database with another policy: only the options differ.
std::unique_ptr<rocksdb::DB> Open(const std::string& path, const rocksdb::FilterPolicy* policy) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(policy);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;  // a compaction would do the work of this program
  options.statistics = rocksdb::CreateDBStatistics();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  std::unique_ptr<rocksdb::DB> db;
  Require(OpenDatabase(options, path, &db));
  return db;
}

std::string Key(int table, int number) {
  return std::to_string(table) + " user" + std::to_string(number);
}

void WriteTables(rocksdb::DB& db) {
  for (int table = 0; table < kTables; ++table) {
    for (int i = 0; i < kKeysOfTable; ++i) Require(db.Put({}, Key(table, i), "a value"));
    Require(db.Flush({}));
  }
}

// Looks every key up, and as many that do not exist. Prints which filters the tables carry, and
// returns the blocks of data that were read per thousand lookups of absent keys.
double Watch(rocksdb::DB& db, const std::string& when) {
  rocksdb::Statistics& counters = *db.GetDBOptions().statistics;
  std::string value;
  double blocks = 0.0;
  for (int table = 0; table < kTables; ++table) {
    for (int i = 0; i < kKeysOfTable; ++i) Require(db.Get({}, Key(table, i), &value));
    Require(counters.Reset());
    for (int i = 0; i < kKeysOfTable; ++i) {
      Expect(db.Get({}, Key(table, i) + "?", &value).IsNotFound(), "an absent key was found");
    }
    blocks += static_cast<double>(counters.getTickerCount(rocksdb::BLOCK_CACHE_DATA_HIT) +
                                  counters.getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS));
  }
  std::map<std::string, int> families;
  for (const exactbloom::TableFilter& table : exactbloom::ListTableFilters(db)) {
    Require(table.status);
    families[exactbloom::NameOf(table.family)] += 1;
  }
  const double wasted = 1000.0 * blocks / (kTables * kKeysOfTable);
  std::cout << std::left << std::setw(44) << when << std::right << std::setw(6) << std::fixed
            << std::setprecision(1) << wasted << "   ";
  for (const auto& [family, count] : families) std::cout << ' ' << count << ' ' << family;
  std::cout << '\n';
  return wasted;
}

// Gives every table the filter of the policy that the database is open with.
double RewriteOneByOne(rocksdb::DB& db) {
  exactbloom::RebuildOptions options;
  options.max_tables = 1;                // a portion; the next call goes on where this one stops
  options.bytes_per_second = 100 << 20;  // of table files
  exactbloom::RebuildResult result;
  double wasted = 0.0;
  do {
    Require(exactbloom::RebuildFilters(db, options, &result));
    wasted = Watch(db, "  one more table rewritten");
  } while (result.remaining_tables > 0);
  return wasted;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: example_switch_over DIRECTORY\n";
    return 2;
  }
  const std::string path = argv[1];
  std::cout << "Data blocks read per 1,000 absent keys, and the tables' filters\n";
  auto db = Open(path, rocksdb::NewBloomFilterPolicy(10));
  WriteTables(*db);
  const double built_in = Watch(*db, "bloomfilter:10");

  db.reset();
  db = Open(path, exactbloom::NewClassicBloomFilterPolicy(10));
  const double switched = Watch(*db, "classic_bloom:10, nothing rewritten");
  const double ours = RewriteOneByOne(*db);

  db.reset();
  db = Open(path, rocksdb::NewBloomFilterPolicy(10));
  const double back = Watch(*db, "bloomfilter:10 again, nothing rewritten");
  const double rewritten = RewriteOneByOne(*db);

  Expect(built_in < 20 && switched == built_in && rewritten < 20, "a filter did not filter");
  Expect(ours < built_in, "classic_bloom:10 let more through than bloomfilter:10");
  Expect(back > 999, "the built-in policy took a block of ExactBloom for one of its own");
  return 0;
}
