#include "listed_filters.h"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <utility>

#include "exactbloom/false_positive_rate.h"
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
  const auto add = [&blocks](std::uint64_t keys, double rate) {
    blocks.keys += keys;
    blocks.passing += static_cast<double>(keys) * rate;
  };
  TableFilter filter;
  const auto visit = [&](rocksdb::Slice block) {
    const FilterView bloom({block.data(), block.size()});
    const FilterView ribbon({block.data(), block.size()});
    if (bloom.Status() == BlockStatus::kUsable) {
      ++blocks.bloom;
      const FilterDescription& is = bloom.Description();
      blocks.hash_seed = is.hash_seed;
      add(is.keys, is.keys == 0 ? 0.0 : FalsePositiveRate(is.kind, is.bits, is.keys, is.probes));
    } else if (ribbon.Status() == BlockStatus::kUsable) {
      ++blocks.ribbon;
      blocks.hash_seed = ribbon.Description().hash_seed;
      add(ribbon.Description().keys, ribbon.FalsePositiveRate());
    }
  };
  const rocksdb::Status status = ReadTableFilter(*db.GetFileSystem(), path, &filter, visit);
  if (!status.ok()) return std::nullopt;
  return blocks;
}

}  // namespace exactbloom
