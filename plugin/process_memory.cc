#include "process_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace exactbloom {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// The file of a group without a limit has the word max, or a number beyond all memory.
std::uint64_t ReadLimit(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t bytes = 0;
  return file >> bytes ? bytes : kNoLimit;
}

// The lowest limit of a group and those above it. In a container the groups above it are not
// visible, and its own is at the root.
std::uint64_t LimitOfGroup(const std::string& root, std::string group, const std::string& file) {
  std::uint64_t least = ReadLimit(root + file);
  while (group.size() > 1) {
    std::string path = root;
    path.append(group).append(file);
    least = std::min(least, ReadLimit(path));
    group.resize(group.rfind('/'));
  }
  return least;
}

}  // namespace

// A line of /proc/self/cgroup reads `0::/group` in version 2, `4:memory:/group` in version 1.
std::uint64_t MemoryOfProcess() {
  std::uint64_t least = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    std::istringstream fields(line);
    std::string number;
    std::string controllers;
    std::string group;
    std::getline(std::getline(std::getline(fields, number, ':'), controllers, ':'), group);
    const bool is_unified = number == "0" && controllers.empty();
    const bool is_memory = ("," + controllers + ",").find(",memory,") != std::string::npos;
    if (group.empty() || group[0] != '/') continue;
    if (is_unified) least = std::min(least, LimitOfGroup("/sys/fs/cgroup", group, "/memory.max"));
    if (is_memory) {
      least =
          std::min(least, LimitOfGroup("/sys/fs/cgroup/memory", group, "/memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace exactbloom
