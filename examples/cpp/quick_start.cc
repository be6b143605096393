// A database with ExactBloom's filters, in C++. `./run_cmake` and `./run_pkg_config` compile and
// run it.
#include <exactbloom/filter_policy.h>
#include <rocksdb/db.h>

rocksdb::Status AddFilters(rocksdb::Options& options) {
  return exactbloom::SetFilterPolicy(&options, "exactbloom:10");
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
  rocksdb::Status status = AddFilters(options);
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
