// Every option of the policies: its text forms, its range, OPTIONS files, and the table in
// docs/configuration.md.
#include "plugin/policy_options.h"

#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using rocksdb::Status;

Status MakePolicy(const std::string& text, PolicyPointer* policy) {
  RegisterFilterPolicies();
  rocksdb::BlockBasedTableOptions table_options;
  const Status status =
      rocksdb::GetBlockBasedTableOptionsFromString({}, {}, "filter_policy=" + text, &table_options);
  if (status.ok()) *policy = table_options.filter_policy;
  return status;
}

Status Refusal(const std::string& options) {
  PolicyPointer policy;
  return MakePolicy("{id=classic_bloom;" + options + "}", &policy);
}

std::string ValueOf(const rocksdb::FilterPolicy& policy, const std::string& option) {
  std::string value;
  EXPECT_TRUE(policy.GetOption({}, option, &value).ok()) << option;
  return value;
}

void ExpectWords(const Status& status, const std::vector<std::string>& words) {
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  for (const std::string& word : words) {
    EXPECT_NE(status.ToString().find(word), std::string::npos)
        << word << " not in: " << status.ToString();
  }
}

class ValidOptions : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(
    Options, ValidOptions,
    testing::Values("fpr=0.01", "fpr=1e-09", "lines=2", "size_ratio=10", "size_ratio=1.5",
                    "level_bits=14", "level_bits=20.125:14:9.3", "bottommost=ribbon",
                    "hash_seed=18446744073709551615", "lines=1;size_ratio=4;bottommost=ribbon",
                    "fpr=0.3333333333333333;hash_seed=7", "lines=2;level_bits=0:100;hash_seed=1"));

// As a string, through an OPTIONS file, and as C++ fields.
TEST_P(ValidOptions, SurviveTheRoundTrip) {
  const std::string text = std::string("{id=classic_bloom;bits_per_key=12;") + GetParam() + "}";
  PolicyPointer policy;
  ASSERT_TRUE(MakePolicy(text, &policy).ok());
  rocksdb::ConfigOptions semicolons;
  semicolons.delimiter = ";";
  EXPECT_EQ(policy->ToString(semicolons), text);
  EXPECT_EQ(policy->GetId(), "classic_bloom:12");

  const TemporaryDirectory directory;
  Open(OptionsWith(policy), directory.path("db"));
  rocksdb::DBOptions db_options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const Status status =
      rocksdb::LoadLatestOptions({}, directory.path("db"), &db_options, &families);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const rocksdb::FilterPolicy* loaded = PolicyOf(families[0].options);
  ASSERT_NE(loaded, nullptr);
  EXPECT_EQ(loaded->ToString(semicolons), policy->ToString(semicolons));
  std::string mismatch;
  rocksdb::ConfigOptions exact;
  exact.sanity_level = rocksdb::ConfigOptions::kSanityLevelExactMatch;
  EXPECT_TRUE(loaded->AreEquivalent(exact, policy.get(), &mismatch)) << mismatch;
}

TEST(PolicyOptions, AreTheFieldsOfTheStruct) {
  PolicyOptions options;
  options.bits_per_key = 12;
  options.lines = 1;
  options.level_bits = {14, 9.5};
  options.hash_seed = 3;
  const PolicyPointer policy(NewClassicBloomFilterPolicy(options));
  PolicyPointer parsed;
  ASSERT_TRUE(
      MakePolicy("{id=classic_bloom:12;lines=1;level_bits=14:9.5;hash_seed=3}", &parsed).ok());
  EXPECT_EQ(policy->ToString({}), parsed->ToString({}));
  EXPECT_EQ(PolicyPointer(NewStandardBloomFilterPolicy(options))->GetId(), "standard_bloom:12");
  EXPECT_EQ(PolicyPointer(NewStandardBloomFilterPolicy(12))->GetId(), "standard_bloom:12");
}

TEST(PolicyOptions, DifferentValuesAreNotEquivalent) {
  rocksdb::ConfigOptions exact;
  exact.sanity_level = rocksdb::ConfigOptions::kSanityLevelExactMatch;
  const PolicyPointer plain(NewClassicBloomFilterPolicy(10));
  for (const char* text : {"fpr=0.01", "lines=1", "size_ratio=10", "level_bits=9",
                           "bottommost=ribbon", "hash_seed=1"}) {
    PolicyPointer policy;
    ASSERT_TRUE(MakePolicy(std::string("{id=classic_bloom;") + text + "}", &policy).ok());
    std::string mismatch;
    EXPECT_FALSE(plain->AreEquivalent(exact, policy.get(), &mismatch)) << text;
  }
}

struct BadValue {
  const char* option;
  const char* value;
};

class BadValues : public testing::TestWithParam<BadValue> {};

INSTANTIATE_TEST_SUITE_P(
    Values, BadValues,
    testing::Values(BadValue{"fpr", "1"}, BadValue{"fpr", "-0.1"}, BadValue{"fpr", "9e-10"},
                    BadValue{"fpr", "nan"}, BadValue{"fpr", "1%"}, BadValue{"fpr", "0.51"},
                    BadValue{"size_ratio", "1"}, BadValue{"size_ratio", "-10"},
                    BadValue{"size_ratio", "1001"}, BadValue{"size_ratio", "nan"},
                    BadValue{"size_ratio", "ten"}, BadValue{"level_bits", "14:"},
                    BadValue{"level_bits", ":14"}, BadValue{"level_bits", "14,12"},
                    BadValue{"level_bits", "14:101"}, BadValue{"level_bits", "14:-1"},
                    BadValue{"level_bits", "nan"}, BadValue{"bottommost", "Ribbon"},
                    BadValue{"bottommost", "1"}, BadValue{"bottommost", ""},
                    BadValue{"hash_seed", "-1"}, BadValue{"hash_seed", "1.5"},
                    BadValue{"hash_seed", "18446744073709551616"}, BadValue{"hash_seed", "0x1"},
                    BadValue{"lines", ""}, BadValue{"lines", "3"}, BadValue{"lines", "-1"},
                    BadValue{"lines", "1.5"}, BadValue{"lines", "99999999999"}));

TEST_P(BadValues, AreRefusedWithOptionValueAndRange) {
  const auto [option, value] = GetParam();
  ExpectWords(Refusal(std::string(option) + "=" + value),
              {std::string(option) + " is ", "'" + std::string(value) + "'", "but must be "});
}

TEST(PolicyOptions, TooManyLevelsAreRefused) {
  std::string bits = "1";
  for (int level = 1; level < 64; ++level) bits += ":1";
  EXPECT_TRUE(Refusal("level_bits=" + bits).ok());
  ExpectWords(Refusal("level_bits=" + bits + ":1"), {"level_bits", "up to 64 numbers"});
}

TEST(PolicyOptions, ContradictionsAreRefusedByNameAndByOpen) {
  const std::vector<std::vector<std::string>> contradictions = {
      {"fpr=0.01", "size_ratio=10"},
      {"fpr=0.01", "level_bits=9"},
      {"size_ratio=10", "level_bits=9"},
      {"fpr=0.01", "bottommost=ribbon"},
      {"hash_seed=1", "bottommost=ribbon"}};
  for (const auto& pair : contradictions) {
    const auto name = [](const std::string& text) { return text.substr(0, text.find('=')); };
    ExpectWords(Refusal(pair[0] + ";" + pair[1]), {name(pair[0]), name(pair[1]), "exclude"});
  }
  PolicyOptions options;
  options.fpr = 0.01;
  options.size_ratio = 10;
  const TemporaryDirectory directory;
  Database db;
  ExpectWords(rocksdb::DB::Open(OptionsWith(PolicyPointer(NewClassicBloomFilterPolicy(options))),
                                directory.path("db"), Receive(&db)),
              {"fpr '0.01' and size_ratio '10' exclude each other"});
}

// The document's table.

struct Row {
  std::string range;
  std::string standard;
};

std::string WithoutMarks(std::string cell) {
  cell.erase(std::remove(cell.begin(), cell.end(), '`'), cell.end());
  const std::size_t first = cell.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return cell.substr(first, cell.find_last_not_of(' ') - first + 1);
}

// The rows below the header that names the columns of options.
std::map<std::string, Row> RowsOfTheDocument() {
  std::ifstream document(EXACTBLOOM_CONFIGURATION_DOCUMENT);
  std::map<std::string, Row> rows;
  bool inside = false;
  for (std::string line; std::getline(document, line);) {
    if (line.rfind("| option | meaning | range | default |", 0) == 0) {
      inside = true;
      continue;
    }
    if (!inside || line.rfind("|---", 0) == 0) continue;
    if (line.empty() || line[0] != '|') break;
    std::vector<std::string> cells;
    std::istringstream in(line.substr(1));
    for (std::string cell; std::getline(in, cell, '|');) cells.push_back(WithoutMarks(cell));
    EXPECT_EQ(cells.size(), 4U) << line;
    rows[cells[0]] = {cells[2], cells[3]};
  }
  return rows;
}

TEST(ConfigurationDocument, HasExactlyTheOptionsOfTheCode) {
  std::set<std::string> documented;
  for (const auto& [name, row] : RowsOfTheDocument()) documented.insert(name);
  std::set<std::string> known;
  for (const auto& [name, type] : PolicyOptionTypes()) known.insert(name);
  EXPECT_EQ(documented, known);
}

TEST(ConfigurationDocument, HasTheDefaultsAndRangesOfTheCode) {
  const PolicyPointer policy(NewClassicBloomFilterPolicy(PolicyOptions()));
  for (const auto& [name, row] : RowsOfTheDocument()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(row.standard == "empty" ? "" : row.standard, ValueOf(*policy, name));
    ExpectWords(Refusal(name + "=nonsense"), {name + " is 'nonsense', but must be " + row.range});
    // The message ends there.
    EXPECT_EQ(Refusal(name + "=nonsense").ToString().rfind(row.range) + row.range.size(),
              Refusal(name + "=nonsense").ToString().size());
  }
}

}  // namespace
}  // namespace exactbloom
