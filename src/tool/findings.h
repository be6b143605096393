// How a subcommand says that the database is not as it should be.
#pragma once

#include <stdexcept>

namespace exactbloom::tool {

inline constexpr int kFindingsStatus = 1;

// Thrown after the answer was printed: something in the database is wrong, as a table that cannot
// be read. The message becomes one line on stderr and the exit status is kFindingsStatus.
class Findings : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace exactbloom::tool
