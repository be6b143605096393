// The page of inspect --html: its numbers are those of the JSON, it asks nothing else, and a
// browser shows it without an error.
#include "tool/inspect/page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "../tool_command.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;

// The values of a table, in the order of its rows.
std::vector<std::vector<double>> ValuesOf(const std::string& page, const std::string& id) {
  const std::size_t begin = page.find(fmt::format("<table id=\"{}\">", id));
  EXPECT_NE(begin, std::string::npos) << id;
  const std::string table = page.substr(begin, page.find("</table>", begin) - begin);
  std::vector<std::vector<double>> rows;
  const std::regex row("<tr[^>]*><td>.*?</tr>");
  const std::regex value("data-value=\"([^\"]*)\"");
  for (std::sregex_iterator found(table.begin(), table.end(), row), end; found != end; ++found) {
    const std::string text = found->str();
    std::vector<double>& values = rows.emplace_back();
    for (std::sregex_iterator at(text.begin(), text.end(), value); at != end; ++at) {
      values.push_back(std::stod((*at)[1]));
    }
  }
  return rows;
}

class Page : public ::testing::Test {
 protected:
  std::string path() const { return directory_.path("db"); }
  std::string file() const { return directory_.path("page.html"); }

  std::string Write() const {
    const testing::Outcome outcome = AskTool(fmt::format("inspect --html {} {}", file(), path()));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return testing::ReadFile(file());
  }

  TemporaryDirectory directory_;
};

TEST_F(Page, HasTheNumbersOfTheJson) {
  const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), path());
  PutAndFlush(*db, 5000);
  MoveDown(*db, 2);
  PutAndFlush(*db, 1000);
  PutAndFlush(*db, 500);
  const std::string page = Write();
  EXPECT_LT(page.size(), tool::kMostPageBytes);
  const json report = AskToolForJson("inspect " + path());
  const auto runs = ValuesOf(page, "runs");  // tables, keys, bits per key, bytes, wasted reads
  ASSERT_EQ(runs.size(), 3U);
  double wasted = 0.0;
  for (std::size_t i = 0; i < 2; ++i) wasted += runs[i][4];
  const json& level0 = report.at("levels").at(0);
  const json& level2 = report.at("levels").at(1);
  EXPECT_DOUBLE_EQ(wasted, level0.at("wasted_reads"));
  EXPECT_EQ(runs[0][1] + runs[1][1], level0.at("keys"));
  EXPECT_EQ(runs[0][3] + runs[1][3], level0.at("filter_bytes"));
  EXPECT_EQ(runs[2],
            (std::vector<double>{level2.at("tables"), level2.at("keys"), level2.at("bits_per_key"),
                                 level2.at("filter_bytes"), level2.at("wasted_reads")}));
  const auto curves = ValuesOf(page, "curves");
  ASSERT_EQ(curves.size(), 32U) << "the present and the advised point, and ten of each kind";
  EXPECT_EQ(curves[0], (std::vector<double>{report.at("totals").at("filter_bytes"),
                                            report["totals"].at("wasted_reads").at("default")}));
  const json advice = AskToolForJson("advise " + path()).at("column_families").at(0);
  const json& best = advice.at("advice");
  ASSERT_FALSE(best.is_null());
  EXPECT_EQ(curves[1], (std::vector<double>{best.at("filter_bytes"), best.at("wasted_reads")}));
  EXPECT_TRUE(Mentions(page, best.at("policy")));
  EXPECT_TRUE(Mentions(page, "filter_policy=" + best["policy"].get<std::string>()));
  // Ten bits per key of exactbloom are what it plans for the tree.
  EXPECT_LT(curves[27][1], curves[7][1]) << "than a Bloom filter of as many bits";
  for (std::size_t i = 3; i < curves.size(); ++i) {
    if ((i - 2) % 10 == 0) continue;  // the first of a kind
    EXPECT_GT(curves[i][0], curves[i - 1][0]) << i;
    EXPECT_LT(curves[i][1], curves[i - 1][1]) << i;
  }
}

// A column family without advice has no curve.
TEST_F(Page, ComparesTheColumnFamiliesThatGetAdvice) {
  {
    const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), path());
    rocksdb::BlockBasedTableOptions without_keys = PlannedSizes();
    without_keys.filter_policy = NewPolicy(BloomKind::kClassic);
    without_keys.whole_key_filtering = false;
    rocksdb::ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(OptionsWith(without_keys), "unfiltered", &family).ok());
    PutAndFlush(*db, 1000, "value", 0, family);
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
    for (const std::uint64_t keys : {5000, 1000, 500}) PutAndFlush(*db, keys);
  }
  const std::string page = Write();
  const json now = AskToolForJson("advise " + path()).at("all").at("now");
  EXPECT_LT(now.at("wasted_reads"), 0.1);
  EXPECT_EQ(ValuesOf(page, "curves").at(0),
            (std::vector<double>{now.at("filter_bytes"), now["wasted_reads"]}));
  EXPECT_TRUE(Mentions(page, "Of 1 of 2 column families, those that get advice."));
}

TEST_F(Page, SaysThatItsLookupsMissWhereTheLogCountsOthers) {
  {
    const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), path());
    for (const std::uint64_t keys : {5000, 1000, 500}) PutAndFlush(*db, keys);
  }
  const std::string words = "All lookups are taken to miss here";
  EXPECT_FALSE(Mentions(Write(), words));
  std::ofstream(path() + "/LOG", std::ios::app)
      << "Uptime(secs): 20.0 total, 20.0 interval\nrocksdb.memtable.miss COUNT : 1000\n"
      << "rocksdb.l0.hit COUNT : 900\n";
  EXPECT_TRUE(Mentions(Write(), words + "; the LOG counts 90% that find their key"));
}

TEST_F(Page, AsksNoOtherFileAndEscapesNames) {
  const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), path());
  rocksdb::ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(db->GetOptions(), "<b>&\"", &family).ok());
  PutAndFlush(*db, 1000, "value", 0, family);
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  const std::string page = Write();
  for (const char* words : {"http:", "https:", "src=", "url(", "@import", "fetch("}) {
    EXPECT_EQ(page.find(words), std::string::npos) << words;
  }
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_TRUE(Mentions(page, "<td>&lt;b&gt;&amp;"));
  for (const char* words :
       {"prefers-color-scheme: dark", "<html lang=\"en\">", "scope=\"col\"", ":focus-visible"}) {
    EXPECT_TRUE(Mentions(page, words));
  }
}

TEST_F(Page, StaysSmallWithManyFamilies) {
  constexpr int kFamilies = 70;
  rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  options.max_open_files = 100;
  {
    const Database db = Open(options, path());
    for (int i = 0; i < kFamilies; ++i) {
      rocksdb::ColumnFamilyHandle* family = nullptr;
      ASSERT_TRUE(db->CreateColumnFamily(options, fmt::format("family{}", i), &family).ok());
      for (int table = 0; table < 8; ++table) PutAndFlush(*db, 10, "value", 0, family);
      ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
    }
  }
  const std::string page = Write();
  EXPECT_LT(page.size(), tool::kMostPageBytes);
  EXPECT_TRUE(Mentions(page, "All tables of level 0 of a column family are one line."));
  EXPECT_EQ(ValuesOf(page, "runs").size(), static_cast<std::size_t>(kFamilies));
}

TEST_F(Page, LeavesOutTheRunsThatWasteLeast) {
  constexpr std::size_t kShown = 400;
  constexpr std::size_t kRuns = kShown + 5;
  tool::Inspection inspection;
  inspection.database = "db";
  for (std::size_t i = 1; i <= kRuns; ++i) {
    tool::TableReport& table = inspection.tables.emplace_back();
    table.location.column_family = fmt::format("f{}", i);
    table.location.level = 1;
    table.filter.family = FilterFamily::kBloom;
    table.filter.entries = table.keys = i;
    table.fill_rate = static_cast<double>(i) / 1000.0;
    if (i + 1 < kShown) continue;
    tool::Inspection here = inspection;
    tool::Conclude({}, 0.0, here);
    const std::string page = tool::FormatPage(here, tool::Advice());
    const auto runs = ValuesOf(page, "runs");  // tables, keys, and so on
    ASSERT_EQ(runs.size(), std::min(i, kShown));
    EXPECT_EQ(Mentions(page, " lines that waste the fewest reads are left out."), i > kShown);
    EXPECT_TRUE(Mentions(page, fmt::format("<summary>All {} sorted runs<", runs.size())));
    if (i < kRuns) continue;
    EXPECT_TRUE(Mentions(page, ">5 lines that waste the fewest reads are left out."));
    for (std::size_t run = 0; run < kShown; ++run) EXPECT_EQ(runs[run][1], kRuns - run);
  }
}

TEST_F(Page, NamesTenColumnFamiliesOfAWarning) {
  const auto page_of = [](int families) {
    tool::Advice advice;
    for (int i = 0; i < families; ++i) {
      tool::FamilyAdvice& family = advice.families.emplace_back();
      family.trees.emplace_back().column_family = fmt::format("f{}", i);
      family.warnings = {{"name", "what is seen", "what cures it"}};
    }
    return tool::FormatPage(tool::Inspection(), advice);
  };
  const std::string ten = "f0, f1, f2, f3, f4, f5, f6, f7, f8, f9";
  const std::string rest = ": what is seen.<br>To do: what cures it.";
  EXPECT_TRUE(Mentions(page_of(1), ">f0" + rest));
  EXPECT_TRUE(Mentions(page_of(10), ">" + ten + rest));
  EXPECT_TRUE(Mentions(page_of(12), ">" + ten + " and 2 more" + rest));
}

TEST_F(Page, NamesWhatIsLeftOut) {
  {
    const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), path());
    for (int table = 0; table < 2; ++table) PutAndFlush(*db, 100);
  }
  EXPECT_FALSE(Mentions(Write(), "<p class=\"warning\">"));
  fs::resize_file(TableFilesIn(path()).back(), 100);
  EXPECT_EQ(AskTool(fmt::format("inspect --html {} {}", file(), path())).status, 1);
  EXPECT_TRUE(Mentions(testing::ReadFile(file()),
                       "<p class=\"warning\">Left out: 1 table that cannot be read, such as "));
}

TEST_F(Page, IsNotWrittenIntoTheDatabase) {
  PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic)), path()), 100);
  fs::create_directory_symlink(path(), directory_.path("link"));
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(path())) names.insert(entry.path());
    return names;
  };
  const auto before = files();
  for (const char* place : {"db/page.html", "link/page.html", "db/../db/page.html"}) {
    for (const char* database : {"db", "db/", "link"}) {
      testing::ExpectRefusal(AskTool(fmt::format("inspect --html {0}/{1} {0}/{2}",
                                                 directory_.path(), place, database)),
                             "nothing is written into a database's directory");
    }
  }
  testing::ExpectRefusal(AskTool(fmt::format("inspect --html /dev/full {}", path())),
                         "cannot be written");
  EXPECT_EQ(files(), before);
}

TEST_F(Page, IsShownByABrowser) {
  if (testing::RunCommand("chromium --version").status != 0) GTEST_SKIP() << "there is no Chromium";
  {
    const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), path());
    PutAndFlush(*db, 5000);
    MoveDown(*db, 2);
    PutAndFlush(*db, 1000);
  }
  Write();
  const testing::Outcome shown = testing::RunCommand(
      fmt::format("timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir={} "
                  "--enable-logging=stderr --v=0 --dump-dom file://{}",
                  directory_.path("profile"), file()));
  EXPECT_EQ(shown.status, 0);
  EXPECT_EQ(shown.err.find(":CONSOLE"), std::string::npos) << shown.err;
  EXPECT_TRUE(Mentions(shown.out, "aria-label=\"Copy: In C++")) << "the script ran";
  EXPECT_EQ(ValuesOf(shown.out, "runs").size(), 2U);
}

}  // namespace
}  // namespace exactbloom
