#include "benchmark_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "exactbloom/version.h"
#include "machine.h"
#include "tool/support/text_table.h"

namespace exactbloom::filter_benchmark {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ComparisonRow, layout, kernel, bits_per_key, keys, operation,
                                   peer, peer_nanoseconds, peer_rate, ratio_median, ratio_low,
                                   ratio_high, rate_measured, rate_exact)

namespace {

using support::Cells;
using Rows = std::vector<ComparisonRow>;

std::string Percent(double rate) { return fmt::format("{:.4g}%", 100.0 * rate); }

// The rows from `first` on that are alike in these members.
template <typename... Members>
Rows RowsLike(Rows::const_iterator first, Rows::const_iterator end, Members... members) {
  const auto other = std::find_if(first, end, [&](const ComparisonRow& row) {
    return std::tie(row.*members...) != std::tie((*first).*members...);
  });
  return {first, other};
}

// A cell for each operation, "-" for builds that were not measured, and the rates behind them.
template <typename CellOf>
Cells CellsOf(Cells cells, const Rows& rows, const CellOf& cell_of, const Cells& rates) {
  for (const Operation& operation : kOperations) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const ComparisonRow& any) {
      return any.operation == operation.name;
    });
    cells.push_back(row == rows.end() ? "-" : cell_of(*row));
  }
  cells.insert(cells.end(), rates.begin(), rates.end());
  return cells;
}

std::string RatioCell(const ComparisonRow& row) {
  return fmt::format("{:.2f} ({:.2f}-{:.2f}){}", row.ratio_median, row.ratio_low, row.ratio_high,
                     row.ratio_low > 1.0 ? "*" : " ");
}

// Of one peer and size.
std::string RatioTable(const Rows& rows) {
  const ComparisonRow& first = rows.front();
  const auto name = [](const ComparisonRow& row) { return row.operation + " "; };
  const auto peer_time = [](const ComparisonRow& row) {
    return fmt::format("{:.1f} ", row.peer_nanoseconds);
  };
  support::TextTable text(
      CellsOf({"layout", "kernel"}, rows, name, {"measured", "exact", "/peer"}));
  text.AddRow(
      CellsOf({first.peer, "ns/key"}, rows, peer_time, {Percent(first.peer_rate), "-", "1"}));
  for (auto row = rows.begin(); row != rows.end();) {
    const Rows line = RowsLike(row, rows.end(), &ComparisonRow::layout);
    text.AddRow(CellsOf(
        {row->layout, row->kernel}, line, RatioCell,
        {Percent(row->rate_measured), Percent(row->rate_exact),
         row->peer_rate > 0.0 ? fmt::format("{:.2f}", row->rate_measured / row->peer_rate) : "-"}));
    row += static_cast<std::ptrdiff_t>(line.size());
  }
  return fmt::format("Ratio of time to {}: {} keys, {:g} bits per key\n{}\n", first.peer,
                     first.keys, first.bits_per_key, text.Format());
}

}  // namespace

std::string BenchmarkReport::Text() const {
  std::string text = fmt::format(
      "ExactBloom {} filter_benchmark, RocksDB {}, compiler {}\n{}\n{}\n\n"
      "Every filter is called through RocksDB's virtual functions and begins {} bytes behind the "
      "start of a\ncache line. A ratio is the median of {} interleaved repetitions, followed by "
      "their quartiles. Below 1\nExactBloom is faster; * marks where both quartiles are above 1. "
      "Builds of many keys have fewer\nrepetitions. Every exact rate lies in the 99.9% interval of "
      "the measured one.\n\n",
      EXACTBLOOM_VERSION, RocksDBVersion(), __VERSION__, DescribeCpu(), command, block_offset,
      repetitions);
  if (!missing_peer.empty()) {
    text += fmt::format("FastLocalBloom with AVX2 is not compared: {}.\n\n", missing_peer);
  }
  for (auto row = rows.begin(); row != rows.end();) {
    const Rows table = RowsLike(row, rows.end(), &ComparisonRow::peer, &ComparisonRow::keys,
                                &ComparisonRow::bits_per_key);
    text += RatioTable(table);
    row += static_cast<std::ptrdiff_t>(table.size());
  }
  return text;
}

nlohmann::json BenchmarkReport::Json() const { return rows; }

}  // namespace exactbloom::filter_benchmark
