// What inspect and advise print on terminals of 80, 120 and 200 columns, for databases of one, ten
// and sixty column families. The outputs are in tests/tool/widths/; after a change of the tool,
//   UPDATE_WIDTHS=tests/tool/widths build/bin/tool_test --gtest_filter='Widths.*'
// writes them; then look at the difference.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <rocksdb/version.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

// Column families with the names cf0, cf1 and so on, and a long one: most of them alike, every
// seventh without filters, and every seventh with two tables.
void MakeDatabase(const std::string& path, int families) {
  rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  options.compression = rocksdb::kNoCompression;
  options.db_host_id = "host";
  rocksdb::Options without = OptionsWith(nullptr);
  without.compression = rocksdb::kNoCompression;
  const Database db = Open(options, path);
  PutAndFlush(*db, 20'000);
  for (int i = 0; i < families - 1; ++i) {
    rocksdb::ColumnFamilyHandle* family = nullptr;
    const bool has_filters = i % 7 != 3;
    ASSERT_TRUE(db->CreateColumnFamily(
                      has_filters ? options : without,
                      i == 8 ? "cf8_with_the_long_name_that_column_families_of_services_have"
                             : fmt::format("cf{}", i),
                      &family)
                    .ok());
    PutAndFlush(*db, 1000, "value", 0, family);
    if (i % 7 == 2) PutAndFlush(*db, 500, "value", 0, family);
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  }
}

class Widths : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new TemporaryDirectory;
    for (const int families : {1, 10, 60}) {
      MakeDatabase(directory_->path(fmt::format("db{}", families)), families);
    }
  }
  static void TearDownTestSuite() { delete directory_; }

  static std::string Ask(const std::string& arguments, int columns) {
    const testing::Outcome outcome = testing::RunCommand(fmt::format(
        "cd {} && COLUMNS={} {} {}", directory_->path(), columns, EXACTBLOOM_TOOL, arguments));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  }

  static std::vector<std::string> Questions() {
    std::vector<std::string> questions;
    for (const int families : {1, 10, 60}) {
      const std::string db = fmt::format(" db{}", families);
      for (const char* question : {"inspect", "inspect --tables --top 3 --sort wasted", "advise"}) {
        questions.push_back(question + db);
      }
    }
    questions.push_back("inspect --column-family cf2 db10");
    questions.push_back("inspect --tables db10");
    questions.push_back("overlap db10");
    questions.push_back("overlap --column-family cf2 db10");
    questions.push_back("check --registers db60");
    questions.push_back("verify db1");
    questions.push_back("verify db10");
    questions.push_back("rate --m 64 --n 4 --k 9");
    questions.push_back("plan --keys 1e12 --bits-per-key 10");
    return questions;
  }

  static TemporaryDirectory* directory_;
};

TemporaryDirectory* Widths::directory_ = nullptr;

void ExpectNoLineIsWider(const std::string& text, int columns) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // But for lines to copy with the path of the library or a name.
    if (Mentions(line, "LD_PRELOAD=") || Mentions(line, "  [TableOptions/")) continue;
    EXPECT_LE(line.size(), static_cast<std::size_t>(columns)) << line;
  }
}

// The sizes are those of files that RocksDB 7.8 writes, and others differ.
TEST_F(Widths, FitTheTerminal) {
  const bool has_these_sizes = ROCKSDB_MAJOR == 7 && ROCKSDB_MINOR == 8;
  const char* const update = std::getenv("UPDATE_WIDTHS");
  for (const int columns : {80, 120, 200}) {
    std::string text;
    for (const std::string& question : Questions()) {
      SCOPED_TRACE(question);
      const std::string answer = Ask(question, columns);
      ExpectNoLineIsWider(answer, columns);
      text += fmt::format("$ exactbloom {}\n{}\n", question, answer);
    }
    text = std::regex_replace(text, std::regex("LD_PRELOAD=[^ ]*"), "LD_PRELOAD=...");
    const std::string name = fmt::format("{}.txt", columns);
    if (has_these_sizes) {
      EXPECT_EQ(testing::ReadFile(WIDTHS + ("/" + name)), text);
    }
    if (update != nullptr) std::ofstream(update + ("/" + name)) << text;
  }
}

TEST_F(Widths, OneLineStandsForEqualFamilies) {
  const std::string text = Ask("inspect db60", 80);
  EXPECT_TRUE(Mentions(text, "\ncf0 and "));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 40) << text;
  EXPECT_TRUE(Mentions(Ask("inspect --column-family cf2 db60", 80), "\nall "));
  EXPECT_TRUE(
      Mentions(testing::AskTool("inspect --column-family none " + directory_->path("db10")).err,
               "has no tables of column family none"));
}

TEST_F(Widths, EqualLinesOfAnOptionsFileAreOne) {
  const testing::Outcome outcome = testing::AskTool("check " + directory_->path("db60"));
  EXPECT_EQ(outcome.status, 3);
  EXPECT_LT(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 30) << outcome.out;
  EXPECT_TRUE(Mentions(outcome.out, "\n  need a program that registers it;"));
  EXPECT_TRUE(Mentions(outcome.out, "\ndefault and 51 more"));
}

TEST_F(Widths, LinesAreSortedAndCounted) {
  const std::string text = Ask("inspect --top 1 --sort wasted db10", 80);
  EXPECT_TRUE(Mentions(text, "\ncf3 ")) << "it has no filters";
  EXPECT_TRUE(Mentions(text, " more)\n"));
  EXPECT_EQ(text.find("\ncf0"), std::string::npos);
  EXPECT_TRUE(Mentions(Ask("inspect --top 1 --sort keys db10", 80), "\ncf0 and 7 more "));
}

TEST_F(Widths, TheHelpOfEachSubcommandBeginsWithAnExample) {
  for (const std::string& subcommand : testing::Subcommands()) {
    const std::string help = testing::AskTool(subcommand + " --help").out;
    EXPECT_EQ(help.find("Example:\n  exactbloom " + subcommand + " "), 0U) << help;
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
}

// Runs the tool with a terminal of 80 columns as its standard output.
std::string AskInTerminal(const std::vector<std::string>& variables, const std::string& database) {
  winsize size{24, 80, 0, 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    unsetenv("COLUMNS");
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    for (const std::string& variable : variables) {
      const std::size_t sign = variable.find('=');
      setenv(variable.substr(0, sign).c_str(), variable.substr(sign + 1).c_str(), 1);
    }
    execl(EXACTBLOOM_TOOL, "exactbloom", "inspect", database.c_str(), nullptr);
    _exit(127);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t bytes = 0; (bytes = read(terminal, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(bytes));
  }
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << text;
  return text;
}

TEST_F(Widths, ColoursAreForTerminals) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0) GTEST_SKIP() << "there are no pseudo-terminals";
  close(terminal);
  const std::string database = directory_->path("db10");
  const std::string escape = "\x1b[1";  // of bold text; the progress line has others
  EXPECT_TRUE(Mentions(AskInTerminal({}, database), escape));
  EXPECT_TRUE(Mentions(AskInTerminal({"NO_COLOR="}, database), escape));
  for (const char* variable : {"NO_COLOR=1", "TERM=dumb"}) {
    EXPECT_EQ(AskInTerminal({variable}, database).find(escape), std::string::npos) << variable;
  }
  EXPECT_EQ(Ask("inspect db10", 80).find(escape), std::string::npos) << "a file";
  EXPECT_TRUE(Mentions(AskInTerminal({"COLUMNS=200"}, database), " asked "));
  EXPECT_EQ(AskInTerminal({}, database).find(" asked "), std::string::npos);
}

TEST(Help, IsAWordToo) {
  EXPECT_EQ(testing::AskTool("help").out, testing::AskTool("--help").out);
  EXPECT_EQ(testing::AskTool("help inspect").out, testing::AskTool("inspect --help").out);
}

TEST(Version, NamesRocksDB) {
  EXPECT_EQ(testing::AskTool("--version")
                .out.find(fmt::format("0.1.0 (RocksDB {}.{}.", ROCKSDB_MAJOR, ROCKSDB_MINOR)),
            0U);
}

}  // namespace
}  // namespace exactbloom
