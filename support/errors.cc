#include "errors.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "interruption.h"

namespace exactbloom::support {

void WriteMessage(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

int ExitStatusOf(const std::string& program, const std::function<void()>& run) {
  int status = 0;
  std::string message;
  try {
    EndOnSignals();
    run();
  } catch (const WrongAnswer& error) {
    message = fmt::format("no report, because an answer was wrong: {}", error.what());
    status = kWrongAnswerStatus;
  } catch (const Findings& findings) {
    message = findings.what();
    status = kFindingsStatus;
  } catch (const Need& need) {
    message = need.what();
    status = kNeedStatus;
  } catch (const std::exception& error) {
    message = error.what();
    status = kInputErrorStatus;
  }
  while (IsEnding()) pause();  // what has failed was temporary
  // Before the message, which comes after the answer. An answer that was lost is none.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    message = "standard output cannot be written";
    status = kInputErrorStatus;
  }
  if (status != 0) WriteMessage(fmt::format("{}: {}\n", program, message));
  return status;
}

}  // namespace exactbloom::support
