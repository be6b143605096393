// Settings of a column family that RocksDB reads in another way than they are written, or that
// leave its tables without filters.
#pragma once

#include <rocksdb/options.h>

#include "checked_file.h"
#include "tool/database/database_options.h"

namespace exactbloom::tool {

// Adds what there is to say.
//   family   its [CFOptions] section
//   tables   the section with its table options, as RocksDB keeps it; null if there is none
//   kept     the options that RocksDB makes of both, as it opens a database with them
void CheckFamily(const OptionsSection& family, const OptionsSection* tables,
                 const rocksdb::ColumnFamilyOptions& kept, CheckedFile* file);

}  // namespace exactbloom::tool
