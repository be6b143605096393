// The filters of a database's tables, as the files have them.
#pragma once

#include <rocksdb/db.h>

#include <vector>

#include "tool/files/table_filters.h"

namespace exactbloom {

// Reads the filters of all tables of the open column families, in the order of
// GetLiveFilesMetaData, with their levels and numbers. Leaves out tables that a compaction deletes
// before they are read; the `status` of a table that cannot be read has the reason.
std::vector<TableFilter> ListTableFilters(rocksdb::DB& db);

}  // namespace exactbloom
