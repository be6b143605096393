// check names each line of an OPTIONS file that RocksDB drops or takes for something else.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/utilities/options_util.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "sample_database.h"
#include "tool/check/policy_text.h"
#include "tool/database/database_options.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;
using tool::ProblemsOfPolicy;
using tool::TextProblem;

struct WrongText {
  const char* text;
  const char* problem;  // a part of it
  const char* meant;    // empty: not known
};

const WrongText kWrong[] = {
    {"classic_blom:10", "there is no filter policy 'classic_blom'", "classic_bloom:10"},
    {"bloomfiter:10:false", "there is no filter policy 'bloomfiter'", "bloomfilter:10:false"},
    {"myfilter:3", "there is no filter policy 'myfilter'", ""},
    {"bloomfilter", "without bits per key", "bloomfilter:10"},
    {"{id=classic_bloom,bits_per_key=10}", "wrong punctuation",
     "{id=classic_bloom;bits_per_key=10}"},
    {"{bits_per_key=10}", "wrong punctuation", "{id=classic_bloom;bits_per_key=10}"},
    {"{classic_bloom:10;hash_seed=1}", "wrong punctuation", "{id=classic_bloom:10;hash_seed=1}"},
    {"{id=classic_bloom;hash_seed=1", "wrong punctuation", "{id=classic_bloom;hash_seed=1}"},
    {"id=classic_bloom;hash_seed=1}", "wrong punctuation", "{id=classic_bloom;hash_seed=1}"},
    {"{id=classic_bloom;bits_per_ky=10}", "no option 'bits_per_ky'",
     "{id=classic_bloom;bits_per_key=10}"},
    {"{id=standard_bloom;speed=10}", "standard_bloom has no option 'speed' for the value '10'", ""},
    {"classic_bloom:many", "bits_per_key is 'many', but must be", ""},
    {"{id=classic_bloom;bits_per_key=10;bits_per_key=20}", "given twice", "classic_bloom:20"},
    {"{id=classic_bloom:5;bits_per_key=20}", "given twice", "classic_bloom:20"},
    {"{id=classic_bloom;id=standard_bloom}", "given twice", "standard_bloom:10"},
    {"{id=classic_bloom;hash_seed=no;hash_seed=1}", "given twice",
     "{id=classic_bloom;bits_per_key=10;hash_seed=1}"},
    {"bloomfilter:abc", "bloomfilter:BITS, where BITS is a plain number", ""},
    {"bloomfilter:1e1", "bloomfilter:BITS, where BITS is a plain number", ""},
    {"bloomfilter:10:maybe", "bloomfilter:BITS, where BITS is a plain number", ""},
    {"ribbonfilter:10:x", "ribbonfilter:BITS, where BITS", ""},
    {"{id=bloomfilter:10;bits_per_key=20}", "reads bloomfilter:BITS", ""},
    {"ribbonfilter:10:99999999999", "ribbonfilter:BITS, where BITS", ""},
    {"bloomfilter:-1", "takes it for bloomfilter:0:false, and tables get no filter", ""},
    {"bloomfilter:10:true", "takes it for bloomfilter:10:false", ""},
    {"ribbonfilter:300", "takes it for ribbonfilter:100:0", ""},
    {"rocksdb.BuiltinBloomFilter", "reads filters by this name, but writes none", "bloomfilter:10"},
    {"exact_ribon:10", "there is no filter policy 'exact_ribon'", "exact_ribbon:10"},
    {"rocksdb_bloom:0.2", "with less than 0.5 bits per key tables get no filter", ""},
};

TEST(PolicyText, NamesWhatIsWrongAndWhatWasMeant) {
  RegisterFilterPolicies();
  for (const WrongText& wrong : kWrong) {
    SCOPED_TRACE(wrong.text);
    const std::vector<TextProblem> problems = ProblemsOfPolicy(wrong.text);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_TRUE(Mentions(problems[0].problem, wrong.problem));
    EXPECT_EQ(problems[0].meant, wrong.meant);
    if (*wrong.meant != 0) {
      EXPECT_TRUE(ProblemsOfPolicy(wrong.meant).empty()) << wrong.meant;
    }
  }
}

TEST(PolicyText, LeavesWhatIsUnderstood) {
  RegisterFilterPolicies();
  for (const char* text : {"classic_bloom",
                           "classic_bloom:10",
                           "{id=classic_bloom;bits_per_key=9.5;hash_seed=1}",
                           "{id=standard_bloom;fpr=0.001}",
                           "{id=classic_bloom;bits_per_key=10;fpr=0.0}",
                           "exact_ribbon:10",
                           "{id=exact_ribbon;fpr=0.01;hash_seed=7}",
                           "{id=classic_bloom:10;bits_per_key=10.0}",
                           "{id=classic_bloom;hash_seed=1;hash_seed=1}",
                           "id=classic_bloom;hash_seed=1",
                           "{ id=classic_bloom ; fpr=0.01 }",
                           "{id=exactbloom;memory_budget=1G;ribbon=false}",
                           "exactbloom:0.2",
                           "bloomfilter:10:false",
                           "bloomfilter:9.8765",
                           "bloomfilter:0",
                           "ribbonfilter:10:3",
                           "ribbonfilter:10:-1",
                           "rocksdb.RibbonFilter:9.50",
                           "rocksdb.internal.FastLocalBloomFilter:10"}) {
    const std::vector<TextProblem> problems = ProblemsOfPolicy(text);
    EXPECT_TRUE(problems.empty()) << text << ": " << problems.front().problem;
  }
}

PolicyPointer PolicyOf(const std::string& text) {
  RegisterFilterPolicies();
  PolicyPointer policy;
  EXPECT_TRUE(rocksdb::FilterPolicy::CreateFromString({}, text, &policy).ok()) << text;
  return policy;
}

// An OPTIONS file: the lines of DBOptions and of TableOptions/BlockBasedTable.
struct SampleFile {
  std::string database;
  std::string tables;
  const char* problem = "";  // a part of what check says of it; empty: nothing
  // What it says; of two that contradict each other, the one that RocksDB does not keep.
  std::string policy = "";
  std::size_t listeners = 0;
  std::string before = "";  // lines before DBOptions

  std::string Text() const {
    return fmt::format(
        "{}\n[DBOptions]\n{}\n[CFOptions \"default\"]\n"
        "[TableOptions/BlockBasedTable \"default\"]\n{}\n",
        before, database, tables);
  }
};

const std::string kTree = "listeners=exactbloom_tree";
const std::string kExact = "filter_policy=exactbloom:10";
const std::string kClassic = "filter_policy=classic_bloom:5";
const std::string kAgain = "\n[TableOptions/BlockBasedTable \"default\"]\n";

const SampleFile kFiles[] = {
    // Repeated lines, options and sections.
    {kTree, kExact + "\n" + kClassic, "line 6 has the same name", "classic_bloom:5", 1},
    {kTree, "filter_policy=nullptr\n" + kExact, "line 6 has the same name", "exactbloom:10", 1},
    {"listeners={}\n" + kTree, kExact, "line 3 has the same name", "exactbloom:10", 1},
    {kTree + "\nlisteners={}", kExact, "line 3 has the same name", "exactbloom:10", 0},
    {kTree + "\n" + kTree, kExact + "\n" + kExact, "", "exactbloom:10", 1},
    {"", "filter_policy={id=classic_bloom;bits_per_key=10;bits_per_key=20}", "given twice",
     "classic_bloom:10"},
    {"", kClassic + kAgain + "block_size=4096", "the section of line 7 follows", "classic_bloom:5"},
    {"", kClassic + "\n[TableOptions/PlainTable \"default\"]", "the section of line 7 follows",
     "classic_bloom:5"},
    {kTree + "\n[DBOptions]", kExact, "RocksDB does not read the file", "exactbloom:10", 1},
    // Sections.
    {"", "[TableOptions/BlockBasedTabel \"default\"]\n" + kClassic,
     "does not know this table format", "classic_bloom:5"},
    {"", "[TableOptions/CuckooTable \"default\"]", ""},
    {"", "[TableOptions/ BlockBasedTable \"default\"]\n" + kClassic,
     "does not know this table format", "classic_bloom:5"},
    {"", "[TableOptoins/BlockBasedTable \"default\"]\n" + kClassic, "does not know this section",
     "classic_bloom:5"},
    {"", "[TableOptions/BlockBasedTable \"defualt\"]\n" + kClassic,
     "RocksDB does not read the file", "classic_bloom:5"},
    {"[DBOption]", kClassic, "does not know this section", "classic_bloom:5"},
    {"", kClassic, "in no section", "classic_bloom:5", 1, kTree},
    {"", "[ TableOptions/BlockBasedTable\"def\\ault\" ] # again\n" + kClassic, "",
     "classic_bloom:5"},
    // Listeners.
    {kTree, kExact, "", "exactbloom:10", 1},
    {"listeners={exactbloom_tree}", kExact, "", "exactbloom:10", 1},
    {"listeners={id=exactbloom_tree}", kExact, "", "exactbloom:10", 1},
    {"listeners=exactbloom_tree\\:exactbloom_tree", kExact, "", "exactbloom:10", 2},
    {"", kExact, "without a listener", "exactbloom:10", 1},
    {"listeners=exactbloom_trees", kExact, "'exactbloom_trees' is not known here", "exactbloom:10",
     1},
    {"listeners=Mine:exactbloom_tree", kExact, "", "exactbloom:10", 1},
    // With RocksDB 7.8, which reads it as one name, a finding.
    {"listeners={Mine:exactbloom_tree}", kExact, "", "exactbloom:10", 1},
    {"listeners={exactbloom_tree:Mine}", kExact, "", "exactbloom:10", 1},
    {"listeners={Mine:Other}", kClassic, "", "classic_bloom:5", 0},
    {"listeners={Mine}", kClassic, "", "classic_bloom:5", 0},
    {"listeners={exactbloom_tree", kExact, "RocksDB does not read the file", "exactbloom:10", 1},
    {"listeners={}", kClassic, "", "classic_bloom:5"},
    // Comments, blanks and escapes.
    {kTree + "# ours", " filter_policy = exactbloom:10\t# ours", "", "exactbloom:10", 1},
    {"#" + kTree, "# " + kExact, ""},
    {kTree, "filter_policy=#exactbloom:10", "", "", 1},
    {"", "filter_policy=classic_bloom\\:5", "", "classic_bloom:5"},
    {"", "filter_policy=classic_bloom:5\\#5", "RocksDB does not read the file", "classic_bloom:5"},
    // Policies.
    {"", "filter_policy={}", "wrong punctuation", "classic_bloom:5"},
    {"", "filter_policy={id=classic_blom}", "no filter policy 'classic_blom'", "classic_bloom:10"},
    {"", "filter_policy=bloomfilter:abc", "is a plain number", "bloomfilter:10"},
    {"", "filter_policy=ribbonfilter:10:3", "", "ribbonfilter:10:3"},
    {"", "filter_policy=classic_bloom:many", "RocksDB does not read the file", "classic_bloom:5"},
    {"", "filter_polcy=classic_bloom:5", "RocksDB does not read the file", "classic_bloom:5"},
    {"", "filter_policy", "RocksDB does not read the file", "classic_bloom:5"},
};

// What RocksDB keeps of a file.
struct Loaded {
  bool is_read = false;
  std::string policy;
  std::size_t listeners = 0;
};

// The policy as RocksDB writes it.
std::string NameOf(const std::string& policy) {
  const PolicyPointer made = policy.empty() ? nullptr : PolicyOf(policy);
  return made == nullptr ? "" : made->ToString({});
}

Loaded Load(const std::string& path) {
  rocksdb::DBOptions options;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  if (!rocksdb::LoadOptionsFromFile({}, path, &options, &families).ok()) return {};
  const auto tables = families.at(0).options.table_factory;
  const auto* block_based =
      tables == nullptr ? nullptr : tables->GetOptions<rocksdb::BlockBasedTableOptions>();
  const PolicyPointer policy = block_based == nullptr ? nullptr : block_based->filter_policy;
  return {true, policy == nullptr ? "" : policy->ToString({}), options.listeners.size()};
}

class OptionsFile : public ::testing::Test {
 protected:
  // The OPTIONS file that RocksDB writes for these options.
  std::string Write(const rocksdb::Options& options) {
    const std::string path = directory_.path("db");
    Open(options, path);
    std::string name;
    EXPECT_TRUE(rocksdb::GetLatestOptionsFileName(path, rocksdb::Env::Default(), &name).ok());
    return path + "/" + name;
  }

  // The same with another line for the one that begins with `name`.
  std::string Change(const std::string& file, const std::string& name, const std::string& value) {
    const std::string changed = directory_.path("OPTIONS");
    std::ifstream in(file);
    std::ofstream out(changed);
    for (std::string line; std::getline(in, line);) {
      const bool is_it = line.find(name + "=") != std::string::npos;
      out << (is_it ? "  " + name + "=" + value : line) << "\n";
    }
    return changed;
  }

  static json Findings(const std::string& file, int status = 1) {
    return AskToolForJson("check --registers " + file, status).at("findings");
  }

  TemporaryDirectory directory_;
};

// What is not as the lines say has a finding, and nothing else has.
TEST_F(OptionsFile, HasFindingsWhereRocksDbDoesNotWhatItSays) {
  RegisterFilterPolicies();
  const std::string path = directory_.path("OPTIONS");
  for (const SampleFile& sample : kFiles) {
    SCOPED_TRACE(sample.Text());
    std::ofstream(path) << sample.Text();
    const Loaded loaded = Load(path);
    const bool as_said = loaded.is_read && loaded.policy == NameOf(sample.policy) &&
                         loaded.listeners == sample.listeners;
    const json report = AskToolForJson("check --registers " + path, as_said ? 0 : 1);
    const std::string findings = report.at("findings").dump();
    EXPECT_EQ(findings == "[]", as_said) << findings;
    EXPECT_TRUE(Mentions(findings, sample.problem));
    EXPECT_EQ(!Mentions(findings, "RocksDB does not read the file"), loaded.is_read) << findings;
    if (!loaded.is_read) continue;
    const json& policies = report.at("policies");
    EXPECT_EQ(policies.empty() ? "" : NameOf(policies[0].at("filter_policy")), loaded.policy)
        << policies;
  }
}

// Whatever a policy's options are, RocksDB's own files are in order.
TEST_F(OptionsFile, WrittenByRocksDbHasNoFindings) {
  for (const char* text : {"classic_bloom:9.5", "{id=standard_bloom;hash_seed=1}",
                           "{id=classic_bloom;fpr=0.001}", "{id=exactbloom;memory_budget=1M}"}) {
    rocksdb::Options options = OptionsWith(PolicyOf(text));
    options.listeners.push_back(NewTreeListener());
    EXPECT_EQ(Findings(Write(options), 0), json::array()) << text;
  }
  const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
  EXPECT_EQ(Findings(Write(OptionsWith(bloom)), 0), json::array());
  EXPECT_EQ(Findings(Write(OptionsWith(nullptr)), 0), json::array());
}

// What advise writes for a file with other listeners holds on every start: RocksDB 7.8 writes them
// back in braces.
TEST_F(OptionsFile, KeepsTheTreeListenerBesideOthers) {
  RegisterFilterPolicies();
  class Own : public rocksdb::EventListener {
    const char* Name() const override { return "Own"; }
  };
  rocksdb::Options options = OptionsWith(PolicyOf("exactbloom:10"));
  options.listeners = {NewTreeListener(), std::make_shared<Own>()};
  for (int start = 0; start < 3; ++start) {
    SCOPED_TRACE(start);
    const std::string file = Write(options);
    EXPECT_EQ(Findings(file, 0), json::array());
    EXPECT_EQ(Load(file).listeners, 1U);
    rocksdb::DBOptions database;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    ASSERT_TRUE(rocksdb::LoadOptionsFromFile({}, file, &database, &families).ok());
    ASSERT_TRUE(HasTreeListener(database));
    database.listeners.push_back(std::make_shared<Own>());
    options = rocksdb::Options(database, families.at(0).options);
  }
}

TEST(PolicyInLog, IsBehindTheWholeNameOfTheFamily) {
  using Logged = std::pair<std::string, std::string>;
  const std::string rest = ", kernel avx2; building a filter takes up to 12 bytes per key";
  const std::string begin = "2026/11/28-02:40:28.538135 1470 exactbloom: column family [";
  EXPECT_EQ(tool::PolicyInLog(begin + "default]: exactbloom:10" + rest),
            Logged("default", "exactbloom:10"));
  EXPECT_EQ(tool::PolicyInLog(begin + "a]: b]: {id=exactbloom;ribbon=false}" + rest),
            Logged("a]: b", "{id=exactbloom;ribbon=false}"));
  EXPECT_EQ(tool::PolicyInLog(begin + "default]: its tables have no filter policy"), std::nullopt);
}

// A program without the policy opens the database; RocksDB then keeps two OPTIONS files.
TEST_F(OptionsFile, NamesAPolicyThatWasLost) {
  const std::string path = directory_.path("db");
  rocksdb::Options options = OptionsWith(PolicyOf("exactbloom:10"));
  options.listeners = {NewTreeListener()};
  PutAndFlush(*Open(options, path), 100);
  EXPECT_EQ(AskToolForJson("check --registers " + path).at("findings"), json::array());
  const std::string lost = Write(OptionsWith(nullptr));
  const auto finding = [&] {
    const json findings = AskToolForJson("check --registers " + path, 1).at("findings");
    EXPECT_EQ(findings.size(), 1U);
    return findings.at(0);
  };
  EXPECT_TRUE(
      Mentions(finding().at("problem"), "the policy exactbloom:10 was lost, which OPTIONS-"));
  EXPECT_EQ(finding().at("meant"), "filter_policy=exactbloom:10");
  for (const auto& file : fs::directory_iterator(path)) {
    const std::string name = file.path().filename();
    if (name.rfind("OPTIONS-", 0) == 0 && file.path() != lost) fs::remove(file.path());
  }
  EXPECT_TRUE(Mentions(finding().at("problem"), "exactbloom:10 was lost, which LOG.old."));
  for (const auto& file : fs::directory_iterator(path)) {
    if (file.path().filename().string().rfind("LOG", 0) == 0) fs::remove(file.path());
  }
  EXPECT_TRUE(Mentions(finding().at("problem"), "the policy exactbloom was lost, which 0000"));
  EXPECT_EQ(AskToolForJson("check --registers " + lost).at("findings"), json::array())
      << "of the file alone nothing is known";
  // The tables have filters, which nothing uses.
  EXPECT_EQ(AskTool("inspect " + path).status, 0);
  const testing::Outcome outcome = AskTool("inspect --fail-on unfiltered " + path);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "exactbloom: 1 of 1 tables have no working filter\n");
}

// A program that was preloaded runs without the object, with the policy that it sets itself.
TEST_F(OptionsFile, NamesAPolicyWhoseTablesAnotherLetsPass) {
  const std::string path = directory_.path("db");
  rocksdb::Options options = OptionsWith(PolicyOf("exactbloom:10"));
  options.listeners = {NewTreeListener()};
  PutAndFlush(*Open(options, path), 100);
  const rocksdb::Options plain = OptionsWith(PolicyOf("bloomfilter:10"));
  Write(plain);
  const json findings = AskToolForJson("check " + path, 1).at("findings");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_TRUE(Mentions(findings.at(0).at("problem"), ".sst and perhaps other tables have filters"));
  EXPECT_EQ(findings.at(0).at("meant"), "filter_policy=exactbloom:10");
  options.table_factory.reset();
  ASSERT_TRUE(SetFilterPolicy(&options, "rocksdb_bloom:10").ok());
  ASSERT_TRUE(ForceCompaction(*Open(options, path)).ok());
  Write(plain);
  EXPECT_EQ(AskToolForJson("check " + path).at("findings"), json::array()) << "the way back";
}

TEST_F(OptionsFile, IsNamedWithTheLine) {
  const std::string file = Change(Write(OptionsWith(NewPolicy(BloomKind::kClassic))),
                                  "filter_policy", "{id=clasic_bloom}");
  const json finding = Findings(file).at(0);
  EXPECT_EQ(finding.at("meant"), "filter_policy=classic_bloom");
  const std::string line = fmt::format("{}:{}: ", file, finding.at("line").get<int>());
  EXPECT_EQ(AskTool("check " + file).out.rfind(line + "filter_policy={id=clasic_bloom}\n", 0), 0U);
}

TEST_F(OptionsFile, NeedsAListenerForWhatFollowsTheTree) {
  rocksdb::Options options = OptionsWith(PolicyOf("exactbloom"));
  options.listeners.push_back(NewTreeListener());
  const std::string with = Write(options);
  EXPECT_EQ(Findings(with, 0), json::array());
  const json without = Findings(Change(with, "listeners", "{}"));
  ASSERT_EQ(without.size(), 1U);
  EXPECT_TRUE(Mentions(without[0].at("problem"), "without a listener"));
  EXPECT_EQ(Findings(Change(with, "listeners", "Mine:exactbloom_tree:Mine"), 0), json::array());
}

TEST_F(OptionsFile, ThatRocksDbDoesNotReadIsAFinding) {
  const std::string damaged = Change(Write(OptionsWith(nullptr)), "num_levels", "many");
  const json found = Findings(damaged);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(Mentions(found[0].at("problem"), "RocksDB does not read the file"));
}

TEST_F(OptionsFile, OfADirectoryIsTheNewest) {
  Write(OptionsWith(NewPolicy(BloomKind::kClassic)));
  const std::string newest = Write(OptionsWith(NewPolicy(BloomKind::kStandard)));
  const json report = AskToolForJson("check --registers " + directory_.path("db"));
  EXPECT_EQ(report.at("file"), newest);
  EXPECT_EQ(report.at("policies")[0].at("filter_policy"), "standard_bloom:10");
}

TEST_F(OptionsFile, HasTheSettingsOfTheLastOfEqualSections) {
  const std::string file = Write(OptionsWith(NewPolicy(BloomKind::kClassic)));
  std::ofstream(file, std::ios::app) << kAgain << "filter_policy=bloomfilter\n";
  tool::DatabaseOptions options;
  ASSERT_TRUE(tool::LoadDatabaseOptions(directory_.path("db"), &options).ok());
  EXPECT_EQ(options.families.at("default").filter_policy, "bloomfilter");
}

// RocksDB escapes colons in the names of sections.
TEST_F(OptionsFile, HasColumnFamiliesWithColons) {
  const std::string path = directory_.path("db");
  const rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  {
    const Database db = Open(options, path);
    rocksdb::ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(options, "a:b", &family).ok());
    EXPECT_TRUE(db->Put({}, family, "key", "value").ok());
    EXPECT_TRUE(db->Flush({}, family).ok());
    EXPECT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  }
  EXPECT_EQ(AskToolForJson("check --registers " + path).at("policies")[1].at("column_family"),
            "a:b");
  EXPECT_EQ(AskToolForJson("inspect " + path).at("files")[0].at("filter").at("used"), true);
}

TEST_F(OptionsFile, NamesTheNearestSectionAndListener) {
  const std::string path = directory_.path("OPTIONS");
  std::ofstream(path) << "[DBOptions]\nlisteners={exactbloom_tre}\n[CFOption \"default\"]\n";
  const json findings = Findings(path);
  ASSERT_EQ(findings.size(), 3U);  // and what RocksDB says
  EXPECT_EQ(findings[1].at("meant"), "listeners={exactbloom_tree}");
  EXPECT_EQ(findings[2].at("meant"), "[CFOptions \"default\"]");
}

// Where the program is said to have stock RocksDB, which drops these policies silently.
TEST_F(OptionsFile, ThatNamesOurPoliciesSaysWhatComesBeforeRemoval) {
  for (const bool ours : {true, false}) {
    Write(OptionsWith(ours ? NewPolicy(BloomKind::kClassic)
                           : PolicyPointer(rocksdb::NewBloomFilterPolicy(10))));
    const std::string database = directory_.path("db");
    for (const std::string subcommand : {"check --registers ", "inspect "}) {
      EXPECT_EQ(AskToolForJson(subcommand + database).at("names_exactbloom"), ours);
      EXPECT_FALSE(Mentions(AskTool(subcommand + database).out, "Switching off"));
    }
    EXPECT_EQ(bool{Mentions(AskTool("check --stock " + database).out, "Switching off")}, ours);
  }
}

}  // namespace
}  // namespace exactbloom
