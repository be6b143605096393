// Wrong inputs of exactbloom and readamp, each with one line on stderr that names what is wrong and
// where.
//
// Those of filter_benchmark are in tests/bench. Here are command lines, files that are not what
// they should be, and databases that are damaged or forbidden.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "sample_database.h"
#include "support/number_text.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;
using testing::ExpectRefusal;

// {} in the arguments is a directory with
//   db          a database of one table
//   empty       an empty directory
//   text        a text that is nothing else
//   binary      bytes that are nothing else
//   nothing     an empty file
// There is no `none`.
struct WrongInput {
  const char* arguments;
  const char* words;  // in the line
};

class WrongInputs : public ::testing::Test {
 protected:
  WrongInputs() {
    PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory_.path("db")), 100);
    std::filesystem::create_directory(directory_.path("empty"));
    std::ofstream(directory_.path("text")) << "some words\nin two lines\n";
    std::ofstream(directory_.path("binary")) << std::string("\xff\xfe\0\x01{\n", 6);
    std::ofstream(directory_.path("nothing"));
  }

  void ExpectRefusals(const std::string& program, const std::vector<WrongInput>& inputs) const {
    for (const auto& [arguments, words] : inputs) {
      SCOPED_TRACE(arguments);
      const std::string filled = fmt::format(fmt::runtime(arguments), directory_.path());
      testing::ExpectRefusal(testing::RunCommand(program + " " + filled), words);
    }
  }

  TemporaryDirectory directory_;
};

// One case of each cause: the words of numbers are in Numbers below, those of policies in
// check_test.cc.
TEST_F(WrongInputs, OfTheTool) {
  ExpectRefusals(EXACTBLOOM_TOOL,
                 {{"inspct {}/db", "unknown subcommand inspct: did you mean inspect?"},
                  {"inspection {}/db", "did you mean inspect?"},
                  {"lpan --keys 5", "did you mean plan?"},
                  {"r", "unknown subcommand r: it is not one of inspect, advise"},
                  {"sing", "unknown subcommand sing: it is not one of inspect, advise"},
                  {"--verson", "unknown option --verson: did you mean --version?"},
                  {"rate --m 5 --n 1 --k", "--k needs a value"},
                  {"rate --m 5 --k 1", "rate: --n is required"},
                  {"rate --m 5 --ones 1", "rate: --ones needs --k"},
                  {"rate --mm 5 --n 1 --k 1", "unknown option --mm: did you mean --m?"},
                  {"rate --m 5 --n 1 --k 1 7", "rate: unexpected argument '7'"},
                  {"advise {}/db --fpr 1%", "unknown option --fpr"}});
}

TEST_F(WrongInputs, NoneAtAllGetsWhatToBeginWith) {
  const testing::Outcome outcome = testing::RunCommand(EXACTBLOOM_TOOL);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(Mentions(outcome.err, "exactbloom: a subcommand is required"));
  EXPECT_TRUE(Mentions(outcome.err, "exactbloom inspect DB "));
  EXPECT_TRUE(Mentions(outcome.err, "exactbloom SUBCOMMAND --help "));
}

TEST_F(WrongInputs, OfRateAndPlan) {
  ExpectRefusals(EXACTBLOOM_TOOL,
                 {{"rate --m 0 --n 1 --k 1", "--m is 0"},
                  {"rate --m 5 --n 1 --k 6", "--k is 6"},
                  {"rate --m 5 --n 1 --k 256", "'256' is not a whole number from 1 to 255"},
                  {"rate --m 5 --k 5 --ones 3", "--k is 5"},
                  {"rate --m 5 --k 2 --ones 6", "--ones is 6"},
                  {"rate --m 50 --k 5 --ones 2", "--ones is 2, which no number of keys"},
                  {"rate --m 5 --n 9 --ones 1 --kind exact_ribbon", "--ones: a Ribbon filter"},
                  {"rate --m 5 --n x --k 1", "rate: --n: 'x' is not a whole number"},
                  {"rate --m 512 --n 4 --k 6 --lines 1", "unknown option --lines"},
                  {"rate --m 512 --n 4 --k 6 --kind quotient",
                   "--kind: 'quotient' is not one of classic, standard"},
                  {"rate --m 50 --k 5 --ones 9 --other-ones 9", "--union-ones need each other"},
                  {"rate --m 50 --k 5 --ones 9 --other-ones 9 --union-ones 20",
                   "no two filters with 9 and 9 ones have 20 together"},
                  {"plan --keys 0 --fpr 0.1", "0 keys"},
                  {"plan --keys 10 --fpr 150%", "--fpr 1.5"},
                  {"plan --keys 1000 --fpr 1e-25", "1e-25 takes more than the 100 bits per key"},
                  {"plan --keys 1000 --fpr 1e-25 --kind standard", "more than the 100 bits"},
                  {"plan --keys 1e12 --fpr 1e-300", "1e-300 takes more than the 100 bits per key"},
                  {"plan --keys 5 --memory 1000", "--memory 1000 takes more than the 100 bits"},
                  {"plan --keys 5 --memory 1000 --kind exact_ribbon", "more than the 100 bits"},
                  {"plan --keys 1e6 --fpr 1e-25 --kind exact_ribbon", "range of 1e-09 to 0.5"},
                  {"plan --keys 10 --fpr nan", "--fpr: 'nan' is not a number such as 0.01 or 1%"},
                  {"plan --keys 10 --bits-per-key 101", "101"},
                  {"plan --keys 10 --memory 10", "--memory 10"},
                  {"plan --keys 10 --memory 5Q", "--memory: '5Q' is not a number of bytes"},
                  {"plan --keys 10", "one of --bits-per-key, --fpr, --memory is"},
                  {"plan --keys 10 --fpr 1% --memory 1K", "only one of --bits-per-key, --fpr"},
                  {"plan --fpr 0.1", "--keys"},
                  {"plan --levels 5,50 --bits-per-key 4", "--levels"},
                  {"plan --keys 5 --fpr 0.9 --kind exact_ribbon", "range of 1e-09 to 0.5"},
                  {"plan --keys 5 --memory 3 --kind exact_ribbon", "no filter is that small"},
                  {"plan --keys 1e10 --bits-per-key 4 --kind exact_ribbon", "more tables"},
                  {"rate --m 5e3 --n 9 --k 1 --kind exact_ribbon", "--k: a Ribbon filter has none"},
                  {"rate --m 5 --n 9 --kind exact_ribbon", "no Ribbon filter is that small"}});
}

// Each subcommand that takes a path.
TEST_F(WrongInputs, AreNoDatabase) {
  for (const std::string subcommand : {"inspect", "verify", "overlap", "advise"}) {
    ExpectRefusals(EXACTBLOOM_TOOL + (" " + subcommand),
                   {{"", "PATH is required"}, {"{}/none", "none"}, {"{}/empty", "empty"}});
  }
  ExpectRefusals(EXACTBLOOM_TOOL,
                 {{"inspect {0}/db {0}/text", "give one database, or table files"},
                  {"verify {0}/db {0}/db", "is another database: give one"},
                  {"inspect {}/empty", "empty is not a RocksDB database"},
                  {"inspect --lookups {0}/none {0}/db", "cannot read the key file"},
                  {"inspect --lookups {0}/nothing {0}/db", "has no keys"},
                  {"advise {}/text", "text"},
                  {"inspect {}/text", "is neither a database's directory nor a table file"},
                  {"advise {}/empty", "no file CURRENT"},
                  {"check", "is required"},
                  {"check {}/none", "none cannot be read"},
                  {"check {}/empty", "empty"},
                  {"check {}/text", "text is not an OPTIONS file"},
                  {"check {}/binary", "binary"}});
}

TEST_F(WrongInputs, AreOptionsOfADatabasesSubcommand) {
  ExpectRefusals(
      EXACTBLOOM_TOOL,
      {{"verify {}/db --absent many", "--absent: 'many' is not a whole number"},
       {"verify {}/db --threads 0", "--threads: '0' is not a whole number from 1 to 256"},
       {"verify {}/db --seed -1", "--seed: '-1'"},
       {"advise {}/db --memory lots", "--memory: 'lots' is not a number of bytes"}});
}

TEST_F(WrongInputs, OfReadamp) {
  ExpectRefusals(
      READAMP,
      {{"--policies none,classic_bloom:101", "0 to 100"},
       {"--policies none,ribonfilter:9.5", "did you mean ribbonfilter:9.5?"},
       {"--policies test_peer", "test_peer"},
       {"--policies ''", "--policies: an empty name"},
       {"--keys {}/none", "none"},
       {"--keys {}/empty", "empty"},
       {"--keys /dev/null", "no keys"},
       {"--json {}/none/result.json --synthetic 1e3", "none/result.json"},
       {"--directory {}/none --synthetic 1e3", "none"},
       {"--threads 0", "--threads: '0' is not a whole number from 1 to 64"},
       {"--synthetic 1e9", "'1e9' is not a whole number from 100 to 100000000"},
       {"--stored 150%", "--stored: '150%' is not from 0.0001 to 0.9999"},
       {"--polices none", "did you mean --policies?"},
       {"--from-db {}/none", "none"},
       {"--from-db {}/empty", "empty"},
       {"--from-db {}/db --synthetic 1000", "--from-db"},
       {"--workloads absent,distant", "--workloads: 'distant' is not one of absent, present"},
       {"--workloads growth --synthetic 1e3", "--tree loaded or universal"},
       {"--workloads growth --synthetic 1e3 --tree loaded --lookups 20 --points 20",
        "20 lookups are too few for 20 points"},
       {"--tree binary", "--tree: 'binary' is not one of settled, loaded, level0, universal"},
       {"--filters half", "--filters: 'half' is not one of full, partitioned"},
       {"--block-cache some", "--block-cache: 'some'"},
       {"words", "unexpected argument 'words'"}});
}

TEST(Numbers, AreReadAsUsersWriteThem) {
  using namespace support;
  EXPECT_EQ(ReadCount("1e6"), 1'000'000U);
  EXPECT_EQ(ReadCount("18446744073709551615"), std::uint64_t{18'446'744'073'709'551'615U});
  EXPECT_EQ(ReadCount("9007199254740993"), 9'007'199'254'740'993U);
  EXPECT_EQ(ReadShare("1%"), 0.01);
  EXPECT_EQ(ReadShare("0.01"), 0.01);
  EXPECT_EQ(ReadBytes("64M"), std::uint64_t{64} << 20);
  EXPECT_EQ(ReadBytes("1.5GiB"), std::uint64_t{3} << 29);
  EXPECT_EQ(ReadBytes("2 kb"), 2048U);
  EXPECT_EQ(ReadBytes("10b"), 10U);
  EXPECT_EQ(ReadBytes("1e9"), 1'000'000'000U);
  for (const char* text : {"", " ", "x", "1x", "1e", "0.5", "-1", "1%", "1e30", "inf", "nan"}) {
    EXPECT_EQ(ReadCount(text), std::nullopt) << text;
  }
  for (const char* text : {"", "%", "1%%", "x%", "nan", "inf%", "0,5"}) {
    EXPECT_EQ(ReadShare(text), std::nullopt) << text;
  }
  for (const char* text : {"", "M", "1Q", "1MM", "1iB", "-1K", "1P", "99999999T"}) {
    EXPECT_EQ(ReadBytes(text), std::nullopt) << text;
  }
}

class DatabaseErrors : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kKeys = 400;
  static constexpr std::uint64_t kTables = 3;

  Database Make() const {
    Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory_.path());
    for (std::uint64_t i = 0; i < kTables; ++i) PutAndFlush(*db, kKeys, "value", i * kKeys);
    return db;
  }

  fs::path SecondTable() const { return TableFilesIn(directory_.path()).at(1); }

  // Expects inspect to name the second table with these words, and to report the others.
  void ExpectSecondUnreadable(const std::string& words) const {
    const json report = AskToolForJson("inspect " + directory_.path(), 1);
    EXPECT_EQ(report.at("totals").at("tables"), kTables);
    EXPECT_EQ(report["totals"].at("unreadable_tables"), 1);
    EXPECT_EQ(report["totals"].at("keys"), kKeys * (kTables - 1));
    const std::string error = report.at("files")[1].at("error");
    EXPECT_TRUE(Mentions(error, words));
    EXPECT_TRUE(Mentions(error, SecondTable().filename()));
    const testing::Outcome text = AskTool("inspect " + directory_.path());
    EXPECT_EQ(text.status, 1);
    EXPECT_EQ(text.err, "exactbloom: 1 of 3 tables cannot be read\n");
    EXPECT_TRUE(Mentions(text.out, "cannot be read: "));
  }

  TemporaryDirectory directory_;
};

TEST_F(DatabaseErrors, InspectNamesATableThatCannotBeReadAndGoesOn) {
  Make();
  const fs::path table = SecondTable();
  // The metaindex comes just before the footer.
  const auto metaindex = static_cast<std::streamoff>(fs::file_size(table)) - 80;
  std::fstream(table).seekp(metaindex).write("damaged!", 8);
  ExpectSecondUnreadable("Corruption");
  fs::resize_file(table, fs::file_size(table) / 2);
  ExpectSecondUnreadable("");
  fs::resize_file(table, 0);
  ExpectSecondUnreadable("Corruption");
  fs::rename(table, table.string() + ".away");
  const json report = AskToolForJson("inspect " + directory_.path(), 1);
  EXPECT_TRUE(Mentions(report.at("files")[1].at("error"), "No such file"));
}

TEST_F(DatabaseErrors, VerifyNamesADamagedTableAndGoesOn) {
  Make();
  std::fstream(SecondTable()).seekp(100).write("damaged!", 8);  // in a block of data
  const json report = AskToolForJson("verify " + directory_.path(), 1);
  EXPECT_EQ(report.at("tables"), kTables);
  EXPECT_EQ(report.at("keys_checked"), (kTables - 1) * kKeys);
  EXPECT_EQ(report.at("false_negatives"), 0);
  ASSERT_EQ(report.at("unreadable").size(), 1U);
  const std::string table = report["unreadable"][0].at("table");
  EXPECT_TRUE(Mentions(table, SecondTable().filename()));
  EXPECT_TRUE(Mentions(report["unreadable"][0].at("reason"), "Corruption"));
  EXPECT_EQ(AskTool("verify " + directory_.path()).err, "exactbloom: 1 table could not be read\n");
}

TEST_F(DatabaseErrors, WithoutPermissionTheTableOrTheDatabaseIsNamed) {
  // Root may read and write everything, so another user asks.
  const std::string nobody =
      geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "";
  if (AskTool("--version", nobody).status != 0) {
    GTEST_SKIP() << "another user cannot run the tool";
  }
  Make();
  constexpr fs::perms kAllRead{0555};
  fs::permissions(directory_.path(), kAllRead);
  fs::permissions(SecondTable(), fs::perms::none);
  const testing::Outcome outcome = AskTool("inspect " + directory_.path(), nobody);
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_TRUE(Mentions(outcome.out, "Permission denied"));
  EXPECT_TRUE(Mentions(outcome.out, "800"));  // keys of the others
  fs::permissions(directory_.path("CURRENT"), fs::perms::none);
  for (const char* subcommand : {"inspect ", "verify "}) {
    ExpectRefusal(AskTool(subcommand + directory_.path(), nobody), "Permission denied");
  }
  fs::permissions(directory_.path(), fs::perms::owner_all);
}

TEST_F(DatabaseErrors, WhatIsNoDatabaseIsRefused) {
  const std::string empty = directory_.path();
  std::ofstream(directory_.path("CURRENT")) << "nonsense\n";
  ExpectRefusal(AskTool("inspect " + empty), "CURRENT");
  std::ofstream(directory_.path("CURRENT")) << "MANIFEST-000001\n";
  ExpectRefusal(AskTool("inspect " + empty), "MANIFEST-000001");
}

}  // namespace
}  // namespace exactbloom
