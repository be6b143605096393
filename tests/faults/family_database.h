// A database of ten column families. Consecutive keys are in different ones.
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom::faults {

class FamilyDatabase {
 public:
  static constexpr std::uint64_t kFamilies = 10;

  FamilyDatabase() = default;
  ~FamilyDatabase() { Close(); }
  FamilyDatabase(const FamilyDatabase&) = delete;
  FamilyDatabase& operator=(const FamilyDatabase&) = delete;

  // Creates what is missing. The families take turns with the options; the database has the first.
  rocksdb::Status Open(const std::vector<rocksdb::Options>& options, const std::string& path) {
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (std::uint64_t i = 0; i < kFamilies; ++i) {
      families.emplace_back(i == 0 ? rocksdb::kDefaultColumnFamilyName : std::to_string(i),
                            options[i % options.size()]);
    }
    rocksdb::DBOptions of_all(options.front());
    of_all.create_missing_column_families = true;
    return rocksdb::DB::Open(of_all, path, families, &handles_, Receive(&db_));
  }

  void Close() {
    if (db_ == nullptr) return;
    for (auto* handle : handles_) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    handles_.clear();
    db_.reset();
  }

  bool IsOpen() const { return db_ != nullptr; }
  rocksdb::DB* operator->() const { return db_.get(); }
  rocksdb::DB& operator*() const { return *db_; }

  const std::vector<rocksdb::ColumnFamilyHandle*>& handles() const { return handles_; }
  // The family of KeyOf(number). The absent keys are in those of their neighbours.
  rocksdb::ColumnFamilyHandle* HandleOf(std::uint64_t number) const {
    return handles_[number / 2 % kFamilies];
  }

 private:
  Database db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

}  // namespace exactbloom::faults
