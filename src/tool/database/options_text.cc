#include "options_text.h"

#include <sstream>

namespace exactbloom::tool {

std::vector<OptionsLine> LinesOfOptions(const std::string& text) {
  std::vector<OptionsLine> lines;
  std::istringstream stream(text);
  std::string section;
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line); ++number) {
    line = Trimmed(line);
    const std::size_t equals = line.find('=');
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      section = line;
    } else if (equals != std::string::npos) {
      lines.push_back(
          {number, section, Trimmed(line.substr(0, equals)), Trimmed(line.substr(equals + 1))});
    }
  }
  return lines;
}

std::string Trimmed(const std::string& text) {
  const char* const blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace exactbloom::tool
