#include "growth_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/optional_json.h"
#include "support/text_table.h"

namespace exactbloom::readamp {
namespace {

using nlohmann::json;

// Of points whose optima are at `optimum` and behind.
GrowthMeans MeansOf(const GrowthPoint* first, const GrowthPoint* last,
                    const GrowthOptimum* optimum) {
  GrowthMeans means;
  double wasted = 0.0;
  double bits = 0.0;
  double with_tables = 0.0;
  std::optional<double> present = 0.0;
  std::optional<double> wanted = 0.0;
  const auto add = [](std::optional<double>& sum, const std::optional<double>& value) {
    sum = sum && value ? std::optional(*sum + *value) : std::nullopt;
  };
  const auto count = static_cast<double>(last - first);
  for (; first != last; ++first, ++optimum) {
    wasted += first->WastedReadsPerLookup();
    means.runs_asked += first->RunsAsked() / count;
    bits += first->BitsPerKey();
    if (first->runs.empty()) continue;
    with_tables += 1.0;
    add(present, optimum->present);
    add(wanted, optimum->wanted);
  }
  means.wasted_reads = wasted / count;
  if (with_tables > 0.0) means.bits_per_key = bits / with_tables;
  if (present && *present > 0.0) means.over_present_optimum = wasted / *present;
  if (wanted && *wanted > 0.0) means.over_wanted_optimum = wasted / *wanted;
  return means;
}

std::string Text(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::optional<double> Ratio(double value, double of) {
  return of > 0.0 ? std::optional(value / of) : std::nullopt;
}

double PerRun(const GrowthMeans& means) {
  return Ratio(means.wasted_reads, means.runs_asked).value_or(0.0);
}

// The table of one state of the trees.
std::string ComparisonText(const std::string& state, GrowthMeans (GrowthResult::*means_of)() const,
                           const std::vector<GrowthResult>& results) {
  auto first = std::find_if(results.begin(), results.end(),
                            [](const GrowthResult& result) { return result.HasFilters(); });
  if (first == results.end()) first = results.begin();
  const GrowthMeans baseline = ((*first).*means_of)();
  support::TextTable table({state, "/lookup", "of first", "runs asked", "of first/run", "/optimum",
                            "/wanted", "bits/key", "most", "most filter bytes"});
  for (const GrowthResult& result : results) {
    const GrowthMeans means = (result.*means_of)();
    table.AddRow({result.policy, Text(means.wasted_reads, 4),
                  Text(Ratio(means.wasted_reads, baseline.wasted_reads), 3),
                  Text(means.runs_asked, 2), Text(Ratio(PerRun(means), PerRun(baseline)), 3),
                  Text(means.over_present_optimum, 3), Text(means.over_wanted_optimum, 3),
                  Text(means.bits_per_key, 3), Text(result.MostBitsPerKey(), 3),
                  result.growth.at_rest.most_filter_bytes});
  }
  return table.Format();
}

std::string OverTimeText(const GrowthResult& result) {
  support::TextTable table({"keys written", "seconds", "tables", "in level 0", "sorted runs",
                            "wasted reads", "/lookup", "optimum", "wanted", "filter bytes",
                            "bits/key", "most filter bytes"});
  const auto add = [&](const std::string& name, const GrowthPoint& point,
                       const GrowthOptimum& optimum) {
    table.AddRow({name, Text(point.seconds, 2), point.Sum(&GrowthRun::tables),
                  std::count_if(point.runs.begin(), point.runs.end(),
                                [](const GrowthRun& run) { return run.level == 0; }),
                  point.runs.size(), point.wasted_reads, Text(point.WastedReadsPerLookup(), 4),
                  Text(optimum.present, 4), Text(optimum.wanted, 4),
                  point.Sum(&GrowthRun::filter_bytes), Text(point.BitsPerKey(), 3),
                  point.most_filter_bytes});
  };
  const Growth& growth = result.growth;
  for (std::size_t i = 0; i < growth.loading.size(); ++i) {
    add(std::to_string(growth.loading[i].keys_written), growth.loading[i], result.optima[i]);
  }
  add("at rest", growth.at_rest, result.optima.back());
  return result.policy + "\n" + table.Format();
}

json MeansJson(const GrowthMeans& means) {
  return {{"wasted_reads_per_lookup", means.wasted_reads},
          {"runs_asked", means.runs_asked},
          {"over_present_optimum", means.over_present_optimum},
          {"over_wanted_optimum", means.over_wanted_optimum},
          {"bits_per_key", means.bits_per_key}};
}

json RunJson(const GrowthRun& run) {
  return {{"level", run.level},
          {"tables", run.tables},
          {"unfiltered_tables", run.unfiltered_tables},
          {"keys", run.keys},
          {"filter_bytes", run.filter_bytes},
          {"asked", run.asked}};
}

json PointJson(const GrowthPoint& point, const GrowthOptimum& optimum) {
  json runs = json::array();
  for (const GrowthRun& run : point.runs) runs.push_back(RunJson(run));
  return {{"seconds", point.seconds},
          {"keys_written", point.keys_written},
          {"lookups", point.lookups},
          {"false_positives", point.false_positives},
          {"wasted_reads", point.wasted_reads},
          {"wasted_reads_per_lookup", point.WastedReadsPerLookup()},
          {"runs_asked", point.RunsAsked()},
          {"present_optimum", optimum.present},
          {"wanted_optimum", optimum.wanted},
          {"tables", point.Sum(&GrowthRun::tables)},
          {"keys_in_tables", point.Sum(&GrowthRun::keys)},
          {"filter_bytes", point.Sum(&GrowthRun::filter_bytes)},
          {"bits_per_key", point.BitsPerKey()},
          {"most_filter_bytes", point.most_filter_bytes},
          {"sorted_runs", runs}};
}

}  // namespace

GrowthMeans GrowthResult::Loading() const {
  const std::vector<GrowthPoint>& points = growth.loading;
  return MeansOf(points.data(), points.data() + points.size(), optima.data());
}

GrowthMeans GrowthResult::AtRest() const {
  return MeansOf(&growth.at_rest, &growth.at_rest + 1, &optima.back());
}

double GrowthResult::MostBitsPerKey() const {
  double most = growth.at_rest.BitsPerKey();
  for (const GrowthPoint& point : growth.loading) most = std::max(most, point.BitsPerKey());
  return most;
}

bool GrowthResult::HasFilters() const { return growth.at_rest.most_filter_bytes > 0; }

std::string GrowthText(const std::vector<GrowthResult>& results) {
  const Growth& growth = results.front().growth;
  std::string text = fmt::format(
      "growth: {} lookups of keys that are not in the store at each of {} points while {} keys are "
      "written, and at rest\n{}\n{}\n",
      growth.at_rest.lookups, growth.loading.size(), growth.at_rest.keys_written,
      ComparisonText("while loading", &GrowthResult::Loading, results),
      ComparisonText("at rest", &GrowthResult::AtRest, results));
  for (const GrowthResult& result : results) text += OverTimeText(result) + "\n";
  return text;
}

json GrowthJson(const GrowthResult& result) {
  const Growth& growth = result.growth;
  json points = json::array();
  for (std::size_t i = 0; i < growth.loading.size(); ++i) {
    points.push_back(PointJson(growth.loading[i], result.optima[i]));
  }
  json at_rest = MeansJson(result.AtRest());
  at_rest.update(PointJson(growth.at_rest, result.optima.back()));
  return {{"loading", MeansJson(result.Loading())},
          {"at_rest", at_rest},
          {"most_bits_per_key", result.MostBitsPerKey()},
          {"most_filter_bytes", growth.at_rest.most_filter_bytes},
          {"points", points}};
}

}  // namespace exactbloom::readamp
