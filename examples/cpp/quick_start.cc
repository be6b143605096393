#include <exactbloom/filter_policy.h>
#include <rocksdb/db.h>

#include <iostream>

int main() {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::Status status = exactbloom::SetFilterPolicy(&options, "exactbloom:10");
  rocksdb::DB* db = nullptr;
  if (status.ok()) status = rocksdb::DB::Open(options, "db", &db);
  if (status.ok()) status = db->Put({}, "key", "value");
  if (status.ok()) status = db->Flush({});
  std::cout << status.ToString() << '\n';
  delete db;
  return status.ok() ? 0 : 1;
}
