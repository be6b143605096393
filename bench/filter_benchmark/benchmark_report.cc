#include "benchmark_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "exactbloom/version.h"
#include "support/machine.h"
#include "support/text_table.h"

namespace exactbloom::filter_benchmark {
namespace {

using support::Cells;
using support::TextTable;

std::string Percent(double rate) { return fmt::format("{:.4g}%", 100.0 * rate); }

std::string RatioCell(const std::optional<Comparison>& measured) {
  if (!measured) return "-";
  return fmt::format("{:.2f} ({:.2f}-{:.2f}){}", measured->ratio_median, measured->ratio_low,
                     measured->ratio_high,
                     VerdictOf(*measured) == Verdict::kPeerFaster ? "*" : " ");
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

std::string RateTable(const std::vector<RateRow>& rates) {
  TextTable table({"filter", "keys", "bits/key", "bytes*8/key", "absent queries", "false pos.",
                   "measured", "exact"});
  for (const RateRow& row : rates) {
    table.AddRow({row.design, row.keys, fmt::format("{:g}", row.bits_per_key),
                  fmt::format("{:.3f}",
                              8.0 * static_cast<double>(row.bytes) / static_cast<double>(row.keys)),
                  row.rate.absent_queries, row.rate.false_positives, Percent(row.rate.Rate()),
                  row.rate.exact ? Percent(row.rate.exact->mean) : "-"});
  }
  return "False-positive rates; every exact one lies in the 99.9% interval of the measured one\n" +
         table.Format() + "\n";
}

// Counts of comparisons.
struct Score {
  int peer_faster = 0;
  int level = 0;
  int ours_faster = 0;

  void Count(Verdict verdict) {
    (verdict == Verdict::kPeerFaster ? peer_faster
     : verdict == Verdict::kLevel    ? level
                                     : ours_faster) += 1;
  }
};

// Who is faster than whom in how many comparisons, by layout and kernel.
std::string ScoreTable(const std::string& peer, const std::vector<PeerTable>& tables) {
  std::vector<std::pair<const ComparisonRow*, Score>> scores;
  for (const PeerTable& table : tables) {
    if (table.peer != peer) continue;
    for (const ComparisonRow& row : table.rows) {
      auto found = std::find_if(scores.begin(), scores.end(), [&](const auto& score) {
        return score.first->layout == row.layout && score.first->kernel == row.kernel;
      });
      if (found == scores.end()) found = scores.insert(found, {&row, Score()});
      for (const auto& comparison : row.comparisons) {
        if (comparison) found->second.Count(VerdictOf(*comparison));
      }
    }
  }
  TextTable text({"layout", "kernel", peer + " faster", "level", "ExactBloom faster"});
  for (const auto& [row, score] : scores) {
    text.AddRow({row->layout, row->kernel, score.peer_faster, score.level, score.ours_faster});
  }
  return text.Format() + "\n";
}

std::string Header(const BenchmarkReport& report) {
  std::string text = fmt::format(
      "ExactBloom {} filter_benchmark, RocksDB {}, compiler {}\n{}\nkernels: {}\n{}\n\n"
      "Every filter is called through RocksDB's virtual functions, as RocksDB calls it, and lies "
      "{} bytes\nbehind the start of a cache line. A ratio is the median of {} interleaved "
      "repetitions, followed by their\nmiddle half. Below 1 ExactBloom is faster; * marks where "
      "the whole middle half\nis above 1. Builds of many keys have fewer repetitions.\n\n",
      EXACTBLOOM_VERSION, support::RocksDBVersion(), __VERSION__, support::DescribeCpu(),
      fmt::join(report.kernels, " "), report.command, report.block_offset, report.repetitions);
  if (!report.missing_peer.empty()) {
    text += fmt::format("FastLocalBloom with AVX2 is not compared: {}.\n\n", report.missing_peer);
  }
  return text;
}

}  // namespace

std::string BenchmarkReport::Text() const {
  std::vector<std::string> peers;
  for (const PeerTable& table : tables) {
    if (std::find(peers.begin(), peers.end(), table.peer) == peers.end()) {
      peers.push_back(table.peer);
    }
  }
  std::string text = Header(*this) + RateTable(rates);
  std::string scores;
  for (const std::string& peer : peers) {
    for (const PeerTable& table : tables) {
      if (table.peer == peer) text += RatioTable(table, operations);
    }
    scores += ScoreTable(peer, tables);
  }
  return text +
         "Comparisons of all sizes and operations; level where the middle half of the ratios "
         "includes 1\n\n" +
         scores;
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
