#include "table_list.h"

#include <fmt/format.h>
#include <rocksdb/file_system.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <memory>

#include "readamp/open_rocksdb.h"
#include "sst/table_file.h"
#include "sst/table_filter_blocks.h"

namespace exactbloom::readamp {
namespace {

// Reads the descriptions of a table's filter blocks.
std::vector<TableFilterBlock> ReadFilterBlocks(rocksdb::FileSystem& file_system,
                                               const std::string& path) {
  const std::string problem = "cannot read the table " + path;
  std::unique_ptr<files::TableFile> file;
  CheckStatus(files::TableFile::Open(file_system, path, &file), problem);
  files::FilterBlockList list;
  CheckStatus(list.Open(*file, files::FindFilter(*file)), problem);
  std::vector<TableFilterBlock> blocks;
  while (!list.AtEnd()) {
    files::IndexEntry entry;
    files::BlockContents contents;
    CheckStatus(list.Next(&entry), problem);
    CheckStatus(list.Read(entry, &contents), problem);
    blocks.push_back(
        {entry.key.ToString(), contents.Bytes().size(), DescribeFilterBlock(contents.Bytes())});
  }
  return blocks;
}

// Calls `use` for each key of a table.
template <typename Use>
void VisitKeys(const rocksdb::Options& options, const std::string& path, const Use& use) {
  const std::string problem = "cannot read the table " + path;
  rocksdb::SstFileReader reader(options);
  CheckStatus(reader.Open(path), problem);
  rocksdb::ReadOptions read_options;
  read_options.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(reader.NewIterator(read_options));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) {
    use(iterator->key().ToString());
  }
  CheckStatus(iterator->status(), problem);
}

}  // namespace

ListedTables ListTables(rocksdb::DB& db) {
  rocksdb::ColumnFamilyMetaData tree;
  db.GetColumnFamilyMetaData(&tree);
  ListedTables tables;
  for (const rocksdb::LevelMetaData& level : tree.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) tables.emplace_back(level.level, file);
  }
  return tables;
}

model::SortedRuns RunsOf(const ListedTables& tables) {
  std::vector<model::Table> listed;
  for (const auto& [level, file] : tables) {
    listed.push_back(
        {level, file.smallestkey, file.largestkey, file.largest_seqno, file.file_number});
  }
  return {std::move(listed), std::vector<double>(tables.size()), model::CompareBytes};
}

TableList::TableList(rocksdb::DB& db, const KeySet& keys)
    : sorted_run_of_key_(keys.size(), static_cast<std::int16_t>(kAbsent)) {
  const rocksdb::Options options = db.GetOptions();
  rocksdb::TablePropertiesCollection all_properties;
  CheckStatus(db.GetPropertiesOfAllTables(&all_properties), "cannot read " + db.GetName());
  const ListedTables listed = ListTables(db);
  runs_ = RunsOf(listed);
  tables_.resize(listed.size());
  for (int run = 0; run < SortedRuns(); ++run) {
    for (const std::size_t place : runs_.Runs()[static_cast<std::size_t>(run)]) {
      const auto& [level, file] = listed[place];
      const std::string path = file.db_path + file.name;
      const auto found = all_properties.find(path);
      if (found == all_properties.end()) {
        throw InputError(fmt::format("no properties of table {}", path));
      }
      const rocksdb::TableProperties& properties = *found->second;
      tables_[place] = {run,
                        level,
                        file.file_number,
                        file.smallestkey,
                        file.largestkey,
                        properties.num_entries,
                        properties.num_filter_entries,
                        properties.filter_size,
                        ReadFilterBlocks(*db.GetFileSystem(), path)};
      VisitKeys(options, path, [&, run = run](const std::string& key) {
        const auto number = keys.Find(key);
        if (!number) throw WrongAnswer(fmt::format("the table {} has the key '{}'", path, key));
        sorted_run_of_key_[*number] = static_cast<std::int16_t>(run);
      });
    }
  }
}

std::uint64_t TableList::Sum(std::uint64_t Table::*field) const {
  std::uint64_t sum = 0;
  for (const Table& table : tables_) sum += table.*field;
  return sum;
}

std::vector<LevelKeys> TableList::KeysOfLevels() const {
  std::vector<LevelKeys> levels;
  for (const Table& table : tables_) {
    if (levels.empty() || levels.back().level != table.level) levels.push_back({table.level, 0});
    levels.back().keys += table.entries;
  }
  return levels;
}

const Table* TableList::Holder(const KeySet& keys, std::size_t i) const {
  const int run = SortedRunOf(i);
  return run == kAbsent ? nullptr : Find(run, keys.Key(i));
}

const Table* TableList::Find(int sorted_run, const std::string& key) const {
  const auto place = runs_.Find(static_cast<std::size_t>(sorted_run), key);
  return place ? &tables_[*place] : nullptr;
}

}  // namespace exactbloom::readamp
