#include "key_file.h"

#include <fmt/format.h>

#include <fstream>

#include "errors.h"

namespace exactbloom::support {

std::vector<std::string> ReadKeyFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("cannot read the key file {}", path));
  std::vector<std::string> keys;
  std::string line;
  while (std::getline(file, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) keys.push_back(line);
  }
  if (file.bad()) throw InputError(fmt::format("cannot read the key file {} to its end", path));
  if (keys.empty()) throw InputError(fmt::format("the key file {} has no keys", path));
  return keys;
}

}  // namespace exactbloom::support
