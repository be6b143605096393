// The tables that the MANIFEST names, compared with those that the open database knows.
#include "tool/database/database_files.h"

#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/db.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tuple>

#include "sample_database.h"
#include "support/errors.h"

namespace exactbloom::tool {
namespace {

// Column family, level, comparator, and the smallest and the largest key.
using Place = std::tuple<std::string, int, std::string, std::string, std::string>;
using Places = std::map<std::uint64_t, Place>;  // by number

Places PlacesIn(const std::string& directory) {
  Places places;
  for (const TableLocation& table : ListTables({directory}).tables) {
    places[table.number] = {table.column_family, table.level, table.comparator, table.smallest,
                            table.largest};
    EXPECT_TRUE(std::filesystem::exists(table.path)) << table.path;
  }
  return places;
}

Places PlacesOf(rocksdb::DB& db) {
  Places places;
  std::vector<rocksdb::LiveFileMetaData> tables;
  db.GetLiveFilesMetaData(&tables);
  for (const auto& table : tables) {
    places[table.file_number] = {table.column_family_name, table.level,
                                 rocksdb::BytewiseComparator()->Name(), table.smallestkey,
                                 table.largestkey};
  }
  return places;
}

std::filesystem::path ManifestIn(const std::string& directory) {
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    if (file.path().filename().string().rfind("MANIFEST", 0) == 0) return file.path();
  }
  return "";
}

// A crash may leave a MANIFEST that ends anywhere in the edits of an atomic flush.
TEST(ListTables, TakesAnAtomicFlushWholeOrNotAtAll) {
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  options.atomic_flush = true;
  const Database db = Open(options, directory.path("db"));
  rocksdb::ColumnFamilyHandle* more = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(options, "more", &more).ok());
  const std::filesystem::path manifest = ManifestIn(directory.path("db"));
  const std::uintmax_t before = std::filesystem::file_size(manifest);
  for (rocksdb::ColumnFamilyHandle* family : {db->DefaultColumnFamily(), more}) {
    ASSERT_TRUE(db->Put({}, family, KeyOf(0), "value").ok());
  }
  ASSERT_TRUE(db->Flush({}, {db->DefaultColumnFamily(), more}).ok());
  const std::uintmax_t after = std::filesystem::file_size(manifest);
  ASSERT_GT(after, before);
  std::filesystem::copy_file(manifest, directory.path("copy"));
  for (std::uintmax_t bytes = before; bytes <= after; ++bytes) {
    std::filesystem::resize_file(manifest, bytes);
    const std::size_t tables = ListTables({directory.path("db")}).tables.size();
    EXPECT_TRUE(tables == 2 || (tables == 0 && bytes != after)) << tables << " " << bytes;
    std::filesystem::copy_file(directory.path("copy"), manifest,
                               std::filesystem::copy_options::overwrite_existing);
  }
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(more).ok());
}

TEST(ListTables, FollowsAnOpenDatabase) {
  const TemporaryDirectory directory;
  const rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  Database db = Open(options, directory.path());
  EXPECT_EQ(PlacesIn(directory.path()), Places());
  rocksdb::ColumnFamilyHandle* more = nullptr;
  rocksdb::ColumnFamilyHandle* dropped = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(options, "more", &more).ok());
  ASSERT_TRUE(db->CreateColumnFamily(options, "dropped", &dropped).ok());
  for (std::uint64_t table = 0; table < 4; ++table) {
    PutAndFlush(*db, 10, "value", 10 * table);
    PutAndFlush(*db, 10, "value", 10 * table, more);
    PutAndFlush(*db, 10, "value", 10 * table, dropped);
  }
  EXPECT_EQ(PlacesIn(directory.path()).size(), 12U);
  EXPECT_EQ(PlacesIn(directory.path()), PlacesOf(*db));

  rocksdb::CompactRangeOptions deeper;
  deeper.change_level = true;
  deeper.target_level = 3;
  ASSERT_TRUE(db->CompactRange(deeper, nullptr, nullptr).ok());
  EXPECT_EQ(PlacesIn(directory.path()), PlacesOf(*db));  // the same tables, in another level
  PutAndFlush(*db, 40, "other value");
  ASSERT_TRUE(ForceCompaction(*db).ok());
  PutAndFlush(*db, 10, "value", 100);
  ASSERT_TRUE(db->DropColumnFamily(dropped).ok());
  EXPECT_EQ(PlacesIn(directory.path()).size(), 6U);
  EXPECT_EQ(PlacesIn(directory.path()), PlacesOf(*db));
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(dropped).ok());
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(more).ok());
}

// Each time that it is read, a table has been replaced by another one, as by heavy compactions.
TEST(ReadTables, ReadsAgainWhatReplacedTables) {
  constexpr int kReplacements = 20;
  struct Result {
    rocksdb::Status status;
  };
  const TemporaryDirectory directory;
  const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path());
  PutAndFlush(*db, 100);
  int reads = 0;
  const auto read = tool::ReadTables<Result>({directory.path()}, "reading",
                                             [&](const tool::TableLocation& /*table*/) {
                                               if (++reads > kReplacements) return Result{};
                                               EXPECT_TRUE(ForceCompaction(*db).ok());
                                               return Result{rocksdb::Status::PathNotFound()};
                                             });
  ASSERT_EQ(read.tables.size(), 1U);
  EXPECT_TRUE(read.tables.front().second.status.ok());
  EXPECT_EQ(reads, kReplacements + 1);
}

TEST(ListTables, SurvivesManyRecordsAndAPartOfOne) {
  const TemporaryDirectory directory;
  Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path());
  // Keys that lengthen the MANIFEST past the end of its first block.
  const std::string long_key(5000, 'k');
  for (char table = '0'; table < '9'; ++table) {
    ASSERT_TRUE(db->Put({}, table + long_key, "value").ok());
    ASSERT_TRUE(db->Flush({}).ok());
  }
  const Places places = PlacesOf(*db);
  EXPECT_EQ(PlacesIn(directory.path()), places);
  db.reset();
  const std::filesystem::path manifest = ManifestIn(directory.path());
  const std::uintmax_t bytes = std::filesystem::file_size(manifest);
  ASSERT_GT(bytes, 65536U);
  std::filesystem::resize_file(manifest, bytes - 2000);  // as a writer leaves it
  EXPECT_EQ(PlacesIn(directory.path()).size(), places.size() - 1);
}

TEST(ListTables, RefusesADamagedManifest) {
  const TemporaryDirectory directory;
  PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path()), 10);
  std::fstream(ManifestIn(directory.path())).seekp(20).put('\x55');
  EXPECT_THROW(ListTables({directory.path()}), support::InputError);
}

TEST(ListTables, FindsTablesInTheDirectoriesOfDbPaths) {
  const TemporaryDirectory directory;
  const TemporaryDirectory fast;
  const TemporaryDirectory slow;
  rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  options.level_compaction_dynamic_level_bytes = false;
  options.db_paths = {{fast.path(), 1 << 30}, {slow.path(), 1 << 30}};
  {
    const Database db = Open(options, directory.path());
    PutAndFlush(*db, 100);
    rocksdb::CompactRangeOptions compaction;
    compaction.target_path_id = 1;
    compaction.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db->CompactRange(compaction, nullptr, nullptr).ok());
    PutAndFlush(*db, 100, "value", 200);
  }
  const std::vector<std::string> paths = {directory.path(), fast.path(), slow.path()};
  const std::vector<TableLocation> tables = ListTables(paths).tables;
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_TRUE(std::filesystem::exists(tables[0].path)) << tables[0].path;
  EXPECT_TRUE(std::filesystem::exists(tables[1].path)) << tables[1].path;
  EXPECT_EQ(tables[0].path.rfind(fast.path(), 0), 0U) << tables[0].path;
  EXPECT_EQ(tables[1].path.rfind(slow.path(), 0), 0U) << tables[1].path;
  EXPECT_FALSE(std::filesystem::exists(ListTables({directory.path()}).tables[0].path));
  std::filesystem::remove(tables[0].path);
  EXPECT_EQ(ListTables(paths).tables[0].path.rfind(directory.path(), 0), 0U) << "it is in none";
}

}  // namespace
}  // namespace exactbloom::tool
