// The names of the filter policies that are known here, and what was meant by another one.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "nearest_name.h"

namespace exactbloom::support {

inline const std::vector<std::string>& PolicyNames() {
  static const auto& names = *new std::vector<std::string>{"classic_bloom", "standard_bloom",
                                                           "bloomfilter", "ribbonfilter"};
  return names;
}

// The end of an error's line about the text of a policy: ": did you mean classic_bloom:10?", or
// nothing if the name in the text is known, or near to none that is.
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
