#include "errors.h"

#include <fmt/format.h>

#include <cstdio>

#include "progress.h"

namespace exactbloom::support {

int ExitStatusOf(const std::string& program, const std::function<void()>& run) {
  WatchForInterrupts();
  try {
    run();
    if (std::fflush(stdout) == 0) return 0;
    fmt::print(stderr, "{}: standard output cannot be written\n", program);
  } catch (const Interrupted&) {
    return kInterruptedStatus;
  } catch (const WrongAnswer& error) {
    fmt::print(stderr, "{}: no report, because an answer was wrong: {}\n", program, error.what());
    return kWrongAnswerStatus;
  } catch (const Findings& findings) {
    std::fflush(stdout);
    fmt::print(stderr, "{}: {}\n", program, findings.what());
    return kFindingsStatus;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
  }
  return kInputErrorStatus;
}

}  // namespace exactbloom::support
