// Why a program that measures ends without a report, and the exit status that says so.
#pragma once

#include <stdexcept>

namespace exactbloom::support {

inline constexpr int kWrongAnswerStatus = 1;
inline constexpr int kInputErrorStatus = 2;
inline constexpr int kInterruptedStatus = 130;

// Something outside the program is not as the command line says: the user has to mend it.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A lookup was answered wrongly or two counts that must agree do not: no result may be reported.
class WrongAnswer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace exactbloom::support
