// rewrite_filters OPTIONS_FILE DATABASE
//
// Rewrites each table of a database in its level, the deepest level first: its filter is then of
// the policy in the OPTIONS file, and the tree is the same for every policy. Prints for each level
// of a column family: its tables, their keys, their bytes, and those of their filters. Without a
// policy (nullptr) the tables lose their filters. Exit status: 0 printed, 1 the tree is another
// one, 2 RocksDB failed.
//
// It refers to RocksDB alone, so that it can be linked with any build, also one with the plugin in
// it.
#include <rocksdb/db.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plugin/rocksdb_compat.h"

namespace exactbloom {
namespace {

void Require(const rocksdb::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

struct OpenDatabase {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;

  ~OpenDatabase() {
    for (rocksdb::ColumnFamilyHandle* family : families) {
      db->DestroyColumnFamilyHandle(family).PermitUncheckedError();
    }
  }
};

struct LevelSum {
  std::uint64_t tables = 0;
  std::uint64_t keys = 0;
  std::uint64_t table_bytes = 0;
  std::uint64_t filter_bytes = 0;
};

using Tree = std::map<std::pair<std::string, int>, LevelSum>;  // by family and level

bool IsSameTree(const Tree& a, const Tree& b) {
  const auto is_same = [](const auto& one, const auto& other) {
    return std::tie(one.first, one.second.tables, one.second.keys) ==
           std::tie(other.first, other.second.tables, other.second.keys);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same);
}

void Open(const std::string& options_file, const std::string& path, OpenDatabase& opened) {
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  Require(
      rocksdb::LoadOptionsFromFile(rocksdb::ConfigOptions(), options_file, &options, &families));
  rocksdb::ColumnFamilyOptions family_options = families.front().options;
  family_options.disable_auto_compactions = true;
  std::vector<std::string> names;
  Require(rocksdb::DB::ListColumnFamilies(options, path, &names));
  families.clear();
  for (const std::string& name : names) families.emplace_back(name, family_options);
  Require(rocksdb::DB::Open(options, path, families, &opened.families, Receive(&opened.db)));
}

Tree TreeOf(const OpenDatabase& database) {
  Tree tree;
  for (rocksdb::ColumnFamilyHandle* family : database.families) {
    rocksdb::TablePropertiesCollection properties;
    Require(database.db->GetPropertiesOfAllTables(family, &properties));
    rocksdb::ColumnFamilyMetaData metadata;
    database.db->GetColumnFamilyMetaData(family, &metadata);
    for (const rocksdb::LevelMetaData& level : metadata.levels) {
      for (const rocksdb::SstFileMetaData& file : level.files) {
        const rocksdb::TableProperties& table = *properties.at(file.db_path + file.name);
        LevelSum& sum = tree[{metadata.name, level.level}];
        sum.tables += 1;
        sum.keys += table.num_entries;
        sum.table_bytes += file.size;
        sum.filter_bytes += table.filter_size;
      }
    }
  }
  return tree;
}

void Rewrite(const OpenDatabase& database, rocksdb::ColumnFamilyHandle* family) {
  rocksdb::ColumnFamilyMetaData metadata;
  database.db->GetColumnFamilyMetaData(family, &metadata);
  rocksdb::CompactionOptions options;
  options.compression = rocksdb::kDisableCompressionOption;  // as the family's options say
  for (auto level = metadata.levels.rbegin(); level != metadata.levels.rend(); ++level) {
    for (const rocksdb::SstFileMetaData& file : level->files) {
      Require(database.db->CompactFiles(options, family, {file.name}, level->level));
    }
  }
}

// Flushes a column family of its own, and drops it: ExactBloom learns the tree from the first
// flush after opening (docs/configuration.md), and not from CompactFiles.
void FlushOnce(rocksdb::DB& db, const rocksdb::ColumnFamilyOptions& options) {
  rocksdb::ColumnFamilyHandle* family = nullptr;
  Require(db.CreateColumnFamily(options, "rewrite_filters", &family));
  Require(db.Put({}, family, "key", "value"));
  Require(db.Flush({}, family));
  Require(db.DropColumnFamily(family));
  Require(db.DestroyColumnFamilyHandle(family));
}

int Run(const std::string& options_file, const std::string& path) {
  OpenDatabase database;
  Open(options_file, path, database);
  const Tree before = TreeOf(database);
  FlushOnce(*database.db, database.db->GetOptions());
  for (rocksdb::ColumnFamilyHandle* family : database.families) Rewrite(database, family);
  const Tree after = TreeOf(database);
  if (!IsSameTree(before, after)) {
    std::cerr << "rewrite_filters: " << path
              << " has other tables or keys in a level than before\n";
    return 1;
  }
  for (const auto& [place, sum] : after) {
    std::cout << place.first << ' ' << place.second << ' ' << sum.tables << ' ' << sum.keys << ' '
              << sum.table_bytes << ' ' << sum.filter_bytes << '\n';
  }
  return 0;
}

}  // namespace
}  // namespace exactbloom

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: rewrite_filters OPTIONS_FILE DATABASE\n";
    return 2;
  }
  try {
    return exactbloom::Run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << "rewrite_filters: " << error.what() << '\n';
    return 2;
  }
}
