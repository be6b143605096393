// Keys as in real databases, with structure that a weak hash would pass on to the filter.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace exactbloom {

struct KeySet {
  std::string name;
  std::vector<std::string> keys;  // all different, in an order of their own
};

// Where the words come from; scripts/packages.txt names the package.
inline constexpr const char* kDictionary = "/usr/share/dict/american-english-insane";

// Words of the dictionary, paths of files, UUIDs as text, consecutive integers in both orders of
// bytes and as text, keys of a Gray code, whose neighbours differ in one bit, and long keys that
// differ from one key in one bit each. At most `most` keys of each; there are no words if there is
// no dictionary.
std::vector<KeySet> RealKeySets(std::size_t most);

}  // namespace exactbloom
