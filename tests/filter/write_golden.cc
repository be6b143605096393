// Writes the golden files into the directory that is its argument. Only for blocks that are added
// to the list: existing files are left alone, because their bytes define the format.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "golden_blocks.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_golden DIRECTORY\n";
    return 2;
  }
  for (const exactbloom::GoldenBlock& golden : exactbloom::GoldenBlocks()) {
    const std::filesystem::path path = std::filesystem::path(argv[1]) / golden.file;
    if (std::filesystem::exists(path)) continue;
    std::ofstream out(path, std::ios::binary);
    if (!(out << golden.Build().bytes() << std::flush)) {
      std::cerr << "write_golden: cannot write " << path << '\n';
      return 2;
    }
    std::cout << "wrote " << path << '\n';
  }
  return 0;
}
