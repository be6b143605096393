// Switches an existing database from RocksDB's Bloom filter to ExactBloom and back, and prints the
// counters. No table is rewritten for that, and every answer is correct at all times.
//
//   example_switch_over DIRECTORY      a directory for the database; it is created
#include <exactbloom/filter_policy.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>

#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>

namespace {

constexpr int kKeys = 20000;

void Require(bool holds, const std::string& what) {
  if (holds) return;
  std::cerr << "switch_over: " << what << '\n';
  std::exit(1);
}

void Require(const rocksdb::Status& status) { Require(status.ok(), status.ToString()); }

std::string Key(int number) { return "user" + std::to_string(number); }

// The same database with another policy: only the options differ.
std::unique_ptr<rocksdb::DB> Open(const std::string& path, const rocksdb::FilterPolicy* policy) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(policy);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions =
      true;  // so that this program decides when tables are rewritten
  options.statistics = rocksdb::CreateDBStatistics();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  rocksdb::DB* opened = nullptr;
  Require(rocksdb::DB::Open(options, path, &opened));
  return std::unique_ptr<rocksdb::DB>(opened);
}

void WriteTable(rocksdb::DB& db) {
  for (int i = 0; i < kKeys; ++i) Require(db.Put({}, Key(i), "a value"));
  Require(db.Flush({}));
}

// Looks up every key, and as many that do not exist; prints and returns the share of filter checks
// that saved a read of a table.
double Watch(rocksdb::DB& db, const std::string& when) {
  std::string value;
  for (int i = 0; i < kKeys; ++i) Require(db.Get({}, Key(i), &value));
  rocksdb::Statistics& counters = *db.GetDBOptions().statistics;
  Require(counters.Reset());
  for (int i = 0; i < kKeys; ++i) {
    Require(db.Get({}, Key(i) + "?", &value).IsNotFound(), "an absent key was found");
  }
  const auto stopped = counters.getTickerCount(rocksdb::BLOOM_FILTER_USEFUL);
  const auto let_through = counters.getTickerCount(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
  const double share = static_cast<double>(stopped) / static_cast<double>(stopped + let_through);
  std::cout << std::left << std::setw(60) << when << std::right << std::setw(7) << stopped
            << std::setw(7) << let_through << std::setw(8) << std::fixed << std::setprecision(2)
            << 100 * share << "%\n";
  return share;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: example_switch_over DIRECTORY\n";
    return 2;
  }
  const std::string path = argv[1];
  std::cout << "Filter checks for " << kKeys << " absent keys" << std::setw(57)
            << "stopped  passed  share\n";

  auto db = Open(path, rocksdb::NewBloomFilterPolicy(10));
  WriteTable(*db);
  const double built_in = Watch(*db, "bloomfilter:10 wrote a table");

  db.reset();
  db = Open(path, exactbloom::NewClassicBloomFilterPolicy(10));
  const double old_table = Watch(*db, "classic_bloom:10 reads that table: it still filters");
  WriteTable(*db);
  const double both = Watch(*db, "classic_bloom:10 wrote a second one: both filter");
  Require(db->CompactRange({}, nullptr, nullptr));
  const double ours = Watch(*db, "compaction made one table of them: fewer pass");

  db.reset();
  db = Open(path, rocksdb::NewBloomFilterPolicy(10));
  const double back = Watch(*db, "bloomfilter:10 again: correct answers, but no filtering");
  rocksdb::CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  Require(db->CompactRange(rewrite, nullptr, nullptr));
  const double rewritten = Watch(*db, "compaction rewrote the table: it filters");

  Require(built_in > 0.98 && old_table == built_in && both > 0.98 && rewritten > 0.98,
          "a filter did not filter");
  Require(ours > built_in, "classic_bloom:10 let through more than bloomfilter:10");
  Require(back == 0, "the built-in policy took our block for one of its own");
  return 0;
}
