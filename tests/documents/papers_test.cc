// docs/papers.md: the tables of what five documents say, and what the library computes.
//
// Each row of the tables is made here, so a value on the page is one that a function returned in
// this build. A printed number must agree with it to its last digit, unless the row says why not.
// After a change,
//   UPDATE_DOCUMENT=docs/papers.md build/bin/papers_test
// writes the tables into the page; then look at the difference.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "papers_rows.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::vector<Row>>& Tables() {
  static const std::map<std::string, std::vector<Row>> tables = {
      {"occupancy", OccupancyRows()},        {"rates", RateRows()},
      {"efficiency", EfficiencyRows()},      {"encyclopedia", EncyclopediaRows()},
      {"summary_cache", SummaryCacheRows()}, {"slides", SlideRows()},
      {"introduction", IntroductionRows()}};
  return tables;
}

struct PrintedNumber {
  double value;
  double unit;  // of the last digit
};

std::vector<PrintedNumber> NumbersIn(const std::string& text) {
  const std::regex number(R"((-?[0-9]+)(\.([0-9]+))?(e(-?[0-9]+))?)");
  std::vector<PrintedNumber> numbers;
  for (std::sregex_iterator match(text.begin(), text.end(), number), end; match != end; ++match) {
    const std::string exponent = (*match)[5];
    const int power =
        (exponent.empty() ? 0 : std::stoi(exponent)) - static_cast<int>((*match)[3].length());
    numbers.push_back({std::stod(match->str()), std::pow(10.0, power)});
  }
  return numbers;
}

// Whether the computed values have the printed digits, rounded or cut.
bool Agree(const Row& row) {
  const std::vector<PrintedNumber> printed = NumbersIn(row.printed);
  if (printed.size() != row.computed.size()) return false;
  for (std::size_t i = 0; i < printed.size(); ++i) {
    if (std::abs(row.computed[i] - printed[i].value) > printed[i].unit) return false;
  }
  return true;
}

// Names that are separated by commas, each as code.
std::string InCode(const std::string& names) {
  return names.empty() ? "" : "`" + std::regex_replace(names, std::regex(", "), "`, `") + "`";
}

std::string LineOf(const Row& row) {
  std::ostringstream line;
  line.precision(row.digits);
  line << "| " << row.claim << " | " << InCode(row.functions) << " | " << row.tests << " | "
       << row.printed << " | ";
  for (std::size_t i = 0; i < row.computed.size(); ++i) {
    line << (i == 0 ? "" : ", ") << row.computed[i];
  }
  if (!row.remark.empty()) line << (row.computed.empty() ? "" : "; ") << row.remark;
  line << " |";
  return std::regex_replace(line.str(), std::regex(" +"), " ");
}

std::string TableOf(const std::vector<Row>& rows) {
  std::string text =
      "| equation or claim | function | test | printed | computed |\n|---|---|---|---|---|\n";
  for (const Row& row : rows) text += LineOf(row) + "\n";
  return text;
}

std::string Read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Papers, PageHasTheTablesThatTheLibraryComputes) {
  std::string page = Read(PAPERS);
  for (const auto& [name, rows] : Tables()) {
    const std::string begin = "<!-- rows: " + name + " -->\n";
    const std::size_t from = page.find(begin);
    ASSERT_NE(from, std::string::npos) << name;
    const std::size_t to = page.find("<!-- end -->", from);
    ASSERT_NE(to, std::string::npos) << name;
    const std::string table = TableOf(rows);
    EXPECT_EQ(page.substr(from + begin.size(), to - from - begin.size()), table) << name;
    page.replace(from + begin.size(), to - from - begin.size(), table);
  }
  const char* update = std::getenv("UPDATE_DOCUMENT");
  if (update != nullptr) std::ofstream(update) << page;
}

TEST(Papers, PrintedNumbersAreRightButForMisprints) {
  for (const auto& [name, rows] : Tables()) {
    for (const Row& row : rows) {
      SCOPED_TRACE(name + ": " + row.claim);
      if (row.printed.empty()) {
        EXPECT_FALSE(row.misprint);
        continue;
      }
      EXPECT_EQ(NumbersIn(row.printed).size(), row.computed.size());
      EXPECT_EQ(Agree(row), !row.misprint) << LineOf(row);
      EXPECT_TRUE(!row.misprint || !row.remark.empty());
    }
  }
}

TEST(Papers, NamesTestsThatThereAre) {
  std::set<std::string> sources;
  for (const auto& file : fs::recursive_directory_iterator(TESTS)) {
    sources.insert(file.path().stem());
  }
  for (const auto& [name, rows] : Tables()) {
    for (const Row& row : rows) {
      std::istringstream tests(row.tests);
      for (std::string test; tests >> test;) EXPECT_EQ(sources.count(test), 1U) << test;
      EXPECT_TRUE(!row.tests.empty() || (row.functions.empty() && row.computed.empty()));
    }
  }
}

// The digits that printed numbers are compared by.
TEST(Papers, ComparesToTheLastPrintedDigit) {
  const auto agree = [](const std::string& printed, std::vector<double> computed) {
    return Agree({"", "", "", printed, std::move(computed)});
  };
  EXPECT_TRUE(agree("1.37e-15", {1.368e-15}));
  EXPECT_FALSE(agree("1.37e-15", {1.384e-15}));
  EXPECT_TRUE(agree("45.0, 88.5", {45.0, 88.59}));
  EXPECT_FALSE(agree("45.0, 88.5", {45.0, 88.61}));
  EXPECT_FALSE(agree("45.0", {45.0, 88.5}));
}

}  // namespace
}  // namespace exactbloom
