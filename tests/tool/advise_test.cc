// advise: the search for the best setting, the answer in text and JSON, warnings, refusals.
#include "tool/advise/advise.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/listener.h>
#include <rocksdb/slice_transform.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "plugin/allocation/allocation.h"
#include "plugin/c_binding/c_types.h"
#include "plugin/policy_options.h"
#include "sample_database.h"
#include "tool_command.h"
#include "wrong_filters.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;
using testing::ExpectRefusal;
using tool::Candidate;
using tool::Choose;
using tool::Tree;

// The search.

Tree TreeOf(const std::vector<std::uint64_t>& keys) {
  Tree tree;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    tree.levels[static_cast<int>(i) + 1] = {{1, keys[i], i + 1 == keys.size(), 1.0}};
  }
  return tree;
}

std::uint64_t BytesAt(const Tree& tree, double bits_per_key) {
  return static_cast<std::uint64_t>(static_cast<double>(tree.Keys()) * bits_per_key / 8.0);
}

std::vector<Candidate> CandidatesFor(const Tree& tree, double bits_per_key,
                                     const PolicyOptions& base = {}) {
  return FindCandidates(tree, base, BytesAt(tree, bits_per_key));
}

TEST(SettingSearch, UsesTheMemoryAndNoMore) {
  const Tree tree = TreeOf({1000, 10'000, 100'000});
  const std::vector<Candidate> candidates = CandidatesFor(tree, 10);
  ASSERT_EQ(candidates.size(), 3U);
  for (const Candidate& candidate : candidates) {
    SCOPED_TRACE(candidate.policy);
    const tool::FilterSums again = SumOf(PredictFilters(candidate.options, tree));
    EXPECT_EQ(again.bytes, candidate.filters.bytes);
    EXPECT_EQ(again.wasted_reads, candidate.filters.wasted_reads);
    EXPECT_LE(candidate.filters.bytes, BytesAt(tree, 10));
    const double share =
        static_cast<double>(candidate.filters.bytes) / static_cast<double>(BytesAt(tree, 10));
    // A policy that follows the tree leaves room for runs that come and go.
    EXPECT_GT(share, FollowsTree(candidate.options) ? 0.8 : 0.99);
  }
  EXPECT_EQ(candidates.front().policy.find("exactbloom:"), 0U);
  EXPECT_EQ(candidates.back().policy.find("classic_bloom:"), 0U);
  EXPECT_EQ(Choose(candidates), 0U);
}

TEST(SettingSearch, OffersWhatTheTreeAllows) {
  for (const Candidate& candidate : CandidatesFor(TreeOf({5000}), 10)) {
    EXPECT_TRUE(candidate.options.kind == PolicyKind::kClassicBloom || candidate.options.ribbon)
        << "one run has nothing to divide";
  }
  Tree unfiltered = TreeOf({1000, 10'000});
  unfiltered.optimizes_for_hits = true;
  const std::vector<Candidate> candidates = CandidatesFor(unfiltered, 1.5);
  EXPECT_EQ(candidates.size(), 3U);
  for (const Candidate& candidate : candidates) {
    EXPECT_GE(candidate.filters.wasted_reads, 1.0) << "of the deepest level";
  }
  EXPECT_TRUE(FindCandidates(TreeOf({1000, 10'000}), {}, 10).empty());
}

TEST(SettingSearch, KeepsLinesBudgetAndSeed) {
  PolicyOptions lines;
  lines.lines = 1;
  lines.fpr = 0.01;
  const Tree tree = TreeOf({2000, 20'000});
  EXPECT_EQ(CandidatesFor(tree, 10, lines).back().options.lines, 1);
  PolicyOptions base(PolicyKind::kExactBloom);
  base.ribbon = false;
  base.memory_budget = 20'000;
  base.hash_seed = 7;
  const std::vector<Candidate> candidates = CandidatesFor(tree, 10, base);
  ASSERT_EQ(candidates.size(), 1U) << "Ribbon filters take no seed";
  EXPECT_EQ(candidates[0].options.memory_budget, 20'000U);
  EXPECT_EQ(candidates[0].options.hash_seed, 7U);
  EXPECT_TRUE(ValidatePolicyOptions(candidates[0].options).ok()) << candidates[0].policy;
  EXPECT_LE(candidates[0].filters.bytes, 20'000U);
}

TEST(SettingSearch, PrefersTheSimplerWithinTheWorthwhileGain) {
  const auto candidate = [](double reads, int complexity) {
    Candidate made;
    made.filters.wasted_reads = reads;
    if (complexity >= 1) made.options.kind = PolicyKind::kExactBloom;
    if (complexity >= 2) made.options.ribbon = false;
    return made;
  };
  const double within = 1.0 + tool::kWorthwhileGain * 0.999;
  const double beyond = 1.0 + tool::kWorthwhileGain * 1.001;
  EXPECT_EQ(Choose({candidate(1.0, 2), candidate(within, 0)}), 1U);
  EXPECT_EQ(Choose({candidate(1.0, 2), candidate(beyond, 0)}), 0U);
  EXPECT_EQ(Choose({candidate(1.0, 1), candidate(1.01, 1)}), 0U);
  EXPECT_EQ(Choose({candidate(1.0, 2), candidate(1.005, 1), candidate(1.01, 0)}), 2U);
}

// The answer.

class AdviseCommand : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kKeys = 3000;

  AdviseCommand() {
    const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
    const Database db = Open(OptionsWith(bloom), path());
    for (int run = 0; run < 3; ++run) PutAndFlush(*db, kKeys);
  }

  std::string path() const { return directory_.path("db"); }

  json Family(const std::string& arguments = "") const {
    return AskToolForJson("advise " + path() + " " + arguments).at("column_families").at(0);
  }

  TemporaryDirectory directory_;
};

TEST_F(AdviseCommand, SaysWhatWouldChangeInTheSameMemory) {
  const json family = Family();
  EXPECT_EQ(family.at("column_family"), "default");
  EXPECT_EQ(family.at("keys"), 3 * kKeys);
  EXPECT_EQ(family.at("sorted_runs"), 3);
  EXPECT_EQ(family.at("levels").at(0).at("level"), 0);
  EXPECT_EQ(family["levels"][0].at("tables"), 3);
  EXPECT_TRUE(family.at("warnings").empty()) << family["warnings"];
  const json& now = family.at("now");
  const json inspected = AskToolForJson("inspect " + path());
  EXPECT_EQ(now.at("policy"), "bloomfilter:10:false");
  EXPECT_EQ(now.at("filter_bytes"), inspected.at("totals").at("filter_bytes"));
  EXPECT_DOUBLE_EQ(now.at("wasted_reads"), inspected["totals"].at("wasted_reads").at("default"));
  EXPECT_EQ(family.at("memory"), now["filter_bytes"]);
  for (const json& candidate : family.at("candidates")) {
    EXPECT_LE(candidate.at("filter_bytes"), now["filter_bytes"]) << candidate;
  }
  const json& advice = family.at("advice");
  const std::string policy = advice.at("policy");
  EXPECT_LT(advice.at("wasted_reads"), now["wasted_reads"]);
  EXPECT_EQ(advice.at("levels").at(0).at("filter_bytes"), advice.at("filter_bytes"));
  const std::string rebuild =
      fmt::format("exactbloom rebuild --bits --policy '{}' {}", policy, path());
  EXPECT_EQ(advice.at("rebuild"), rebuild);
  const std::string options = fmt::format(
      "[DBOptions]\n  listeners=exactbloom_tree\n"
      "[TableOptions/BlockBasedTable \"default\"]\n  filter_policy={}\n",
      policy);
  EXPECT_EQ(advice.at("options"), options);
  EXPECT_TRUE(Mentions(advice.at("code"), fmt::format("\"{}\"", policy)));
}

// Then the OPTIONS file has no bits per key, and the tables have.
TEST_F(AdviseCommand, KnowsAPolicyThatTheCInterfaceMade) {
  const json before = Family();
  Open(OptionsWith(PolicyPointer(rocksdb_filterpolicy_create_bloom_full(10))), path());
  const json now = Family().at("now");
  EXPECT_EQ(now.at("policy"), "bloomfilter");
  EXPECT_EQ(now.at("filter_bytes"), before.at("now").at("filter_bytes"));
  EXPECT_EQ(now.at("wasted_reads"), before["now"].at("wasted_reads"));
  const std::string text = AskTool("advise " + path()).out;
  EXPECT_TRUE(Mentions(text, "bloomfilter (set through RocksDB's C interface"));
}

TEST_F(AdviseCommand, LeavesAGoodSettingAlone) {
  const std::string policy = Family().at("advice").at("policy");
  AskToolForJson("rebuild --policy '" + policy + "' " + path());
  EXPECT_TRUE(Family().at("advice").is_null()) << Family();
  EXPECT_TRUE(Mentions(AskTool("advise " + path()).out, "Keep the present setting"));
  const json more = Family("--memory 14KB").at("advice");
  EXPECT_LE(more.at("filter_bytes"), 14 * 1024);
  EXPECT_GE(more["filter_bytes"], 14 * 1024 * 0.97);
}

TEST_F(AdviseCommand, SharesMemoryAmongColumnFamilies) {
  {
    Database db = Open(OptionsWith(NewPolicy(FilterKind::kClassic)), path());
    rocksdb::ColumnFamilyHandle* other = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(db->GetOptions(), "other", &other).ok());
    PutAndFlush(*db, kKeys, "value", 0, other);
    db->DestroyColumnFamilyHandle(other);
  }
  const json families = AskToolForJson("advise --memory 40000b " + path()).at("column_families");
  ASSERT_EQ(families.size(), 2U);
  EXPECT_EQ(families[0].at("memory"), 30000);
  EXPECT_EQ(families[1].at("memory"), 10000);
  EXPECT_EQ(families[1].at("column_family"), "other");
  EXPECT_EQ(families[0].at("advice").at("rebuild"), "exactbloom rebuild --bits " + path());
}

TEST_F(AdviseCommand, DoesWithoutOptionsAndWithoutOneTable) {
  fs::resize_file(TableFilesIn(path()).back(), 100);
  EXPECT_EQ(AskToolForJson("advise " + path(), 1).at("unreadable_tables"), 1);
  for (const auto& file : fs::directory_iterator(path())) {
    if (file.path().filename().string().rfind("OPTIONS-", 0) == 0) fs::remove(file.path());
  }
  const json report = AskToolForJson("advise " + path(), 1);
  EXPECT_TRUE(report.at("options_file").is_null());
  EXPECT_EQ(report.at("column_families").at(0).at("now").at("policy"), "not known");
  EXPECT_EQ(report["column_families"][0].at("keys"), 2 * kKeys);
  EXPECT_TRUE(Mentions(AskTool("advise " + path()).out, "No OPTIONS file"));
}

TEST_F(AdviseCommand, RefusesQuestionsWithoutAnswer) {
  ExpectRefusal(AskTool("advise --memory 10b " + path()),
                "10 bytes are too few for a filter of the 9000 keys of column family default");
  const std::string table = TableFilesIn(path()).front();
  ExpectRefusal(AskTool("advise " + table), "advise takes a database");
}

// Warnings.

rocksdb::Options WithPrefixes(std::size_t length, bool whole_keys) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(NewClassicBloomFilterPolicy(10));
  table_options.whole_key_filtering = whole_keys;
  rocksdb::Options options = OptionsWith(table_options);
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(length));
  return options;
}

rocksdb::Options Following(std::vector<std::shared_ptr<rocksdb::EventListener>> listeners) {
  rocksdb::Options options = OptionsWith(PolicyPointer(NewExactBloomFilterPolicy(10)));
  options.listeners = std::move(listeners);
  return options;
}

struct WarningCase {
  const char* cause;
  rocksdb::Options written;  // with which the tables are written
  rocksdb::Options now;
  std::string name;   // empty: there is no warning
  std::string words;  // in what was seen
};

void ExpectWarning(const WarningCase& expected) {
  SCOPED_TRACE(expected.cause);
  const TemporaryDirectory directory;
  {
    const Database db = Open(expected.written, directory.path());
    PutAndFlush(*db, 500);
    MoveDown(*db, 2);
    PutAndFlush(*db, 50);
    MoveDown(*db, 1);
  }
  Open(expected.now, directory.path());
  const std::vector<tool::Warning> warnings =
      WarningsOf("default", tool::Inspect({directory.path()}, {}));
  EXPECT_EQ(warnings.size(), expected.name.empty() ? 0U : 1U);
  for (const tool::Warning& warning : warnings) {
    EXPECT_EQ(warning.name, expected.name) << warning.seen;
    EXPECT_TRUE(Mentions(warning.seen, expected.words));
    EXPECT_FALSE(warning.remedy.empty());
  }
}

TEST(AdviseWarnings, HaveTheirCauses) {
  class ProgramsOwn : public rocksdb::EventListener {
   public:
    const char* Name() const override { return "ProgramsOwn"; }
  };
  const ForeignComparator foreign;
  const rocksdb::Options sound = OptionsWith(NewPolicy(FilterKind::kClassic));
  const rocksdb::Options none = OptionsWith(nullptr);
  const rocksdb::Options built_in = OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)));
  const rocksdb::Options follows = Following({std::make_shared<ProgramsOwn>(), NewTreeListener()});
  const rocksdb::Options prefixes = WithPrefixes(kPrefixLength, true);
  const rocksdb::Options other_prefixes = WithPrefixes(kPrefixLength + 1, true);
  const rocksdb::Options prefixes_only = WithPrefixes(kPrefixLength, false);
  rocksdb::Options reversed = sound;
  reversed.comparator = rocksdb::ReverseBytewiseComparator();
  rocksdb::Options own_order = sound;
  own_order.comparator = &foreign;
  rocksdb::Options for_hits = sound;
  for_hits.optimize_filters_for_hits = true;
  for (const WarningCase& expected : std::vector<WarningCase>{
           {"nothing", sound, sound, "", ""},
           {"a listener of the program besides", follows, follows, "", ""},
           {"RocksDB's own order", reversed, reversed, "", ""},
           {"prefixes besides whole keys", prefixes, prefixes, "", ""},
           {"no filters", none, sound, "tables_without_filter", "2 tables of 2 without a filter"},
           {"a policy that does not read them", sound, built_in, "filters_not_used",
            "always match"},
           {"another prefix extractor", prefixes, other_prefixes, "filters_not_used",
            "not for prefixes"},
           {"filters for hits", for_hits, for_hits, "optimize_filters_for_hits", "level 2"},
           {"prefixes alone", prefixes_only, prefixes_only, "prefixes_only",
            "whole_key_filtering is off"},
           {"an order of the program", own_order, own_order, "custom_comparator",
            "test.ForeignComparator"}}) {
    ExpectWarning(expected);
  }
}

// RocksDB does not check the options of a new family.
TEST(AdviseWarnings, NameAPolicyThatFollowsTheTreeWithoutAListener) {
  const TemporaryDirectory directory;
  const Database db = Open(OptionsWith(NewPolicy(FilterKind::kClassic)), directory.path());
  rocksdb::ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(Following({}), "more", &family).ok());
  PutAndFlush(*db, 500, "value", 0, family);
  const auto warnings = WarningsOf("more", tool::Inspect({directory.path()}, {}));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].name, "tree_listener_missing");
  EXPECT_TRUE(Mentions(warnings[0].seen, "all tables get 10 bits per key"));
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
}

}  // namespace
}  // namespace exactbloom
