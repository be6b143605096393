// check names each line of an OPTIONS file that RocksDB drops or takes for something else.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/utilities/options_util.h>

#include <fstream>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "sample_database.h"
#include "tool/check/policy_text.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

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
    {"{classic_bloom:10;lines=1}", "wrong punctuation", "{id=classic_bloom:10;lines=1}"},
    {"{id=classic_bloom;lines=1", "wrong punctuation", "{id=classic_bloom;lines=1}"},
    {"id=classic_bloom;lines=1}", "wrong punctuation", "{id=classic_bloom;lines=1}"},
    {"{id=classic_bloom;bits_per_ky=10}", "no option 'bits_per_ky'",
     "{id=classic_bloom;bits_per_key=10}"},
    {"{id=standard_bloom;speed=10}", "standard_bloom has no option 'speed' for the value '10'", ""},
    {"{id=classic_bloom;bits_per_key=10;fpr=0.01}", "has no effect beside fpr", ""},
    {"{id=classic_bloom;lines=2}", "lines is '2', but must be", ""},
    {"classic_bloom:many", "bits_per_key is 'many', but must be", ""},
    {"{id=classic_bloom;fpr=0.01;level_bits=9}", "exclude each other", ""},
    {"{id=classic_bloom;size_ratio=auto}", "those of exactbloom are", ""},
};

TEST(PolicyText, NamesWhatIsWrongAndWhatWasMeant) {
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
  for (const char* text :
       {"classic_bloom", "classic_bloom:10", "{id=classic_bloom;bits_per_key=9.5;lines=1}",
        "{id=standard_bloom;fpr=0.001}", "{id=classic_bloom;bits_per_key=10;fpr=0.0}",
        "{id=classic_bloom:10;bits_per_key=10.0}", "{id=classic_bloom;lines=1;lines=1}",
        "id=classic_bloom;lines=1", "{ id=classic_bloom ; level_bits=14:9.5 }",
        "{id=exactbloom;memory_budget=1G;ribbon=false}", "bloomfilter:10:false",
        "ribbonfilter:10:3", "rocksdb.BuiltinBloomFilter"}) {
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
    return AskToolForJson("check " + file, status).at("findings");
  }

  TemporaryDirectory directory_;
};

// Whatever a policy's options are, RocksDB's own files are in order.
TEST_F(OptionsFile, WrittenByRocksDbHasNoFindings) {
  for (const char* text :
       {"classic_bloom:9.5", "{id=standard_bloom;lines=1}", "{id=classic_bloom;fpr=0.001}",
        "{id=classic_bloom;level_bits=14:9.5}", "{id=exactbloom;memory_budget=1M}"}) {
    rocksdb::Options options = OptionsWith(PolicyOf(text));
    options.listeners.push_back(NewTreeListener());
    EXPECT_EQ(Findings(Write(options), 0), json::array()) << text;
  }
  const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
  EXPECT_EQ(Findings(Write(OptionsWith(bloom)), 0), json::array());
  EXPECT_EQ(Findings(Write(OptionsWith(nullptr)), 0), json::array());
}

TEST_F(OptionsFile, IsNamedWithTheLine) {
  const std::string file = Change(Write(OptionsWith(NewPolicy(FilterKind::kClassic))),
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
}

TEST_F(OptionsFile, ThatRocksDbDoesNotReadIsAFinding) {
  const std::string damaged = Change(Write(OptionsWith(nullptr)), "num_levels", "many");
  const json found = Findings(damaged);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(Mentions(found[0].at("problem"), "RocksDB does not read the file"));
}

}  // namespace
}  // namespace exactbloom
