#include <fmt/format.h>

#include "curves.h"
#include "sections.h"
#include "sweep_plan.h"

namespace exactbloom::sweep {
namespace {

std::vector<Cell> PointRow(const Point& point) {
  const Interval interval = point.WastedReadsInterval();
  const auto exact = point.ExactWastedReads();
  constexpr double kExampleLatencyUs = 100.0;
  return {TextCell(point.policy),
          TextCell(point.tree),
          NumberCell(point.bits),
          NumberCell(point.BitsPerKey(), 5),
          NumberCell(
              static_cast<double>(point.filter_bytes) / static_cast<double>(point.filter_keys), 4),
          NumberCell(point.WastedReads()),
          NumberCell(interval.low),
          NumberCell(interval.high),
          exact ? NumberCell(*exact) : EmptyCell(),
          NumberCell(static_cast<double>(point.blocks_read) / static_cast<double>(point.lookups)),
          NumberCell(point.cpu_us, 3),
          NumberCell(point.TimeUs(kExampleLatencyUs), 3),
          NumberCell(point.build_ns, 3),
          NumberCell(point.load_cpu_us, 3)};
}

std::string SettingText(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Section PointsSection(const Results& results) {
  Table table{
      "points",
      "A click on a heading sorts. Wasted reads, blocks read and times are of one lookup of "
      "an absent key.",
      {"policy", "tree", "planned bits", "bits per key", "bytes per key", "wasted reads",
       "99.9% from", "to", "exact", "blocks read", "CPU us", "us at 100 us a read", "build ns/key",
       "load us/key"},
      {}};
  for (const Point& point : results.points) table.rows.push_back(PointRow(point));
  return {"all-points", "All points", {}, {}, {std::move(table)}};
}

Section RepeatSection(const Results& results) {
  Section section{
      "repeat",
      "How it was measured",
      {"A point is measured in a database of its own: the stored keys in a settled tree, "
       "one sorted run a level, filters in memory, no block cache, and blocks from the page cache; "
       "then keys "
       "that are not in the store are looked up. Every answer is checked."},
      {},
      {}};
  for (const std::string& tree : Trees(results)) {
    section.paragraphs.push_back(fmt::format("Tree `{}`: {}.", tree, DescribeTree(tree)));
  }
  Table runs{"runs",
             "Commands, versions and machine, a row a run of the program",
             {"command", "ExactBloom", "RocksDB", "processor", "kernel"},
             {}};
  for (const auto& run : results.runs) {
    runs.rows.push_back({TextCell(run.at("command")), TextCell(run.at("exactbloom")),
                         TextCell(run.at("rocksdb")), TextCell(run.at("cpu")),
                         TextCell(run.at("kernel"))});
  }
  Table settings{"settings", "Settings that all points share", {"setting", "value"}, {}};
  if (!results.runs.empty()) {
    for (const auto& [name, value] : results.runs.back().at("settings").items()) {
      settings.rows.push_back({TextCell(name), {SettingText(value), value}});
    }
  }
  section.tables.push_back(std::move(runs));
  section.tables.push_back(std::move(settings));
  return section;
}

}  // namespace exactbloom::sweep
