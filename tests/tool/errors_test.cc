// inspect and verify on databases that are damaged or forbidden, and on files that are no database.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;
using testing::ExpectRefusal;

constexpr std::uint64_t kKeys = 400;
constexpr std::uint64_t kTables = 3;

class DatabaseErrors : public ::testing::Test {
 protected:
  Database Make() const {
    Database db = Open(OptionsWith(NewPolicy(FilterKind::kClassic)), directory_.path());
    for (std::uint64_t i = 0; i < kTables; ++i) PutAndFlush(*db, kKeys, "value", i * kKeys);
    return db;
  }

  fs::path SecondTable() const { return TableFilesIn(directory_.path()).at(1); }

  // Expects inspect to name the second table with these words, and to report the others.
  void ExpectSecondUnreadable(const std::string& words) const {
    const json report = AskToolForJson("inspect " + directory_.path(), 1);
    EXPECT_EQ(report.at("totals").at("tables"), kTables);
    EXPECT_EQ(report["totals"].at("unreadable"), 1);
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
