#include "readamp_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "exactbloom/version.h"
#include "readamp_summary.h"
#include "support/text_table.h"

namespace exactbloom::readamp {
namespace {

std::string Percent(double rate) { return fmt::format("{:.4f}%", 100.0 * rate); }

double PerLookup(std::uint64_t count, std::uint64_t lookups) {
  return static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(1, lookups));
}

double ReadLatencyUs(const ReadampSettings& settings) {
  return std::chrono::duration<double, std::micro>(settings.read_latency).count();
}

support::Cells FilterCells(const PolicyResult& policy, const WorkloadResult& result) {
  if (policy.filter_bytes == 0) return {policy.policy, "0", "-", "-", "-", "-", "-", "-"};
  const auto rate = result.MeasuredRate();
  const Interval interval = result.RateInterval();
  const auto& exact = result.prediction.rate;
  return {policy.policy,
          policy.filter_bytes,
          fmt::format("{:.3f}", policy.BitsPerKey()),
          result.measurement.AbsentChecks(),
          result.measurement.false_positives,
          rate ? Percent(*rate) : "-",
          rate ? fmt::format("{} .. {}", Percent(interval.low), Percent(interval.high)) : "-",
          exact ? Percent(*exact) : "-"};
}

support::Cells ReadCells(const Measurement& measured, const std::optional<AvoidedReads>& avoided) {
  return {measured.data_blocks_read,
          fmt::format("{:.4f}", PerLookup(measured.data_blocks_read, measured.lookups)),
          fmt::format("{:.0f}", PerLookup(measured.bytes_read, measured.lookups)),
          avoided ? std::to_string(avoided->blocks) : "-",
          avoided && avoided->percent ? fmt::format("{:.2f}", *avoided->percent) : "-",
          fmt::format("{:.2f}", measured.cpu_us),
          fmt::format("{:.1f}", measured.p50_us),
          fmt::format("{:.1f}", measured.p99_us)};
}

std::string OverTimeText(const Report& report, std::size_t index) {
  support::Cells header = {"seconds"};
  for (const PolicyResult& policy : report.policies) {
    header.insert(header.end(), {policy.policy, "tables", "in level 0"});
  }
  support::TextTable table(std::move(header));
  const auto& first = report.policies.front().workloads[index].measurement.over_time;
  for (std::size_t i = 0; i < first.size(); ++i) {
    support::Cells row = {fmt::format("{:.2f}", first[i].seconds)};
    for (const PolicyResult& policy : report.policies) {
      const auto& samples = policy.workloads[index].measurement.over_time;
      const TimeSample& sample = samples[std::min(i, samples.size() - 1)];
      row.push_back(fmt::format("{:.4f}", PerLookup(sample.wasted_reads, sample.lookups)));
      row.push_back(sample.tables);
      row.push_back(sample.level0_files);
    }
    table.AddRow(std::move(row));
  }
  return "wasted reads per lookup over time (seconds of the first policy)\n" + table.Format();
}

// A row for each policy, a column for each level that one of their trees has.
std::string LevelsText(const Report& report, std::size_t index) {
  std::set<int> levels;
  for (const PolicyResult& policy : report.policies) {
    const Measurement& measured = policy.workloads[index].measurement;
    if (!measured.wasted_reads) return "";
    for (const auto& [level, waste] : measured.by_level) levels.insert(level);
  }
  if (levels.empty()) return "";
  support::Cells header = {"policy"};
  for (const int level : levels) header.push_back(fmt::format("level {}", level));
  header.push_back("all");
  support::TextTable table(std::move(header));
  for (const PolicyResult& policy : report.policies) {
    const Measurement& measured = policy.workloads[index].measurement;
    const auto per_lookup = [&measured](std::uint64_t reads) {
      return fmt::format("{:.5f}", PerLookup(reads, measured.lookups));
    };
    support::Cells row = {policy.policy};
    for (const int level : levels) {
      const auto waste = measured.by_level.find(level);
      row.push_back(waste == measured.by_level.end() ? "-"
                                                     : per_lookup(waste->second.wasted_reads));
    }
    row.push_back(per_lookup(*measured.wasted_reads));
    table.AddRow(std::move(row));
  }
  return "wasted reads per lookup, by level\n" + table.Format();
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
    table.AddRow(FilterCells(policy, result),
                 ReadCells(result.measurement, report.Avoided(result)));
  }
  std::string text = fmt::format("{}: {} lookups, {}\n", first.name, lookups, first.description);
  if (baseline != nullptr && baseline->measurement.lookups < lookups) {
    text += fmt::format("without a filter the first {} of them; avoided reads are in proportion\n",
                        baseline->measurement.lookups);
  }
  text += table.Format() + "\n";
  const std::string levels = LevelsText(report, index);
  if (!levels.empty()) text += levels + "\n";
  if (!first.measurement.over_time.empty()) text += OverTimeText(report, index) + "\n";
  return text;
}

std::string BloomTableText(const std::vector<BloomTableRow>& rows) {
  support::TextTable table({"allowed error", "hash area 1970", "saved 1970 %", "bits/key",
                            "filter bytes", "saved here %", "exact %"});
  std::string misprints;
  for (const BloomTableRow& row : rows) {
    table.AddRow({fmt::format("1/{}", 1 << row.halvings),
                  fmt::format("{}{}", row.printed_bits, row.misprint ? "*" : ""),
                  fmt::format("{:.1f}", row.printed_percent),
                  row.policy.substr(row.policy.find(':') + 1), row.filter_bytes,
                  fmt::format("{:.2f}", row.measured_percent),
                  fmt::format("{:.2f}", row.predicted_percent)});
    if (!row.misprint) continue;
    const std::uint64_t bits = rows.front().printed_bits;
    misprints +=
        fmt::format("* a misprint: {} halvings of {} bits each are {}, which is measured here\n",
                    row.halvings, bits, bits * static_cast<std::uint64_t>(row.halvings));
  }
  return "Bloom 1970, Table I: disk reads saved in hyphenating a dictionary, then and now\n" +
         table.Format() + misprints + "\n";
}

std::string DetailsText(const Report& report) {
  std::string text;
  for (std::size_t i = 0; i < report.policies.front().workloads.size(); ++i) {
    text += WorkloadText(report, i);
  }
  text += "processor time of loading, microseconds per key:";
  for (const PolicyResult& policy : report.policies) {
    text += fmt::format(" {} {:.2f}", policy.policy, policy.load_cpu_us);
  }
  text += "\n\n";
  return report.bloom_table.empty() ? text : text + BloomTableText(report.bloom_table);
}

std::string TreeText(const PolicyResult& first, const ReadampSettings& settings) {
  if (settings.tree == Tree::kSettled) {
    return fmt::format("in {} sorted runs (size ratio {})", settings.sorted_runs,
                       settings.size_ratio);
  }
  if (settings.tree == Tree::kLevel0) {
    return fmt::format("in {} files of level 0", settings.level0_files);
  }
  if (settings.tree == Tree::kDatabase) {
    return fmt::format("in {} sorted runs and {} tables like the database's", first.sorted_runs,
                       first.tables);
  }
  return fmt::format(
      "in {} sorted runs and {} tables (under {}) as {} left them", first.sorted_runs, first.tables,
      first.policy,
      settings.tree == Tree::kUniversal ? "universal compaction" : "compaction by levels");
}

std::string TakenText(const TakenSettings& settings) {
  std::string text = "from the database:\n";
  for (const std::string& line : settings.taken) text += "  " + line + "\n";
  text += "not from the database:\n";
  for (const std::string& line : settings.not_taken) text += "  " + line + "\n";
  return text + "\n";
}

std::string ReadsText(const ReadampSettings& settings) {
  std::string text = settings.block_cache_bytes == kWholeDatabase
                         ? "all blocks in the block cache,"
                         : fmt::format("block cache {} KiB,", settings.block_cache_bytes >> 10);
  if (settings.read_latency.count() > 0) {
    text += fmt::format(" {:g} us per read,", ReadLatencyUs(settings));
  }
  return text + (settings.partitioned_filters ? " partitioned" : "");
}

std::string AgreementText(const Report& report, const ReadampSettings& settings) {
  // The kernel agrees if its bytes are those of the blocks that RocksDB counted, in whole pages.
  std::size_t runs = 0;
  std::size_t kernel_counts = 0;
  std::size_t kernel_agrees = 0;
  for (const PolicyResult& policy : report.policies) {
    for (const WorkloadResult& result : policy.workloads) {
      const Measurement& measured = result.measurement;
      ++runs;
      if (!measured.kernel_bytes_read) continue;
      ++kernel_counts;
      const std::uint64_t most = measured.bytes_read + 2 * kPageBytes * measured.data_blocks_read;
      if (measured.bytes_read <= *measured.kernel_bytes_read &&
          *measured.kernel_bytes_read <= most) {
        ++kernel_agrees;
      }
    }
  }
  const std::string text = fmt::format(
      "In all of {} runs RocksDB and the file system counted the same reads, and the checks of "
      "filters\nwere those that follow from the tree.\n",
      runs);
  if (report.DirectReads()) {
    return text + fmt::format(
                      "Reads were direct. In {} of {} runs the bytes that the kernel fetched for "
                      "this process are those of\nthe blocks that RocksDB counted, in whole "
                      "pages.\n",
                      kernel_agrees, kernel_counts);
  }
  return text +
         (settings.direct_reads
              ? "Reads went through the page cache: this file system has no direct reads, "
                "so the kernel's\ncounters do not show the blocks read.\n"
              : "Reads went through the page cache, so the kernel's counters do not show the "
                "blocks read.\n");
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

double PolicyResult::BitsPerKey() const {
  if (filter_keys == 0) return 0.0;
  return 8.0 * static_cast<double>(filter_bytes) / static_cast<double>(filter_keys);
}

bool Report::DirectReads() const {
  for (const PolicyResult& policy : policies) {
    for (const WorkloadResult& result : policy.workloads) {
      if (!result.measurement.direct_reads) return false;
    }
  }
  return !policies.front().workloads.empty();
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

std::optional<AvoidedReads> Report::Avoided(const WorkloadResult& result) const {
  const WorkloadResult* baseline = Baseline(result.name);
  if (baseline == nullptr) return std::nullopt;
  const Measurement& without = baseline->measurement;
  const double expected = PerLookup(without.data_blocks_read, without.lookups) *
                          static_cast<double>(result.measurement.lookups);
  AvoidedReads avoided;
  avoided.blocks =
      std::llround(expected) - static_cast<std::int64_t>(result.measurement.data_blocks_read);
  if (expected > 0.0) avoided.percent = 100.0 * static_cast<double>(avoided.blocks) / expected;
  return avoided;
}

std::string Report::DataText(const ReadampSettings& settings) const {
  return fmt::format("{}: {} keys, {} of them in the store {},\n{} filters in memory, {} threads\n",
                     source, keys, stored, TreeText(policies.front(), settings),
                     ReadsText(settings), settings.threads);
}

std::string Report::Text(const ReadampSettings& settings) const {
  std::string text = fmt::format("ExactBloom {} readamp, RocksDB {}, {}\n{}\n{}\n",
                                 EXACTBLOOM_VERSION, rocksdb, cpu, command, DataText(settings));
  if (from_database) text += TakenText(*from_database);
  std::vector<GrowthResult> growths;
  for (const PolicyResult& policy : policies) {
    if (policy.growth) growths.push_back(*policy.growth);
  }
  if (!growths.empty()) text += GrowthText(growths);
  const std::optional<Summary> summary = SummaryOf(*this);
  if (settings.details || !summary) text += DetailsText(*this);
  if (policies.front().workloads.empty()) return text;
  text += AgreementText(*this, settings);
  return summary ? text + "\n" + summary->Text() : text;
}

}  // namespace exactbloom::readamp
