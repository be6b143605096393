// Writes golden SSTables: write_golden_tables tests/golden
// To sstables/VERSION the tables of GoldenTables(), and, with RocksDB 11.8, to newer_sstables those
// of NewerTables(). Existing files must stay readable for ever, so they are not replaced.
#include <rocksdb/convenience.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/version.h>

#include <filesystem>
#include <iostream>

#include "golden_tables.h"
#include "newer_versions.h"

namespace exactbloom {
namespace {

bool Write(const std::filesystem::path& path, const rocksdb::Options& options, std::uint64_t keys,
           const std::string& value) {
  if (std::filesystem::exists(path)) return true;
  std::filesystem::create_directories(path.parent_path());
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  rocksdb::Status status = writer.Open(path);
  for (std::uint64_t i = 0; i < keys && status.ok(); ++i) {
    status = writer.Put(KeyOf(2 * i), value);
  }
  if (status.ok()) status = writer.Finish();
  std::cout << path << ": " << status.ToString() << '\n';
  return status.ok();
}

rocksdb::Options OptionsOf(const NewerTable& table) {
  rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
  table_options.filter_policy = NewPolicy(BloomKind::kClassic);
  table_options.block_size = 1024;
  const rocksdb::Status status = rocksdb::GetBlockBasedTableOptionsFromString(
      rocksdb::ConfigOptions(), table_options, table.of_tables, &table_options);
  if (!status.ok()) std::cout << status.ToString() << '\n';
  rocksdb::Options options = OptionsWith(table_options);
  options.compression = rocksdb::kNoCompression;
  options.db_host_id = "host";
  return options;
}

}  // namespace
}  // namespace exactbloom

int main(int argc, char** argv) {
  using namespace exactbloom;
  if (argc != 2) {
    std::cerr << "usage: write_golden_tables DIRECTORY\n";
    return 2;
  }
  const std::filesystem::path folder(argv[1]);
  const std::string version = rocksdb::GetRocksVersionAsString(/*with_patch=*/true);
  bool good = true;
  for (const GoldenTable& golden : GoldenTables()) {
    good &= Write(folder / "sstables" / version / golden.file,
                  golden.OptionsWith(golden.MakePolicy()), kGoldenKeys, "value");
  }
  for (const NewerTable& table : NewerTables()) {
    if (!(Version{11, 8}).IsHere()) break;
    good &= Write(folder / "newer_sstables" / table.file, OptionsOf(table), kNewerTableKeys, "v");
  }
  return good ? 0 : 2;
}
