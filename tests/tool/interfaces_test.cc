// docs/interfaces.md has each field and each metric that the tool prints.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;

// Of each section of the page, the fields that a row gives to an object.
using Fields = std::map<std::string, std::set<std::string>>;

std::map<std::string, Fields> ReadPage() {
  std::map<std::string, Fields> sections;
  std::string section;
  std::istringstream lines(testing::ReadFile(INTERFACES));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("### ", 0) == 0) section = line.substr(4);
    const std::size_t end = line.find(" | ");
    if (line.rfind("| ", 0) != 0 || end == std::string::npos) continue;
    const std::string object = line.substr(2, end - 2);
    const std::string names = line.substr(end + 3, line.find(" |", end + 3) - end - 3);
    const std::set<std::string> fields = testing::FindAll(names, "`([a-z_0-9*]+)`");
    std::set<std::string> objects = testing::FindAll(object, "`([^`]+)`");
    if (object.rfind("the document", 0) == 0) objects = {""};
    for (const std::string& name : objects)
      sections[section][name].insert(fields.begin(), fields.end());
  }
  return sections;
}

// The row of an object; one that begins with "*." is of every object with this end.
const std::set<std::string>* RowOf(const Fields& fields, const std::string& object) {
  if (const auto row = fields.find(object); row != fields.end()) return &row->second;
  for (const auto& [name, row] : fields) {
    if (name.rfind("*.", 0) != 0) continue;
    const std::string end = name.substr(1);
    const std::string whole = "." + object;
    if (whole.size() >= end.size() && whole.substr(whole.size() - end.size()) == end) return &row;
  }
  return nullptr;
}

void ExpectDescribed(const json& value, const std::string& object, const Fields& fields) {
  if (value.is_array()) {
    for (const json& element : value) ExpectDescribed(element, object + "[]", fields);
  }
  if (!value.is_object()) return;
  const std::set<std::string>* row = RowOf(fields, object);
  for (const auto& [name, member] : value.items()) {
    ASSERT_NE(row, nullptr) << object;
    EXPECT_TRUE(row->count(name) == 1 || row->count("*") == 1) << object << ": " << name;
    std::string place = object.empty() ? "" : object + ".";
    ExpectDescribed(member, place.append(name), fields);
  }
}

TEST(Interfaces, HaveEachFieldThatIsPrinted) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("db");
  rocksdb::Options options = OptionsWith(PolicyPointer());
  PutAndFlush(*Open(options, path), 5000);
  ASSERT_TRUE(SetFilterPolicy(&options, "exactbloom:10").ok());
  PutAndFlush(*Open(options, path), 5000);
  const std::map<std::string, Fields> page = ReadPage();
  for (const std::string& question :
       {"inspect " + path, "advise " + path, "advise " + path + "/LOG*", "check " + path,
        "verify " + path, "overlap " + path, std::string("rate --m 64 --n 4"),
        std::string("rate --m 64 --n 4 --k 9"),
        std::string("rate --m 1e7 --k 7 --ones 5034145 --other-ones 5034145 --union-ones 6034145"),
        std::string("plan --keys 1e6 --fpr 0.01")}) {
    SCOPED_TRACE(question);
    const json document = json::parse(testing::AskTool(question + " --json").out);
    EXPECT_FALSE(document.empty());
    ExpectDescribed(document, "", page.at(question.substr(0, question.find(' '))));
  }
  const std::string text = testing::ReadFile(INTERFACES);
  const std::string metrics = testing::AskTool("inspect --prometheus " + path).out;
  for (const std::string& metric : testing::FindAll(metrics, "# TYPE ([a-z_]+)")) {
    EXPECT_TRUE(Mentions(text, "`" + metric + "`"));
  }
}

}  // namespace
}  // namespace exactbloom
