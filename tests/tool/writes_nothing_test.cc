// No subcommand writes to a database, whether it is closed, read-only, or open in another process.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using testing::AskTool;

constexpr std::uint64_t kKeys = 400;

// Size, permissions, time of the last change, and contents of a file. A directory's time changes
// when a file in it is created, renamed or deleted.
using FileState = std::tuple<std::uintmax_t, fs::perms, fs::file_time_type, std::string>;
using Files = std::map<std::string, FileState>;

FileState StateOf(const fs::path& path) {
  const bool is_file = fs::is_regular_file(path);
  return {is_file ? fs::file_size(path) : 0, fs::status(path).permissions(),
          fs::last_write_time(path), is_file ? testing::ReadFile(path) : ""};
}

// Expects the names to be equal, and names what differs.
void ExpectEqual(const Files& before, const Files& after) {
  for (const auto& [path, state] : before) {
    const auto found = after.find(path);
    ASSERT_NE(found, after.end()) << path << " is gone";
    EXPECT_TRUE(found->second == state) << path << " has changed";
  }
  for (const auto& [path, state] : after) EXPECT_EQ(before.count(path), 1U) << path << " is new";
}

// A database with tables, a log of keys that are in no table, and directories of its own for the
// log and for the tables.
class WritesNothing : public ::testing::Test {
 protected:
  WritesNothing() : db_(Make()) {}

  Database Make() const {
    rocksdb::Options options = OptionsWith(nullptr);
    EXPECT_TRUE(SetFilterPolicy(&options, "exactbloom:10").ok());
    options.wal_dir = directory_.path("logs");
    options.db_paths = {{directory_.path("db"), 1 << 30}};
    Database db = Open(options, directory_.path("db"));
    for (std::uint64_t i = 0; i < 3; ++i) PutAndFlush(*db, kKeys, "value", i * kKeys);
    EXPECT_TRUE(db->Put({}, KeyOf(2 * 3 * kKeys), "in the log").ok());
    return db;
  }

  // All but the info log, which an open database writes.
  Files FilesNow() const {
    Files files = {{".", StateOf(directory_.path())}};
    for (const auto& file : fs::recursive_directory_iterator(directory_.path())) {
      if (file.path().filename() == "LOG") continue;
      files[file.path()] = StateOf(file.path());
    }
    return files;
  }

  std::vector<std::string> Commands() const {
    const std::string db = directory_.path("db");
    const std::string table = TableFilesIn(db).front();
    std::string options;
    for (const auto& file : fs::directory_iterator(db)) {
      const std::string name = file.path().filename();
      if (name.rfind("OPTIONS-", 0) == 0) options = std::max(options, file.path().string());
    }
    return {"inspect " + db,
            "inspect --tables --json " + db,
            "inspect " + table,
            "inspect " + db + " " + directory_.path("logs"),
            "inspect --lookups " + options + " " + db,
            "verify " + db,
            "verify --absent 1e3 --threads 2 --json " + db,
            "verify " + table,
            "overlap " + db,
            "overlap --json " + db,
            "advise " + db,
            "advise --memory 1K --json " + db,
            "check --registers " + options,
            "check --registers --json " + options};
  }

  void ExpectNothingWritten(const std::string& user = "") const {
    for (const std::string& command : Commands()) {
      SCOPED_TRACE(command);
      const Files before = FilesNow();
      const testing::Outcome outcome = AskTool(command, user);
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_NE(outcome.out, "");
      ExpectEqual(before, FilesNow());
    }
  }

  void SetPermissions(fs::perms of_directories, fs::perms of_files) const {
    for (const auto& file : fs::recursive_directory_iterator(directory_.path())) {
      fs::permissions(file.path(), file.is_directory() ? of_directories : of_files);
    }
    fs::permissions(directory_.path(), of_directories);
  }

  TemporaryDirectory directory_;
  Database db_;
};

TEST_F(WritesNothing, ToADatabaseThatIsOpenInAnotherProcess) {
  ASSERT_TRUE(db_->PauseBackgroundWork().ok());  // after flushes, it deletes files
  ExpectNothingWritten();
  ExpectPresent(*db_, 3 * kKeys);
  ExpectPresent(*db_, 1, "in the log", 3 * kKeys);
}

TEST_F(WritesNothing, ToAClosedDatabaseWithALog) {
  db_.reset();
  bool has_log = false;
  for (const auto& file : fs::directory_iterator(directory_.path("logs"))) {
    has_log = has_log || (file.path().extension() == ".log" && file.file_size() > 0);
  }
  EXPECT_TRUE(has_log);
  ExpectNothingWritten();
  ExpectPresent(*Make(), 1, "in the log", 3 * kKeys);
}

// Root may write nevertheless, so another user asks, too.
TEST_F(WritesNothing, AndNeedsNoPermissionToWrite) {
  db_.reset();
  SetPermissions(fs::perms{0555}, fs::perms{0444});
  ExpectNothingWritten();
  const std::string nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
  if (geteuid() == 0 && AskTool("--version", nobody).status == 0) ExpectNothingWritten(nobody);
  SetPermissions(fs::perms::owner_all, fs::perms::owner_all);
}

// A new subcommand has to be added to Commands(), unless it reads no database.
TEST_F(WritesNothing, IsTriedWithEachSubcommand) {
  std::set<std::string> tried = {"rate", "plan"};
  for (const std::string& command : Commands()) tried.insert(command.substr(0, command.find(' ')));
  EXPECT_EQ(tried, testing::Subcommands());
}

}  // namespace
}  // namespace exactbloom
