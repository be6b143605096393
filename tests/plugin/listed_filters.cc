#include "listed_filters.h"

#include <rocksdb/file_system.h>

#include <utility>

namespace exactbloom {

std::vector<TableFilter> ListTableFilters(rocksdb::DB& db) {
  std::vector<TableFilter> filters;
  std::vector<rocksdb::LiveFileMetaData> tables;
  db.GetLiveFilesMetaData(&tables);
  for (const rocksdb::LiveFileMetaData& table : tables) {
    TableFilter filter;
    const rocksdb::Status status = ReadTableFilter(
        *db.GetFileSystem(), table.directory + "/" + table.relative_filename, &filter);
    if (status.IsPathNotFound()) continue;
    filter.column_family = table.column_family_name;
    filter.level = table.level;
    filter.number = table.file_number;
    filters.push_back(std::move(filter));
  }
  return filters;
}

}  // namespace exactbloom
