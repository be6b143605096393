// inspect tells which filters a database uses after its options have changed.
#include <gtest/gtest.h>
#include <rocksdb/slice_transform.h>

#include <memory>
#include <string>

#include "faulty_policy.h"
#include "plugin/c_binding/c_types.h"
#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;

class InspectUse : public ::testing::Test {
 protected:
  using TableOptions = rocksdb::BlockBasedTableOptions;

  // Writes a table, moves it to level 1 and opens the database once more with other options.
  // Returns inspect's report on the filter.
  json FilterAfter(const rocksdb::Options& before, const rocksdb::Options& after) {
    const TemporaryDirectory directory;
    {
      Database db = Open(before, directory.path());
      PutAndFlush(*db, 500);
      rocksdb::CompactRangeOptions move;
      move.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      EXPECT_TRUE(db->CompactRange(move, nullptr, nullptr).ok());
    }
    Open(after, directory.path());
    const json report = testing::AskToolForJson("inspect " + directory.path());
    EXPECT_GE(report.at("files")[0].at("level"), 1);
    const json filter = report["files"][0].at("filter");
    const bool used = filter.at("used").is_boolean() && filter["used"].get<bool>();
    const double reads = report.at("totals").at("wasted_reads").at("default");
    EXPECT_EQ(reads < 0.05, used || filter["used"].is_null()) << reads;
    return filter;
  }

  static rocksdb::Options With(const PolicyPointer& policy) { return OptionsWith(policy); }

  static PolicyPointer BuiltIn() { return PolicyPointer(rocksdb::NewBloomFilterPolicy(10)); }

  static rocksdb::Options WithPrefixes(const PolicyPointer& policy, std::size_t length,
                                       bool whole_keys) {
    TableOptions table_options;
    table_options.filter_policy = policy;
    table_options.whole_key_filtering = whole_keys;
    rocksdb::Options options = OptionsWith(table_options);
    if (length != 0) options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(length));
    return options;
  }

  static void ExpectUnused(const json& filter, const std::string& words) {
    EXPECT_EQ(filter.at("used"), false);
    EXPECT_NE(filter.at("use_note").get<std::string>().find(words), std::string::npos) << filter;
  }

  PolicyPointer ours_ = NewPolicy(FilterKind::kClassic);
};

TEST_F(InspectUse, OfBuiltInFiltersByOurPolicyAndByAnotherBuiltInOne) {
  EXPECT_EQ(FilterAfter(With(BuiltIn()), With(ours_)).at("used"), true);
  const PolicyPointer ribbon(rocksdb::NewRibbonFilterPolicy(10));
  EXPECT_EQ(FilterAfter(With(ribbon), With(BuiltIn())).at("used"), true);
  EXPECT_EQ(FilterAfter(With(ours_), With(NewPolicy(FilterKind::kStandard))).at("used"), true);
}

TEST_F(InspectUse, NotWithoutAPolicyOrByABuiltInOneOfOurs) {
  ExpectUnused(FilterAfter(With(ours_), With(nullptr)), "no filter policy is set");
  ExpectUnused(FilterAfter(With(ours_), With(BuiltIn())), "always match");
}

// Such a policy stands in the OPTIONS file without its number.
TEST_F(InspectUse, OfAndByPoliciesThatTheCInterfaceMade) {
  const PolicyPointer bloom(rocksdb_filterpolicy_create_bloom_full(10));
  const PolicyPointer ribbon(rocksdb_filterpolicy_create_ribbon(10));
  for (const PolicyPointer& policy : {bloom, ribbon}) {
    EXPECT_EQ(policy->GetId().find(':'), std::string::npos);
    EXPECT_EQ(FilterAfter(With(policy), With(policy)).at("used"), true);
    EXPECT_EQ(FilterAfter(With(BuiltIn()), With(policy)).at("used"), true);
    ExpectUnused(FilterAfter(With(ours_), With(policy)), "always match");
  }
}

TEST_F(InspectUse, NotAtTheBottomWhenFiltersAreForHits) {
  rocksdb::Options after = With(ours_);
  after.optimize_filters_for_hits = true;
  ExpectUnused(FilterAfter(With(ours_), after), "optimize_filters_for_hits");
}

TEST_F(InspectUse, FollowsKeysAndPrefixes) {
  const auto policy = BuiltIn();
  const auto both = WithPrefixes(policy, 4, true);
  const auto prefixes = WithPrefixes(policy, 4, false);
  EXPECT_FALSE(FilterAfter(both, both).contains("use_note"));
  EXPECT_FALSE(FilterAfter(prefixes, prefixes).contains("use_note"));
  EXPECT_FALSE(FilterAfter(prefixes, both).contains("use_note"));
  ExpectUnused(FilterAfter(prefixes, WithPrefixes(policy, 5, false)), "rocksdb.FixedPrefix");
  ExpectUnused(FilterAfter(prefixes, WithPrefixes(policy, 0, true)), "no prefix extractor");
  ExpectUnused(FilterAfter(With(policy), WithPrefixes(policy, 4, false)), "whole_key_filtering");
  const json changed = FilterAfter(both, WithPrefixes(policy, 5, true));
  EXPECT_EQ(changed.at("used"), true);
  EXPECT_NE(changed.at("use_note").get<std::string>().find("not for prefixes"), std::string::npos);
}

TEST_F(InspectUse, IsUnknownWithAForeignPolicy) {
  const auto foreign = With(PolicyThatForgets("no key"));
  const json filter = FilterAfter(foreign, foreign);
  EXPECT_TRUE(filter.at("used").is_null());
  EXPECT_NE(filter.at("use_note").get<std::string>().find("faulty"), std::string::npos);
}

}  // namespace
}  // namespace exactbloom
