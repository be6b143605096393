#include "benchmark_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "exactbloom/version.h"
#include "support/machine.h"
#include "support/text_table.h"

namespace exactbloom::filter_benchmark {
namespace {

using support::TextTable;

// The results in one table: those with one peer and one size of filter.
using TableKey = std::tuple<std::string, std::uint64_t, double>;
// A row of it: a layout and a kernel.
using RowKey = std::pair<std::string, std::string>;

std::string Rate(double rate) { return fmt::format("{:.4g}%", 100.0 * rate); }

const Result* Find(const std::vector<const Result*>& results, Operation operation) {
  for (const Result* result : results) {
    if (result->operation == operation) return result;
  }
  return nullptr;
}

std::string RatioCell(const Result* result) {
  if (result == nullptr) return "-";
  const Comparison& measured = result->comparison;
  return fmt::format("{:.2f} ({:.2f}-{:.2f}){}", measured.ratio_median, measured.ratio_low,
                     measured.ratio_high, measured.ratio_median > 1.0 ? "*" : " ");
}

std::vector<std::string> PeerCells(const std::vector<const Result*>& first_row) {
  std::vector<std::string> cells = {first_row.front()->peer, "ns/key"};
  for (const Operation operation : kOperations) {
    const Result* result = Find(first_row, operation);
    cells.push_back(
        result == nullptr ? "-" : fmt::format("{:.1f} ", result->comparison.peer_nanoseconds));
  }
  cells.insert(cells.end(), {Rate(first_row.front()->peer_rate_measured), "-", "1"});
  return cells;
}

std::vector<std::string> OurCells(const std::vector<const Result*>& row) {
  const Result& first = *row.front();
  std::vector<std::string> cells = {first.layout, first.kernel};
  for (const Operation operation : kOperations) cells.push_back(RatioCell(Find(row, operation)));
  cells.push_back(Rate(first.rate_measured));
  cells.push_back(Rate(first.rate_exact));
  cells.push_back(first.peer_rate_measured > 0.0
                      ? fmt::format("{:.2f}", first.rate_measured / first.peer_rate_measured)
                      : "-");
  return cells;
}

std::string RatioTable(const TableKey& key, const std::vector<const Result*>& results) {
  std::vector<std::string> header = {"layout", "kernel"};
  for (const Operation operation : kOperations) header.push_back(Name(operation) + " ");
  header.insert(header.end(), {"measured", "exact", "/peer"});
  TextTable table(header);

  std::vector<RowKey> order;
  std::map<RowKey, std::vector<const Result*>> rows;
  for (const Result* result : results) {
    auto& row = rows[{result->layout, result->kernel}];
    if (row.empty()) order.emplace_back(result->layout, result->kernel);
    row.push_back(result);
  }
  table.AddRow(PeerCells(rows[order.front()]));
  for (const RowKey& row : order) table.AddRow(OurCells(rows[row]));
  return fmt::format("Ratio of time to {}: {} keys, {:g} bits per key\n{}\n", std::get<0>(key),
                     std::get<1>(key), std::get<2>(key), table.Format());
}

std::string RateTable(const std::vector<RateRow>& rates) {
  TextTable table({"filter", "keys", "bits/key", "bytes*8/key", "absent queries", "false pos.",
                   "measured", "exact"});
  for (const RateRow& row : rates) {
    table.AddRow({row.name, fmt::format("{}", row.keys), fmt::format("{:g}", row.bits_per_key),
                  fmt::format("{:.3f}",
                              8.0 * static_cast<double>(row.bytes) / static_cast<double>(row.keys)),
                  fmt::format("{}", row.rate.absent_queries),
                  fmt::format("{}", row.rate.false_positives), Rate(row.rate.Rate()),
                  row.rate.exact ? Rate(row.rate.exact->mean) : "-"});
  }
  return "False-positive rates; every exact one lies in the 99.9% interval of the measured one\n" +
         table.Format() + "\n";
}

// For each peer, in how many comparisons it is faster, and in how many it has the lower rate.
std::string PeersThatWin(const std::vector<Result>& results) {
  std::vector<std::string> order;
  struct Wins {
    int time = 0;
    int rate = 0;
    int of = 0;
  };
  std::map<std::string, Wins> wins;
  for (const Result& result : results) {
    Wins& count = wins[result.peer];
    if (count.of == 0) order.push_back(result.peer);
    count.time += result.comparison.ratio_median > 1.0 ? 1 : 0;
    count.rate += result.rate_measured > result.peer_rate_measured ? 1 : 0;
    ++count.of;
  }
  std::string text;
  for (const std::string& peer : order) {
    const Wins& count = wins[peer];
    text += fmt::format(
        "{} is faster in {} of {} comparisons (marked with *) and has the lower rate in {}.\n",
        peer, count.time, count.of, count.rate);
  }
  return text;
}

std::string Header(const Report& report) {
  std::string text = fmt::format(
      "ExactBloom {} filter_benchmark, RocksDB {}, compiler {}\n{}\nkernels:", EXACTBLOOM_VERSION,
      support::RocksDBVersion(), __VERSION__, support::DescribeCpu());
  for (const std::string& kernel : report.kernels) text += " " + kernel;
  text += fmt::format(
      "\n{}\n\nEvery filter is called through RocksDB's virtual functions, as RocksDB calls it, "
      "and "
      "lies {} bytes\nbehind the start of a cache line. A ratio is the median of {} interleaved "
      "repetitions, followed by their\nmiddle half; below 1 ExactBloom is faster. Builds of many "
      "keys "
      "have fewer repetitions.\n\n",
      report.command, report.block_offset, report.repetitions);
  if (!report.missing_peer.empty()) {
    text += fmt::format("FastLocalBloom with AVX2 is not compared: {}.\n\n", report.missing_peer);
  }
  return text;
}

}  // namespace

std::string Report::Text() const {
  std::string text = Header(*this);
  if (!fixed_costs.empty()) text += fixed_costs + "\n";
  text += RateTable(rates);
  std::vector<TableKey> order;
  std::map<TableKey, std::vector<const Result*>> tables;
  for (const Result& result : results) {
    const TableKey key{result.peer, result.keys, result.bits_per_key};
    if (tables[key].empty()) order.push_back(key);
    tables[key].push_back(&result);
  }
  std::stable_sort(order.begin(), order.end(), [](const TableKey& a, const TableKey& b) {
    return std::get<0>(a) < std::get<0>(b);
  });
  for (const TableKey& key : order) text += RatioTable(key, tables[key]);
  return text + PeersThatWin(results);
}

nlohmann::json Report::Json() const {
  nlohmann::json rows = nlohmann::json::array();
  for (const Result& result : results) {
    rows.push_back({{"layout", result.layout},
                    {"kernel", result.kernel},
                    {"bits_per_key", result.bits_per_key},
                    {"keys", result.keys},
                    {"operation", Name(result.operation)},
                    {"peer", result.peer},
                    {"ratio_median", result.comparison.ratio_median},
                    {"ratio_low", result.comparison.ratio_low},
                    {"ratio_high", result.comparison.ratio_high},
                    {"rate_measured", result.rate_measured},
                    {"rate_exact", result.rate_exact}});
  }
  return rows;
}

}  // namespace exactbloom::filter_benchmark
