#include "readamp_report.h"

#include <fmt/format.h>

#include "exactbloom/version.h"
#include "support/text_table.h"

namespace exactbloom::readamp {
namespace {

std::string Percent(double rate) { return fmt::format("{:.4f}%", 100.0 * rate); }

support::Cells CellsOf(const PolicyResult& policy, const WorkloadResult& result) {
  const Measurement& measured = result.measured;
  const Interval& interval = result.interval;
  return {
      policy.policy,
      policy.filter_bytes,
      fmt::format("{:.3f}", policy.bits_per_key),
      measured.lookups,
      fmt::format("{:.5f}", result.wasted_reads_per_lookup),
      measured.AbsentChecks(),
      measured.false_positives,
      result.rate ? Percent(*result.rate) : "-",
      result.rate ? fmt::format("{} .. {}", Percent(interval.low), Percent(interval.high)) : "-",
      result.predicted.rate ? Percent(*result.predicted.rate) : "-",
      measured.data_blocks_read,
      fmt::format("{:.2f}", measured.cpu_us)};
}

std::string WorkloadText(const std::vector<PolicyResult>& policies, std::size_t index) {
  const WorkloadResult& first = policies.front().workloads[index];
  support::TextTable table({"policy", "filter bytes", "bits/key", "lookups", "wasted/lookup",
                            "absent checks", "false pos.", "measured", "99.9% interval", "exact",
                            "blocks read", "CPU us"});
  for (const PolicyResult& policy : policies) {
    table.AddRow(CellsOf(policy, policy.workloads[index]));
  }
  return fmt::format("{}: {}\n{}\n", first.name, first.description, table.Format());
}

std::string DetailsText(const Report& report) {
  std::string text;
  for (std::size_t i = 0; i < report.policies.front().workloads.size(); ++i) {
    text += WorkloadText(report.policies, i);
  }
  text += "processor time of loading, microseconds per key:";
  for (const PolicyResult& policy : report.policies) {
    text += fmt::format(" {} {:.2f}", policy.policy, policy.load_cpu_us);
  }
  return text + "\n\n";
}

std::string DataText(const Report& report, const ReadampSettings& settings) {
  const PolicyResult& first = report.policies.front();
  return fmt::format(
      "{}: {} keys, {} of them in the store,\n{} tree of {} sorted runs and {} tables (under {}), "
      "block cache {} KiB, {}filters in memory, {} threads\n",
      report.source, report.keys, report.stored,
      kTreeNames[static_cast<std::size_t>(settings.tree)].first, first.sorted_runs, first.tables,
      first.policy, settings.block_cache_bytes >> 10,
      settings.partitioned_filters ? "partitioned " : "", settings.threads);
}

std::string TakenText(const TakenSettings& settings) {
  std::string text = "from the database:\n";
  for (const std::string& line : settings.taken) text += "  " + line + "\n";
  text += "not from the database:\n";
  for (const std::string& line : settings.not_taken) text += "  " + line + "\n";
  return text + "\n";
}

}  // namespace

WorkloadResult MakeWorkloadResult(const Workload& workload, const Measurement& measured,
                                  const Prediction& predicted) {
  WorkloadResult result{workload.name, workload.description, measured, predicted};
  const std::uint64_t checks = measured.AbsentChecks();
  if (checks > 0) {
    result.rate = static_cast<double>(measured.false_positives) / static_cast<double>(checks);
  }
  result.interval = *WilsonInterval(measured.false_positives, checks, kZ999, predicted.dispersion);
  result.wasted_searches = measured.false_positives + predicted.unfiltered_searches;
  result.wasted_reads_per_lookup =
      static_cast<double>(measured.wasted_reads) / static_cast<double>(measured.lookups);
  return result;
}

std::string Report::Text(const ReadampSettings& settings) const {
  std::string text =
      fmt::format("ExactBloom {} readamp, RocksDB {}, {}\n{}\n{}\n", EXACTBLOOM_VERSION, rocksdb,
                  cpu, command, DataText(*this, settings));
  if (from_database) text += TakenText(*from_database);
  std::vector<GrowthResult> growths;
  for (const PolicyResult& policy : policies) {
    if (policy.growth) growths.push_back(*policy.growth);
  }
  if (!growths.empty()) text += GrowthText(growths);
  const std::size_t workloads = policies.front().workloads.size();
  const std::string summary = workloads == 0 ? "" : SummaryText(policies, 0);
  if (settings.details || summary.empty()) text += DetailsText(*this);
  if (workloads != 0) {
    text += fmt::format(
        "In all of {} runs RocksDB and the file system counted the same reads, and the checks "
        "of\nfilters were those that follow from the tree.\n\n{}",
        policies.size() * workloads, summary);
  }
  return bloom_table.empty() ? text : text + BloomTableText(bloom_table);
}

}  // namespace exactbloom::readamp
