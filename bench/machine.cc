#include "machine.h"

#include <fmt/format.h>
#include <rocksdb/version.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

namespace exactbloom {

std::string DescribeCpu() {
  const std::set<std::string> wanted = {"avx2", "avx512f", "asimd"};
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  std::string model = "unknown processor";
  std::string features;
  while (std::getline(info, line) && !line.empty()) {
    const std::string value = line.substr(std::min(line.size(), line.find(':') + 2));
    if (line.rfind("model name", 0) == 0) model = value;
    if (line.rfind("flags", 0) != 0 && line.rfind("Features", 0) != 0) continue;
    std::istringstream words(value);
    for (std::string word; words >> word;) {
      if (wanted.count(word) != 0) features += " " + word;
    }
  }
  return model + " (" + (features.empty() ? "no wide vectors" : features.substr(1)) + ")";
}

std::string RocksDBVersion() {
  return fmt::format("{}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
}

double ProcessCpuMicroseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

}  // namespace exactbloom
