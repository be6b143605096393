#include "readamp_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exactbloom/version.h"
#include "support/text_table.h"

namespace exactbloom::readamp {
namespace {

// A direct read fetches whole pages: at most one more at either end of a block.
constexpr std::uint64_t kPageBytes = 4096;

// Whether the kernel's bytes are those of the blocks that RocksDB counted, in whole pages.
bool KernelAgrees(const Measurement& measurement) {
  const std::uint64_t most = measurement.bytes_read + 2 * kPageBytes * measurement.data_blocks_read;
  return measurement.kernel_bytes_read >= measurement.bytes_read &&
         measurement.kernel_bytes_read <= most;
}

std::string Percent(double rate) { return fmt::format("{:.4f}%", 100.0 * rate); }

double PerLookup(std::uint64_t count, const Measurement& measurement) {
  return static_cast<double>(count) /
         static_cast<double>(std::max<std::uint64_t>(1, measurement.lookups));
}

// The blocks that the lookups of `result` would have read without filters.
double BlocksWithoutFilter(const WorkloadResult& result, const WorkloadResult& baseline) {
  return PerLookup(baseline.measurement.data_blocks_read, baseline.measurement) *
         static_cast<double>(result.measurement.lookups);
}

std::vector<std::string> FilterCells(const PolicyResult& policy, const WorkloadResult& result) {
  if (policy.filter_bytes == 0) return {policy.policy, "0", "-", "-", "-", "-", "-", "-"};
  const auto rate = result.MeasuredRate();
  const Interval interval = result.RateInterval();
  const auto& exact = result.prediction.rate;
  return {policy.policy,
          fmt::format("{}", policy.filter_bytes),
          fmt::format("{:.3f}", policy.BitsPerKey()),
          fmt::format("{}", result.measurement.AbsentChecks()),
          fmt::format("{}", result.measurement.false_positives),
          rate ? Percent(*rate) : "-",
          rate ? fmt::format("{} .. {}", Percent(interval.low), Percent(interval.high)) : "-",
          exact ? Percent(*exact) : "-"};
}

std::vector<std::string> ReadCells(const WorkloadResult& result, const WorkloadResult* baseline) {
  const Measurement& measured = result.measurement;
  const auto avoided = ReadsAvoided(result, baseline);
  const auto percent = PercentAvoided(result, baseline);
  return {fmt::format("{}", measured.data_blocks_read),
          fmt::format("{:.4f}", PerLookup(measured.data_blocks_read, measured)),
          fmt::format("{:.0f}", PerLookup(measured.bytes_read, measured)),
          avoided ? fmt::format("{}", *avoided) : "-",
          percent ? fmt::format("{:.2f}", *percent) : "-",
          fmt::format("{:.2f}", measured.cpu_us),
          fmt::format("{:.1f}", measured.p50_us),
          fmt::format("{:.1f}", measured.p99_us)};
}

std::string OverTimeText(const Report& report, std::size_t index) {
  std::vector<std::string> header = {"seconds"};
  for (const PolicyResult& policy : report.policies) {
    header.insert(header.end(), {policy.policy, "tables", "in level 0"});
  }
  support::TextTable table(std::move(header));
  const auto& first = report.policies.front().workloads[index].measurement.over_time;
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::vector<std::string> row = {fmt::format("{:.2f}", first[i].seconds)};
    for (const PolicyResult& policy : report.policies) {
      const auto& samples = policy.workloads[index].measurement.over_time;
      const TimeSample& sample = samples[std::min(i, samples.size() - 1)];
      row.push_back(fmt::format(
          "{:.4f}", static_cast<double>(sample.wasted_reads) /
                        static_cast<double>(std::max<std::uint64_t>(1, sample.lookups))));
      row.push_back(fmt::format("{}", sample.tables));
      row.push_back(fmt::format("{}", sample.level0_files));
    }
    table.AddRow(std::move(row));
  }
  return "wasted reads per lookup over time (seconds of the first policy)\n" + table.Format();
}

std::string WorkloadText(const Report& report, std::size_t index) {
  const WorkloadResult& first = report.policies.front().workloads[index];
  const WorkloadResult* baseline = report.Baseline(first.name);
  std::uint64_t lookups = 0;
  support::TextTable table({"policy", "filter bytes", "bits/key", "absent checks", "false pos.",
                            "measured", "99.9% interval", "exact", "blocks read", "/lookup",
                            "bytes/lookup", "avoided", "%", "CPU us", "p50 us", "p99 us"});
  for (const PolicyResult& policy : report.policies) {
    const WorkloadResult& result = policy.workloads[index];
    lookups = std::max(lookups, result.measurement.lookups);
    std::vector<std::string> row = FilterCells(policy, result);
    for (std::string& cell : ReadCells(result, baseline)) row.push_back(std::move(cell));
    table.AddRow(std::move(row));
  }
  std::string text = fmt::format("{}: {} lookups, {}\n", first.name, lookups, first.description);
  if (baseline != nullptr && baseline->measurement.lookups < lookups) {
    text += fmt::format("without a filter the first {} of them; avoided reads are in proportion\n",
                        baseline->measurement.lookups);
  }
  text += table.Format() + "\n";
  if (!first.measurement.over_time.empty()) text += OverTimeText(report, index) + "\n";
  return text;
}

std::string BloomTableText(const Report& report) {
  support::TextTable table({"allowed error", "hash area 1970", "saved 1970 %", "bits/key",
                            "filter bytes", "saved here %", "exact %"});
  bool misprint = false;
  for (const BloomTableRow& row : report.bloom_table) {
    misprint |= row.misprint;
    table.AddRow({fmt::format("1/{}", 1 << row.halvings),
                  fmt::format("{}{}", row.printed_bits, row.misprint ? "*" : ""),
                  fmt::format("{:.1f}", row.printed_percent),
                  row.policy.substr(row.policy.find(':') + 1), fmt::format("{}", row.filter_bytes),
                  fmt::format("{:.2f}", row.measured_percent),
                  fmt::format("{:.2f}", row.predicted_percent)});
  }
  std::string text =
      "Bloom 1970, Table I: disk reads saved in hyphenating a dictionary, then and now\n" +
      table.Format();
  if (misprint) {
    const BloomTableRow& first = report.bloom_table.front();
    const BloomTableRow& last = report.bloom_table.back();
    text += fmt::format(
        "* a misprint: {} halvings of {} bits each are {}, which is measured here\n", last.halvings,
        first.printed_bits, first.printed_bits * static_cast<std::uint64_t>(last.halvings));
  }
  return text;
}

std::string TreeText(const PolicyResult& first, const Settings& settings) {
  switch (settings.tree) {
    case Tree::kSettled:
      return fmt::format(" in {} sorted runs (size ratio {})", settings.sorted_runs,
                         settings.size_ratio);
    case Tree::kLevel0:
      return fmt::format(" in {} files of level 0", settings.level0_files);
    case Tree::kLoaded:
    case Tree::kUniversal:
      break;
  }
  return fmt::format(
      " in {} sorted runs and {} tables (under {}) as {} left them", first.sorted_runs,
      first.tables, first.policy,
      settings.tree == Tree::kUniversal ? "universal compaction" : "compaction by levels");
}

std::string ReadsText(const Settings& settings) {
  const std::string cache =
      settings.block_cache_bytes == kWholeDatabase
          ? "all blocks in the block cache,"
          : fmt::format("block cache {} KiB,", settings.block_cache_bytes >> 10);
  const std::string latency =
      settings.read_latency.count() == 0
          ? ""
          : fmt::format(" {:g} us per read,",
                        static_cast<double>(settings.read_latency.count()) / 1000.0);
  return cache + latency + (settings.partitioned_filters ? " partitioned" : "");
}

std::string AgreementText(const Report& report) {
  std::size_t runs = 0;
  for (const PolicyResult& policy : report.policies) runs += policy.workloads.size();
  return fmt::format(
      "In all of {} runs RocksDB and the file system counted the same reads, and the checks of "
      "filters\nwere those that follow from the tree.\n",
      runs);
}

std::string KernelText(const Report& report, const Settings& settings) {
  if (!settings.direct_reads) {
    return "Reads went through the page cache, so the kernel's counters do not show the blocks "
           "read.\n";
  }
  if (!report.direct_reads) {
    return "Reads went through the page cache: this file system has no direct reads, so the "
           "kernel's\n"
           "counters do not show the blocks read.\n";
  }
  std::size_t agree = 0;
  std::size_t meaningful = 0;
  for (const PolicyResult& policy : report.policies) {
    for (const WorkloadResult& result : policy.workloads) {
      if (!result.measurement.kernel_bytes_are_meaningful) continue;
      ++meaningful;
      agree += KernelAgrees(result.measurement) ? 1U : 0U;
    }
  }
  return fmt::format(
      "Reads were direct. In {} of {} runs the bytes that the kernel fetched for this "
      "process are those of\nthe blocks that RocksDB counted, in whole pages.\n",
      agree, meaningful);
}

}  // namespace

std::optional<double> WorkloadResult::MeasuredRate() const {
  if (measurement.AbsentChecks() == 0) return std::nullopt;
  return static_cast<double>(measurement.false_positives) /
         static_cast<double>(measurement.AbsentChecks());
}

Interval WorkloadResult::RateInterval() const {
  return WilsonInterval(measurement.false_positives, measurement.AbsentChecks(), kZ999,
                        prediction.dispersion);
}

std::optional<std::uint64_t> WorkloadResult::WastedSearches() const {
  if (!prediction.absent_checks && measurement.AbsentChecks() == 0) return std::nullopt;
  return measurement.false_positives + prediction.unfiltered_searches;
}

const WorkloadResult* Report::Baseline(const std::string& workload) const {
  for (const PolicyResult& policy : policies) {
    if (policy.policy != "none") continue;
    for (const WorkloadResult& result : policy.workloads) {
      if (result.name == workload) return &result;
    }
  }
  return nullptr;
}

std::optional<std::int64_t> ReadsAvoided(const WorkloadResult& result,
                                         const WorkloadResult* baseline) {
  if (baseline == nullptr) return std::nullopt;
  return std::llround(BlocksWithoutFilter(result, *baseline)) -
         static_cast<std::int64_t>(result.measurement.data_blocks_read);
}

std::optional<double> PercentAvoided(const WorkloadResult& result, const WorkloadResult* baseline) {
  const auto avoided = ReadsAvoided(result, baseline);
  if (!avoided || baseline->measurement.data_blocks_read == 0) return std::nullopt;
  return 100.0 * static_cast<double>(*avoided) / BlocksWithoutFilter(result, *baseline);
}

double PolicyResult::BitsPerKey() const {
  if (filter_keys == 0) return 0.0;
  return 8.0 * static_cast<double>(filter_bytes) / static_cast<double>(filter_keys);
}

std::string Report::Text(const Settings& settings) const {
  std::string text = fmt::format(
      "ExactBloom {} readamp, RocksDB {}, {}\n{}\n{}: {} keys, {} of them in the store{},\n"
      "{} filters in memory, {} threads\n\n",
      EXACTBLOOM_VERSION, rocksdb, cpu, command, source, keys, stored,
      TreeText(policies.front(), settings), ReadsText(settings), settings.threads);
  for (std::size_t i = 0; i < policies.front().workloads.size(); ++i) {
    text += WorkloadText(*this, i);
  }
  text += "processor time of loading, microseconds per key:";
  for (const PolicyResult& policy : policies) {
    text += fmt::format(" {} {:.2f}", policy.policy, policy.load_cpu_us);
  }
  text += "\n\n";
  if (!bloom_table.empty()) text += BloomTableText(*this) + "\n";
  return text + AgreementText(*this) + KernelText(*this, settings);
}

}  // namespace exactbloom::readamp
