#include "golden_tables.h"

#include <rocksdb/table.h>

namespace exactbloom {

rocksdb::Options GoldenTable::OptionsWith(const PolicyPointer& policy) const {
  rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
  table_options.filter_policy = policy;
  table_options.block_size = 512;
  table_options.no_block_cache = true;
  if (partitioned) PartitionFilters(192, &table_options);
  rocksdb::Options options = exactbloom::OptionsWith(table_options);
  options.compression = rocksdb::kNoCompression;
  options.db_host_id = "host";
  return options;
}

std::vector<GoldenTable> GoldenTables() {
  std::vector<GoldenTable> tables;
  for (const FilterKind kind : {FilterKind::kClassic, FilterKind::kStandard}) {
    for (int lines = 0; lines <= kMaxLines; ++lines) {
      for (const bool partitioned : {false, true}) {
        std::string name = kind == FilterKind::kClassic ? "classic" : "standard";
        if (lines == 1) name += "_1_line";
        name += partitioned ? "_partitioned.sst" : "_full.sst";
        tables.push_back({name, {kind, lines}, partitioned});
      }
    }
  }
  return tables;
}

std::ostream& operator<<(std::ostream& out, const GoldenTable& golden) {
  return out << golden.file;
}

}  // namespace exactbloom
