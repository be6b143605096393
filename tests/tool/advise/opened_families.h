// A database that is open with several column families.
#pragma once

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <string>
#include <vector>

#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom::testing {

struct Families {
  Families() = default;
  Families(Families&&) = default;
  Database db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  ~Families() {
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
  }
};

inline Families OpenFamilies(const rocksdb::DBOptions& options, const std::string& path,
                             const std::vector<rocksdb::ColumnFamilyDescriptor>& descriptors) {
  Families families;
  EXPECT_TRUE(
      rocksdb::DB::Open(options, path, descriptors, &families.handles, Receive(&families.db)).ok());
  return families;
}

}  // namespace exactbloom::testing
