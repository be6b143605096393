// Switches a database to ExactBloom and rewrites, in portions, the tables that lack its filters,
// and prints the cost of lookups of absent keys meanwhile.
//
//   example_rebuild_filters DIRECTORY      a directory for the database; it is created
#include <exactbloom/filter_policy.h>
#include <exactbloom/rebuild_filters.h>
#include <exactbloom/table_filters.h>
#include <rocksdb/db.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <string>

namespace {

constexpr int kTables = 4;
constexpr int kKeysOfTable = 10000;

void Require(bool holds, const std::string& what) {
  if (holds) return;
  std::cerr << "rebuild_filters: " << what << '\n';
  std::exit(1);
}

void Require(const rocksdb::Status& status) { Require(status.ok(), status.ToString()); }

std::unique_ptr<rocksdb::DB> Open(const std::string& path, const rocksdb::FilterPolicy* policy) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(policy);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;  // a compaction would do the work of this program
  options.statistics = rocksdb::CreateDBStatistics();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  rocksdb::DB* opened = nullptr;
  Require(rocksdb::DB::Open(options, path, &opened));
  return std::unique_ptr<rocksdb::DB>(opened);
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

// The data blocks that lookups of absent keys read, per thousand lookups.
double WastedReads(rocksdb::DB& db) {
  rocksdb::Statistics& counters = *db.GetDBOptions().statistics;
  Require(counters.Reset());
  std::string value;
  for (int table = 0; table < kTables; ++table) {
    for (int i = 0; i < kKeysOfTable; ++i) {
      Require(db.Get({}, Key(table, i) + "?", &value).IsNotFound(), "an absent key was found");
    }
  }
  const auto blocks = counters.getTickerCount(rocksdb::BLOCK_CACHE_DATA_HIT) +
                      counters.getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS);
  return 1000.0 * static_cast<double>(blocks) / (kTables * kKeysOfTable);
}

// Prints which filters the tables carry, and the cost of absent keys with them.
double Watch(rocksdb::DB& db, const std::string& when) {
  std::map<std::string, int> families;
  for (const exactbloom::TableFilter& table : exactbloom::ListTableFilters(db)) {
    Require(table.status);
    families[exactbloom::NameOf(table.family)] += 1;
  }
  const double wasted = WastedReads(db);
  std::cout << std::left << std::setw(34) << when << std::right << std::setw(8) << std::fixed
            << std::setprecision(1) << wasted << "   ";
  for (const auto& [family, count] : families) std::cout << ' ' << count << ' ' << family;
  std::cout << '\n';
  return wasted;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: example_rebuild_filters DIRECTORY\n";
    return 2;
  }
  const std::string path = argv[1];
  std::cout << "Data blocks read per 1,000 absent keys, and the tables' filters\n";
  auto db = Open(path, nullptr);
  WriteTables(*db);
  const double without = Watch(*db, "no filter policy");

  db.reset();
  db = Open(path, exactbloom::NewClassicBloomFilterPolicy(10));
  const double switched = Watch(*db, "classic_bloom:10, nothing rewritten");

  exactbloom::RebuildOptions options;
  options.max_tables = 1;                // one portion; the next call continues
  options.bytes_per_second = 100 << 20;  // of table files
  exactbloom::RebuildResult result;
  double wasted = switched;
  do {
    Require(exactbloom::RebuildFilters(*db, options, &result));
    const double now = Watch(*db, "one more table rewritten");
    Require(now < wasted, "a rewritten table does not filter");
    wasted = now;
  } while (result.remaining_tables > 0);

  Require(without > 999 && switched > 999, "tables without filter were not read");
  Require(wasted < 20, "the filters let too much through");
  return 0;
}
