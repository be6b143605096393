// Keys from files: their formats, what verify asks of them, and keys outside of all tables. And
// databases that have no tables to look into.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "sample_database.h"
#include "support/errors.h"
#include "support/key_file.h"
#include "tool/output.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;
using support::KeyFormat;
using testing::AskTool;
using testing::AskToolForJson;
using testing::ExpectRefusal;
using Keys = std::vector<std::string>;

std::string Hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

class KeyFormats : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) const {
    std::ofstream(directory_.path("keys"), std::ios::binary) << text;
    return directory_.path("keys");
  }

  Keys Read(const std::string& text, KeyFormat format) const {
    return support::ReadKeyFile(Write(text), format);
  }

  void ExpectError(const std::string& text, KeyFormat format, const std::string& words) const {
    try {
      Read(text, format);
      FAIL() << words;
    } catch (const support::InputError& error) {
      EXPECT_TRUE(Mentions(error.what(), words));
    }
  }

  TemporaryDirectory directory_;
};

TEST_F(KeyFormats, HoldAnyBytes) {
  const Keys keys = {std::string("a\0b\n\r", 5), "\xff", std::string(100'000, '\n')};
  std::string hex = "0x";
  for (const std::string& key : keys) {
    hex += Hex(key) + "\r\n";
  }
  EXPECT_EQ(Read(hex, KeyFormat::kHex), keys);
  EXPECT_EQ(Read("\n0XAbCd\n\nef", KeyFormat::kHex), (Keys{"\xab\xcd", "\xef"}));
  EXPECT_EQ(Read("0xab\n\nk\r\n", KeyFormat::kText), (Keys{"0xab", "k"}));
}

TEST_F(KeyFormats, AreChecked) {
  ExpectError("ab\nabc\n", KeyFormat::kHex, "no pairs of hexadecimal digits in line 2");
  ExpectError("key\n", KeyFormat::kHex, "in line 1");
  ExpectError("\n\n", KeyFormat::kHex, "has no keys");
  ExpectRefusal(AskTool("inspect --key-format hex " + directory_.path()), "requires --lookups");
  ExpectRefusal(AskTool("inspect --key-format words --lookups x " + directory_.path()), "'words'");
}

class VerifyLookups : public KeyFormats, public ::testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(Orders, VerifyLookups, ::testing::Bool());

// Of 3,000 absent keys that are given, 500 lie outside of the table's range, and 10 are given
// twice; one key is present. Each has to be asked in its own partition.
TEST_P(VerifyLookups, AskForTheGivenKeysInTheirPartitions) {
  constexpr std::uint64_t kKeys = 3000;
  rocksdb::BlockBasedTableOptions tables;
  tables.filter_policy = NewPolicy(BloomKind::kClassic, 4);
  PartitionFilters(512, &tables);
  rocksdb::Options options = OptionsWith(tables);
  if (GetParam()) options.comparator = rocksdb::ReverseBytewiseComparator();
  const std::string db = directory_.path("db");
  PutAndFlush(*Open(options, db), kKeys, "value", 500);
  Keys keys;
  for (std::uint64_t i = 0; i < 3000; ++i) keys.push_back(KeyOf(2 * i + 1));
  for (std::uint64_t i = 2000; i < 2010; ++i) keys.push_back(KeyOf(2 * i + 1));
  keys.push_back(KeyOf(2000));
  std::string text;
  std::string hex;
  for (const std::string& key : keys) {
    text += key + "\n";
    hex += Hex(key) + "\n";
  }
  const auto ask = [&](const std::string& format, const std::string& contents) {
    return AskToolForJson(
        fmt::format("verify --key-format {} --lookups {} {}", format, Write(contents), db));
  };
  const json report = ask("text", text);
  EXPECT_EQ(report.at("keys_checked"), kKeys);
  EXPECT_EQ(report.at("absent_checked"), 2500) << report;
  EXPECT_TRUE(report.at("within_interval")) << report;
  EXPECT_GT(report.at("false_positives"), 100);
  EXPECT_EQ(ask("hex", hex), report);
  ExpectRefusal(AskTool(fmt::format("verify --seed 3 --lookups {} {}", Write(text), db)),
                "--seed excludes --lookups");
}

TEST_F(KeyFormats, KeysOutsideOfAllTablesAreNoReasonToBlameTheMemory) {
  const std::string db = directory_.path("db");
  {
    rocksdb::Options options = OptionsWith(nullptr);
    ASSERT_TRUE(SetFilterPolicy(&options, "{id=exactbloom;memory_budget=1000000}").ok());
    const Database database = Open(options, db);
    PutAndFlush(*database, 1000);
    MoveDown(*database, 2);
  }
  const std::string outside = Write("a key before all\n");
  ExpectRefusal(AskTool(fmt::format("advise --lookups {} {}", outside, db)),
                "the keys are outside of the ranges of all its tables");
  EXPECT_TRUE(Mentions(AskTool(fmt::format("inspect --lookups {} {}", outside, db)).out,
                       "0 wasted reads per 1,000 lookups; "));
  const std::string asked_none = "No given key is in the key range of a table";
  EXPECT_TRUE(
      Mentions(AskTool(fmt::format("verify --lookups {} {}", outside, db)).out, asked_none));
  const std::string inside = Write(KeyOf(1) + "\n");
  for (const std::string& keys : {"--lookups " + inside, std::string("--absent 0")}) {
    EXPECT_FALSE(Mentions(AskTool(fmt::format("verify {} {}", keys, db)).out, asked_none)) << keys;
  }
}

TEST_F(KeyFormats, ADatabaseWithoutTablesHasItsDataInTheLog) {
  const std::string db = directory_.path("db");
  const auto expect = [&](const std::string& words) {
    for (const std::string subcommand : {"inspect", "verify", "overlap"}) {
      const testing::Outcome outcome = AskTool(subcommand + " " + db);
      EXPECT_EQ(outcome.status, 0);
      std::string text = outcome.out;  // in lines
      for (char& c : text) c = c == '\n' ? ' ' : c;
      EXPECT_TRUE(Mentions(text, words)) << subcommand;
      EXPECT_EQ(text.find("No key was denied"), std::string::npos);
    }
    ExpectRefusal(AskTool("advise " + db), words);
  };
  rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  options.avoid_flush_during_recovery = true;
  Open(options, db);
  expect("has no tables, and no data in a log of its directory");
  ASSERT_TRUE(Open(options, db)->Put({}, "key", "value").ok());
  expect("has no tables yet: its data are in its log, ");
  EXPECT_EQ(AskToolForJson("inspect " + db).at("totals").at("wasted_reads"), json::object());
  const std::filesystem::path directory = std::filesystem::current_path();
  std::filesystem::current_path(directory_.path(""));
  EXPECT_EQ(AskTool("inspect db --html page").status, 0);
  std::ifstream page("page");
  const std::string text((std::istreambuf_iterator<char>(page)), {});
  EXPECT_TRUE(Mentions(text, ">db has no tables yet"));
  std::filesystem::current_path(directory);
  std::ofstream(db + "/000100.sst");
  expect("lists no tables, but there is a table file: it may be cut off");
  std::ofstream(db + "/000101.sst");
  expect("lists no tables, but there are 2 table files: it may be cut off");
}

TEST(Rates, AreWrittenWithoutExponents) {
  EXPECT_EQ(tool::FormatRate(0.0), "0%");
  EXPECT_EQ(tool::FormatRate(1.0), "100%");
  EXPECT_EQ(tool::FormatRate(0.0081959), "0.82%");
  EXPECT_EQ(tool::FormatRate(1.4115e-5), "0.00141%");
  EXPECT_EQ(tool::FormatRate(1.6e-13), "<0.0001%");
  EXPECT_EQ(tool::FormatExactRate(1.4115e-5), "0.0014115%");
  EXPECT_EQ(tool::FormatExactRate(1.6e-13), "1.6000e-13");
  EXPECT_EQ(tool::Rounded(1026.4), "1,026");
  EXPECT_EQ(tool::Rounded(0.00012345), "0.000123");
  EXPECT_EQ(tool::Rounded(9.996), "10");
  EXPECT_EQ(tool::WastedPerThousand(1.9e-9), "practically none");
  EXPECT_EQ(tool::WastedPerThousand(0.0), "0");
  EXPECT_EQ(tool::PerThousand(1e-9), "<0.001");
  EXPECT_EQ(tool::FormatBytes(1023), "1023 B");
  EXPECT_EQ(tool::FormatBytes(5'872'025), "5.6 MiB");
  EXPECT_EQ(tool::FormatBytes(1'098'412'116'148'224), "999.0 TiB");
  EXPECT_EQ(tool::Counted(8994, "key"), "8,994 keys");
}

// One table of a few keys has a filter of hundreds of bits per key.
TEST_F(KeyFormats, AFewKeysWastePracticallyNoReads) {
  const std::string db = directory_.path("db");
  PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic, 100)), db), 3);
  const testing::Outcome outcome = AskTool("inspect " + db);
  EXPECT_EQ(outcome.out.find("e-"), std::string::npos) << outcome.out;
  EXPECT_TRUE(Mentions(outcome.out, "Practically no wasted reads per 1,000 lookups; "));
}

// The command counts what RocksDB asks.
TEST(Lookups, OfAFileWeighHotRanges) {
  const TemporaryDirectory directory;
  {
    const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path("db"));
    PutAndFlush(*db, 1000);
    MoveDown(*db, 2);
    PutAndFlush(*db, 100, "value", 500);
    MoveDown(*db, 1);
  }
  const auto asked = [&](const std::string& arguments) {
    std::vector<double> levels;
    const auto report =
        testing::AskToolForJson("inspect " + arguments + " " + directory.path("db"));
    for (const auto& level : report.at("levels")) levels.push_back(level.at("asked"));
    return levels;
  };
  std::ofstream hot(directory.path("hot"));
  for (std::uint64_t i = 0; i < 100; ++i) {
    hot << KeyOf(2 * (i < 40 ? 520 + i : i) + 1) << "\n";
  }
  hot.close();
  const std::vector<double> hot_ranges = asked("--lookups " + directory.path("hot"));
  ASSERT_EQ(hot_ranges.size(), 2U);
  EXPECT_NEAR(hot_ranges[0], 0.4, 1e-9);
  EXPECT_NEAR(hot_ranges[1], 1.0, 1e-9);
  EXPECT_NEAR(asked("").front(), 200.0 / 1100.0, 0.02);
}

}  // namespace
}  // namespace exactbloom
