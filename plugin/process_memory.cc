#include "process_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

// A line of /proc/self/cgroup reads `0::/group` in version 2, `4:cpu,memory:/group` in version 1.
// A group without a limit has the word max in its file, or a number beyond all memory.
std::uint64_t exactbloom::MemoryOfProcess() {
  auto least = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const bool is_unified = line.rfind("0::/", 0) == 0;
    if (!is_unified && line.find("memory:/") == std::string::npos) continue;
    const std::string root = is_unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const std::string file = is_unified ? "/memory.max" : "/memory.limit_in_bytes";
    // In a container the groups above its own are not visible, and its own is at the root.
    for (std::string group = line.substr(line.find('/'));; group.resize(group.rfind('/'))) {
      std::uint64_t bytes = 0;
      std::string path = root;
      if (std::ifstream(path.append(group).append(file)) >> bytes) least = std::min(least, bytes);
      if (group.empty()) break;
    }
  }
  return least;
}
