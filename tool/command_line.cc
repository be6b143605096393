// exactbloom: rates of Bloom filters, and the filters of databases. This file has the whole command
// line: the options of every subcommand, their help and their checks.
#include <fmt/format.h>
#include <rocksdb/version.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exactbloom/version.h"
#include "subcommands.h"
#include "support/argument_types.h"
#include "support/example_help.h"
#include "support/key_file.h"
#include "support/run_program.h"

namespace exactbloom::tool {
namespace {

using support::AddChoice;
using support::Bytes;
using support::Count;
using support::ExampleHelp;
using support::Number;
using support::OneOf;
using support::Share;

// A value in a form such as Share(), named in the help by its type.
template <typename Value>
CLI::Option* AddValue(CLI::App& app, const std::string& name, Value& value,
                      const std::string& description, const CLI::Validator& form = Count(),
                      const std::string& type = "NUMBER") {
  return app.add_option(name, value, description)->transform(form)->type_name(type);
}

CLI::Option* AddJson(CLI::App& app, bool& json) {
  return app.add_flag("--json", json, "Print JSON");
}

constexpr char kKindHelp[] =
    "Bloom filters, classic: k distinct bits per key, or standard: k independent bits; "
    "exact_ribbon: Ribbon filters";

void AddKind(CLI::App& app, PolicyKind& kind) {
  AddChoice(app, "--kind", kind,
            {{"classic", PolicyKind::kClassicBloom},
             {"standard", PolicyKind::kStandardBloom},
             {"exact_ribbon", PolicyKind::kExactRibbon}},
            kKindHelp)
      ->type_name("KIND");
}

void AddPlannedKind(CLI::App& app, PolicyKind& kind) {
  AddChoice(app, "--kind", kind,
            {{"classic", PolicyKind::kClassicBloom},
             {"standard", PolicyKind::kStandardBloom},
             {"exact_ribbon", PolicyKind::kExactRibbon},
             {"bloomfilter", PolicyKind::kRocksDBBloom}},
            std::string(kKindHelp) + "; bloomfilter: RocksDB's own Bloom filters")
      ->type_name("KIND");
}

void AddPaths(CLI::App& app, std::vector<std::string>& paths, const std::string& or_else = "") {
  app.add_option("PATH", paths,
                 "A database's directory, and behind it those of its db_paths" + or_else)
      ->required()
      ->type_name("");
}

void AddTables(CLI::App& app, std::vector<std::string>& paths) {
  AddPaths(app, paths, "; or table files (.sst)");
}

// CLI11 takes options in the order of their definitions, so the format is known before the file.
CLI::Option* AddLookups(CLI::App& app, Lookups& lookups, const std::string& by_default) {
  CLI::Option* format =
      AddChoice(app, "--key-format", lookups.format,
                {{"text", support::KeyFormat::kText}, {"hex", support::KeyFormat::kHex}},
                "Of --lookups: a key per line, or the same in hexadecimal digits")
          ->type_name("FORMAT");
  CLI::Option* file =
      app.add_option_function<std::string>(
             "--lookups",
             [&lookups](const std::string& path) {
               lookups.keys = support::ReadKeyFile(path, lookups.format);
             },
             "Absent keys as the program looks them up, one per line; - is standard input. "
             "Default: " +
                 by_default)
          ->type_name("FILE");
  format->needs(file);
  return file;
}

void AddRateOf(CLI::App& app, ExampleHelp& help, RateArguments& arguments) {
  CLI::App* rate = app.add_subcommand(
      "rate", "The exact false-positive rate of a filter, with the usual formula and the bounds");
  AddKind(*rate, arguments.kind);
  AddValue(*rate, "--m", arguments.bits, "Bits of the filter")->required();
  AddValue(*rate, "--n", arguments.keys,
           "Keys in it; not required with --ones, and with it how probable these are");
  AddValue(*rate, "--k", arguments.probes,
           "Probes of a key: the bits that it sets in a Bloom filter. Default: a line for each",
           Count(1, kMaxAnalysisProbes));
  AddValue(*rate, "--ones", arguments.ones,
           "Bits that are set in one Bloom filter: how many keys it has, and its own rate");
  AddValue(*rate, "--other-ones", arguments.other_ones,
           "With --ones and --union-ones, those of another filter: how many keys both share");
  AddValue(*rate, "--union-ones", arguments.union_ones, "Those of the bitwise OR of both");
  AddJson(*rate, arguments.json);
  help.AddExample("rate",
                  "exactbloom rate --m 64 --n 4 --k 9\n"
                  "exactbloom rate --m 64 --n 4\n"
                  "exactbloom rate --m 1e7 --k 7 --ones 5034145");
  rate->footer("");  // not that of the program
  rate->callback([&arguments] { RunRate(arguments); });
}

void AddPlan(CLI::App& app, ExampleHelp& help, PlanArguments& arguments) {
  CLI::App* plan =
      app.add_subcommand("plan", "The filter for a number of keys, by memory or by rate");
  AddPlannedKind(*plan, arguments.kind);
  AddValue(*plan, "--keys", arguments.keys, "Keys of the filter")->required();
  auto* wanted = plan->add_option_group("wanted", "What the filter may cost, or must achieve");
  AddValue(*wanted, "--bits-per-key", arguments.bits_per_key, "Filter bits per key", Number());
  AddValue(*wanted, "--fpr", arguments.rate, "The largest false-positive rate", Share(), "RATE");
  AddValue(*wanted, "--memory", arguments.memory_bytes, "Filter bytes, such as 64MB", Bytes(),
           "BYTES");
  wanted->require_option(1);
  AddJson(*plan, arguments.json);
  help.AddExample("plan",
                  "exactbloom plan --keys 1e6 --fpr 0.01\n"
                  "exactbloom plan --keys 1e6 --memory 64MB --kind exact_ribbon");
  plan->footer("");
  plan->callback([&arguments] { RunPlan(arguments); });
}

void AddInspect(CLI::App& app, ExampleHelp& help, InspectArguments& arguments) {
  CLI::App* inspect = app.add_subcommand(
      "inspect",
      "The filters of a database's tables: their kind, rate, fill, and whether they are used");
  AddTables(*inspect, arguments.paths);
  AddLookups(*inspect, arguments.lookups, "drawn as the stored keys are");
  inspect
      ->add_option("--column-family", arguments.column_family,
                   "Only this one, with its own levels. Default: all")
      ->type_name("NAME");
  AddChoice(*inspect, "--sort", arguments.sort,
            {{"name", SortKey::kName},
             {"wasted", SortKey::kWasted},
             {"keys", SortKey::kKeys},
             {"bits", SortKey::kBits},
             {"size", SortKey::kSize}},
            "The order of column families and tables: their names, or the largest first of wasted "
            "reads, keys, bits per key or size of filters")
      ->type_name("KEY");
  AddValue(*inspect, "--top", arguments.top, "Only so many column families, and tables", Count(1));
  inspect->add_flag("--tables", arguments.tables,
                    "With a line for each table; single files have it anyway");
  AddChoice(*inspect, "--fail-on", arguments.fails_on_unfiltered, {{"unfiltered", true}},
            "Exit with status 1 if a table with keys has no filter that lookups use")
      ->type_name("STATE");
  auto* json = AddJson(*inspect, arguments.json);
  auto* prometheus =
      inspect
          ->add_flag("--prometheus", arguments.prometheus,
                     "Print metrics in the text format of Prometheus, at most 1,000 series")
          ->excludes(json);
  inspect
      ->add_option("--html", arguments.html,
                   "Write a page for a browser into this file: sorted runs, what other memory "
                   "would give, advice and warnings")
      ->type_name("FILE")
      ->excludes(json, prometheus);
  help.AddExample("inspect",
                  "exactbloom inspect /var/lib/service/db\n"
                  "exactbloom inspect --tables --sort wasted --top 10 /var/lib/service/db");
  inspect->footer(
      R"("wasted per 1,000" counts the tables that 1,000 lookups of absent keys read in
vain, and "asked" those that one lookup asks. "given fill" is the rate of this
very filter, from the bits that are set in it. Terminals of more than 80 columns
show more columns; so does COLUMNS=200 in a pipe.)");
  inspect->callback([&arguments] { RunInspect(arguments); });
}

void AddVerify(CLI::App& app, ExampleHelp& help, VerifyArguments& arguments) {
  CLI::App* verify = app.add_subcommand(
      "verify", "Check every table's filter with all keys of the table, and with absent keys");
  AddTables(*verify, arguments.paths);
  auto* absent =
      AddValue(*verify, "--absent", arguments.absent, "Absent keys to ask of each table's filter")
          ->capture_default_str();
  auto* seed =
      AddValue(*verify, "--seed", arguments.seed, "Seed of the absent keys")->capture_default_str();
  AddLookups(*verify, arguments.lookups, "drawn, --absent of them")->excludes(absent, seed);
  AddValue(*verify, "--threads", arguments.threads, "Tables to read at a time",
           Count(1, VerifyArguments::kMostThreads))
      ->capture_default_str();
  AddJson(*verify, arguments.json);
  help.AddExample("verify",
                  "exactbloom verify /var/lib/service/db\n"
                  "exactbloom verify --absent 1e5 --threads 2 /var/lib/service/db");
  verify->footer(
      R"(A key that its filter denies is a false negative: lookups do not find it. Half
of the absent keys are present keys with one byte changed, half are random. The
interval is that of the measured rate.)");
  verify->callback([&arguments] { RunVerify(arguments); });
}

void AddOverlap(CLI::App& app, ExampleHelp& help, OverlapArguments& arguments) {
  CLI::App* overlap = app.add_subcommand(
      "overlap", "How many keys a compaction would drop, and how many bytes it would free");
  AddPaths(*overlap, arguments.paths);
  overlap
      ->add_option("--column-family", arguments.column_family,
                   "Only this one, with its own levels. Default: all")
      ->type_name("NAME");
  AddJson(*overlap, arguments.json);
  help.AddExample("overlap", "exactbloom overlap /var/lib/service/db");
  overlap->footer(
      R"(The runs are read from the newest to the oldest. A key that a newer one has is
obsolete: compactions drop it. Of more than two million keys a sample is
counted.)");
  overlap->callback([&arguments] { RunOverlap(arguments); });
}

void AddAdvise(CLI::App& app, ExampleHelp& help, AdviseArguments& arguments) {
  CLI::App* advise = app.add_subcommand(
      "advise", "The best filter setting for the same memory, and what it would change");
  advise
      ->add_option("PATH", arguments.paths,
                   "A database's directory; or its info logs (LOG, LOG.old.*), copied from a "
                   "machine where nothing can be installed")
      ->required()
      ->type_name("");
  AddValue(*advise, "--memory", arguments.memory_bytes,
           "Filter bytes of all column families, such as 64MB. Default: those of the present "
           "setting, or 10 bits per key",
           Bytes(), "BYTES");
  advise
      ->add_option("--column-family", arguments.column_family,
                   "Only this one, with what each setting would give. Default: all")
      ->type_name("NAME");
  AddLookups(*advise, arguments.lookups, "drawn as the stored keys are");
  AddValue(*advise, "--present", arguments.present,
           "The share of lookups that find their key. Default: by the counters of the LOG; without "
           "them all are taken to miss",
           Share(0.0, 1.0), "SHARE");
  advise->add_flag("--details", arguments.details,
                   "With what each setting gives, all ways to set it, and the warnings");
  AddJson(*advise, arguments.json);
  help.AddExample("advise",
                  "exactbloom advise /var/lib/service/db\n"
                  "exactbloom advise --present 0.99 --details /var/lib/service/db\n"
                  "exactbloom advise LOG LOG.old.*");
  advise->footer(
      R"(A lookup wastes a read for each filter that lets a key pass that its table
lacks. advise recommends one setting for all column families: the simplest
within 2% of the fewest reads, or RocksDB's ribbonfilter within 5%, if with the
present settings lookups read 1.1 times as many tables, or filters take 1.1
times the memory, both with all tables rewritten.)");
  advise->callback([&arguments] { RunAdvise(arguments); });
}

void AddCheck(CLI::App& app, ExampleHelp& help, CheckArguments& arguments) {
  CLI::App* check = app.add_subcommand(
      "check", "Whether RocksDB understands the filter policies of an OPTIONS file");
  check->add_option("FILE", arguments.path, "An OPTIONS file, or a database")
      ->required()
      ->type_name("");
  auto* registers = check->add_flag("--registers", arguments.registers,
                                    "The program registers ExactBloom's policies: it calls "
                                    "RegisterFilterPolicies(), is preloaded, or has the plugin");
  check->add_flag("--stock", arguments.stock, "The program does not: its RocksDB is the stock one")
      ->excludes(registers);
  check
      ->add_option("--known-listener", arguments.known_listeners,
                   "A listener of the program's own, of which nothing is then said; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME");
  AddJson(*check, arguments.json);
  help.AddExample("check",
                  "exactbloom check /var/lib/service/db\n"
                  "exactbloom check --registers OPTIONS");
  check->footer(
      R"(RocksDB reads an OPTIONS file without an error where it does not know the filter
policy, and then writes tables without filters. Each such line, and each that
RocksDB ignores or changes for another reason, is named here, with what was
probably meant.

Exit status: 0, in order; 1, problems; 3, in order if the program registers
ExactBloom's policies, which the file names, and neither --registers nor --stock
says whether it does.)");
  check->callback([&arguments] { RunCheck(arguments); });
}

int Main(int argc, char** argv) {
  CLI::App app("Exact false-positive rates of Bloom filters, and the filters of RocksDB databases.",
               "exactbloom");
  const auto help = std::make_shared<ExampleHelp>();
  app.formatter(help);
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", fmt::format("{} (RocksDB {})", EXACTBLOOM_VERSION,
                                                   rocksdb::GetRocksVersionAsString()));
  app.footer(R"(Begin with
    exactbloom inspect DB           which filters this database has
    exactbloom advise DB            the best setting for the same memory
    exactbloom SUBCOMMAND --help    an example, and the options

Whole numbers may be written as 1000000 or 1e6, rates as 0.01 or 1%.
Exit status: 0, answered; 1, answered, and something in the database is wrong;
2, the question has no answer or is not understood; 3, of check: right only if
the program registers ExactBloom's policies. SIGINT and SIGTERM end it: a shell
shows 130 and 143.)");
  RateArguments rate;
  PlanArguments plan;
  InspectArguments inspect;
  VerifyArguments verify;
  OverlapArguments overlap;
  AdviseArguments advise;
  CheckArguments check;
  AddInspect(app, *help, inspect);
  AddAdvise(app, *help, advise);
  AddCheck(app, *help, check);
  AddVerify(app, *help, verify);
  AddOverlap(app, *help, overlap);
  AddRateOf(app, *help, rate);
  AddPlan(app, *help, plan);
  // "help" and "help inspect" are other words for "--help" and "inspect --help".
  char option[] = "--help";
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    if (argc > 2) argv[1] = argv[2];
    argv[argc > 2 ? 2 : 1] = option;
  }
  return support::RunProgram(app, argc, argv, [] {});  // the subcommand runs when it is parsed
}

}  // namespace
}  // namespace exactbloom::tool

int main(int argc, char** argv) { return exactbloom::tool::Main(argc, argv); }
