// What the tool does when standard output or standard error cannot be written, and with names that
// are not UTF-8.
#include "tool/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "sample_database.h"
#include "support/progress.h"
#include "support/terminal.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;

class Output : public ::testing::Test {
 protected:
  Output() {
    PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory_.path("db")), 100);
    std::ofstream(directory_.path("OPTIONS"))
        << "[CFOptions \"default\"]\n[TableOptions/BlockBasedTable \"default\"]\n"
           "  filter_policy=unheard:10\n";
  }

  // Runs the tool with a redirection of the shell; {} in the arguments is the directory.
  testing::Outcome Ask(const std::string& arguments, const std::string& redirection) const {
    const std::string filled = fmt::format(fmt::runtime(arguments), directory_.path());
    return testing::RunCommand(
        fmt::format("sh -c '{} {} {}'", EXACTBLOOM_TOOL, filled, redirection));
  }

  TemporaryDirectory directory_;
};

TEST_F(Output, ThatCannotBeWrittenIsAnErrorOfEachSubcommand) {
  for (const char* arguments : {"rate --m 64 --n 4 --k 9", "plan --keys 5 --bits-per-key 9",
                                "inspect {}/db", "verify {}/db", "overlap {}/db", "advise {}/db",
                                "check {}/OPTIONS", "check {}/OPTIONS --json", "--help"}) {
    for (const char* redirection : {">/dev/full", ">&-"}) {
      SCOPED_TRACE(fmt::format("{} {}", arguments, redirection));
      testing::ExpectRefusal(Ask(arguments, redirection), "standard output cannot be written");
    }
  }
}

TEST_F(Output, WithoutStandardErrorTheExitStatusIsTheSame) {
  for (const char* redirection : {"2>/dev/full", "2>&-"}) {
    SCOPED_TRACE(redirection);
    EXPECT_EQ(Ask("inspect {}/none", redirection).status, 2);
    EXPECT_EQ(Ask("check {}/OPTIONS", redirection).status, 1);
    EXPECT_EQ(Ask("inspect {}/db", redirection).status, 0);
  }
}

// A terminal that is closed while its progress line is drawn.
TEST(ProgressLine, ItsTerminalMayBeClosed) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) GTEST_SKIP() << "there are no pseudo-terminals";
  ASSERT_EQ(grantpt(terminal) | unlockpt(terminal), 0);
  const int line = open(ptsname(terminal), O_RDWR | O_NOCTTY);
  const int standard_error = dup(STDERR_FILENO);
  ASSERT_GE(dup2(line, STDERR_FILENO), 0);
  {
    support::Progress progress;
    close(terminal);
    progress.Begin("step", 1);
  }
  dup2(standard_error, STDERR_FILENO);
  close(standard_error);
  close(line);
}

TEST(Json, NamesThatAreNotUtf8AreEscaped) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("p\xff");
  {
    const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), path);
    for (const std::string name : {"a\xff\"", "a\xfe\"", "\xc3\xa4"}) {
      rocksdb::ColumnFamilyHandle* family = nullptr;
      ASSERT_TRUE(db->CreateColumnFamily(db->GetOptions(), name, &family).ok());
      PutAndFlush(*db, 100, "value", 0, family);
      ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
    }
  }
  const json report = AskToolForJson("inspect " + path);
  EXPECT_TRUE(Mentions(report.at("files")[0].at("path"), "/p\\xff/"));
  std::set<std::string> families;
  for (const auto& [name, reads] : report.at("totals").at("wasted_reads").items()) {
    families.insert(name);
  }
  EXPECT_EQ(families, (std::set<std::string>{"a\\xff\"", "a\\xfe\"", "\xc3\xa4"}));
  EXPECT_EQ(AskToolForJson("verify " + path).at("levels").size(), 3U);
  EXPECT_EQ(AskToolForJson("advise " + path).at("column_families").size(), 3U);
  const std::string options = fmt::format("{}/OPTIONS-\xff", directory.path());
  std::ofstream(options) << "[CFOptions \"default\"]\n";
  EXPECT_TRUE(Mentions(AskToolForJson("check " + options, 1).at("file"), "OPTIONS-\\xff"));
}

// UTF-8 as it is; control characters, also of two bytes, and bytes that are none, are escaped.
TEST(Names, ArePrintable) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"z\xc3\xa4hler \"a\\b\"", "z\xc3\xa4hler \"a\\b\""},
      {"\xe8\xa8\x98\xe9\x8c\xb2", "\xe8\xa8\x98\xe9\x8c\xb2"},
      {"\x1b[31m", "\\x1b[31m"},
      {"\xc2\x9b", "\\xc2\\x9b"},
      {"\xc0\x80", "\\xc0\\x80"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"\xe2\x80\xae", "\\xe2\\x80\\xae"},
      {"a\xe8\xa8", "a\\xe8\\xa8"}};
  for (const auto& [name, printed] : names) EXPECT_EQ(tool::Escaped(name), printed);
  EXPECT_EQ(support::ColumnsOf("z\xc3\xa4hler"), 6U);
  EXPECT_EQ(support::ColumnsOf("\xe8\xa8\x98\xe9\x8c\xb2"), 4U);
  EXPECT_EQ(support::BytesWithin("\xe8\xa8\x98\xe9\x8c\xb2", 3), 3U);
}

// A name that was printed is an argument again, and moves no column of a table.
TEST(Names, InUtf8AreArguments) {
  const TemporaryDirectory directory;
  const std::string name = "z\xc3\xa4hler";
  {
    const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path());
    rocksdb::ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(db->GetOptions(), name, &family).ok());
    PutAndFlush(*db, 100, "value", 0, family);
    PutAndFlush(*db, 5000);
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  }
  const std::string text = testing::AskTool("inspect " + directory.path()).out;
  EXPECT_TRUE(Mentions(text, "\n" + name + "  "));
  EXPECT_TRUE(Mentions(text, "\ndefault  "));
  EXPECT_EQ(testing::AskTool("inspect --column-family " + name + " " + directory.path()).status, 0);
}

TEST(Names, OfDatabasesMoveNoCursor) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("\x1b[31mred");
  Open(OptionsWith(NewPolicy(BloomKind::kClassic)), path).reset();
  for (const char* question :
       {"inspect ", "verify ", "overlap ", "advise ", "check --registers "}) {
    const testing::Outcome outcome = testing::AskTool(question + ("'" + path + "'"));
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << question;
    EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos) << question;
  }
}

}  // namespace
}  // namespace exactbloom
