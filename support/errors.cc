#include "errors.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "interruption.h"
#include "terminal.h"

namespace exactbloom::support {

void WriteMessage(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

namespace {

// The text with lines of at most so many characters where its words allow that.
std::string InLines(const std::string& text, std::size_t width) {
  std::string lines;
  std::size_t used = 0;                   // of the last line
  std::size_t blank = std::string::npos;  // the last one in it
  for (const char c : text) {
    lines += c;
    used = c == '\n' ? 0 : used + 1;
    if (c == ' ') blank = lines.size() - 1;
    if (c == '\n') blank = std::string::npos;
    if (used <= width || blank == std::string::npos) continue;
    lines[blank] = '\n';
    used = lines.size() - blank - 1;
    blank = std::string::npos;
  }
  return lines;
}

}  // namespace

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
  if (status == 0) return status;
  const std::string line = fmt::format("{}: {}", program, Printable(message));
  WriteMessage((isatty(STDERR_FILENO) != 0 ? InLines(line, kUsualColumns) : line) + "\n");
  return status;
}

}  // namespace exactbloom::support
