// FIFOs, devices, directories and sparse files in the place of files: each subcommand, and readamp,
// names them and ends, with the answer to the rest if there is one. The time limits only end a test
// that fails.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "sample_database.h"
#include "support/errors.h"
#include "support/key_file.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using testing::AskTool;
using testing::ExpectRefusal;
using testing::Outcome;

// A FIFO stands for what is not regular, of which each subcommand and each file has to know: one
// that is opened otherwise is waited for. A sparse file stands for what is too large.
const std::vector<std::string>& TwoSpecialFiles() {
  static const std::vector<std::string> kinds = {"FIFO", "sparse file"};
  return kinds;
}

// A FIFO, and a link to one; devices without end, and one that is empty; a directory; a socket; and
// a file of four terabytes of zeros.
const std::vector<std::string>& SpecialFiles() {
  static const std::vector<std::string> kinds = {"FIFO",        "link to a FIFO", "/dev/zero",
                                                 "/dev/random", "/dev/null",      "directory",
                                                 "socket",      "sparse file"};
  return kinds;
}

// Replaces what is at the path. False if the file system has no such file.
bool ReplaceBy(const std::string& kind, const std::string& path) {
  fs::remove_all(path);
  if (kind == "FIFO") return mkfifo(path.c_str(), 0600) == 0;
  if (kind == "directory") return fs::create_directory(path);
  if (kind == "link to a FIFO") {
    fs::create_symlink(path + ".fifo", path);
    return fs::exists(path + ".fifo") || mkfifo((path + ".fifo").c_str(), 0600) == 0;
  }
  if (kind == "socket") {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return false;
    std::copy(path.begin(), path.end(), address.sun_path);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const int bound = bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    close(socket);
    return bound == 0;
  }
  if (kind == "sparse file") {
    constexpr std::uintmax_t kBytes = std::uintmax_t{4} << 40;
    std::ofstream(path).close();
    std::error_code error;
    fs::resize_file(path, kBytes, error);
    return !error;
  }
  fs::create_symlink(kind, path);
  return true;
}

constexpr char kTimeLimit[] = "timeout --kill-after=1 60";

class SpecialFile : public ::testing::Test {
 protected:
  SpecialFile() {
    const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory_.path("db"));
    for (const std::uint64_t first : {0, 100, 200, 300}) PutAndFlush(*db, 100, "value", first);
  }

  // A new copy of the database.
  std::string Copy() const {
    const std::string copy = directory_.path("copy");
    fs::remove_all(copy);
    fs::copy(directory_.path("db"), copy);
    return copy;
  }

  // The last file whose name begins or ends so.
  static std::string Find(const std::string& database, const std::string& part) {
    std::string found;
    for (const auto& file : fs::directory_iterator(database)) {
      const std::string name = file.path().filename();
      const bool is_one =
          name == part || name.rfind(part + "-", 0) == 0 || (file.path().extension() == part);
      if (is_one) found = std::max(found, file.path().string());
    }
    return found;
  }

  TemporaryDirectory directory_;
};

struct Place {
  const char* part;                     // of the name
  std::map<std::string, int> statuses;  // by subcommand; 0: it does not read the file
};

TEST_F(SpecialFile, IsNamedByEachSubcommand) {
  const Place places[] = {
      {"CURRENT",
       {{"inspect", 2}, {"verify", 2}, {"overlap", 2}, {"advise", 2}, {"check --registers", 0}}},
      {"MANIFEST",
       {{"inspect", 2}, {"verify", 2}, {"overlap", 2}, {"advise", 2}, {"check --registers", 0}}},
      {"OPTIONS",
       {{"inspect", 1}, {"verify", 0}, {"overlap", 0}, {"advise", 1}, {"check --registers", 2}}},
      {"LOG",
       {{"inspect", 0}, {"verify", 0}, {"overlap", 0}, {"advise", 1}, {"check --registers", 0}}},
      {".sst",
       {{"inspect", 1}, {"verify", 1}, {"overlap", 1}, {"advise", 1}, {"check --registers", 0}}}};
  for (const auto& [part, statuses] : places) {
    for (const std::string& kind : TwoSpecialFiles()) {
      const std::string database = Copy();
      const std::string path = Find(database, part);
      if (!ReplaceBy(kind, path)) continue;
      for (const auto& [subcommand, status] : statuses) {
        SCOPED_TRACE(fmt::format("{} in place of {}: {}", kind, path, subcommand));
        const Outcome outcome = AskTool(subcommand + " " + database, kTimeLimit);
        EXPECT_EQ(outcome.status, status) << outcome.err;
        const std::string name = fs::path(path).filename();
        EXPECT_TRUE(status == 0 || Mentions(outcome.out + outcome.err, name));
        EXPECT_EQ(outcome.out.empty(), status == 2) << outcome.out;
      }
    }
  }
}

TEST_F(SpecialFile, IsCalledWhatItIs) {
  const std::map<std::string, std::string> words = {
      {"FIFO", "not a regular file but a FIFO"},
      {"link to a FIFO", "not a regular file but a FIFO"},
      {"/dev/zero", "not a regular file but a character device"},
      {"/dev/random", "not a regular file but a character device"},
      {"/dev/null", "not a regular file but a character device"},
      {"directory", "not a regular file but a directory"},
      {"socket", "not a regular file but a socket"},
      {"sparse file", "4398046511104 bytes are more than the 67108864 that are read"}};
  for (const std::string& kind : SpecialFiles()) {
    SCOPED_TRACE(kind);
    const std::string database = Copy();
    const std::string path = Find(database, "CURRENT");
    if (!ReplaceBy(kind, path)) continue;
    ExpectRefusal(AskTool("inspect " + database, kTimeLimit), path + ": " + words.at(kind));
    if (kind != "directory") {  // whose newest OPTIONS file it would be
      ExpectRefusal(AskTool("check " + path, kTimeLimit), path + ": " + words.at(kind));
    }
  }
}

TEST_F(SpecialFile, IsNoTableThatIsGiven) {
  for (const std::string& kind : SpecialFiles()) {
    const std::string path = directory_.path("file.sst");
    if (kind == "directory" || !ReplaceBy(kind, path)) continue;
    for (const std::string subcommand : {"inspect ", "verify "}) {
      SCOPED_TRACE(subcommand + kind);
      const Outcome outcome = AskTool(subcommand + path, kTimeLimit);
      EXPECT_EQ(outcome.status, 1) << outcome.err;
      EXPECT_TRUE(Mentions(outcome.out, "file.sst"));
    }
    ExpectRefusal(AskTool("advise " + path, kTimeLimit), "file.sst");
    ExpectRefusal(AskTool("overlap " + path, kTimeLimit), "overlap takes a database");
  }
}

TEST_F(SpecialFile, HasNoKeysToLookUp) {
  const std::map<std::string, std::string> words = {
      {"FIFO", "has no keys"},      {"link to a FIFO", "has no keys"},
      {"/dev/zero", "has no keys"}, {"/dev/random", "has no keys"},
      {"/dev/null", "has no keys"}, {"directory", "it is a directory"},
      {"socket", "No such device"}, {"sparse file", "has a line of more than 1048576 bytes"}};
  for (const std::string& kind : SpecialFiles()) {
    SCOPED_TRACE(kind);
    const std::string path = directory_.path("keys");
    if (!ReplaceBy(kind, path)) continue;
    for (const std::string subcommand : {"inspect", "advise"}) {
      const Outcome outcome = AskTool(
          fmt::format("{} --lookups {} {}", subcommand, path, directory_.path("db")), kTimeLimit);
      ExpectRefusal(outcome, words.at(kind));
      EXPECT_TRUE(Mentions(outcome.err, path));
    }
    ExpectRefusal(testing::RunCommand(fmt::format("{} {} --keys {}", kTimeLimit, READAMP, path)),
                  words.at(kind));
  }
}

TEST_F(SpecialFile, IsNamedByReadamp) {
  for (const std::string part : {"CURRENT", "MANIFEST", "OPTIONS", "IDENTITY", ".log", ".sst"}) {
    for (const std::string& kind : TwoSpecialFiles()) {
      const std::string database = Copy();
      const std::string path = Find(database, part);
      SCOPED_TRACE(fmt::format("{} in place of {}", kind, path));
      if (!ReplaceBy(kind, path)) continue;
      ExpectRefusal(
          testing::RunCommand(fmt::format("{} {} --from-db {}", kTimeLimit, READAMP, database)),
          fs::path(path).filename());
    }
  }
}

// Whoever names a pipe wants it read.
TEST_F(SpecialFile, GivesKeysIfItIsAPipe) {
  const std::string fifo = directory_.path("fifo");
  ASSERT_TRUE(ReplaceBy("FIFO", fifo));
  const std::string db = directory_.path("db");
  for (const std::string& command :
       {fmt::format("{} inspect --lookups <(echo {}) {}", EXACTBLOOM_TOOL, KeyOf(1), db),
        fmt::format("echo {} | {} inspect --lookups - {}", KeyOf(1), EXACTBLOOM_TOOL, db),
        fmt::format("echo {} > {} & {} inspect --lookups {} {}", KeyOf(1), fifo, EXACTBLOOM_TOOL,
                    fifo, db)}) {
    SCOPED_TRACE(command);
    const Outcome outcome =
        testing::RunCommand(fmt::format("COLUMNS=200 {} bash -c '{}'", kTimeLimit, command));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(Mentions(outcome.out, "1.00")) << "asked";
  }
}

TEST_F(SpecialFile, GivesKeysWithinABound) {
  const std::unique_ptr<FILE, int (*)(FILE*)> endless(popen("yes", "r"), pclose);
  const std::string path = fmt::format("/dev/fd/{}", fileno(endless.get()));
  constexpr std::size_t kBytes = 1 << 20;
  try {
    support::ReadKeyFile(path, support::KeyFormat::kText, kBytes);
    FAIL() << "the pipe ended";
  } catch (const support::InputError& error) {
    EXPECT_TRUE(Mentions(error.what(), path + " has too many keys"));
  }
}

// A block of three megabytes whose compressed form claims 256.
TEST_F(SpecialFile, IsABlockThatClaimsMoreThanTheTable) {
  rocksdb::BlockBasedTableOptions table;
  table.checksum = rocksdb::kNoChecksum;
  table.block_size = std::size_t{8} << 20;
  table.filter_policy = NewPolicy(BloomKind::kClassic);
  rocksdb::Options options = OptionsWith(table);
  options.compression = rocksdb::kSnappyCompression;
  const std::string path = directory_.path("large");
  PutAndFlush(*Open(options, path), 3, std::string(std::size_t{1} << 20, 'x'));
  EXPECT_EQ(AskTool("verify " + path).status, 0);
  std::fstream(TableFilesIn(path).front()).write("\xff\xff\xff\x7f", 4);  // its first block
  const Outcome outcome = AskTool("verify " + path, kTimeLimit);
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_TRUE(Mentions(outcome.out, "a block takes 268435455 bytes, more than"));
}

// A new subcommand has to be added above, unless it reads no file.
TEST_F(SpecialFile, IsTriedWithEachSubcommand) {
  EXPECT_EQ(testing::Subcommands(), (std::set<std::string>{"advise", "check", "inspect", "overlap",
                                                           "plan", "rate", "verify"}));
}

}  // namespace
}  // namespace exactbloom
