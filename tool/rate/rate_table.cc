// exactbloom table: exact rates over ranges of bits per key and of probes.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "tool/output.h"
#include "tool/subcommands.h"
#include "tool/support/errors.h"
#include "tool/support/text_table.h"

namespace exactbloom::tool {
namespace {

struct RateRow {
  double bits_per_key = 0.0;
  std::uint64_t bits = 0;
  int optimal_probes = 0;
  std::vector<double> rates;  // one for each number of probes; NaN if there is no such filter
};

constexpr double kMostCells = 1e6;

void CheckTable(const RateTableArguments& arguments) {
  const auto refuse = [](const std::string& what) { throw support::InputError(what); };
  if (arguments.keys < 1) refuse("--keys is 0, but a table needs at least one key");
  if (!(arguments.step > 0.0))
    refuse(fmt::format("--step is {}, but must be above 0", arguments.step));
  if (!(arguments.least_bits_per_key > 0.0) || !(arguments.most_bits_per_key <= kMaxBitsPerKey) ||
      arguments.least_bits_per_key > arguments.most_bits_per_key) {
    refuse(fmt::format("--from {} --to {} is not a range within 0 .. {} bits per key",
                       arguments.least_bits_per_key, arguments.most_bits_per_key, kMaxBitsPerKey));
  }
  if (arguments.least_probes < 1 || arguments.most_probes > kMaxProbes ||
      arguments.least_probes > arguments.most_probes) {
    refuse(fmt::format("--least-k {} --most-k {} is not a range within 1 .. {} probes",
                       arguments.least_probes, arguments.most_probes, kMaxProbes));
  }
  const double rows =
      (arguments.most_bits_per_key - arguments.least_bits_per_key) / arguments.step + 1.0;
  if (rows * (arguments.most_probes - arguments.least_probes + 1) > kMostCells) {
    refuse(fmt::format("--step {} makes a table of more than {:.0f} rates", arguments.step,
                       kMostCells));
  }
}

std::vector<RateRow> MakeRows(const RateTableArguments& arguments) {
  std::vector<RateRow> rows;
  constexpr double kRounding = 1e-9;  // steps such as 0.1 do not add up to the end exactly
  for (int i = 0;; ++i) {
    RateRow row;
    row.bits_per_key = arguments.least_bits_per_key + i * arguments.step;
    if (row.bits_per_key > arguments.most_bits_per_key + kRounding) return rows;
    const auto grain = static_cast<double>(arguments.layout.Granularity());
    const double wanted = row.bits_per_key * static_cast<double>(arguments.keys);
    row.bits = static_cast<std::uint64_t>(std::ceil(wanted / grain - kRounding) * grain);
    row.optimal_probes = OptimalProbes(arguments.layout, row.bits, arguments.keys);
    for (int k = arguments.least_probes; k <= arguments.most_probes; ++k) {
      row.rates.push_back(FalsePositiveRate(arguments.layout, row.bits, arguments.keys, k));
    }
    rows.push_back(std::move(row));
  }
}

void PrintRatesAsText(const RateTableArguments& arguments, const std::vector<RateRow>& rows) {
  support::Cells header = {"bits/key", "best k", "at best k"};
  for (int k = arguments.least_probes; k <= arguments.most_probes; ++k) {
    header.push_back(fmt::format("k={}", k));
  }
  support::TextTable table(header);
  for (const RateRow& row : rows) {
    const double best =
        FalsePositiveRate(arguments.layout, row.bits, arguments.keys, row.optimal_probes);
    support::Cells cells = {fmt::format("{:g}", row.bits_per_key), row.optimal_probes,
                            fmt::format("{:.3e}", best)};
    for (const double rate : row.rates) {
      cells.push_back(std::isnan(rate) ? "-" : fmt::format("{:.3e}", rate));
    }
    table.AddRow(std::move(cells));
  }
  fmt::print("Exact false-positive rates, {}, {} keys\n\n{}", Describe(arguments.layout),
             arguments.keys, table.Format());
}

void PrintRatesAsJson(const RateTableArguments& arguments, const std::vector<RateRow>& rows) {
  nlohmann::json document = nlohmann::json::array();
  for (const RateRow& row : rows) {
    nlohmann::json rates = nlohmann::json::object();
    for (std::size_t i = 0; i < row.rates.size(); ++i) {
      rates[std::to_string(arguments.least_probes + static_cast<int>(i))] = row.rates[i];
    }
    document.push_back({{"bits_per_key", row.bits_per_key},
                        {"m", row.bits},
                        {"n", arguments.keys},
                        {"optimal_k", row.optimal_probes},
                        {"rates", rates}});
  }
  PrintJson(document);
}

}  // namespace

void RunRateTable(const RateTableArguments& arguments) {
  CheckTable(arguments);
  const std::vector<RateRow> rows = MakeRows(arguments);
  if (arguments.json) return PrintRatesAsJson(arguments, rows);
  PrintRatesAsText(arguments, rows);
}

}  // namespace exactbloom::tool
