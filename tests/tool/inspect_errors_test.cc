// inspect on databases that are damaged, forbidden or in use, and on files that are no database.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class InspectErrors : public ::testing::Test {
 protected:
  static constexpr int kTables = 3;

  Database OpenSample() {
    Database db = Open(OptionsWith(NewPolicy(FilterKind::kClassic)), directory_.path());
    for (int table = 0; table < kTables; ++table) {
      PutAndFlush(*db, 300, "value", 300 * static_cast<std::uint64_t>(table));
    }
    return db;
  }

  std::vector<fs::path> Tables() const { return TableFilesIn(directory_.path()); }

  // Expects the second table to be named with these words, and the others to be reported.
  void ExpectSecondUnreadable(const std::string& words) const {
    const std::string name = Tables()[1].filename();
    const json report = testing::AskToolForJson("inspect " + directory_.path(), 1);
    EXPECT_EQ(report.at("totals").at("tables"), kTables);
    EXPECT_EQ(report["totals"].at("unreadable"), 1);
    EXPECT_EQ(report["totals"].at("keys"), 300 * (kTables - 1));
    const std::string error = report.at("files")[1].at("error");
    EXPECT_NE(error.find(words), std::string::npos) << error;
    EXPECT_NE(error.find(name), std::string::npos) << error;
    const testing::Outcome text = testing::AskTool("inspect " + directory_.path());
    EXPECT_EQ(text.status, 1);
    EXPECT_EQ(text.err, "exactbloom: 1 of 3 tables cannot be read\n");
    EXPECT_NE(text.out.find("cannot be read: "), std::string::npos) << text.out;
  }

  TemporaryDirectory directory_;
};

TEST_F(InspectErrors, ACorruptTableIsNamedAndSkipped) {
  OpenSample();
  const fs::path table = Tables()[1];
  // The metaindex comes just before the footer.
  std::fstream file(table, std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(fs::file_size(table)) - 80);
  file.write("damaged!", 8);
  file.close();
  ExpectSecondUnreadable("Corruption");
}

TEST_F(InspectErrors, SoAreATruncatedAndAnEmptyAndAMissingOne) {
  OpenSample();
  const fs::path table = Tables()[1];
  fs::resize_file(table, fs::file_size(table) / 2);
  ExpectSecondUnreadable("");
  fs::resize_file(table, 0);
  ExpectSecondUnreadable("Corruption");
  const std::vector<fs::path> before = Tables();
  fs::rename(table, table.string() + ".away");
  const json report = testing::AskToolForJson("inspect " + directory_.path(), 1);
  EXPECT_NE(report.at("files")[1].at("error").get<std::string>().find("No such file"),
            std::string::npos);
}

TEST_F(InspectErrors, WithoutPermissionTheTableOrTheDatabaseIsNamed) {
  // Root may read everything, so another user asks.
  const std::string nobody =
      geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "";
  if (testing::AskTool("--version", nobody).status != 0) {
    GTEST_SKIP() << "another user cannot run the tool";
  }
  OpenSample();
  fs::permissions(directory_.path(), fs::perms::all);
  fs::permissions(Tables()[1], fs::perms::none);
  const testing::Outcome outcome = testing::AskTool("inspect " + directory_.path(), nobody);
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_NE(outcome.out.find("Permission denied"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("600"), std::string::npos) << outcome.out;  // keys of the others
  fs::permissions(directory_.path("CURRENT"), fs::perms::none);
  testing::ExpectRefusal(testing::AskTool("inspect " + directory_.path(), nobody),
                         "Permission denied");
}

TEST_F(InspectErrors, WhatIsNoDatabaseIsRefused) {
  const std::string empty = directory_.path();
  testing::ExpectRefusal(testing::AskTool("inspect " + empty), "not a RocksDB database");
  testing::ExpectRefusal(testing::AskTool("inspect " + empty + "/nowhere"), "No such file");
  std::ofstream(directory_.path("file"));
  testing::ExpectRefusal(testing::AskTool(fmt::format("inspect {0} {0}/file", empty)),
                         "give one database, or table files");
  testing::ExpectRefusal(testing::AskTool("inspect"), "PATH");
  std::ofstream(directory_.path("CURRENT")) << "nonsense\n";
  testing::ExpectRefusal(testing::AskTool("inspect " + empty), "CURRENT");
  std::ofstream(directory_.path("CURRENT")) << "MANIFEST-000001\n";
  testing::ExpectRefusal(testing::AskTool("inspect " + empty), "MANIFEST-000001");
}

TEST_F(InspectErrors, AFileThatIsNoTableIsNamed) {
  std::ofstream(directory_.path("text.sst")) << std::string(1000, 'x');
  const json report = testing::AskToolForJson("inspect " + directory_.path("text.sst"), 1);
  const std::string error = report.at("files")[0].at("error");
  EXPECT_NE(error.find("not a block-based table"), std::string::npos) << error;
}

// Names, sizes and times of all files.
std::map<std::string, std::pair<std::uintmax_t, fs::file_time_type>> FilesOf(
    const std::string& directory) {
  std::map<std::string, std::pair<std::uintmax_t, fs::file_time_type>> files;
  for (const auto& file : fs::directory_iterator(directory)) {
    files[file.path().filename()] = {file.file_size(), file.last_write_time()};
  }
  return files;
}

TEST_F(InspectErrors, ADatabaseInUseIsReadAndNothingIsWritten) {
  Database db = OpenSample();
  const auto before = FilesOf(directory_.path());
  for (const auto* subcommand : {"inspect ", "overlap ", "verify "}) {
    const testing::Outcome outcome = testing::AskTool(subcommand + directory_.path());
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  }
  EXPECT_EQ(FilesOf(directory_.path()), before);
  ExpectPresent(*db, 300 * kTables);
}

}  // namespace
}  // namespace exactbloom
