#include "point.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace exactbloom::sweep {
namespace {

using nlohmann::json;

double Ratio(std::uint64_t count, std::uint64_t of) {
  return of == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(of);
}

json Optional(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

json ToJson(const SizedFilters& filters) {
  const Interval interval = filters.RateInterval();
  return {{"probes", filters.probes},
          {"exact_rate", filters.exact_rate},
          {"queries", filters.queries},
          {"false_positives", filters.false_positives},
          {"dispersion", filters.dispersion},
          {"measured_rate", filters.MeasuredRate()},
          {"interval", {interval.low, interval.high}}};
}

SizedFilters SizedFiltersFromJson(const json& from) {
  return {from.at("probes"), from.at("exact_rate"), from.at("queries"), from.at("false_positives"),
          from.at("dispersion")};
}

}  // namespace

double Point::BitsPerKey() const { return 8.0 * Ratio(filter_bytes, filter_keys); }

double Point::WastedReads() const { return Ratio(false_positives, lookups); }

Interval Point::WastedReadsInterval() const {
  const Interval rate = WilsonInterval(false_positives, absent_checks, kZ999, dispersion);
  const double checks = Ratio(absent_checks, lookups);
  return {rate.low * checks, rate.high * checks};
}

std::optional<double> Point::ExactWastedReads() const {
  if (!exact_rate) return std::nullopt;
  return *exact_rate * Ratio(absent_checks, lookups);
}

double Point::TimeUs(double read_latency_us) const {
  return cpu_us + read_latency_us * Ratio(blocks_read, lookups);
}

double SizedFilters::MeasuredRate() const { return Ratio(false_positives, queries); }

Interval SizedFilters::RateInterval() const {
  return WilsonInterval(false_positives, queries, kZ999, dispersion);
}

json ToJson(const Point& point) {
  const Interval interval = point.WastedReadsInterval();
  json delayed = json::array();
  for (const DelayedRun& run : point.delayed) {
    delayed.push_back({{"read_latency_us", run.read_latency_us},
                       {"lookups", run.lookups},
                       {"reads", run.reads},
                       {"mean_us", run.mean_us}});
  }
  return {{"kind", "point"},
          {"tree", point.tree},
          {"family", point.family},
          {"policy", point.policy},
          {"bits", point.bits},
          {"filter_bytes", point.filter_bytes},
          {"filter_keys", point.filter_keys},
          {"bits_per_key", point.BitsPerKey()},
          {"tables", point.tables},
          {"lookups", point.lookups},
          {"absent_checks", point.absent_checks},
          {"false_positives", point.false_positives},
          {"blocks_read", point.blocks_read},
          {"dispersion", point.dispersion},
          {"exact_rate", Optional(point.exact_rate)},
          {"wasted_reads", point.WastedReads()},
          {"interval", {interval.low, interval.high}},
          {"exact_wasted_reads", Optional(point.ExactWastedReads())},
          {"cpu_us", point.cpu_us},
          {"load_cpu_us", point.load_cpu_us},
          {"build_ns", point.build_ns},
          {"delayed", delayed}};
}

json ToJson(const SizingPoint& point) {
  return {{"kind", "sizing"},
          {"layout", point.layout.kind == FilterKind::kClassic ? "classic" : "standard"},
          {"lines", point.layout.Lines()},
          {"keys", point.keys},
          {"bits", point.bits},
          {"bits_per_key", point.BitsPerKey()},
          {"usual", ToJson(point.usual)},
          {"exact", ToJson(point.exact)}};
}

Point PointFromJson(const json& from) {
  Point point;
  point.tree = from.at("tree");
  point.family = from.at("family");
  point.policy = from.at("policy");
  point.bits = from.at("bits");
  point.filter_bytes = from.at("filter_bytes");
  point.filter_keys = from.at("filter_keys");
  point.tables = from.at("tables");
  point.lookups = from.at("lookups");
  point.absent_checks = from.at("absent_checks");
  point.false_positives = from.at("false_positives");
  point.blocks_read = from.at("blocks_read");
  point.dispersion = from.at("dispersion");
  if (!from.at("exact_rate").is_null()) point.exact_rate = from.at("exact_rate").get<double>();
  point.cpu_us = from.at("cpu_us");
  point.load_cpu_us = from.at("load_cpu_us");
  point.build_ns = from.at("build_ns");
  for (const json& run : from.at("delayed")) {
    point.delayed.push_back(
        {run.at("read_latency_us"), run.at("lookups"), run.at("reads"), run.at("mean_us")});
  }
  return point;
}

SizingPoint SizingPointFromJson(const json& from) {
  SizingPoint point;
  point.layout = {from.at("layout") == "classic" ? FilterKind::kClassic : FilterKind::kStandard,
                  from.at("lines").get<int>()};
  point.keys = from.at("keys");
  point.bits = from.at("bits");
  point.usual = SizedFiltersFromJson(from.at("usual"));
  point.exact = SizedFiltersFromJson(from.at("exact"));
  return point;
}

}  // namespace exactbloom::sweep
