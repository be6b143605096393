// Opens databases in all ways that write, and prints which filter policy each column family has.
//   opened_databases DIRECTORY
// It knows nothing of ExactBloom.
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/db_ttl.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction_db.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "plugin/rocksdb_compat.h"

namespace {

using rocksdb::BlockBasedTableOptions;
using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyHandle;
using rocksdb::ColumnFamilyOptions;
using rocksdb::DB;
using rocksdb::Options;
using rocksdb::Status;
using Handles = std::vector<ColumnFamilyHandle*>;

void Check(const Status& status) {
  if (status.ok()) return;
  std::cerr << "opened_databases: " << status.ToString() << '\n';
  std::exit(3);
}

// Takes letters of either case for the same key, so a filter of the bytes would lose keys.
class IgnoringCase : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "IgnoringCase"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    return Lower(a).compare(Lower(b));
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  static std::string Lower(const rocksdb::Slice& key) {
    std::string text = key.ToString();
    for (char& letter : text)
      letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return text;
  }
};

// The program's own kind of filter.
class OwnPolicy : public rocksdb::FilterPolicy {
 public:
  const char* Name() const override { return "OwnPolicy"; }
  const char* CompatibilityName() const override { return "OwnPolicy"; }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext&) const override {
    return nullptr;
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice&) const override {
    return nullptr;
  }
};

ColumnFamilyOptions WithPolicy(const rocksdb::FilterPolicy* policy) {
  BlockBasedTableOptions tables;
  tables.filter_policy.reset(policy);
  ColumnFamilyOptions options;
  options.table_factory.reset(NewBlockBasedTableFactory(tables));
  return options;
}

std::string PolicyOf(DB& db, ColumnFamilyHandle* family) {
  const auto factory = db.GetOptions(family).table_factory;
  const auto* tables = factory->GetOptions<BlockBasedTableOptions>();
  if (tables == nullptr) return "no block-based tables";
  return tables->filter_policy == nullptr ? "none" : tables->filter_policy->GetId();
}

void ShowAndClose(const std::string& how, DB* db, const Handles& handles) {
  const std::unique_ptr<DB> owner(db);
  std::cout << how << " default: " << PolicyOf(*db, db->DefaultColumnFamily()) << '\n';
  for (ColumnFamilyHandle* handle : handles) {
    if (handle->GetName() != rocksdb::kDefaultColumnFamilyName) {
      std::cout << how << ' ' << handle->GetName() << ": " << PolicyOf(*db, handle) << '\n';
    }
    Check(db->DestroyColumnFamilyHandle(handle));
  }
}

Options Creating() {
  Options options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  return options;
}

void CreateFamilies(const std::string& path) {
  std::unique_ptr<DB> db;
  Check(DB::Open(Creating(), path, exactbloom::Receive(&db)));
  static const IgnoringCase ignoring_case;
  ColumnFamilyOptions compared;
  compared.comparator = &ignoring_case;
  ColumnFamilyOptions plain;
  plain.table_factory.reset(rocksdb::NewPlainTableFactory());
  plain.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(2));
  Handles all(4);
  Check(db->CreateColumnFamily({}, "one", &all[0]));
  Check(db->CreateColumnFamily(WithPolicy(rocksdb::NewBloomFilterPolicy(8)), "bloom", &all[1]));
  Check(db->CreateColumnFamily(WithPolicy(new OwnPolicy), "own", &all[2]));
  Check(db->CreateColumnFamily(compared, "compared", &all[3]));
  Handles some;
  Check(db->CreateColumnFamilies(ColumnFamilyOptions(), {"two", "three"}, &some));
  all.insert(all.end(), some.begin(), some.end());
  Check(db->CreateColumnFamilies(
      {{"ribbon", WithPolicy(rocksdb::NewRibbonFilterPolicy(9))}, {"plain", plain}}, &some));
  all.insert(all.end(), some.begin(), some.end());
  ShowAndClose("created", db.release(), all);
}

// Writes a table without a database, and shows whether it has a filter.
void WriteFile(const std::string& how, const Options& options,
               const rocksdb::Comparator* comparator, const std::string& path) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options, comparator);
  Check(writer.Open(path));
  Check(writer.Put("key", "value"));
  Check(writer.Finish());
  Options reading = options;
  reading.comparator = comparator;
  rocksdb::SstFileReader reader(reading);
  Check(reader.Open(path));
  const auto properties = reader.GetTableProperties();
  std::cout << how << " file: " << (properties->filter_size == 0 ? "none" : "a filter") << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string directory = argv[1];
  const Options options = Creating();
  const std::vector<ColumnFamilyDescriptor> families = {{"default", {}},
                                                        {"other", ColumnFamilyOptions()}};
  Handles handles;
  std::unique_ptr<DB> db;
  Check(DB::Open(options, directory + "/open", exactbloom::Receive(&db)));
  ShowAndClose("open", db.release(), {});
  Check(DB::Open(options, directory + "/families", families, &handles, exactbloom::Receive(&db)));
  ShowAndClose("families", db.release(), handles);
  rocksdb::TransactionDB* locking = nullptr;
  Check(rocksdb::TransactionDB::Open(options, {}, directory + "/transactions", &locking));
  ShowAndClose("transactions", locking, {});
  Check(rocksdb::TransactionDB::Open(options, {}, directory + "/transaction_families", families,
                                     &handles, &locking));
  ShowAndClose("transaction_families", locking, handles);
  rocksdb::OptimisticTransactionDB* optimistic = nullptr;
  Check(rocksdb::OptimisticTransactionDB::Open(options, directory + "/optimistic", &optimistic));
  ShowAndClose("optimistic", optimistic, {});
  rocksdb::DBWithTTL* expiring = nullptr;
  Check(rocksdb::DBWithTTL::Open(options, directory + "/ttl", &expiring, 1000));
  ShowAndClose("ttl", expiring, {});
  CreateFamilies(directory + "/created");
  static const IgnoringCase ignoring_case;
  WriteFile("written", {}, rocksdb::BytewiseComparator(), directory + "/written.sst");
  WriteFile("compared", {}, &ignoring_case, directory + "/compared.sst");
  return 0;
}
