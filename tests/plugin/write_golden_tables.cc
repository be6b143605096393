// Writes golden SSTables into a folder for the present RocksDB, in the directory that is its
// argument. Only for tables or versions that are added: existing files are left alone, because they
// must stay readable for ever.
#include <filesystem>
#include <iostream>

#include "golden_tables.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_golden_tables DIRECTORY\n";
    return 2;
  }
  const std::filesystem::path folder = std::filesystem::path(argv[1]) / exactbloom::GoldenVersion();
  std::filesystem::create_directory(folder);
  for (const exactbloom::GoldenTable& golden : exactbloom::GoldenTables()) {
    const std::filesystem::path path = folder / golden.file;
    if (std::filesystem::exists(path)) continue;
    const rocksdb::Status status = golden.Write(path);
    if (!status.ok()) {
      std::cerr << "write_golden_tables: " << status.ToString() << '\n';
      return 2;
    }
    std::cout << "wrote " << path << '\n';
  }
  return 0;
}
