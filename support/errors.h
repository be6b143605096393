// The errors of programs, and their exit statuses.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>

namespace exactbloom::support {

inline constexpr int kFindingsStatus = 1;
inline constexpr int kWrongAnswerStatus = 1;
inline constexpr int kInputErrorStatus = 2;
inline constexpr int kNeedStatus = 3;

// The command line, or a file or database that it names, is wrong; the user has to correct it.
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

// Thrown after the answer was printed: what was asked about is right only if the program does
// something of which nothing is known here.
class Need : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Writes on standard error. If that cannot be written, the text is lost: there is nowhere to say
// so.
void WriteMessage(const std::string& text);

// Runs `run` and returns the exit status, unless a signal ends the program (interruption.h). Prints
// one line on stderr, beginning with `program`, for every failure, and if standard output cannot be
// written; a terminal gets it in lines of kUsualColumns.
int ExitStatusOf(const std::string& program, const std::function<void()>& run);

}  // namespace exactbloom::support
