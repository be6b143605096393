// Writes golden SSTables into the directory that is its argument. Only for tables that are added to
// the list: existing files are left alone, because they must stay readable for ever.
#include <filesystem>
#include <iostream>

#include "golden_tables.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_golden_tables DIRECTORY\n";
    return 2;
  }
  for (const exactbloom::GoldenTable& golden : exactbloom::GoldenTables()) {
    const std::filesystem::path path = std::filesystem::path(argv[1]) / golden.file;
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
