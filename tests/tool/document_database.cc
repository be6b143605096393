#include "document_database.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <cstdint>
#include <vector>

#include "sample_database.h"

namespace exactbloom {
namespace {

Database OpenWith(const PolicyPointer& policy, const std::string& directory) {
  rocksdb::Options options = OptionsWith(policy);
  options.compression = rocksdb::kNoCompression;
  options.db_host_id = "host";  // it is written into tables, which are as long as its name is
  return Open(options, directory);
}

void MoveTo(int level, rocksdb::DB& db) {
  rocksdb::CompactionOptions options;
  options.compression = rocksdb::kNoCompression;
  std::vector<rocksdb::LiveFileMetaData> tables;
  db.GetLiveFilesMetaData(&tables);
  for (const auto& table : tables) {
    if (table.level != 0) continue;
    ASSERT_TRUE(db.CompactFiles(options, {table.relative_filename}, level).ok());
  }
}

}  // namespace

void MakeDocumentDatabase(const std::string& directory) {
  const std::string value(100, 'v');
  {
    Database db = OpenWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)), directory);
    PutAndFlush(*db, 8000, value);
    MoveTo(2, *db);
  }
  {
    Database db = OpenWith(nullptr, directory);
    PutAndFlush(*db, 2000, value, 3000);
    MoveTo(1, *db);
  }
  Database db = OpenWith(NewPolicy(FilterKind::kClassic), directory);
  PutAndFlush(*db, 1000, value, 1000);
  PutAndFlush(*db, 1000, value, 1700);
}

}  // namespace exactbloom
