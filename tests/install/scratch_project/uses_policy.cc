#include <exactbloom/filter_policy.h>
#include <rocksdb/db.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <iostream>
#include <memory>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(exactbloom::NewClassicBloomFilterPolicy(10));
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  std::unique_ptr<rocksdb::DB> db;
#if ROCKSDB_MAJOR >= 11
  const rocksdb::Status status = rocksdb::DB::Open(options, argv[1], &db);
#else
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options, argv[1], &opened);
  db.reset(opened);
#endif
  std::cout << table_options.filter_policy->GetId() << ": " << status.ToString() << '\n';
  std::string value;
  const bool right = status.ok() && db->Put({}, "key", "value").ok() && db->Flush({}).ok() &&
                     db->Get({}, "key", &value).ok();
  return right ? 0 : 1;
}
