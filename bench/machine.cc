#include "machine.h"

#include <fmt/format.h>
#include <rocksdb/version.h>

#include <fstream>

#include "exactbloom/filter.h"

namespace exactbloom {

std::string DescribeCpu() {
  const std::string name = "model name\t: ";
  std::string model = "unknown processor";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind(name, 0) == 0) model = line.substr(name.size());
  }
  return fmt::format("{}, kernel {}", model, KernelName());
}

std::string RocksDBVersion() {
  return fmt::format("{}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
}

}  // namespace exactbloom
