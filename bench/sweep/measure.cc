#include "measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <list>
#include <memory>
#include <optional>
#include <vector>

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

// The keys are in random order, so the first ones stand for all.
constexpr std::size_t kTimedLookups = 300'000;

Workload FirstLookups(const Workload& workload, std::size_t lookups) {
  Workload result = workload;
  result.order.resize(std::min(workload.order.size(), lookups));
  return result;
}

// One point: a database of its own, and the lookups in it.
class PointMeasurement {
 public:
  // Loads the database and makes all lookups once. Throws WrongAnswer if the counts differ from
  // those of the tree and the exact rates.
  PointMeasurement(const PlannedPoint& planned, const SweepSettings& settings, const KeySet& keys,
                   const Workload& absent, const std::string& position, Progress& progress)
      : settings_(settings),
        readamp_(TreeSettings(settings, planned.tree)),
        timed_(FirstLookups(absent, kTimedLookups)),
        policy_name_(ExpandPolicy(planned, keys.stored)),
        policy_(readamp::MakePolicy(policy_name_)),
        step_(fmt::format("[{}] {}, {}", position, planned.tree, policy_name_)),
        progress_(progress),
        line_(planned.Identity()) {
    progress_.Begin(step_ + "  loading", 0);
    database_.emplace(readamp_, keys, policy_);
    AddFilters(*database_);
    const readamp::WorkloadResult all = MeasureWorkload(absent, *database_, step_, progress_);
    reads_per_lookup_ = PerLookup(all.measurement.data_blocks_read, all.measurement);
    AddCounts(all.measurement, all.prediction);
  }

  const Database& Tree() const { return *database_; }

  // Makes some of the lookups and builds all filters, both timed. Throws WrongAnswer if the counts
  // are not those of the time before.
  void Repeat(const KeysOfRuns& runs) {
    const Measurement again = Run(timed_, *database_, step_, readamp_.read_latency, progress_);
    if (false_positives_.value_or(again.false_positives) != again.false_positives) {
      throw support::WrongAnswer(
          fmt::format("{}: {} false positives, and {} when the same keys were looked up again",
                      step_, *false_positives_, again.false_positives));
    }
    false_positives_ = again.false_positives;
    cpu_us_.push_back(again.cpu_us);
    build_ns_.push_back(FilterBuildNanoseconds(policy_.get(), database_->Tables(), runs));
  }

  // The line of the results. Removes the database.
  json Finish() {
    line_["delayed"] = json::array();
    for (const double latency_us : settings_.read_latencies_us) {
      line_["delayed"].push_back(LookUpDelayed(latency_us));
    }
    line_["cpu_us_runs"] = cpu_us_;
    line_["build_ns_runs"] = build_ns_;
    progress_.End();
    database_.reset();
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
                  {"interval", {rate.low * checks, rate.high * checks}}});
    if (!prediction.rate) return;
    line_["exact_rate"] = *prediction.rate;
    line_["exact_wasted_reads"] = *prediction.rate * checks;
  }

  // Makes as many of the lookups as have a total delay of a fifth of a second.
  json LookUpDelayed(double latency_us) const {
    constexpr double kDelayUs = 2e5;
    constexpr double kFewest = 200.0;
    constexpr double kMost = 50'000.0;
    const double wanted =
        std::clamp(kDelayUs / std::max(1.0, latency_us * reads_per_lookup_), kFewest, kMost);
    const std::chrono::nanoseconds read_latency(std::llround(latency_us * 1e3));
    const Measurement measured = Run(FirstLookups(timed_, static_cast<std::size_t>(wanted)),
                                     *database_, step_, read_latency, progress_);
    return {{"read_latency_us", latency_us},
            {"lookups", measured.lookups},
            {"reads", measured.file_reads},
            {"mean_us", measured.mean_us}};
  }

  const SweepSettings& settings_;
  const readamp::ReadampSettings readamp_;
  const Workload timed_;
  const std::string policy_name_;
  const std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  const std::string step_;
  Progress& progress_;
  json line_;
  std::optional<Database> database_;
  double reads_per_lookup_ = 0.0;
  std::optional<std::uint64_t> false_positives_;  // of the timed lookups
  std::vector<double> cpu_us_;                    // per lookup, of each repetition
  std::vector<double> build_ns_;                  // per key
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

// Points of one tree and one number of bits per key are compared with each other. So their
// repetitions take turns: what else the machine does meanwhile meets all of them.
void MeasureGroup(const std::vector<PlannedPoint>& group, const SweepSettings& settings,
                  const KeySet& keys, const Workload& absent, ResultsFile& file, Position& position,
                  Progress& progress) {
  std::list<PointMeasurement> points;
  for (const PlannedPoint& planned : group) {
    points.emplace_back(planned, settings, keys, absent, position.Text(), progress);
  }
  const KeysOfRuns runs = SortedKeys(keys, points.front().Tree().Tables());
  for (int i = 0; i < settings.repetitions; ++i) {
    for (PointMeasurement& point : points) point.Repeat(runs);
  }
  for (PointMeasurement& point : points) {
    const json line = point.Finish();
    file.Append(line);
    fmt::print("[{}] {}, {}: {:.2f} bits per key, {:.6f} wasted reads per lookup\n",
               position.Text(), line["tree"].get<std::string>(), line["policy"].get<std::string>(),
               line["bits_per_key"].get<double>(), line["wasted_reads"].get<double>());
    std::fflush(stdout);
    position.Next();
  }
}

void MeasureAllPoints(const std::vector<PlannedPoint>& points, const SweepSettings& settings,
                      ResultsFile& file, Progress& progress) {
  const readamp::ReadampSettings readamp = TreeSettings(settings, settings.trees.front());
  const KeySet keys = MakeKeySet(readamp);
  const Workload absent = MakeWorkloads(keys, readamp).front();
  Position position(points.size());
  for (auto first = points.begin(); first != points.end();) {
    const auto last = std::find_if(first, points.end(), [&](const PlannedPoint& point) {
      return point.tree != first->tree || point.bits != first->bits;
    });
    MeasureGroup({first, last}, settings, keys, absent, file, position, progress);
    first = last;
  }
}

}  // namespace

void Measure(const SweepSettings& settings, const std::string& command) {
  std::vector<PlannedPoint> points = PlanPoints(settings);
  for (const PlannedPoint& point : points) {  // before any work
    readamp::MakePolicy(ExpandPolicy(point, 1));
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
