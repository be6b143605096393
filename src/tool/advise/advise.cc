// exactbloom advise: what should a database's filter policy be set to?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "advice.h"
#include "tool/findings.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

void Run(const AdviceQuestion& question) {
  const Advice advice = Advise(question);
  if (question.json) {
    PrintJson(ToJson(advice));
  } else {
    fmt::print("{}", FormatAdvice(advice));
  }
  if (advice.unreadable != 0) {
    throw Findings(fmt::format("{} table{} cannot be read and counted for nothing",
                               advice.unreadable, advice.unreadable == 1 ? "" : "s"));
  }
}

constexpr const char* kDefaultReadLatency = "100us";

// To nanoseconds.
CLI::Validator Latency() {
  const std::map<std::string, double> units = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  CLI::Validator latency = CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::UNIT_REQUIRED);
  return latency.description("");
}

constexpr const char* kFooter =
    "A lookup of an absent key asks the filter of every sorted run (each table of level 0, each\n"
    "level below it), and reads a block for each filter that lets it pass: its wasted reads are "
    "the\n"
    "sum of their rates. advise takes the tree's shape and today's filters from the tables, works "
    "out\n"
    "that sum for the settings that the policy offers, and adds the time that asking them takes.\n"
    "  --memory         the setting of the least time per lookup in these bytes. The default: in "
    "those\n"
    "                   that the filters take now, or 10 bits per key where there are none\n"
    "  --fpr            the setting of the fewest bytes whose tables all have this rate\n"
    "  --wasted-reads   the setting of the fewest bytes whose sum is this\n"
    "The simplest setting within 2% of the best is advised. Then come the traps: settings under\n"
    "which filters save less than they could.\n"
    "Nothing is written, and the database may be in use. Counters come from its info log\n"
    "(Options::statistics), or from a file with what Statistics::ToString() says.\n"
    "\n"
    "Examples:\n"
    "  exactbloom advise /var/lib/service/db\n"
    "  exactbloom advise --memory 2G --read-latency 5ms /var/lib/service/db\n"
    "  exactbloom advise --wasted-reads 0.01 --json /var/lib/service/db\n"
    "\n"
    "Exit status: 0; 1, some tables cannot be read, and the rest was counted; 2, no database, or "
    "no\n"
    "setting answers the question.";

}  // namespace

void AddAdvise(CLI::App& app) {
  auto question = std::make_shared<AdviceQuestion>();
  CLI::App* advise = app.add_subcommand(
      "advise", "The best filter setting for a database, what it would change, and traps");
  advise->add_option("PATH", question->path, "A database's directory")->required()->type_name("");
  auto* wanted = advise->add_option_group("wanted", "What the filters may cost, or must achieve");
  wanted->add_option("--memory", question->memory_bytes, "Filter bytes in all, such as 64MB")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("BYTES");
  wanted->add_option("--fpr", question->rate, "The largest false-positive rate of any table")
      ->type_name("RATE");
  wanted
      ->add_option("--wasted-reads", question->wasted_reads,
                   "The wasted reads of an absent key's lookup")
      ->type_name("READS");
  wanted->require_option(0, 1);
  advise
      ->add_option("--read-latency", question->read_nanoseconds,
                   "What a wasted read takes, in ns, us, ms or s")
      ->transform(Latency())
      ->default_str(kDefaultReadLatency)
      ->type_name("TIME");
  question->read_nanoseconds = 100e3;
  advise
      ->add_option("--statistics", question->statistics_file,
                   "A file with the text of Statistics::ToString()")
      ->type_name("FILE");
  advise->add_flag("--json", question->json, "Print JSON");
  advise->footer(kFooter);
  advise->callback([question] { Run(*question); });
}

}  // namespace exactbloom::tool
