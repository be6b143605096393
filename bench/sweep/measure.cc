#include "measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

#include "build_time.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/theory/confidence_interval.h"
#include "exactbloom/version.h"
#include "readamp/policy_measurement.h"
#include "results_file.h"
#include "sizing_measurement.h"
#include "support/machine.h"
#include "support/progress.h"

namespace exactbloom::sweep {
namespace {

using nlohmann::json;
using readamp::Database;
using readamp::KeySet;
using readamp::Measurement;
using readamp::Workload;
using support::Progress;

// Tells how many of the points have been measured.
class Position {
 public:
  explicit Position(std::size_t total) : total_(total), start_(std::chrono::steady_clock::now()) {}

  void Next() { ++done_; }

  // "12/88, 5 min left"; estimated from the points so far.
  std::string Text() const {
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    const double seconds = std::chrono::duration<double>(elapsed).count();
    std::string position = fmt::format("{}/{}", done_ + 1, total_);
    if (done_ == 0) return position;
    const double left = seconds / static_cast<double>(done_) * static_cast<double>(total_ - done_);
    return left < 60.0 ? fmt::format("{}, {:.0f} s left", position, left)
                       : fmt::format("{}, {:.0f} min left", position, left / 60.0);
  }

 private:
  std::size_t total_;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point start_;
};

double PerLookup(std::uint64_t count, const Measurement& measured) {
  return static_cast<double>(count) / static_cast<double>(measured.lookups);
}

// One point: a database of its own, and the lookups in it.
class PointMeasurement {
 public:
  PointMeasurement(const PlannedPoint& planned, const SweepSettings& settings, const KeySet& keys,
                   const Workload& absent, const std::string& position, Progress& progress)
      : settings_(settings),
        readamp_(TreeSettings(settings, planned.tree)),
        keys_(keys),
        absent_(absent),
        policy_name_(ExpandPolicy(planned, readamp_.size_ratio, keys.stored)),
        policy_(readamp::MakePolicy(policy_name_)),
        step_(fmt::format("[{}] {}, {}", position, planned.tree, policy_name_)),
        progress_(progress),
        line_(planned.Identity()) {}

  // The line of the results.
  json Line() {
    progress_.Begin(step_ + "  loading", 0);
    const Database database(readamp_, keys_, policy_);
    AddFilters(database);
    const readamp::WorkloadResult result = LookUp(database);
    const Measurement& measured = result.measurement;
    AddCounts(measured, result.prediction);
    line_["delayed"] = json::array();
    for (const double latency_us : settings_.read_latencies_us) {
      line_["delayed"].push_back(
          LookUpDelayed(database, latency_us, PerLookup(measured.data_blocks_read, measured)));
    }
    line_["build_ns"] =
        FilterBuildNanoseconds(policy_.get(), database.Tables(), keys_, settings_.repetitions);
    progress_.End();
    return line_;
  }

 private:
  void AddFilters(const Database& database) {
    const std::uint64_t bytes = database.Tables().FilterBytes();
    const std::uint64_t filter_keys = database.Tables().FilterKeys();
    line_.update({{"policy", policy_name_},
                  {"tables", database.Tables().size()},
                  {"load_cpu_us", database.LoadCpuPerKey()},
                  {"filter_bytes", bytes},
                  {"filter_keys", filter_keys},
                  {"bits_per_key", filter_keys == 0 ? 0.0
                                                    : 8.0 * static_cast<double>(bytes) /
                                                          static_cast<double>(filter_keys)}});
  }

  // The counts of the first run, which the others have to repeat, and the least processor time.
  // Throws WrongAnswer if the counts differ from those of the tree and the exact rates.
  readamp::WorkloadResult LookUp(const Database& database) const {
    readamp::WorkloadResult result = MeasureWorkload(absent_, database, step_, progress_);
    Measurement& first = result.measurement;
    for (int i = 1; i < settings_.repetitions; ++i) {
      const Measurement again = Run(absent_, database, step_, readamp_.read_latency, progress_);
      if (again.false_positives != first.false_positives) {
        throw support::WrongAnswer(
            fmt::format("{}: {} false positives, and {} when the same keys were looked up again",
                        step_, first.false_positives, again.false_positives));
      }
      first.cpu_us = std::min(first.cpu_us, again.cpu_us);
    }
    return result;
  }

  void AddCounts(const Measurement& measured, const readamp::Prediction& prediction) {
    const double checks = PerLookup(measured.AbsentChecks(), measured);
    const Interval rate = WilsonInterval(measured.false_positives, measured.AbsentChecks(), kZ999,
                                         prediction.dispersion);
    line_.update({{"lookups", measured.lookups},
                  {"absent_checks", measured.AbsentChecks()},
                  {"false_positives", measured.false_positives},
                  {"blocks_read", measured.data_blocks_read},
                  {"dispersion", prediction.dispersion},
                  {"exact_rate", nullptr},
                  {"exact_wasted_reads", nullptr},
                  {"wasted_reads", PerLookup(measured.false_positives, measured)},
                  {"interval", {rate.low * checks, rate.high * checks}},
                  {"cpu_us", measured.cpu_us}});
    if (!prediction.rate) return;
    line_["exact_rate"] = *prediction.rate;
    line_["exact_wasted_reads"] = *prediction.rate * checks;
  }

  // Makes as many of the lookups as have a total delay of a fifth of a second.
  json LookUpDelayed(const Database& database, double latency_us, double reads_per_lookup) const {
    constexpr double kDelayUs = 2e5;
    constexpr double kFewest = 200.0;
    constexpr double kMost = 50'000.0;
    const double wanted =
        std::clamp(kDelayUs / std::max(1.0, latency_us * reads_per_lookup), kFewest, kMost);
    Workload workload = absent_;
    workload.order.resize(std::min(workload.order.size(), static_cast<std::size_t>(wanted)));
    const std::chrono::nanoseconds read_latency(std::llround(latency_us * 1e3));
    const Measurement measured = Run(workload, database, step_, read_latency, progress_);
    return {{"read_latency_us", latency_us},
            {"lookups", measured.lookups},
            {"reads", measured.file_reads},
            {"mean_us", measured.mean_us}};
  }

  const SweepSettings& settings_;
  const readamp::ReadampSettings readamp_;
  const KeySet& keys_;
  const Workload& absent_;
  const std::string policy_name_;
  const std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  const std::string step_;
  Progress& progress_;
  json line_;
};

json DescribeRun(const SweepSettings& settings, const std::string& command) {
  return {{"kind", "run"},
          {"command", command},
          {"exactbloom", EXACTBLOOM_VERSION},
          {"rocksdb", support::RocksDBVersion()},
          {"cpu", support::DescribeCpu()},
          {"kernel", KernelName()},
          {"settings", SharedSettings(settings)}};
}

template <typename Planned>
void EraseMeasured(const ResultsFile& file, std::vector<Planned>& points) {
  points.erase(
      std::remove_if(points.begin(), points.end(),
                     [&](const Planned& point) { return file.Contains(point.Identity()); }),
      points.end());
}

void MeasureAllSizing(const std::vector<SizingPoint>& points, const SweepSettings& settings,
                      ResultsFile& file, Progress& progress) {
  progress.Begin("sizing", points.size());
  for (const SizingPoint& point : points) {
    support::CheckForInterrupts();
    file.Append(MeasureSizing(point, settings.readamp.seed, settings.sizing_queries));
    progress.Add(1);
  }
  progress.End();
}

void MeasureAllPoints(const std::vector<PlannedPoint>& points, const SweepSettings& settings,
                      ResultsFile& file, Progress& progress) {
  const readamp::ReadampSettings readamp = TreeSettings(settings, settings.trees.front());
  const KeySet keys = MakeKeySet(readamp);
  const Workload absent = MakeWorkloads(keys, readamp).front();
  Position position(points.size());
  for (const PlannedPoint& planned : points) {
    const json line =
        PointMeasurement(planned, settings, keys, absent, position.Text(), progress).Line();
    file.Append(line);
    fmt::print("[{}] {}, {}: {:.2f} bits per key, {:.6f} wasted reads and {:.2f} us per lookup\n",
               position.Text(), planned.tree, line["policy"].get<std::string>(),
               line["bits_per_key"].get<double>(), line["wasted_reads"].get<double>(),
               line["cpu_us"].get<double>());
    std::fflush(stdout);
    position.Next();
  }
}

}  // namespace

void Measure(const SweepSettings& settings, const std::string& command) {
  std::vector<PlannedPoint> points = PlanPoints(settings);
  for (const PlannedPoint& point : points) {  // before any work
    readamp::MakePolicy(ExpandPolicy(point, settings.readamp.size_ratio, 1));
  }
  std::vector<SizingPoint> sizing;
  if (settings.sizing_queries > 0) sizing = PlanSizing();

  ResultsFile file(settings.results, Fingerprint(SharedSettings(settings)));
  const std::size_t planned = points.size();
  EraseMeasured(file, points);
  EraseMeasured(file, sizing);
  fmt::print("{}: {} of {} points exist already\n", settings.results, planned - points.size(),
             planned);
  if (points.empty() && sizing.empty()) return;
  file.Append(DescribeRun(settings, command));
  Progress progress;
  MeasureAllSizing(sizing, settings, file, progress);
  if (!points.empty()) MeasureAllPoints(points, settings, file, progress);
}

}  // namespace exactbloom::sweep
