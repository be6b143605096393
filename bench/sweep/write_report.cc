#include "write_report.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "document.h"
#include "exactbloom/version.h"
#include "figure.h"
#include "results_file.h"
#include "sections.h"
#include "support/output_file.h"
#include "sweep_plan.h"

namespace exactbloom::sweep {
namespace {

using nlohmann::json;

std::string Subtitle(const Results& results) {
  std::string text = fmt::format("{} points", results.points.size());
  if (results.runs.empty()) return text;
  const json& run = results.runs.back();
  const json& settings = run.at("settings");
  return fmt::format(
      "{}: keys {}, a share of {} of them stored, in {} sorted runs of size ratio {}; RocksDB {}, "
      "ExactBloom {}, {}. ",
      text, settings.at("keys").get<std::string>(), settings.at("stored_share").dump(),
      settings.at("sorted_runs").dump(), settings.at("size_ratio").dump(),
      run.at("rocksdb").get<std::string>(), run.at("exactbloom").get<std::string>(),
      run.at("cpu").get<std::string>());
}

Document MakeDocument(const Results& results) {
  Document document;
  document.title = "Which filter, how many bits?";
  document.subtitle = Subtitle(results);
  for (const auto& make : {WastedReadsSection, WinnersSection, LevelsSection, SizingSection,
                           BuildSection, AgreementSection}) {
    Section section = make(results, document.answers);
    if (!section.figures.empty() || !section.tables.empty() || !section.paragraphs.empty()) {
      document.sections.push_back(std::move(section));
    }
  }
  document.sections.push_back(PointsSection(results));
  document.sections.push_back(RepeatSection(results));
  return document;
}

std::string CsvText(const std::string& text) {
  return text.find_first_of(",\"") == std::string::npos ? text : fmt::format("\"{}\"", text);
}

std::string PointsCsv(const Results& results) {
  std::string csv =
      "tree,policy,planned_bits,bits_per_key,filter_bytes,filter_keys,lookups,absent_checks,"
      "false_positives,wasted_reads,interval_low,interval_high,exact_wasted_reads,blocks_read,"
      "cpu_us,build_ns,load_cpu_us\n";
  for (const Point& point : results.points) {
    const Interval interval = point.WastedReadsInterval();
    const auto exact = point.ExactWastedReads();
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", point.tree,
                       CsvText(point.policy), point.bits, point.BitsPerKey(), point.filter_bytes,
                       point.filter_keys, point.lookups, point.absent_checks, point.false_positives,
                       point.WastedReads(), interval.low, interval.high,
                       exact ? fmt::format("{}", *exact) : "", point.blocks_read, point.cpu_us,
                       point.build_ns, point.load_cpu_us);
  }
  return csv;
}

json TableJson(const Table& table) {
  json rows = json::array();
  for (const auto& row : table.rows) {
    json values = json::array();
    for (const Cell& cell : row) values.push_back(cell.value);
    rows.push_back(std::move(values));
  }
  return {{"id", table.id}, {"caption", table.caption}, {"columns", table.columns}, {"rows", rows}};
}

json ReportJson(const Results& results, const Document& document) {
  json report = {{"exactbloom", EXACTBLOOM_VERSION}, {"runs", results.runs},
                 {"answers", document.answers},      {"points", json::array()},
                 {"sizing", json::array()},          {"tables", json::array()}};
  for (const Point& point : results.points) report["points"].push_back(ToJson(point));
  for (const SizingPoint& point : results.sizing) report["sizing"].push_back(ToJson(point));
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) report["tables"].push_back(TableJson(table));
  }
  return report;
}

void WriteFile(const std::filesystem::path& path, const std::string& text) {
  support::OutputFile(path.string()).Commit(text);
}

}  // namespace

void WriteReport(const std::string& results_path, const std::string& directory) {
  const Results results = ReadResults(results_path);
  if (results.points.empty()) {
    throw InputError(fmt::format("{} holds no points of a sweep", results_path));
  }
  const std::filesystem::path output(directory);
  std::error_code error;
  std::filesystem::create_directories(output, error);
  if (error) throw InputError(fmt::format("cannot make {}: {}", directory, error.message()));

  const Document document = MakeDocument(results);
  WriteFile(output / "index.html", HtmlPage(document));
  WriteFile(output / "report.md", Markdown(document));
  WriteFile(output / "points.csv", PointsCsv(results));
  WriteFile(output / "report.json", ReportJson(results, document).dump(1) + "\n");
  for (const Section& section : document.sections) {
    for (const Figure& figure : section.figures) {
      WriteFile(output / (figure.id + ".svg"), StandaloneSvg(figure));
    }
  }
}

}  // namespace exactbloom::sweep
