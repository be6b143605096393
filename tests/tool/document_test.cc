// docs/tool.md, the manual page and the completion agree with the tool.
//
// Each command of the document, a line that starts with "    $ ", is run by the shell, and must
// print the indented lines that follow it, errors included. "..." in a line matches any text; a
// line of "..." alone matches any lines. Every section has a fresh copy of the document's database
// as `db` in the current directory. After a change of the tool,
//   UPDATE_DOCUMENT=docs/tool.md build/dev/bin/tool_test --gtest_filter='Document.*'
// writes what the commands print into the document; then look at the difference.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;

const std::string kIndent = "    ";
const std::string kPrompt = kIndent + "$ ";

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A line of the document, or a command with the lines that it prints, blank ones as they are.
struct Part {
  std::string section;
  std::string text;
  std::string printed;

  bool IsCommand() const { return text.rfind(kPrompt, 0) == 0; }
};

std::vector<Part> ReadDocument(const fs::path& path) {
  std::vector<Part> parts;
  std::string section;
  std::string blanks;  // part of the output if more of it follows
  for (const std::string& line : Lines(testing::ReadFile(path))) {
    if (line.rfind("## ", 0) == 0) section = line.substr(3);
    const bool indented = line.rfind(kIndent, 0) == 0 && line.rfind(kPrompt, 0) != 0;
    const bool after_command = !parts.empty() && parts.back().IsCommand();
    if (after_command && line.empty()) {
      blanks += "\n";
    } else if (after_command && indented) {
      parts.back().printed += blanks + line.substr(kIndent.size()) + "\n";
      blanks.clear();
    } else {
      for (; !blanks.empty(); blanks.pop_back()) parts.push_back({section, "", ""});
      parts.push_back({section, line, ""});
    }
  }
  return parts;
}

bool Matches(const std::string& expected, const std::string& printed) {
  const std::regex special(R"([.^$|()\[\]{}*+?\\])");
  std::string pattern = std::regex_replace("\n" + expected, special, R"(\$&)");
  const std::regex any_lines(R"(\n\\\.\\\.\\\.(?=\n))");
  pattern = std::regex_replace(pattern, any_lines, R"((?:\n.*)*)");
  pattern = std::regex_replace(pattern, std::regex(R"(\\\.\\\.\\\.)"), ".*");
  return std::regex_match("\n" + printed, std::regex(pattern));
}

// A directory with the database, where the document's commands run.
class Workplace {
 public:
  explicit Workplace(const std::string& database) {
    fs::copy(database, directory_.path("db"), fs::copy_options::recursive);
  }

  std::string Run(const std::string& command) const {
    const std::string script = directory_.path("command");
    std::ofstream(script) << command << "\n";
    testing::Outcome outcome = testing::RunCommand(
        fmt::format("sh -c 'cd {} && PATH={}:$PATH && . {} 2>&1'", directory_.path(),
                    fs::path(EXACTBLOOM_TOOL).parent_path().string(), script));
    std::string& text = outcome.out;
    text.erase(text.find_last_not_of('\n') + 1);  // npos + 1 is 0
    return text.empty() ? text : text + "\n";
  }

 private:
  TemporaryDirectory directory_;
};

void Write(const std::vector<Part>& parts, const std::string& path) {
  std::ofstream document(path);
  for (const Part& part : parts) {
    document << part.text << "\n";
    for (const std::string& line : Lines(part.printed)) {
      document << (line.empty() ? "" : kIndent) << line << "\n";
    }
  }
}

Database OpenWith(const PolicyPointer& policy, const std::string& directory) {
  rocksdb::Options options = OptionsWith(policy);
  options.compression = rocksdb::kNoCompression;
  options.db_host_id = "host";  // it is written into tables, which are as long as its name is
  return Open(options, directory);
}

template <typename Index>
void PutAndFlushEach(rocksdb::DB& db, std::uint64_t count, Index index) {
  const std::string value(100, 'v');
  for (std::uint64_t i = 0; i < count; ++i) {
    EXPECT_TRUE(db.Put({}, KeyOf(index(i)), value).ok());
  }
  EXPECT_TRUE(db.Flush({}).ok());
}

// Makes the document's database in a new directory. The same bytes come out each time, but for
// times and identities.
//
//   level 2   bloomfilter:10      8,000 keys, from before
//   level 1   no filter           2,000 of them
//   level 0   classic_bloom:10    twice 1,000 others of them, of which 300 are in both
//
// Each table spans the whole range of keys. It is set to classic_bloom:10.
void MakeDocumentDatabase(const std::string& directory) {
  {
    Database db = OpenWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)), directory);
    PutAndFlushEach(*db, 8000, [](std::uint64_t i) { return i; });
    MoveDown(*db, 2);
  }
  {
    Database db = OpenWith(nullptr, directory);
    PutAndFlushEach(*db, 2000, [](std::uint64_t i) { return 4 * i + 1; });
    MoveDown(*db, 1);
  }
  Database db = OpenWith(NewPolicy(BloomKind::kClassic), directory);
  PutAndFlushEach(*db, 1000, [](std::uint64_t i) { return 8 * i; });
  PutAndFlushEach(*db, 1000, [](std::uint64_t i) { return i % 10 < 3 ? 8 * i : 8 * i + 4; });
}

TEST(Document, ShowsWhatItsCommandsPrint) {
  if (ROCKSDB_MAJOR != 7 || ROCKSDB_MINOR != 8) {
    GTEST_SKIP() << "the document shows sizes of files that RocksDB 7.8 writes, and others differ";
  }
  const TemporaryDirectory origin;
  MakeDocumentDatabase(origin.path("db"));
  std::map<std::string, Workplace> sections;
  std::vector<Part> parts = ReadDocument(DOCUMENT);
  int commands = 0;
  for (Part& part : parts) {
    if (!part.IsCommand()) continue;
    ++commands;
    const Workplace& place = sections.try_emplace(part.section, origin.path("db")).first->second;
    const std::string printed = place.Run(part.text.substr(kPrompt.size()));
    if (Matches(part.printed, printed)) continue;
    EXPECT_EQ(part.printed, printed) << part.section << ": " << part.text;
    part.printed = printed;
  }
  EXPECT_GT(commands, 5);
  const char* update = std::getenv("UPDATE_DOCUMENT");
  if (update != nullptr) Write(parts, update);
}

// The options in the first column of a subcommand's help.
std::set<std::string> OptionsOf(const std::string& subcommand) {
  return testing::FindAll(testing::AskTool(subcommand + " --help").out,
                          R"(\n +(?:-h, *)?(--[a-z-]+))");
}

TEST(Document, HasASectionForEachSubcommand) {
  std::set<std::string> sections;
  for (const Part& part : ReadDocument(DOCUMENT)) sections.insert(part.section);
  ASSERT_GE(testing::Subcommands().size(), 5U);
  for (const std::string& subcommand : testing::Subcommands()) {
    EXPECT_EQ(sections.count(subcommand), 1U) << subcommand;
  }
}

TEST(ManPage, HasEachSubcommandWithItsOptions) {
  const std::string page = testing::ReadFile(MAN_PAGE);
  std::map<std::string, std::set<std::string>> options;
  std::string subcommand;
  for (std::string line : Lines(page)) {
    line = std::regex_replace(line, std::regex(R"(\\-)"), "-");
    if (line.rfind(".S", 0) == 0) subcommand = line.rfind(".SS ", 0) == 0 ? line.substr(4) : "";
    if (line.rfind(".B", 0) != 0 || subcommand.empty()) continue;
    options[subcommand].merge(testing::FindAll(line, R"((--[a-z-]+))"));
  }
  for (const std::string& name : testing::Subcommands()) {
    std::set<std::string> expected = OptionsOf(name);
    expected.erase("--help");
    EXPECT_EQ(options[name], expected) << name;
  }
  EXPECT_EQ(options.size(), testing::Subcommands().size());
}

// What the completion offers for a command line that ends in its last word.
std::set<std::string> Completions(const std::string& line) {
  const std::string words = std::regex_replace(line, std::regex("_"), "''");
  const testing::Outcome outcome = testing::RunCommand(
      fmt::format("bash -c \"PATH={}:\\$PATH; . {}; COMP_WORDS=({}); "
                  "COMP_CWORD=\\$((\\${{#COMP_WORDS[@]}} - 1)); _exactbloom; "
                  "printf '%s\\n' \\\"\\${{COMPREPLY[@]}}\\\"\"",
                  fs::path(EXACTBLOOM_TOOL).parent_path().string(), COMPLETION, words));
  EXPECT_EQ(outcome.err, "");
  const std::vector<std::string> lines = Lines(outcome.out);
  return {lines.begin(), lines.end()};
}

TEST(Completion, OffersSubcommandsAndTheirOptions) {
  std::set<std::string> expected = testing::Subcommands();
  EXPECT_EQ(Completions("exactbloom _"), expected);
  for (const std::string& subcommand : testing::Subcommands()) {
    EXPECT_EQ(Completions("exactbloom " + subcommand + " --"), OptionsOf(subcommand));
  }
  EXPECT_EQ(Completions("exactbloom rate --ki"), std::set<std::string>{"--kind"});
  EXPECT_EQ(Completions("exactbloom --v"), std::set<std::string>{"--version"});
  EXPECT_EQ(Completions("exactbloom rate --kind _"),
            (std::set<std::string>{"classic", "exact_ribbon", "standard"}));
}

TEST(Completion, OffersFileNamesAsTheyAre) {
  const TemporaryDirectory directory;
  const std::string path = directory.path("my");
  std::set<std::string> expected;
  for (const char* end : {" file", "*", "1", "  [1]"}) {
    std::ofstream(path + end) << "";
    expected.insert(path + end);
  }
  EXPECT_EQ(Completions("exactbloom inspect " + path), expected);
  EXPECT_EQ(Completions("exactbloom inspect " + path + "none"), std::set<std::string>{""});
}

}  // namespace
}  // namespace exactbloom
