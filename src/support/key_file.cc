#include "key_file.h"

#include <fmt/format.h>
#include <rocksdb/slice.h>

#include <fstream>

#include "errors.h"

namespace exactbloom::support {

std::vector<std::string> ReadKeyFile(const std::string& path, bool in_hexadecimal) {
  std::ifstream file(path);
  if (!file) throw InputError(fmt::format("cannot read the key file {}", path));
  std::vector<std::string> keys;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    std::string& key = keys.emplace_back(line);
    if (in_hexadecimal && !rocksdb::Slice(line).DecodeHex(&key)) {
      throw InputError(fmt::format("{}:{}: not a key in hexadecimal: {}", path, number, line));
    }
  }
  if (file.bad()) throw InputError(fmt::format("cannot read the key file {} to its end", path));
  if (keys.empty()) throw InputError(fmt::format("the key file {} has no keys", path));
  return keys;
}

}  // namespace exactbloom::support
