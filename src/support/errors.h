// Why a program ends without a report, or with a finding, and the exit status that says so.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace exactbloom::support {

inline constexpr int kFindingsStatus = 1;
inline constexpr int kWrongAnswerStatus = 1;
inline constexpr int kInputErrorStatus = 2;
inline constexpr int kInterruptedStatus = 130;

// Something outside the program is not as the command line says; the user has to correct it.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A lookup was answered wrongly or two counts that must agree do not: no result may be reported.
class WrongAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thrown after the answer was printed: something in the database is wrong, such as a table that
// cannot be read.
class Findings : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Runs `run` and returns the exit status. SIGINT and SIGTERM ask it to end (progress.h). For every
// failure, and if standard output cannot be written, one line on stderr that begins with `program`
// says what it was.
int ExitStatusOf(const std::string& program, const std::function<void()>& run);

}  // namespace exactbloom::support
