#include "measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/theory/confidence_interval.h"
#include "exactbloom/version.h"
#include "readamp/policy_measurement.h"
#include "results_file.h"
#include "support/machine.h"
#include "support/optional_json.h"
#include "support/progress.h"

namespace exactbloom::sweep {
namespace {

using nlohmann::json;
using readamp::Database;
using readamp::KeySet;
using readamp::Measurement;
using readamp::Workload;
using support::Progress;

double PerLookup(std::uint64_t count, const Measurement& measured) {
  return static_cast<double>(count) / static_cast<double>(measured.lookups);
}

// The counts of the first run, which the others have to repeat, and the least processor time.
// Throws WrongAnswer if the counts differ from those of the tree and the exact rates.
readamp::WorkloadResult LookUp(const Workload& absent, const Database& database, int repetitions,
                               const std::string& step, Progress& progress) {
  readamp::WorkloadResult result = MeasureWorkload(absent, database, step, progress);
  Measurement& first = result.measurement;
  for (int i = 1; i < repetitions; ++i) {
    const Measurement again =
        Run(absent, database, step, database.Settings().read_latency, progress);
    if (again.false_positives != first.false_positives) {
      throw support::WrongAnswer(
          fmt::format("{}: {} false positives, and {} when the same keys were looked up again",
                      step, first.false_positives, again.false_positives));
    }
    first.cpu_us = std::min(first.cpu_us, again.cpu_us);
  }
  return result;
}

json FilterFields(const Database& database) {
  const auto bytes = static_cast<double>(database.Tables().FilterBytes());
  const auto keys = static_cast<double>(database.Tables().FilterKeys());
  return {{"tables", database.Tables().size()},
          {"load_cpu_us", database.LoadCpuPerKey()},
          {"filter_bytes", database.Tables().FilterBytes()},
          {"filter_keys", database.Tables().FilterKeys()},
          {"bits_per_key", keys == 0.0 ? 0.0 : 8.0 * bytes / keys}};
}

json CountFields(const Measurement& measured, const readamp::Prediction& prediction) {
  const double checks = PerLookup(measured.AbsentChecks(), measured);
  const Interval rate = WilsonInterval(measured.false_positives, measured.AbsentChecks(), kZ999,
                                       prediction.dispersion);
  json fields = {{"lookups", measured.lookups},
                 {"absent_checks", measured.AbsentChecks()},
                 {"false_positives", measured.false_positives},
                 {"blocks_read", measured.data_blocks_read},
                 {"dispersion", prediction.dispersion},
                 {"exact_rate", prediction.rate},
                 {"exact_wasted_reads", nullptr},
                 {"wasted_reads", PerLookup(measured.false_positives, measured)},
                 {"interval", {rate.low * checks, rate.high * checks}},
                 {"cpu_us", measured.cpu_us}};
  if (prediction.rate) fields["exact_wasted_reads"] = *prediction.rate * checks;
  return fields;
}

// A database of the point's own, and the lookups in it.
json MeasurePoint(const PlannedPoint& point, const SweepSettings& settings, const KeySet& keys,
                  const Workload& absent, const std::string& position, Progress& progress) {
  const readamp::ReadampSettings readamp = TreeSettings(settings, point.tree);
  const std::string policy = ExpandPolicy(point, readamp.size_ratio, keys.stored);
  const std::string step = fmt::format("[{}] {}, {}", position, point.tree, policy);
  progress.Begin(step + "  loading", 0);
  const Database database(readamp, keys, readamp::MakePolicy(policy));
  const readamp::WorkloadResult result =
      LookUp(absent, database, settings.repetitions, step, progress);
  json line = point.Identity();
  line["policy"] = policy;
  line.update(FilterFields(database));
  line.update(CountFields(result.measurement, result.prediction));
  return line;
}

json DescribeRun(const SweepSettings& settings, const std::string& command) {
  return {{"kind", "run"},
          {"command", command},
          {"exactbloom", EXACTBLOOM_VERSION},
          {"rocksdb", support::RocksDBVersion()},
          {"cpu", support::DescribeCpu()},
          {"kernel", KernelName()},
          {"settings", SharedSettings(settings)}};
}

void MeasureAllPoints(const std::vector<PlannedPoint>& points, const SweepSettings& settings,
                      ResultsFile& file) {
  const readamp::ReadampSettings readamp = TreeSettings(settings, settings.trees.front());
  const KeySet keys = MakeKeySet(readamp);
  const Workload absent = MakeWorkloads(keys, readamp).front();
  Progress progress;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::string position = fmt::format("{}/{}", i + 1, points.size());
    const json line = MeasurePoint(points[i], settings, keys, absent, position, progress);
    file.Append(line);
    fmt::print("[{}] {}, {}: {:.2f} bits per key, {:.6f} wasted reads and {:.2f} us per lookup\n",
               position, points[i].tree, line["policy"].get<std::string>(),
               line["bits_per_key"].get<double>(), line["wasted_reads"].get<double>(),
               line["cpu_us"].get<double>());
    std::fflush(stdout);
  }
}

}  // namespace

void Measure(const SweepSettings& settings, const std::string& command) {
  std::vector<PlannedPoint> points = PlanPoints(settings);
  for (const PlannedPoint& point : points) {  // before any work
    readamp::MakePolicy(ExpandPolicy(point, settings.readamp.size_ratio, 1));
  }

  ResultsFile file(settings.results, Fingerprint(SharedSettings(settings)));
  const std::size_t planned = points.size();
  points.erase(
      std::remove_if(points.begin(), points.end(),
                     [&](const PlannedPoint& point) { return file.Contains(point.Identity()); }),
      points.end());
  fmt::print("{}: {} of {} points exist already\n", settings.results, planned - points.size(),
             planned);
  if (points.empty()) return;
  file.Append(DescribeRun(settings, command));
  MeasureAllPoints(points, settings, file);
}

}  // namespace exactbloom::sweep
