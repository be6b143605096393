// Runs readamp_sweep as a user does: measures, stops, goes on, and reads the report as a browser
// shows it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "run_command.h"

namespace {

namespace fs = std::filesystem;
using exactbloom::testing::MakeTemporaryDirectory;
using exactbloom::testing::Outcome;
using exactbloom::testing::ReadFile;
using exactbloom::testing::RunCommand;
using nlohmann::json;

constexpr const char* kPolicies =
    "'bloomfilter:{bits},ribbonfilter:{equal_bytes},classic_bloom:{bits},"
    "{id=classic_bloom;bits_per_key={bits};size_ratio={size_ratio}}'";

std::vector<json> ReadLines(const fs::path& path) {
  std::vector<json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  return lines;
}

std::vector<json> OfKind(const std::vector<json>& lines, const std::string& kind) {
  std::vector<json> found;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(found),
               [&](const json& line) { return line.at("kind") == kind; });
  return found;
}

std::string Unescape(std::string text) {
  const std::vector<std::pair<std::string, std::string>> entities = {
      {"&quot;", "\""}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}};
  for (const auto& [entity, character] : entities) {
    for (auto at = text.find(entity); at != std::string::npos; at = text.find(entity, at + 1)) {
      text.replace(at, entity.size(), character);
    }
  }
  return text;
}

// The values of the cells of a table of the page, row by row.
json TableValues(const std::string& page, const std::string& id) {
  const auto begin = page.find(fmt::format("<table id=\"{}\"", id));
  if (begin == std::string::npos) return nullptr;
  const std::string table = page.substr(begin, page.find("</table>", begin) - begin);
  json rows = json::array();
  const std::regex cell("data-value=\"([^\"]*)\"");
  for (auto row = table.find("<tr>", table.find("<tbody>")); row != std::string::npos;
       row = table.find("<tr>", row + 1)) {
    const std::string text = table.substr(row, table.find("</tr>", row) - row);
    json values = json::array();
    for (std::sregex_iterator at(text.begin(), text.end(), cell); at != std::sregex_iterator();
         ++at) {
      values.push_back(json::parse(Unescape((*at)[1])));
    }
    rows.push_back(values);
  }
  return rows;
}

class SweepTest : public testing::Test {
 protected:
  // All tests look at the report of one small sweep.
  static void SetUpTestSuite() {
    directory_ = MakeTemporaryDirectory();
    fs::create_directory(directory_ / "databases");
    const Outcome measured =
        Measure(Results(),
                "--trees large,small_partitions --sizing-queries 40000 --read-latencies 100 "
                "--least-bits 6 --most-bits 10 --step 4");
    ASSERT_EQ(measured.status, 0) << measured.err;
    const Outcome reported = Report(Results(), Output());
    ASSERT_EQ(reported.status, 0) << reported.err;
  }

  static void TearDownTestSuite() { fs::remove_all(directory_); }

  static Outcome Measure(const fs::path& results, const std::string& arguments,
                         const std::string& under = "", int keys = 20'000) {
    return RunCommand(
        fmt::format("{} {} measure --results {} --synthetic {} --stored 0.5 --lookups 10000 "
                    "--sorted-runs 2 --repetitions 1 --directory {} --policies {} {}",
                    under, READAMP_SWEEP, results.string(), keys,
                    (directory_ / "databases").string(), kPolicies, arguments),
        directory_);
  }

  static Outcome Report(const fs::path& results, const fs::path& output) {
    return RunCommand(fmt::format("{} report --results {} --output {}", READAMP_SWEEP,
                                  results.string(), output.string()),
                      directory_);
  }

  static fs::path Results() { return directory_ / "sweep.jsonl"; }
  static fs::path Output() { return directory_ / "report"; }
  static std::string Page() { return ReadFile(Output() / "index.html"); }
  static json ReportJson() { return json::parse(ReadFile(Output() / "report.json")); }

  static fs::path directory_;
};

fs::path SweepTest::directory_;

TEST_F(SweepTest, MeasuresEveryPointAsPredicted) {
  const std::vector<json> points = OfKind(ReadLines(Results()), "point");
  ASSERT_EQ(points.size(), 16U);
  for (const json& point : points) {
    SCOPED_TRACE(point.at("policy"));
    // Partitions take an index and more trailers, and RocksDB's Ribbon filters of them more still.
    const bool ribbon = point.at("family").get<std::string>().find("ribbon") != std::string::npos;
    const double most = point.at("tree") == "large" ? 0.3 : ribbon ? 6.0 : 2.0;
    EXPECT_NEAR(point.at("bits_per_key").get<double>(), point.at("bits").get<double>(), most);
    // A delayed read takes at least its time.
    const json& delayed = point.at("delayed").at(0);
    EXPECT_GE(delayed.at("mean_us").get<double>() * delayed.at("lookups").get<double>(),
              100.0 * delayed.at("reads").get<double>());
    EXPECT_GE(point.at("blocks_read"), point.at("false_positives"));
    EXPECT_GT(point.at("build_ns"), 0.0);
    const bool ours = point.at("family").get<std::string>().find("classic") != std::string::npos;
    ASSERT_EQ(point.at("exact_wasted_reads").is_null(), !ours);
    if (!ours) continue;
    EXPECT_LE(point.at("interval").at(0), point.at("exact_wasted_reads"));
    EXPECT_GE(point.at("interval").at(1), point.at("exact_wasted_reads"));
  }
  for (const json& point : OfKind(ReadLines(Results()), "sizing")) {
    for (const char* k : {"usual", "exact"}) {
      SCOPED_TRACE(point.dump());
      EXPECT_LE(point.at(k).at("interval").at(0), point.at(k).at("exact_rate"));
      EXPECT_GE(point.at(k).at("interval").at(1), point.at(k).at("exact_rate"));
    }
    EXPECT_LE(point.at("exact").at("exact_rate"), point.at("usual").at("exact_rate"));
  }
}

// An interrupted sweep leaves its points and no database; a torn line does no harm; what was
// measured is not measured again.
TEST_F(SweepTest, GoesOnWhereItWasStopped) {
  const fs::path results = directory_ / "stopped.jsonl";
  const std::string bits = "--sizing-queries 0 --least-bits 10 --most-bits 10";
  const Outcome stopped = Measure(results, bits, "timeout --preserve-status -s INT 1", 1'000'000);
  EXPECT_EQ(stopped.status, 130);
  EXPECT_TRUE(fs::is_empty(directory_ / "databases"));

  fs::remove(results);
  ASSERT_EQ(Measure(results, bits).status, 0);
  std::vector<json> lines = ReadLines(results);
  ASSERT_EQ(OfKind(lines, "point").size(), 4U);
  const json kept = OfKind(lines, "point").at(1);
  std::ofstream file(results);
  for (std::size_t i = 0; i < 3; ++i) file << lines[i].dump() << "\n";
  file << lines[3].dump().substr(0, 100);  // no newline: the run was killed here
  file.close();

  const Outcome resumed = Measure(results, bits);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_NE(resumed.out.find("2 of 4 points are there already"), std::string::npos) << resumed.out;
  lines = ReadLines(results);
  EXPECT_EQ(OfKind(lines, "run").size(), 2U);
  std::set<std::string> policies;
  for (const json& point : OfKind(lines, "point")) policies.insert(point.at("policy"));
  EXPECT_EQ(policies.size(), 4U);
  EXPECT_EQ(OfKind(lines, "point").at(1), kept);

  const Outcome other = Measure(results, bits + " --seed 7");
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("other settings"), std::string::npos) << other.err;
}

TEST_F(SweepTest, RefusesBadInputWithOneLine) {
  using exactbloom::testing::ExpectRefusal;
  const fs::path none = directory_ / "none.jsonl";
  ExpectRefusal(Measure(none, "--trees oak"), "oak");
  ExpectRefusal(Measure(none, "--step 0"), "positive step");
  ExpectRefusal(Measure(none, "--most-bits 101"), "101");
  ExpectRefusal(Report(none, Output()), none.string());
  std::ofstream(none) << "not a result\n";
  ExpectRefusal(Report(none, Output()), "line 1");
  fs::remove(none);
}

// Every figure of the tables is that of the JSON, and every form of the report has all points.
TEST_F(SweepTest, PageHasTheFiguresOfTheJson) {
  const std::string page = Page();
  const json report = ReportJson();
  EXPECT_EQ(report.at("points").size(), 16U);
  ASSERT_GT(report.at("tables").size(), 5U);
  for (const json& table : report.at("tables")) {
    SCOPED_TRACE(table.at("id"));
    EXPECT_EQ(TableValues(page, table.at("id")), table.at("rows"));
  }
  const std::string csv = ReadFile(Output() / "points.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 17);
  const std::string markdown = ReadFile(Output() / "report.md");
  for (const json& answer : report.at("answers")) {
    EXPECT_NE(markdown.find(answer.get<std::string>()), std::string::npos);
  }
}

// The page takes nothing from anywhere, and no name stands twice.
TEST_F(SweepTest, PageStandsAlone) {
  std::string page = Page();
  const std::regex name_space("xmlns(:[a-z]+)?=\"[^\"]*\"");
  page = std::regex_replace(page, name_space, "");
  for (const char* reference : {"http:", "https:", "src=", "@import", "url(file"}) {
    EXPECT_EQ(page.find(reference), std::string::npos) << reference;
  }
  const std::regex link("href=\"(.)");
  for (std::sregex_iterator at(page.begin(), page.end(), link); at != std::sregex_iterator();
       ++at) {
    EXPECT_EQ((*at)[1], "#");
  }
  std::set<std::string> ids;
  const std::regex id("\\sid=[\"']([^\"']+)[\"']");
  for (std::sregex_iterator at(page.begin(), page.end(), id); at != std::sregex_iterator(); ++at) {
    EXPECT_TRUE(ids.insert((*at)[1]).second) << (*at)[1];
  }
}

// In a browser.
class SweepPageTest : public SweepTest {
 protected:
  void SetUp() override {
    for (const char* name : {"chromium-headless-shell", "chromium"}) {
      if (RunCommand(fmt::format("command -v {}", name), directory_).status == 0) browser_ = name;
      if (!browser_.empty()) return;
    }
    GTEST_SKIP() << "no chromium here; scripts/packages_browser.txt names it";
  }

  Outcome Browse(const std::string& options, const std::string& fragment) const {
    return RunCommand(fmt::format("{} --headless --no-sandbox --disable-gpu --hide-scrollbars "
                                  "--user-data-dir={} --virtual-time-budget=3000 {} 'file://{}{}'",
                                  browser_, (directory_ / "profile").string(), options,
                                  (Output() / "index.html").string(), fragment),
                      directory_);
  }

  std::string browser_;
};

TEST_F(SweepPageTest, SortsItsTables) {
  constexpr std::size_t kWastedReads = 5;
  const auto column = [](const std::string& page) {
    std::vector<double> values;
    for (const json& row : TableValues(page, "points")) values.push_back(row.at(kWastedReads));
    return values;
  };
  const auto up = column(Browse("--dump-dom", "#sort=points:5").out);
  ASSERT_EQ(up.size(), 16U);
  EXPECT_TRUE(std::is_sorted(up.begin(), up.end()));
  const auto down = column(Browse("--dump-dom", "#sort=points:5:desc").out);
  EXPECT_EQ(std::vector<double>(up.rbegin(), up.rend()), down);
  const auto unsorted = column(Page());
  EXPECT_FALSE(std::is_sorted(unsorted.begin(), unsorted.end()));
}

// A blank picture of this size takes a few kilobytes.
TEST_F(SweepPageTest, IsNotBlank) {
  const fs::path picture = directory_ / "page.png";
  const Outcome outcome =
      Browse(fmt::format("--window-size=1200,3000 --screenshot={}", picture.string()), "");
  ASSERT_TRUE(fs::exists(picture)) << outcome.err;
  const std::string png = ReadFile(picture);
  EXPECT_EQ(png.substr(1, 3), "PNG");
  EXPECT_GT(png.size(), 100'000U);
}

}  // namespace
