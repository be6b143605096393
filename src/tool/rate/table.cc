// exactbloom table: exact rates over ranges of bits per key and of probes.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "support/errors.h"
#include "support/text_table.h"
#include "tool/arguments.h"
#include "tool/output.h"
#include "tool/subcommands.h"

namespace exactbloom::tool {
namespace {

enum class Format { kText, kCsv, kJson };

struct Question {
  Layout layout;
  std::uint64_t keys = 1'000'000;
  double least_bits_per_key = 4.0;
  double most_bits_per_key = 20.0;
  double step = 1.0;
  int least_probes = 1;
  int most_probes = 12;
  bool csv = false;
  bool json = false;

  Format OutputFormat() const {
    return json ? Format::kJson : (csv ? Format::kCsv : Format::kText);
  }
};

struct Row {
  double bits_per_key = 0.0;
  std::uint64_t bits = 0;
  int optimal_probes = 0;
  std::vector<double> rates;  // one for each number of probes; NaN where there is no such filter
};

constexpr double kMostCells = 1e6;

void Check(const Question& question) {
  const auto refuse = [](const std::string& what) { throw support::InputError(what); };
  if (question.keys < 1) refuse("--keys is 0, but a table needs at least one key");
  if (!(question.step > 0.0))
    refuse(fmt::format("--step is {}, but must be above 0", question.step));
  if (!(question.least_bits_per_key > 0.0) || !(question.most_bits_per_key <= kMaxBitsPerKey) ||
      question.least_bits_per_key > question.most_bits_per_key) {
    refuse(fmt::format("--from {} --to {} is not a range within 0 .. {} bits per key",
                       question.least_bits_per_key, question.most_bits_per_key, kMaxBitsPerKey));
  }
  if (question.least_probes < 1 || question.most_probes > kMaxProbes ||
      question.least_probes > question.most_probes) {
    refuse(fmt::format("--least-k {} --most-k {} is not a range within 1 .. {} probes",
                       question.least_probes, question.most_probes, kMaxProbes));
  }
  const double rows =
      (question.most_bits_per_key - question.least_bits_per_key) / question.step + 1.0;
  if (rows * (question.most_probes - question.least_probes + 1) > kMostCells) {
    refuse(fmt::format("--step {} makes a table of more than {:.0f} rates", question.step,
                       kMostCells));
  }
}

std::vector<Row> MakeRows(const Question& question) {
  std::vector<Row> rows;
  constexpr double kRounding = 1e-9;  // steps such as 0.1 do not add up to the end exactly
  for (int i = 0;; ++i) {
    Row row;
    row.bits_per_key = question.least_bits_per_key + i * question.step;
    if (row.bits_per_key > question.most_bits_per_key + kRounding) return rows;
    const auto grain = static_cast<double>(BitGranularity(question.layout));
    const double wanted = row.bits_per_key * static_cast<double>(question.keys);
    row.bits = static_cast<std::uint64_t>(std::ceil(wanted / grain - kRounding) * grain);
    row.optimal_probes = OptimalProbes(question.layout, row.bits, question.keys);
    for (int k = question.least_probes; k <= question.most_probes; ++k) {
      row.rates.push_back(FalsePositiveRate(question.layout, row.bits, question.keys, k));
    }
    rows.push_back(std::move(row));
  }
}

void PrintText(const Question& question, const std::vector<Row>& rows) {
  std::vector<std::string> header = {"bits/key", "best k", "at best k"};
  for (int k = question.least_probes; k <= question.most_probes; ++k) {
    header.push_back(fmt::format("k={}", k));
  }
  support::TextTable table(header);
  for (const Row& row : rows) {
    const double best =
        FalsePositiveRate(question.layout, row.bits, question.keys, row.optimal_probes);
    std::vector<std::string> cells = {fmt::format("{:g}", row.bits_per_key),
                                      fmt::format("{}", row.optimal_probes),
                                      fmt::format("{:.3e}", best)};
    for (const double rate : row.rates) {
      cells.push_back(std::isnan(rate) ? "-" : fmt::format("{:.3e}", rate));
    }
    table.AddRow(std::move(cells));
  }
  fmt::print("Exact false-positive rates, {}, {} keys\n\n{}", Describe(question.layout),
             question.keys, table.Format());
}

void PrintCsv(const Question& question, const std::vector<Row>& rows) {
  fmt::print("bits_per_key,m,n,k,rate,optimal_k\n");
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.rates.size(); ++i) {
      if (std::isnan(row.rates[i])) continue;
      fmt::print("{:g},{},{},{},{:.17g},{}\n", row.bits_per_key, row.bits, question.keys,
                 question.least_probes + static_cast<int>(i), row.rates[i], row.optimal_probes);
    }
  }
}

void PrintRowsAsJson(const Question& question, const std::vector<Row>& rows) {
  nlohmann::json document = nlohmann::json::array();
  for (const Row& row : rows) {
    nlohmann::json rates = nlohmann::json::object();
    for (std::size_t i = 0; i < row.rates.size(); ++i) {
      rates[std::to_string(question.least_probes + static_cast<int>(i))] = Number(row.rates[i]);
    }
    document.push_back({{"bits_per_key", row.bits_per_key},
                        {"m", row.bits},
                        {"n", question.keys},
                        {"optimal_k", row.optimal_probes},
                        {"rates", rates}});
  }
  PrintJson(document);
}

void Run(const Question& question) {
  Check(question);
  const std::vector<Row> rows = MakeRows(question);
  switch (question.OutputFormat()) {
    case Format::kText:
      return PrintText(question, rows);
    case Format::kCsv:
      return PrintCsv(question, rows);
    case Format::kJson:
      return PrintRowsAsJson(question, rows);
  }
}

}  // namespace

void AddTable(CLI::App& app) {
  auto question = std::make_shared<Question>();
  CLI::App* table =
      app.add_subcommand("table", "Exact rates over ranges of bits per key and of probes");
  AddLayout(*table, question->layout);
  AddCount(*table, "--keys", question->keys, "Keys in each filter")->capture_default_str();
  table->add_option("--from", question->least_bits_per_key, "The fewest bits per key")
      ->capture_default_str();
  table->add_option("--to", question->most_bits_per_key, "The most bits per key")
      ->capture_default_str();
  table->add_option("--step", question->step, "Between two rows")->capture_default_str();
  table->add_option("--least-k", question->least_probes, "The fewest probes")
      ->capture_default_str();
  table->add_option("--most-k", question->most_probes, "The most probes")->capture_default_str();
  auto* csv = table->add_flag("--csv", question->csv, "Print comma-separated values");
  table->add_flag("--json", question->json, "Print JSON")->excludes(csv);
  table->footer("Example: exactbloom table --keys 1000 --from 8 --to 12 --step 0.5 --csv");
  table->callback([question] { Run(*question); });
}

}  // namespace exactbloom::tool
