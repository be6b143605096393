// exactbloom table: exact rates over ranges of bits per key and k.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "arguments.h"
#include "commands.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"

namespace exactbloom::tool {
namespace {

constexpr int kMostRows = 10'000;

struct TableArguments {
  LayoutArguments layout;
  std::uint64_t keys = 1'000'000;
  std::vector<double> bits_per_key = {4, 20, 1};
  std::vector<int> probes = {1, 14};
  std::string format = "text";
};

struct Row {
  double bits_per_key = 0.0;
  std::uint64_t bits = 0;
  int best = 0;
  std::vector<double> rates;  // by k; NaN where k is impossible
};

void Check(const TableArguments& a) {
  if (a.keys < 1 || a.keys > 1'000'000'000'000) {
    throw InvalidInput(fmt::format("--keys {}: must be 1 to 1e12", a.keys));
  }
  const double from = a.bits_per_key[0];
  const double to = a.bits_per_key[1];
  const double step = a.bits_per_key[2];
  if (!(from > 0.0 && from <= to && to <= kMaxBitsPerKey && step > 0.0 &&
        (to - from) / step < kMostRows)) {
    throw InvalidInput(
        fmt::format("--bits-per-key {},{},{}: must be FROM,TO,STEP with 0 < FROM <= TO <= {} and "
                    "at most {} steps",
                    from, to, step, kMaxBitsPerKey, kMostRows));
  }
  if (!(a.probes[0] >= 1 && a.probes[0] <= a.probes[1] && a.probes[1] <= kMaxProbes)) {
    throw InvalidInput(fmt::format("--k {},{}: must be FROM,TO with 1 <= FROM <= TO <= {}",
                                   a.probes[0], a.probes[1], kMaxProbes));
  }
  if (a.format != "text" && a.format != "csv" && a.format != "json") {
    throw InvalidInput(fmt::format("--format '{}': must be text, csv or json", a.format));
  }
}

std::vector<Row> Rows(const TableArguments& a, Layout layout) {
  const auto unit = static_cast<double>(BitGranularity(layout));
  const auto keys = static_cast<double>(a.keys);
  const double fewest = layout.lines == 2 ? 2.0 : 1.0;
  std::vector<Row> rows;
  for (int i = 0;; ++i) {
    Row row;
    row.bits_per_key = a.bits_per_key[0] + i * a.bits_per_key[2];
    if (row.bits_per_key > a.bits_per_key[1] * (1.0 + 1e-12)) break;
    const double units = std::max(fewest, std::round(row.bits_per_key * keys / unit));
    row.bits = static_cast<std::uint64_t>(units * unit);
    row.best = OptimalProbes(layout, row.bits, a.keys);
    for (int k = a.probes[0]; k <= a.probes[1]; ++k) {
      row.rates.push_back(FalsePositiveRate(layout, row.bits, a.keys, k));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void PrintText(const TableArguments& a, const std::vector<Row>& rows) {
  fmt::print("exact rates, {} filter of {} keys, lines = {}; * the best k\n\n{:>8}", a.layout.kind,
             a.keys, a.layout.lines, "bits/key");
  for (int k = a.probes[0]; k <= a.probes[1]; ++k) fmt::print(" {:>10}", fmt::format("k={} ", k));
  fmt::print("\n");
  for (const Row& row : rows) {
    fmt::print("{:>8.6g}", row.bits_per_key);
    int k = a.probes[0];
    for (const double rate : row.rates) {
      const std::string text = std::isnan(rate) ? "-" : fmt::format("{:.3g}", rate);
      fmt::print(" {:>9}{}", text, k++ == row.best ? '*' : ' ');
    }
    fmt::print("\n");
  }
}

void PrintCsv(const TableArguments& a, const std::vector<Row>& rows) {
  fmt::print("bits_per_key,m,n,k,exact,asymptotic,optimal_k\n");
  for (const Row& row : rows) {
    int k = a.probes[0] - 1;
    for (const double rate : row.rates) {
      ++k;
      if (std::isnan(rate)) continue;
      fmt::print("{:.10g},{},{},{},{:.15g},{:.15g},{}\n", row.bits_per_key, row.bits, a.keys, k,
                 rate, AsymptoticFalsePositiveRate(row.bits, a.keys, k), row.best);
    }
  }
}

void PrintJson(const TableArguments& a, const std::vector<Row>& rows) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    int k = a.probes[0] - 1;
    for (const double rate : row.rates) {
      ++k;
      if (std::isnan(rate)) continue;
      out.push_back({{"bits_per_key", row.bits_per_key},
                     {"m", row.bits},
                     {"n", a.keys},
                     {"k", k},
                     {"exact", rate},
                     {"asymptotic", AsymptoticFalsePositiveRate(row.bits, a.keys, k)},
                     {"optimal_k", row.best}});
    }
  }
  fmt::print("{}\n", out.dump(2));
}

void Run(const TableArguments& a) {
  const Layout layout = a.layout.Get();
  Check(a);
  const std::vector<Row> rows = Rows(a, layout);
  if (a.format == "csv") {
    PrintCsv(a, rows);
  } else if (a.format == "json") {
    PrintJson(a, rows);
  } else {
    PrintText(a, rows);
  }
}

}  // namespace

void AddTableCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("table", "Exact rates over ranges of bits per key and k");
  auto arguments = std::make_shared<TableArguments>();
  arguments->layout.AddTo(*command);
  command->add_option("--keys", arguments->keys, "keys of the filter")
      ->check(RefuseNegative)
      ->capture_default_str();
  command->add_option("--bits-per-key", arguments->bits_per_key, "FROM,TO,STEP")
      ->delimiter(',')
      ->expected(3)
      ->capture_default_str();
  command->add_option("--k", arguments->probes, "FROM,TO")
      ->delimiter(',')
      ->expected(2)
      ->capture_default_str();
  command->add_option("--format", arguments->format, "text, csv or json")->capture_default_str();
  command->add_flag_callback(
      "--json", [arguments] { arguments->format = "json"; }, "the same as --format json");
  command->callback([arguments] { Run(*arguments); });
}

}  // namespace exactbloom::tool
