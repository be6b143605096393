#include "growth_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "support/text_table.h"

namespace exactbloom::readamp {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GrowthRun, level, tables, keys, filter_bytes, asked)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GrowthPoint, seconds, keys_written, lookups, false_positives,
                                   wasted_reads, wasted_reads_per_lookup, runs_asked,
                                   present_optimum, tables, keys_in_tables, filter_bytes,
                                   bits_per_key, sorted_runs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GrowthMeans, wasted_reads_per_lookup, runs_asked,
                                   over_present_optimum, bits_per_key)

namespace {

GrowthMeans MeansOf(const GrowthPoint* first, const GrowthPoint* last) {
  GrowthMeans means;
  double with_tables = 0.0;
  double optimum = 0.0;
  for (const GrowthPoint* point = first; point != last; ++point) {
    means.wasted_reads_per_lookup += point->wasted_reads_per_lookup;
    means.runs_asked += point->runs_asked;
    means.bits_per_key += point->bits_per_key;
    with_tables += point->tables > 0 ? 1.0 : 0.0;
    optimum += point->present_optimum;
  }
  means.over_present_optimum = optimum > 0.0 ? means.wasted_reads_per_lookup / optimum : NAN;
  const auto count = static_cast<double>(last - first);
  means.wasted_reads_per_lookup /= count;
  means.runs_asked /= count;
  means.bits_per_key /= std::max(1.0, with_tables);
  return means;
}

std::string Ratio(double value) {
  return std::isfinite(value) ? fmt::format("{:.3f}", value) : "-";
}

// The table of one state of the trees. The ratios are to the first policy that has filters.
std::string ComparisonText(const char* state, GrowthMeans GrowthResult::*means_of,
                           const std::vector<GrowthResult>& results) {
  auto first = std::find_if(results.begin(), results.end(), [](const GrowthResult& result) {
    return result.most_bits_per_key > 0.0;
  });
  if (first == results.end()) first = results.begin();
  const double baseline = ((*first).*means_of).wasted_reads_per_lookup;
  support::TextTable table(
      {state, "wasted/lookup", "of first", "runs asked", "/optimum", "bits/key", "most"});
  for (const GrowthResult& result : results) {
    const GrowthMeans& means = result.*means_of;
    table.AddRow({result.policy, fmt::format("{:.4f}", means.wasted_reads_per_lookup),
                  Ratio(means.wasted_reads_per_lookup / baseline),
                  fmt::format("{:.2f}", means.runs_asked), Ratio(means.over_present_optimum),
                  fmt::format("{:.3f}", means.bits_per_key),
                  fmt::format("{:.3f}", result.most_bits_per_key)});
  }
  return table.Format();
}

}  // namespace

GrowthResult MakeGrowthResult(const std::string& policy, const std::vector<GrowthPoint>& points) {
  const GrowthPoint* rest = &points.back();
  GrowthResult result{policy, points, MeansOf(points.data(), rest), MeansOf(rest, rest + 1)};
  for (const GrowthPoint& point : points) {
    result.most_bits_per_key = std::max(result.most_bits_per_key, point.bits_per_key);
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

nlohmann::json GrowthJson(const GrowthResult& result) {
  nlohmann::json points = result.points;
  nlohmann::json at_rest = result.at_rest;
  at_rest.update(points.back());
  points.erase(points.size() - 1);
  return {{"loading", result.loading},
          {"at_rest", at_rest},
          {"most_bits_per_key", result.most_bits_per_key},
          {"points", points}};
}

}  // namespace exactbloom::readamp
