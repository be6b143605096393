// docs/interfaces.md has each field and each metric that the tool prints, and the fields of inspect
// have the numbers of its tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "sample_database.h"
#include "sst/table_filters.h"
#include "tool/inspect/inspect.h"
#include "tool/output.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;

// Of each section of the page, the fields that a row gives to an object. The document is "", with
// the fields of all rows that begin so, and each of these rows has its own name besides.
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
    if (object.rfind("the document", 0) == 0) objects = {"", object};
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

// Expects strings of fields that programs may compare to have values of the page.
void ExpectToCompare(const json& value, const Fields& strings) {
  const std::vector<std::string> rows_of_filter = {"family", "levels[].filter",
                                                   "*.tables[].filter"};
  for (const auto& [name, member] : value.items()) {
    if (member.is_structured()) ExpectToCompare(member, strings);
    if (!member.is_string()) continue;
    std::set<std::string> values;
    for (const std::string& row :
         name == "filter" ? rows_of_filter : std::vector<std::string>{name}) {
      if (const auto found = strings.find(row); found != strings.end())
        values.insert(found->second.begin(), found->second.end());
    }
    EXPECT_TRUE(values.empty() || values.count(member) == 1) << name << ": " << member;
  }
}

TEST(Interfaces, HaveEachFieldThatIsPrinted) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("db");
  rocksdb::Options options = OptionsWith(PolicyPointer());
  PutAndFlush(*Open(options, path), 5000);
  ASSERT_TRUE(SetFilterPolicy(&options, "exactbloom:10").ok());
  PutAndFlush(*Open(options, path), 5000);
  std::ofstream(directory.path("damaged.sst")) << "no table";
  const std::string torn = directory.path("torn");
  PutAndFlush(*Open(options, torn), 5000);
  std::ofstream(TableFilesIn(torn).front()) << "no table";
  const std::map<std::string, Fields> page = ReadPage();
  for (const std::string& question :
       {"inspect " + path, "advise " + path, "advise " + path + "/LOG*", "check " + path,
        "verify " + path, "verify " + directory.path("damaged.sst"), "overlap " + path,
        "overlap " + torn, std::string("rate --m 64 --n 4"), std::string("rate --m 64 --n 4 --k 9"),
        std::string("rate --m 1e7 --k 7 --ones 5034145 --other-ones 5034145 --union-ones 6034145"),
        std::string("rate --m 2e5 --n 2e4 --kind exact_ribbon"),
        std::string("plan --keys 1e6 --fpr 0.01"),
        std::string("plan --keys 1e6 --fpr 0.01 --kind exact_ribbon"),
        std::string("plan --keys 1e6 --fpr 0.01 --kind bloomfilter")}) {
    SCOPED_TRACE(question);
    const json document = json::parse(testing::AskTool(question + " --json").out);
    EXPECT_FALSE(document.empty());
    ExpectDescribed(document, "", page.at(question.substr(0, question.find(' '))));
    ExpectToCompare(document, page.at("Strings to compare"));
  }
  const std::string text = testing::ReadFile(INTERFACES);
  const std::string metrics = testing::AskTool("inspect --prometheus " + path).out;
  for (const std::string& metric : testing::FindAll(metrics, "# TYPE ([a-z_]+)")) {
    EXPECT_TRUE(Mentions(text, "`" + metric + "`"));
  }
}

// What `rate` and `plan` print depends on the question alone, so the rows are complete.
TEST(Interfaces, HaveARowForEachKindOfRateAndPlan) {
  std::map<std::string, Fields> page = ReadPage();
  const auto expect = [&page](const std::string& row, const std::string& question) {
    SCOPED_TRACE(question);
    const json document = testing::AskToolForJson(question);
    std::set<std::string> printed;
    for (const auto& field : document.items()) printed.insert(field.key());
    EXPECT_EQ(printed, page.at(question.substr(0, question.find(' ')))["the document" + row]);
  };
  expect(", with `--k`", "rate --m 64 --n 4 --k 9");
  expect(", without it", "rate --m 64 --n 4");
  expect(", with `--ones`", "rate --m 64 --k 3 --ones 9");
  expect(", with `--kind exact_ribbon`", "rate --m 2e5 --n 2e4 --kind exact_ribbon");
  for (const char* kind : {"classic", "standard", "exact_ribbon", "bloomfilter"}) {
    expect("", std::string("plan --keys 1e6 --fpr 0.01 --kind ") + kind);
  }
}

TEST(Interfaces, HaveTheStringsToCompare) {
  using Strings = std::set<std::string>;
  std::map<std::string, Fields> page = ReadPage();
  Fields& fields = page.at("Strings to compare");
  Strings families;
  for (int i = 0; i <= static_cast<int>(FilterFamily::kUnknown); ++i) {
    families.insert(NameOf(static_cast<FilterFamily>(i)));
  }
  EXPECT_EQ(fields["family"], families);
  EXPECT_EQ(fields["filters"], families);
  EXPECT_EQ(fields["kind"],
            (Strings{tool::Describe(BloomKind::kClassic), tool::Describe(BloomKind::kStandard)}));
  const std::pair<std::string, std::uint64_t> ours(NameOf(FilterFamily::kExactBloom), 1);
  const std::pair<std::string, std::uint64_t> other(NameOf(FilterFamily::kBloom), 1);
  EXPECT_EQ(fields["rate_kind"], (Strings{tool::KindOfRate({ours}), tool::KindOfRate({other}),
                                          tool::KindOfRate({ours, other})}));
  EXPECT_EQ(fields["warnings[].name"],
            testing::FindAll(testing::ReadFile(WARNINGS), R"re(Warn\(\s*"([^"]+)")re"));
}

// Two tables that differ in each number, and one that cannot be read.
class InspectNumbers : public ::testing::Test {
 protected:
  InspectNumbers() : inspection_(), used_(Table("a", 2)), unused_(Table("b", 0)) {
    used_.filter.family = FilterFamily::kExactBloom;
    used_.filter.policy = "classic_bloom:10";
    used_.filter.partitioned = true;
    used_.filter.blocks = 3;
    used_.filter.bytes = 105;
    used_.filter.file_bytes = 1000;
    used_.filter.index_bytes = 30;
    used_.filter.entries = 20;
    used_.filter.range_deletes = 2;
    used_.filter.min_probes = 4;
    used_.filter.max_probes = 7;
    used_.filter.hash_seed = ~std::uint64_t{0};
    used_.filter.format_version = 2;
    used_.filter.whole_key_filtering = false;
    used_.filter.prefix_filtering = true;
    used_.filter.prefix_extractor = "fixed:4";
    used_.keys = 10;
    used_.bits = 800;
    used_.fill = 0.5;
    used_.exact_rate = 0.01;
    used_.fill_rate = 0.02;
    used_.asked = 0.5;
    used_.use = tool::FilterUseFinding{};
    unused_.filter.family = FilterFamily::kRibbon;
    unused_.filter.policy = "ribbonfilter";
    unused_.filter.blocks = 1;
    unused_.filter.empty_partitions = 4;
    unused_.filter.bytes = 55;
    unused_.filter.file_bytes = 2000;
    unused_.filter.index_bytes = 40;
    unused_.filter.entries = 31;
    unused_.filter.ribbon_slots = 50;
    unused_.keys = 30;
    unused_.bits = 400;
    unused_.exact_rate = 0.05;
    unused_.fill_rate = 0.04;
    unused_.use = tool::FilterUseFinding{tool::FilterUse::kUnused, "why", "what to do"};
    unread_ = Table("b", 0);
    unread_.status = rocksdb::Status::Corruption("damaged");
    inspection_.tables = {used_, unused_, unread_};
    for (const tool::TableReport& table : inspection_.tables) inspection_.totals.Add(table);
  }

  static tool::TableReport Table(const char* family, int level) {
    tool::TableReport table;
    table.location.path = std::string("/db/") + family;
    table.location.column_family = family;
    table.location.level = level;
    table.location.number = 7;
    return table;
  }

  tool::Inspection inspection_;
  tool::TableReport used_;
  tool::TableReport unused_;
  tool::TableReport unread_;
};

TEST_F(InspectNumbers, OfTablesAreAddedUp) {
  const json expected = {{"tables", 3},
                         {"unreadable_tables", 1},
                         {"filtering", 1},
                         {"without_keys", 0},
                         {"filters", {{"exact_bloom", 1}, {"ribbon", 1}}},
                         {"bytes", 3000},
                         {"entries", 51},
                         {"filter_bytes", 160},
                         {"index_bytes", 70},
                         {"build_bytes", std::max(used_.BuildBytes(), unused_.BuildBytes())},
                         {"m", 1200},
                         {"keys", 40},
                         {"bits_per_key", 30.0},
                         {"fill", 0.5},
                         {"rate", (10 * 0.01 + 30 * 0.05) / 40},
                         {"rate_kind", "mixed"},
                         {"rate_given_fill", (10 * 0.02 + 30 * 0.04) / 40},
                         {"wasted_reads", json::object()}};
  EXPECT_EQ(ToJson(inspection_).at("totals"), expected);
  EXPECT_EQ(inspection_.totals.with_empty_partitions, 1U);
  EXPECT_DOUBLE_EQ(inspection_.totals.asked, 0.5 + 1.0);
  EXPECT_DOUBLE_EQ(inspection_.totals.wasted_reads, 0.5 * 0.02 + 1.0) << "one is not used";
  // The same by way of levels.
  tool::FilterSummary levels[2];
  levels[0].Add(unused_);
  levels[0].Add(unread_);
  levels[1].Add(used_);
  for (const auto& order : {std::pair(0, 1), std::pair(1, 0)}) {
    tool::Inspection other;
    other.totals.Add(levels[order.first]);
    other.totals.Add(levels[order.second]);
    EXPECT_EQ(ToJson(other).at("totals"), expected);
    EXPECT_EQ(other.totals.with_empty_partitions, 1U);
    EXPECT_DOUBLE_EQ(other.totals.asked, inspection_.totals.asked);
    EXPECT_DOUBLE_EQ(other.totals.wasted_reads, inspection_.totals.wasted_reads);
  }
}

TEST_F(InspectNumbers, OfEachTableAreInTheJson) {
  const json files = ToJson(inspection_).at("files");
  EXPECT_EQ(files[0], (json{{"path", "/db/a"},
                            {"column_family", "a"},
                            {"level", 2},
                            {"number", 7},
                            {"bytes", 1000},
                            {"entries", 20},
                            {"index_bytes", 30},
                            {"range_deletes", 2},
                            {"filter",
                             {{"family", "exact_bloom"},
                              {"policy", "classic_bloom:10"},
                              {"k", 7},
                              {"least_k", 4},
                              {"kind", "classic"},
                              {"hash_seed", "18446744073709551615"},
                              {"block_format", 2},
                              {"partitioned", true},
                              {"blocks", 3},
                              {"empty_partitions", 0},
                              {"bytes", 105},
                              {"whole_keys", false},
                              {"prefixes", true},
                              {"prefix_extractor", "fixed:4"},
                              {"m", 800},
                              {"keys", 10},
                              {"bits_per_key", 80.0},
                              {"fill", 0.5},
                              {"rate", 0.01},
                              {"rate_kind", "exact"},
                              {"rate_given_fill", 0.02},
                              {"used", true}}}}));
  EXPECT_EQ(files[1].at("filter"), (json{{"family", "ribbon"},
                                         {"policy", "ribbonfilter"},
                                         {"use_note", "why"},
                                         {"to_do", "what to do"},
                                         {"slots", 50},
                                         {"partitioned", false},
                                         {"blocks", 1},
                                         {"empty_partitions", 4},
                                         {"bytes", 55},
                                         {"whole_keys", true},
                                         {"prefixes", false},
                                         {"prefix_extractor", ""},
                                         {"m", 400},
                                         {"keys", 30},
                                         {"bits_per_key", 400.0 / 30.0},
                                         {"fill", nullptr},
                                         {"rate", 0.05},
                                         {"rate_kind", "model"},
                                         {"rate_given_fill", 0.04},
                                         {"used", false}}));
  EXPECT_EQ(files[2], (json{{"path", "/db/b"},
                            {"column_family", "b"},
                            {"level", 0},
                            {"number", 7},
                            {"error", "Corruption: damaged"}}));
  inspection_.tables.front().use.reset();
  EXPECT_TRUE(ToJson(inspection_).at("files")[0].at("filter").at("used").is_null());
}

}  // namespace
}  // namespace exactbloom
