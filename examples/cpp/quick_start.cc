// A database with ExactBloom's filters, in C++. `./run_cmake` and `./run_pkg_config` compile and
// run it.
#include <exactbloom/filter_policy.h>
#include <exactbloom/tree_listener.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/table.h>

rocksdb::Status AddFilters(rocksdb::Options& options, const std::string& policy) {
  exactbloom::RegisterFilterPolicies();
  rocksdb::BlockBasedTableOptions tables;
  rocksdb::Status status =
      rocksdb::FilterPolicy::CreateFromString({}, policy, &tables.filter_policy);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(tables));
  options.listeners.push_back(exactbloom::NewTreeListener());  // size_ratio=auto follows the tree
  return status;
}

// ---- What follows shows by RocksDB's counters that it works. ----

#include <rocksdb/statistics.h>

#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

std::string Key(int number) {
  std::ostringstream key;
  key << std::setw(8) << std::setfill('0') << number;
  return key.str();
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  rocksdb::Options options;
  rocksdb::Status status =
      AddFilters(options, "{id=classic_bloom;bits_per_key=10;size_ratio=auto;bottommost=ribbon}");
  options.create_if_missing = true;
  options.statistics = rocksdb::CreateDBStatistics();
  rocksdb::DB* opened = nullptr;  // from RocksDB 11.0 on a std::unique_ptr<rocksdb::DB>
  if (status.ok()) status = rocksdb::DB::Open(options, argv[1], &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  for (int i = 0; status.ok() && i < 20000; i += 2) status = db->Put({}, Key(i), "value");
  if (status.ok()) status = db->Flush({});
  if (!status.ok()) {
    std::cerr << "quick_start: " << status.ToString() << '\n';
    return 2;
  }
  int found = 0;
  std::string value;
  for (int i = 0; i < 20000; ++i)
    found += db->Get({}, Key(i), &value).ok();  // every other is absent
  std::cout << "found " << found << "; absent keys that a filter stopped: "
            << options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_USEFUL) << '\n';
  return 0;
}
