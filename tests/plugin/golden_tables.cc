#include "golden_tables.h"

#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

namespace exactbloom {

rocksdb::Options GoldenTable::OptionsWith(const PolicyPointer& policy) const {
  rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
  table_options.filter_policy = policy;
  table_options.block_size = 512;
  table_options.no_block_cache = true;
  table_options.optimize_filters_for_memory = false;  // sizes would depend on the allocator
  if (partitioned) PartitionFilters(192, &table_options);
  rocksdb::Options options = exactbloom::OptionsWith(table_options);
  options.compression = rocksdb::kNoCompression;
  options.db_host_id = "host";
  return options;
}

rocksdb::Status GoldenTable::Write(const std::string& path) const {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), OptionsWith(NewPolicy(layout)));
  rocksdb::Status status = writer.Open(path);
  for (std::uint64_t i = 0; i < kGoldenKeys && status.ok(); ++i) {
    status = writer.Put(KeyOf(2 * i), "value");
  }
  return status.ok() ? writer.Finish() : status;
}

std::string GoldenVersion() { return rocksdb::GetRocksVersionAsString(/*with_patch=*/true); }

std::vector<GoldenTable> GoldenTables() {
  std::vector<GoldenTable> tables;
  for (const FilterKind kind : {FilterKind::kClassic, FilterKind::kStandard}) {
    for (int lines = 0; lines <= kMaxLines; ++lines) {
      for (const bool partitioned : {false, true}) {
        std::string name = kind == FilterKind::kClassic ? "classic" : "standard";
        if (lines == 1) name += "_1_line";
        if (lines > 1) name += "_" + std::to_string(lines) + "_lines";
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
