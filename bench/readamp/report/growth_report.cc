#include "growth_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tool/support/optional_json.h"
#include "tool/support/text_table.h"

namespace exactbloom::readamp {
namespace {

using nlohmann::json;

GrowthMeans MeansOf(const GrowthPoint* first, const GrowthPoint* last) {
  GrowthMeans means;
  double with_tables = 0.0;
  std::optional<double> optimum = 0.0;
  const auto count = static_cast<double>(last - first);
  for (; first != last; ++first) {
    means.wasted_reads += first->WastedReadsPerLookup() / count;
    means.runs_asked += first->RunsAsked() / count;
    if (first->runs.empty()) continue;
    with_tables += 1.0;
    means.bits_per_key += first->BitsPerKey();
    optimum = optimum && first->optimum ? std::optional(*optimum + *first->optimum / count)
                                        : std::nullopt;
  }
  if (with_tables > 0.0) means.bits_per_key /= with_tables;
  if (optimum && *optimum > 0.0) means.over_optimum = means.wasted_reads / *optimum;
  return means;
}

std::string Ratio(double value, double of) {
  return of > 0.0 ? fmt::format("{:.3f}", value / of) : "-";
}

// The table of one state of the trees. The ratios are to the first policy that has filters.
std::string ComparisonText(const char* state, GrowthMeans GrowthResult::*means_of,
                           const std::vector<GrowthResult>& results) {
  auto first = std::find_if(results.begin(), results.end(), [](const GrowthResult& result) {
    return result.most_bits_per_key > 0.0;
  });
  if (first == results.end()) first = results.begin();
  const double baseline = ((*first).*means_of).wasted_reads;
  support::TextTable table(
      {state, "wasted/lookup", "of first", "runs asked", "/optimum", "bits/key", "most"});
  for (const GrowthResult& result : results) {
    const GrowthMeans& means = result.*means_of;
    table.AddRow({result.policy, fmt::format("{:.4f}", means.wasted_reads),
                  Ratio(means.wasted_reads, baseline), fmt::format("{:.2f}", means.runs_asked),
                  means.over_optimum ? fmt::format("{:.3f}", *means.over_optimum) : "-",
                  fmt::format("{:.3f}", means.bits_per_key),
                  fmt::format("{:.3f}", result.most_bits_per_key)});
  }
  return table.Format();
}

json MeansJson(const GrowthMeans& means) {
  return {{"wasted_reads_per_lookup", means.wasted_reads},
          {"runs_asked", means.runs_asked},
          {"over_present_optimum", means.over_optimum},
          {"bits_per_key", means.bits_per_key}};
}

json PointJson(const GrowthPoint& point) {
  json runs = json::array();
  for (const GrowthRun& run : point.runs) {
    runs.push_back({{"level", run.level},
                    {"tables", run.tables},
                    {"keys", run.keys},
                    {"filter_bytes", run.filter_bytes},
                    {"asked", run.asked}});
  }
  return {{"seconds", point.seconds},
          {"keys_written", point.keys_written},
          {"lookups", point.lookups},
          {"false_positives", point.false_positives},
          {"wasted_reads", point.wasted_reads},
          {"wasted_reads_per_lookup", point.WastedReadsPerLookup()},
          {"runs_asked", point.RunsAsked()},
          {"present_optimum", point.optimum},
          {"tables", point.Sum(&GrowthRun::tables)},
          {"keys_in_tables", point.Sum(&GrowthRun::keys)},
          {"filter_bytes", point.Sum(&GrowthRun::filter_bytes)},
          {"bits_per_key", point.BitsPerKey()},
          {"sorted_runs", runs}};
}

}  // namespace

GrowthResult MakeGrowthResult(const std::string& policy, const std::vector<GrowthPoint>& points) {
  const GrowthPoint* rest = &points.back();
  GrowthResult result{policy, points, MeansOf(points.data(), rest), MeansOf(rest, rest + 1)};
  for (const GrowthPoint& point : points) {
    result.most_bits_per_key = std::max(result.most_bits_per_key, point.BitsPerKey());
  }
  return result;
}

std::string GrowthText(const std::vector<GrowthResult>& results) {
  const GrowthPoint& at_rest = results.front().points.back();
  return fmt::format(
      "growth: {} lookups of keys that are not in the store at each of {} points while {} keys are "
      "written, and at rest\n{}\n{}\n",
      at_rest.lookups, results.front().points.size() - 1, at_rest.keys_written,
      ComparisonText("while loading", &GrowthResult::loading, results),
      ComparisonText("at rest", &GrowthResult::at_rest, results));
}

json GrowthJson(const GrowthResult& result) {
  json points = json::array();
  for (const GrowthPoint& point : result.points) points.push_back(PointJson(point));
  json at_rest = MeansJson(result.at_rest);
  at_rest.update(points.back());
  points.erase(points.size() - 1);
  return {{"loading", MeansJson(result.loading)},
          {"at_rest", at_rest},
          {"most_bits_per_key", result.most_bits_per_key},
          {"points", points}};
}

}  // namespace exactbloom::readamp
