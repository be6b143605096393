// The text of an OPTIONS file, as it is written: RocksDB keeps no trace of what it drops.
#pragma once

#include <string>
#include <vector>

namespace exactbloom::tool {

// A line `name=value` below a line `[section]`.
struct OptionsLine {
  std::size_t number = 0;  // from 1
  std::string section;     // with its brackets
  std::string name;
  std::string value;
};

// Without comments, and without blanks around names and values.
std::vector<OptionsLine> LinesOfOptions(const std::string& text);

// The text without blanks at its ends.
std::string Trimmed(const std::string& text);

}  // namespace exactbloom::tool
