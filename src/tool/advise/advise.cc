// exactbloom advise: what should a database's filter policy be set to?
#include <fmt/format.h>

#include "advice.h"
#include "support/errors.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {

void RunAdvise(const AdviceQuestion& question) {
  const Advice advice = Advise(question);
  if (question.json) {
    PrintJson(ToJson(advice));
  } else {
    fmt::print("{}", FormatAdvice(advice));
  }
  if (advice.unreadable != 0) {
    throw support::Findings(fmt::format("{} table{} cannot be read and counted for nothing",
                                        advice.unreadable, advice.unreadable == 1 ? "" : "s"));
  }
}

}  // namespace exactbloom::tool
