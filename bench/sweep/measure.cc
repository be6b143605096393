#include "measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "build_time.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/version.h"
#include "measure_sizing.h"
#include "readamp/keys/key_set.h"
#include "readamp/lookups/workload.h"
#include "readamp/report/agreement.h"
#include "readamp/report/rate_prediction.h"
#include "readamp/report/readamp_report.h"
#include "readamp/tree/database.h"
#include "support/machine.h"
#include "support/progress.h"
#include "sweep_plan.h"

namespace exactbloom::sweep {
namespace {

using readamp::KeySet;
using readamp::Workload;

// Says at which of the points that have to be measured the sweep is.
class Position {
 public:
  explicit Position(std::size_t total) : total_(total), start_(std::chrono::steady_clock::now()) {}

  void Next() { ++done_; }

  // "12/88, 5 min left"; the points so far tell how long one takes.
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

// What all points of a sweep share.
struct Lookups {
  KeySet keys;
  Workload absent;
};

Lookups MakeLookups(const SweepSettings& settings) {
  const readamp::Settings readamp = TreeSettings(settings, settings.trees.front());
  Lookups lookups{MakeKeySet(readamp), {}};
  lookups.absent = readamp::MakeWorkloads(lookups.keys, readamp).front();
  return lookups;
}

// The counts of the first run, which others repeat, and the least processor time.
readamp::Measurement LookUp(const Lookups& lookups, const std::string& step,
                            const readamp::Database& database, const readamp::Settings& readamp,
                            int repetitions, readamp::Progress& progress) {
  Workload workload = lookups.absent;
  workload.name = step;
  readamp::Measurement first = Run(workload, lookups.keys, database, readamp, progress);
  for (int i = 1; i < repetitions; ++i) {
    const readamp::Measurement again = Run(workload, lookups.keys, database, readamp, progress);
    if (again.false_positives != first.false_positives) {
      throw WrongAnswer(
          fmt::format("{}: {} false positives, and {} when the same keys were asked "
                      "for again",
                      step, first.false_positives, again.false_positives));
    }
    first.cpu_us = std::min(first.cpu_us, again.cpu_us);
  }
  return first;
}

// As many of the lookups as take a fifth of a second of delay.
DelayedRun LookUpDelayed(const Lookups& lookups, const std::string& step,
                         const readamp::Database& database, readamp::Settings readamp,
                         double latency_us, double reads_per_lookup, readamp::Progress& progress) {
  constexpr double kDelayUs = 2e5;
  constexpr double kFewest = 200.0;
  constexpr double kMost = 50'000.0;
  const double wanted =
      std::clamp(kDelayUs / std::max(1.0, latency_us * reads_per_lookup), kFewest, kMost);
  Workload workload = lookups.absent;
  workload.name = step;
  workload.order.resize(std::min(workload.order.size(), static_cast<std::size_t>(wanted)));
  readamp.read_latency =
      std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(latency_us * 1e3));
  const readamp::Measurement measured = Run(workload, lookups.keys, database, readamp, progress);
  return {latency_us, measured.lookups, measured.file_reads, measured.mean_us};
}

// Throws WrongAnswer where what was counted is not what the tree and the exact rates say.
void SetCounts(const readamp::Measurement& measured, const Lookups& lookups,
               const readamp::Database& database, const readamp::Settings& readamp,
               const rocksdb::FilterPolicy* policy, Point& point) {
  const readamp::WorkloadResult result{
      lookups.absent.name, lookups.absent.description, lookups.absent.kind, measured,
      Predict(database.Tables(), lookups.keys, lookups.absent, readamp, policy)};
  CheckAgreement(result, readamp, point.policy);
  point.lookups = measured.lookups;
  point.absent_checks = measured.AbsentChecks();
  point.false_positives = measured.false_positives;
  point.blocks_read = measured.data_blocks_read;
  point.cpu_us = measured.cpu_us;
  point.exact_rate = result.prediction.rate;
  point.dispersion = result.prediction.dispersion;
}

Point MeasurePoint(const PlannedPoint& planned, const SweepSettings& settings,
                   const Lookups& lookups, const Position& position, readamp::Progress& progress) {
  const readamp::Settings readamp = TreeSettings(settings, planned.tree);
  Point point;
  point.tree = planned.tree;
  point.family = planned.family;
  point.bits = planned.bits;
  point.policy = ExpandPolicy(planned, readamp.size_ratio, lookups.keys.stored);
  const std::string step = fmt::format("[{}] {}, {}", position.Text(), planned.tree, point.policy);

  const auto policy = readamp::MakePolicy(point.policy);
  progress.Begin(step + "  loading", 0);
  const readamp::Database database(readamp, lookups.keys, policy);
  point.tables = database.Tables().size();
  point.load_cpu_us = database.LoadCpuPerKey();
  for (const readamp::Table& table : database.Tables()) {
    point.filter_bytes += table.filter_bytes;
    point.filter_keys += table.keys;
  }
  const readamp::Measurement measured =
      LookUp(lookups, step, database, readamp, settings.repetitions, progress);
  progress.Begin(step + "  predicting", 0);
  SetCounts(measured, lookups, database, readamp, policy.get(), point);
  const double reads = static_cast<double>(point.blocks_read) / static_cast<double>(point.lookups);
  for (const double latency_us : settings.read_latencies_us) {
    point.delayed.push_back(
        LookUpDelayed(lookups, step, database, readamp, latency_us, reads, progress));
  }
  point.build_ns =
      FilterBuildNanoseconds(policy.get(), database.Tables(), lookups.keys, settings.repetitions);
  progress.End();
  return point;
}

nlohmann::json DescribeRun(const SweepSettings& settings, const std::string& command) {
  return {{"kind", "run"},
          {"command", command},
          {"exactbloom", EXACTBLOOM_VERSION},
          {"rocksdb", support::RocksDBVersion()},
          {"cpu", support::DescribeCpu()},
          {"kernel", KernelName()},
          {"settings", SharedSettings(settings)}};
}

}  // namespace

void Measure(const SweepSettings& settings, const std::string& command) {
  ResultsFile file(settings.results, Fingerprint(SharedSettings(settings)));
  std::vector<PlannedPoint> points = Plan(settings);
  for (const PlannedPoint& point : points) {  // before any work
    readamp::MakePolicy(ExpandPolicy(point, settings.readamp.size_ratio, 1));
  }
  const std::size_t planned = points.size();
  points.erase(std::remove_if(points.begin(), points.end(),
                              [&](const PlannedPoint& point) {
                                return file.Found().Contains(point.tree, point.family, point.bits);
                              }),
               points.end());
  std::vector<SizingPoint> sizing;
  if (settings.sizing_queries > 0) sizing = PlanSizing();
  sizing.erase(
      std::remove_if(sizing.begin(), sizing.end(),
                     [&](const SizingPoint& point) { return file.Found().Contains(point); }),
      sizing.end());
  fmt::print("{}: {} of {} points are there already\n", settings.results, planned - points.size(),
             planned);
  if (points.empty() && sizing.empty()) return;

  file.Append(DescribeRun(settings, command));
  readamp::Progress progress;
  progress.Begin("sizing", sizing.size());
  for (SizingPoint& point : sizing) {
    support::CheckForInterrupts();
    MeasureSizing(settings.readamp.seed, settings.sizing_queries, point);
    file.Append(ToJson(point));
    progress.Add(1);
  }
  progress.End();

  if (points.empty()) return;
  const Lookups lookups = MakeLookups(settings);
  Position position(points.size());
  for (const PlannedPoint& planned_point : points) {
    const Point point = MeasurePoint(planned_point, settings, lookups, position, progress);
    file.Append(ToJson(point));
    fmt::print("[{}] {}, {}: {:.2f} bits per key, {:.6f} wasted reads and {:.2f} us a lookup\n",
               position.Text(), point.tree, point.policy, point.BitsPerKey(), point.WastedReads(),
               point.cpu_us);
    std::fflush(stdout);
    position.Next();
  }
}

}  // namespace exactbloom::sweep
