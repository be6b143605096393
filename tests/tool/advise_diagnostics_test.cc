// Each diagnostic is given where its cause is, and not where it is not.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/listener.h>
#include <rocksdb/slice_transform.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "faulty_policy.h"
#include "run_command.h"
#include "sample_database.h"
#include "tool/advise/diagnostics.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using TableOptions = rocksdb::BlockBasedTableOptions;

TableOptions Ours() {
  TableOptions options;
  options.filter_policy = NewPolicy(FilterKind::kClassic);
  return options;
}

class AdviseDiagnostics : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kKeys = 500;

  // Makes level 2 with these options, and level 1 of a tenth of the keys.
  void Make(const rocksdb::Options& options) const {
    Database db = Open(options, directory_.path());
    PutAndFlush(*db, kKeys);
    MoveDown(*db, 2);
    PutAndFlush(*db, kKeys / 10);
    MoveDown(*db, 1);
  }

  void Make(const TableOptions& table_options) const { Make(OptionsWith(table_options)); }

  void Reopen(const rocksdb::Options& options) const { Open(options, directory_.path()); }

  // The names of the diagnostics, with what was seen; with the counters of a text.
  std::map<std::string, std::string> Found(const std::string& counters = "") const {
    const tool::Inspection inspection = tool::Inspect({directory_.path()}, {});
    std::istringstream text(counters);
    const std::vector<tool::Tree> trees = tool::TreesOf(inspection);
    EXPECT_EQ(trees.size(), 1U);
    std::map<std::string, std::string> found;
    for (const tool::Diagnostic& diagnostic :
         Diagnose(FindingsOf(trees.at(0), inspection, tool::ReadStatistics(text)))) {
      found[diagnostic.name] = diagnostic.seen;
      EXPECT_FALSE(diagnostic.remedy.empty());
    }
    return found;
  }

  void ExpectNone(const std::string& counters = "") const {
    for (const auto& [name, seen] : Found(counters)) ADD_FAILURE() << name << ": " << seen;
  }

  void ExpectOnly(const std::string& name, const std::string& words,
                  const std::string& counters = "") const {
    for (const auto& [found, seen] : Found(counters)) {
      EXPECT_EQ(found, name) << seen;
      EXPECT_NE(seen.find(words), std::string::npos) << seen;
    }
    EXPECT_EQ(Found(counters).count(name), 1U);
  }

  fs::path OptionsFile() const {
    fs::path latest;
    for (const auto& file : fs::directory_iterator(directory_.path())) {
      const bool options = file.path().filename().string().rfind("OPTIONS-", 0) == 0;
      if (options && file.path() > latest) latest = file.path();
    }
    return latest;
  }

  TemporaryDirectory directory_;
};

TEST_F(AdviseDiagnostics, NoneInASoundDatabase) {
  Make(Ours());
  ExpectNone();
}

TEST_F(AdviseDiagnostics, NoneWhereTheTreeIsFollowed) {
  BloomFilterPolicyOptions follows;
  follows.memory_budget = 1 << 20;
  rocksdb::Options options = OptionsWith(PolicyPointer(NewClassicBloomFilterPolicy(follows)));
  options.listeners = {NewTreeListener()};
  Make(options);
  ExpectNone();
}

// As db_bench with the preloaded object.
TEST_F(AdviseDiagnostics, NoneWhereTheTreeIsFollowedBesideAListenerOfTheProgram) {
  class ProgramsOwn : public rocksdb::EventListener {
   public:
    const char* Name() const override { return "ProgramsOwn"; }
  };
  BloomFilterPolicyOptions follows;
  follows.size_ratio = kAutoSizeRatio;
  rocksdb::Options options = OptionsWith(PolicyPointer(NewClassicBloomFilterPolicy(follows)));
  options.listeners = {std::make_shared<ProgramsOwn>(), NewTreeListener()};
  Make(options);
  ExpectNone();
}

// RocksDB does not ask whether the options of a new family are valid.
TEST_F(AdviseDiagnostics, PolicyThatFollowsTheTreeWithoutAListener) {
  BloomFilterPolicyOptions follows;
  follows.bits_per_key = 11;
  follows.size_ratio = kAutoSizeRatio;
  const Database db = Open(OptionsWith(Ours()), directory_.path());
  rocksdb::ColumnFamilyHandle* family = nullptr;
  const rocksdb::Options options = OptionsWith(PolicyPointer(NewClassicBloomFilterPolicy(follows)));
  ASSERT_TRUE(db->CreateColumnFamily(options, "more", &family).ok());
  PutAndFlush(*db, kKeys, "value", 0, family);
  ExpectOnly("tree_listener_missing", "all tables get 11 bits per key");
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
}

TEST_F(AdviseDiagnostics, FiltersBeyondTheirBudget) {
  Make(Ours());
  BloomFilterPolicyOptions follows;
  follows.memory_budget = 600;  // of about 690
  rocksdb::Options options = OptionsWith(PolicyPointer(NewClassicBloomFilterPolicy(follows)));
  options.listeners = {NewTreeListener()};
  Reopen(options);
  ExpectOnly("memory_budget_exceeded", "memory_budget is 600");
}

TEST_F(AdviseDiagnostics, TablesWithoutFilter) {
  Make(TableOptions());
  Reopen(OptionsWith(Ours()));
  ExpectOnly("tables_without_filter", "2 tables of 2 without a filter");
}

TEST_F(AdviseDiagnostics, FiltersThatAreNotAsked) {
  Make(Ours());
  TableOptions built_in;
  built_in.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  Reopen(OptionsWith(built_in));
  ExpectOnly("filters_not_used", "always match");
}

TEST_F(AdviseDiagnostics, PartitionsWithoutTheirIndex) {
  Make(Ours());
  std::string text = testing::ReadFile(OptionsFile());
  const std::string off = "partition_filters=false";
  const std::size_t place = text.find(off);
  ASSERT_NE(place, std::string::npos);
  text.replace(place, off.size(), "partition_filters=true");
  std::ofstream(OptionsFile()) << text;
  ExpectOnly("partition_filters_without_two_level_index", "kTwoLevelIndexSearch");
}

TEST_F(AdviseDiagnostics, NotPartitionsWithTheirIndex) {
  TableOptions options = Ours();
  options.partition_filters = true;
  options.index_type = TableOptions::kTwoLevelIndexSearch;
  Make(options);
  ExpectNone();
}

TEST_F(AdviseDiagnostics, FiltersForHits) {
  rocksdb::Options options = OptionsWith(Ours());
  options.optimize_filters_for_hits = true;
  Make(options);
  ExpectOnly("optimize_filters_for_hits", "level 2");
}

TEST_F(AdviseDiagnostics, CustomComparators) {
  const ForeignComparator order;
  rocksdb::Options options = OptionsWith(Ours());
  options.comparator = &order;
  Make(options);
  ExpectOnly("custom_comparator", "test.ForeignComparator");
}

TEST_F(AdviseDiagnostics, NotRocksDbsOwnOrders) {
  rocksdb::Options options = OptionsWith(Ours());
  options.comparator = rocksdb::ReverseBytewiseComparator();
  Make(options);
  ExpectNone();
}

TEST_F(AdviseDiagnostics, OldFormats) {
  TableOptions built_in;
  built_in.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  built_in.format_version = 4;
  Make(built_in);
  ExpectOnly("old_format_version", "format_version is 4, and 2 tables");
}

TEST_F(AdviseDiagnostics, SizeRatiosThatDoNotFit) {
  BloomFilterPolicyOptions policy;
  policy.size_ratio = 50;
  TableOptions table_options;
  table_options.filter_policy.reset(NewClassicBloomFilterPolicy(policy));
  Make(table_options);
  ExpectOnly("size_ratio_misfit", "size_ratio is 50, but level 2 has 10 times");
  policy.size_ratio = 12;
  table_options.filter_policy.reset(NewClassicBloomFilterPolicy(policy));
  Reopen(OptionsWith(table_options));
  ExpectNone();
}

TEST_F(AdviseDiagnostics, LevelBitsOfATreeThatHasGrown) {
  const auto of = [](std::vector<double> bits) {
    BloomFilterPolicyOptions policy;
    policy.level_bits = std::move(bits);
    TableOptions table_options;
    table_options.filter_policy.reset(NewClassicBloomFilterPolicy(policy));
    return table_options;
  };
  Make(of({16, 9}));  // of a tree whose deepest level is 1
  ExpectOnly("level_bits_misfit", "level 1 has 0.1 of the keys of level 2, and gets 9 bits");
  Reopen(OptionsWith(of({16, 14, 9})));
  ExpectNone();
}

// Prefixes.

rocksdb::Options WithPrefixes(std::size_t length, bool whole_keys) {
  TableOptions table_options = Ours();
  table_options.whole_key_filtering = whole_keys;
  rocksdb::Options options = OptionsWith(table_options);
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(length));
  return options;
}

constexpr std::size_t kAllButOneByte = 11;  // fifty prefixes or more in five hundred keys

TEST_F(AdviseDiagnostics, PrefixesOnly) {
  Make(WithPrefixes(kAllButOneByte, false));
  const auto found = Found();
  EXPECT_EQ(found.count("prefixes_only"), 1U);
  EXPECT_EQ(found.count("few_prefixes"), 0U) << found.at("few_prefixes");
}

TEST_F(AdviseDiagnostics, NotPrefixesBesideWholeKeys) {
  Make(WithPrefixes(kAllButOneByte, true));
  ExpectNone();
}

TEST_F(AdviseDiagnostics, FewPrefixes) {
  Make(WithPrefixes(3, true));
  ExpectOnly("few_prefixes", "hold 1.0 prefixes on average, of 275 keys");
}

TEST_F(AdviseDiagnostics, ChangedExtractors) {
  Make(WithPrefixes(kAllButOneByte, true));
  Reopen(WithPrefixes(kAllButOneByte + 1, true));
  ExpectOnly("changed_prefix_extractor", "2 of 2 tables hold prefixes of rocksdb.FixedPrefix.11");
}

TEST_F(AdviseDiagnostics, NoKeysAndNoPrefixes) {
  TableOptions options = Ours();
  options.whole_key_filtering = false;
  Make(options);
  EXPECT_EQ(Found().count("no_keys_in_filters"), 1U);
}

TEST_F(AdviseDiagnostics, EvictedFiltersByTheCounters) {
  Make(Ours());
  const std::string format =
      "rocksdb.block.cache.filter.miss COUNT : {}\nrocksdb.block.cache.filter.hit COUNT : {}\n";
  const auto counters = [&format](int misses, int hits) {
    return fmt::format(fmt::runtime(format), misses, hits);
  };
  ExpectOnly("filters_evicted", "200 of 1000", counters(200, 800));
  ExpectNone(counters(2, 8));
  ExpectNone(counters(9, 1000));
}

}  // namespace
}  // namespace exactbloom
