#include "benchmark_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "exactbloom/version.h"
#include "machine.h"
#include "tool/support/text_table.h"

namespace exactbloom::filter_benchmark {
namespace {

using support::Cells;
using support::TextTable;

std::string Percent(double rate) { return fmt::format("{:.4g}%", 100.0 * rate); }

std::string RatioCell(const std::optional<Comparison>& measured) {
  if (!measured) return "-";
  return fmt::format("{:.2f} ({:.2f}-{:.2f}){}", measured->ratio_median, measured->ratio_low,
                     measured->ratio_high, measured->ratio_low > 1.0 ? "*" : " ");
}

std::string RatioTable(const PeerTable& table, const std::vector<Operation>& operations) {
  Cells header = {"layout", "kernel"};
  Cells peer_cells = {table.peer, "ns/key"};
  for (std::size_t i = 0; i < operations.size(); ++i) {
    header.push_back(fmt::format("{} ", operations[i].name));
    const auto& measured = table.rows.front().comparisons[i];
    peer_cells.push_back(measured ? fmt::format("{:.1f} ", measured->peer_nanoseconds) : "-");
  }
  header.insert(header.end(), {"measured", "exact", "/peer"});
  peer_cells.insert(peer_cells.end(), {Percent(table.peer_rate), "-", "1"});
  TextTable text(header);
  text.AddRow(peer_cells);
  for (const ComparisonRow& row : table.rows) {
    Cells cells = {row.layout, row.kernel};
    for (const auto& comparison : row.comparisons) cells.push_back(RatioCell(comparison));
    cells.insert(
        cells.end(),
        {Percent(row.rate_measured), Percent(row.rate_exact),
         table.peer_rate > 0.0 ? fmt::format("{:.2f}", row.rate_measured / table.peer_rate) : "-"});
    text.AddRow(cells);
  }
  return fmt::format("Ratio of time to {}: {} keys, {:g} bits per key\n{}\n", table.peer,
                     table.keys, table.bits_per_key, text.Format());
}

std::string Header(const BenchmarkReport& report) {
  std::string text = fmt::format(
      "ExactBloom {} filter_benchmark, RocksDB {}, compiler {}\n{}\nkernels: {}\n{}\n\n"
      "Every filter is called through RocksDB's virtual functions and begins {} bytes behind the "
      "start "
      "of a\ncache line. A ratio is the median of {} interleaved repetitions, followed by their "
      "quartiles. Below 1\nExactBloom is faster; * marks where both quartiles are above 1. Builds "
      "of "
      "many keys have fewer\nrepetitions. Every exact rate lies in the 99.9% interval of the "
      "measured "
      "one.\n\n",
      EXACTBLOOM_VERSION, RocksDBVersion(), __VERSION__, DescribeCpu(),
      fmt::join(report.kernels, " "), report.command, report.block_offset, report.repetitions);
  if (!report.missing_peer.empty()) {
    text += fmt::format("FastLocalBloom with AVX2 is not compared: {}.\n\n", report.missing_peer);
  }
  return text;
}

}  // namespace

std::string BenchmarkReport::Text() const {
  std::string text = Header(*this);
  for (const PeerTable& table : tables) text += RatioTable(table, operations);
  return text;
}

nlohmann::json BenchmarkReport::Json() const {
  nlohmann::json results = nlohmann::json::array();
  for (const PeerTable& table : tables) {
    for (const ComparisonRow& row : table.rows) {
      for (std::size_t i = 0; i < operations.size(); ++i) {
        if (!row.comparisons[i]) continue;
        results.push_back({{"layout", row.layout},
                           {"kernel", row.kernel},
                           {"bits_per_key", table.bits_per_key},
                           {"keys", table.keys},
                           {"operation", operations[i].name},
                           {"peer", table.peer},
                           {"peer_nanoseconds", row.comparisons[i]->peer_nanoseconds},
                           {"peer_rate", table.peer_rate},
                           {"ratio_median", row.comparisons[i]->ratio_median},
                           {"ratio_low", row.comparisons[i]->ratio_low},
                           {"ratio_high", row.comparisons[i]->ratio_high},
                           {"rate_measured", row.rate_measured},
                           {"rate_exact", row.rate_exact}});
      }
    }
  }
  return results;
}

}  // namespace exactbloom::filter_benchmark
