// Opens a database with the options that it was last opened with, and all its column families.
#pragma once

#include <rocksdb/db.h>

#include <memory>
#include <string>
#include <vector>

namespace exactbloom::tool {

class OpenDatabase {
 public:
  // Opens the database in a directory, for writing unless `read_only`.
  //   policy  a filter policy as option strings name it, which replaces that of every column
  //           family; the one of the options if empty
  // Throws support::InputError where there is no database, another process has it open, this
  // program does not know all that the options name, or the policy is not understood.
  OpenDatabase(const std::string& directory, const std::string& policy, bool read_only);
  ~OpenDatabase();
  OpenDatabase(const OpenDatabase&) = delete;
  OpenDatabase& operator=(const OpenDatabase&) = delete;

  rocksdb::DB& db() { return *db_; }
  const std::vector<rocksdb::ColumnFamilyHandle*>& families() const { return families_; }

 private:
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

}  // namespace exactbloom::tool
