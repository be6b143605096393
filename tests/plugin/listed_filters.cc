#include "listed_filters.h"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <utility>

#include "exactbloom/filter.h"

namespace exactbloom {

std::vector<ListedFilter> ListTableFilters(rocksdb::DB& db) {
  std::vector<ListedFilter> filters;
  std::vector<rocksdb::LiveFileMetaData> tables;
  db.GetLiveFilesMetaData(&tables);
  for (const rocksdb::LiveFileMetaData& table : tables) {
    ListedFilter filter;
    filter.path = table.directory + "/" + table.relative_filename;
    const rocksdb::Status status = ReadTableFilter(*db.GetFileSystem(), filter.path, &filter);
    if (status.IsPathNotFound()) continue;
    filter.column_family = table.column_family_name;
    filter.level = table.level;
    filter.number = table.file_number;
    filters.push_back(std::move(filter));
  }
  return filters;
}

double FilterBlocks::Rate(std::uint64_t keys_of_table) const {
  const auto all = static_cast<double>(std::max(keys_of_table, keys));
  return all == 0.0 ? 1.0 : (passing + (all - static_cast<double>(keys))) / all;
}

std::optional<FilterBlocks> ReadFilterBlocks(rocksdb::DB& db, const std::string& path) {
  FilterBlocks blocks;
  TableFilter filter;
  const auto visit = [&](rocksdb::Slice block) {
    const FilterView view({block.data(), block.size()});
    if (view.Status() != BlockStatus::kUsable) return;
    const std::uint64_t keys = view.Description().keys;
    ++(view.Kind() == FilterKind::kRibbon ? blocks.ribbon : blocks.bloom);
    blocks.hash_seed = view.Description().hash_seed;
    blocks.keys += keys;
    blocks.passing += static_cast<double>(keys) * view.FalsePositiveRate();
  };
  const rocksdb::Status status = ReadTableFilter(*db.GetFileSystem(), path, &filter, visit);
  if (!status.ok()) return std::nullopt;
  return blocks;
}

}  // namespace exactbloom
