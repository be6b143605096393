// Writes the tables of NewerTables() into the folder that is its argument. Only for tables that are
// added: existing files are left alone.
#include <rocksdb/convenience.h>
#include <rocksdb/sst_file_writer.h>

#include <filesystem>
#include <iostream>

#include "newer_tables.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

rocksdb::Status Write(const NewerTable& table, const std::string& path) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy = NewPolicy(FilterKind::kClassic);
  table_options.block_size = 1024;
  table_options.optimize_filters_for_memory = false;  // sizes would depend on the allocator
  rocksdb::Status status = rocksdb::GetBlockBasedTableOptionsFromString(
      rocksdb::ConfigOptions(), table_options, table.of_tables, &table_options);
  rocksdb::Options options = OptionsWith(table_options);
  options.compression = rocksdb::kNoCompression;
  options.db_host_id = "host";
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  if (status.ok()) status = writer.Open(path);
  for (std::uint64_t i = 0; i < kNewerTableKeys && status.ok(); ++i) {
    status = writer.Put(KeyOf(2 * i), "v");
  }
  return status.ok() ? writer.Finish() : status;
}

}  // namespace
}  // namespace exactbloom

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_newer_tables DIRECTORY\n";
    return 2;
  }
  for (const exactbloom::NewerTable& table : exactbloom::NewerTables()) {
    const std::filesystem::path path = std::filesystem::path(argv[1]) / table.file;
    if (std::filesystem::exists(path)) continue;
    const rocksdb::Status status = exactbloom::Write(table, path);
    if (!status.ok()) {
      std::cerr << "write_newer_tables: " << table.file << ": " << status.ToString() << '\n';
      return 2;
    }
    std::cout << "wrote " << path << '\n';
  }
  return 0;
}
