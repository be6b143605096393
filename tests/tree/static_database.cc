// A database in a static object, whose destructor writes tables by the main thread. At that time
// the thread's own objects are destroyed.
//   static_database    in the current directory
// Compiled without POLICY it knows nothing of ExactBloom.
#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/table_properties.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#ifdef POLICY
#include "exactbloom/filter_policy.h"
#endif
#include "plugin/rocksdb_compat.h"

namespace {

void Check(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "static_database: %s\n", status.ToString().c_str());
  std::_Exit(1);
}

class Store {
 public:
  Store() {
    Open();
    Compact();
  }
  ~Store() {
    Compact();
    Open();  // recovers what Compact() left in the log
    Print();
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

 private:
  void Open() {
    db_.reset();
    rocksdb::Options options;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.avoid_flush_during_shutdown = true;
#ifdef POLICY
    Check(exactbloom::SetFilterPolicy(&options, POLICY));
#endif
    Check(rocksdb::DB::Open(options, "database", exactbloom::Receive(&db_)));
  }

  void Write() {
    for (int i = 0; i < 1000; ++i) Check(db_->Put({}, "key" + std::to_string(i), "value"));
  }

  // Compacts several tables in this thread, and leaves more keys in the memtable.
  void Compact() {
    for (int i = 0; i < 3; ++i) {
      Write();
      Check(db_->Flush({}));
    }
    rocksdb::ColumnFamilyMetaData family;
    db_->GetColumnFamilyMetaData(&family);
    std::vector<std::string> files;
    for (const auto& level : family.levels) {
      for (const auto& file : level.files) files.push_back(file.name);
    }
    Check(db_->CompactFiles({}, files, 1));
    Write();
  }

  void Print() {
    rocksdb::TablePropertiesCollection tables;
    Check(db_->GetPropertiesOfAllTables(&tables));
    for (const auto& [path, properties] : tables) {
      std::printf("%s\n", properties->filter_size > 1000 ? "a filter" : "none");
    }
  }

  std::unique_ptr<rocksdb::DB> db_;
};

Store store;

}  // namespace

int main() {}
