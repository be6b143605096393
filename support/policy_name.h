// The names of the known filter policies, and suggestions for misspelt ones.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "nearest_name.h"

namespace exactbloom::support {

inline const std::vector<std::string>& PolicyNames() {
  static const auto& names = *new std::vector<std::string>{
      "exactbloom",    "exact_ribbon", "classic_bloom", "standard_bloom",
      "rocksdb_bloom", "bloomfilter",  "ribbonfilter"};
  return names;
}

// Returns the end of an error message about a policy's text: ": did you mean exactbloom:10?", or
// nothing if the name in it is known, or not near a known one.
inline std::string WhichPolicyWasMeant(const std::string& text) {
  const std::size_t id = text.find("id=");
  const std::size_t begin = id == std::string::npos ? text.find_first_not_of('{') : id + 3;
  if (begin == std::string::npos) return "";
  const std::size_t end = std::min(text.find_first_of(":;}", begin), text.size());
  const std::string name = text.substr(begin, end - begin);
  const auto& known = PolicyNames();
  if (std::find(known.begin(), known.end(), name) != known.end()) return "";
  const std::string nearest = NearestName(name, known);
  if (nearest.empty()) return "";
  return fmt::format(": did you mean {}{}{}?", text.substr(0, begin), nearest, text.substr(end));
}

}  // namespace exactbloom::support
