// Which filters a database uses after its options have changed, as inspect reports it, and of which
// causes advise warns.
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/listener.h>
#include <rocksdb/slice_transform.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "plugin/c_binding/c_types.h"
#include "sample_database.h"
#include "tool/advise/advise.h"
#include "tool_command.h"
#include "wrong_filters.h"

namespace exactbloom {
namespace {

using nlohmann::json;

struct UseCase {
  const char* cause;
  rocksdb::Options before;  // with which the tables are written
  rocksdb::Options after;
  json used;              // the filter of the deepest level; null: not known
  const char* note;       // a part of it; empty: there is none
  std::string warnings;   // their names
  const char* seen = "";  // a part of what the first is about
};

void ExpectUse(const UseCase& expected) {
  SCOPED_TRACE(expected.cause);
  const TemporaryDirectory directory;
  {
    const Database db = Open(expected.before, directory.path());
    PutAndFlush(*db, 500);
    MoveDown(*db, 2);
    PutAndFlush(*db, 50);
    MoveDown(*db, 1);
  }
  Open(expected.after, directory.path());
  const json report = testing::AskToolForJson("inspect " + directory.path());
  const json& deepest = report.at("levels").back();
  EXPECT_EQ(deepest.at("level"), 2);
  const json filter = report.at("files").back().at("filter");
  EXPECT_EQ(filter.value("used", json()), expected.used) << filter;
  EXPECT_EQ(filter.contains("use_note"), *expected.note != 0) << filter;
  EXPECT_TRUE(Mentions(filter.value("use_note", ""), expected.note));
  EXPECT_TRUE(filter.at("family") != "none" || filter.contains("to_do")) << filter;
  const bool filters = filter.at("family") != "none" && expected.used != json(false);
  EXPECT_EQ(deepest.at("wasted_reads") < 0.05, filters) << deepest;

  const auto warnings = WarningsOf("default", tool::Inspect({directory.path()}, {}));
  std::string names;
  for (const tool::Warning& warning : warnings) {
    names += (names.empty() ? "" : " ") + warning.name;
    EXPECT_FALSE(warning.remedy.empty());
  }
  EXPECT_EQ(names, expected.warnings);
  if (!warnings.empty()) {
    EXPECT_TRUE(Mentions(warnings[0].seen, expected.seen));
  }
}

rocksdb::Options WithPrefixes(std::size_t length, bool whole_keys) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table_options.whole_key_filtering = whole_keys;
  rocksdb::Options options = OptionsWith(table_options);
  if (length != 0) options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(length));
  return options;
}

// Options with a policy of ours.
rocksdb::Options With(const std::string& policy) {
  rocksdb::Options options = OptionsWith(nullptr);
  EXPECT_TRUE(SetFilterPolicy(&options, policy).ok()) << policy;
  return options;
}

rocksdb::Options Following(std::vector<std::shared_ptr<rocksdb::EventListener>> listeners) {
  rocksdb::Options options = OptionsWith(NewFilterPolicy("exactbloom:10"));
  options.listeners = std::move(listeners);
  return options;
}

// The first four bytes, under a name that only its own program knows.
class ForeignPrefixes : public rocksdb::SliceTransform {
 public:
  const char* Name() const override { return "test.ForeignPrefixes"; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override { return {key.data(), 4}; }
  bool InDomain(const rocksdb::Slice& key) const override { return key.size() >= 4; }
};

TEST(FilterUse, FollowsTheOptions) {
  class ProgramsOwn : public rocksdb::EventListener {
   public:
    const char* Name() const override { return "ProgramsOwn"; }
  };
  const auto made = [](const rocksdb::FilterPolicy* policy) {
    return OptionsWith(PolicyPointer(policy));
  };
  const rocksdb::Options ours = OptionsWith(NewPolicy(BloomKind::kClassic));
  const rocksdb::Options standard = OptionsWith(NewPolicy(BloomKind::kStandard));
  const rocksdb::Options none = OptionsWith(nullptr);
  const rocksdb::Options bloom = made(rocksdb::NewBloomFilterPolicy(10));
  const rocksdb::Options ribbon = made(rocksdb::NewRibbonFilterPolicy(10));
  // The OPTIONS file has these without their number.
  const rocksdb::Options c_bloom = made(rocksdb_filterpolicy_create_bloom_full(10));
  const rocksdb::Options c_ribbon = made(rocksdb_filterpolicy_create_ribbon(10));
  const rocksdb::Options foreign = OptionsWith(PolicyThatForgets("no key"));
  const rocksdb::Options follows = Following({std::make_shared<ProgramsOwn>(), NewTreeListener()});
  const rocksdb::Options both = WithPrefixes(4, true);
  const rocksdb::Options prefixes = WithPrefixes(4, false);
  rocksdb::Options for_hits = ours;
  for_hits.optimize_filters_for_hits = true;
  rocksdb::Options reversed = ours;
  reversed.comparator = rocksdb::ReverseBytewiseComparator();
  const ForeignComparator foreign_order;
  rocksdb::Options own_order = ours;
  own_order.comparator = &foreign_order;
  const rocksdb::Options no_keys = WithPrefixes(0, false);
  rocksdb::Options own_prefixes = both;
  own_prefixes.prefix_extractor = std::make_shared<ForeignPrefixes>();
  const rocksdb::Options budget = With("{id=exactbloom;memory_budget=1;budget=unused}");
  const std::string unused = "filters_not_used";
  const std::string without = "tables_without_filter";
  for (const UseCase& expected : std::vector<UseCase>{
           {"built in, read by ours", bloom, ours, true, "", ""},
           {"built in, read by another one", ribbon, bloom, true, "", ""},
           {"of another kind of ours", ours, standard, true, "", ""},
           {"a listener of the program besides", follows, follows, true, "", ""},
           {"RocksDB's own order", reversed, reversed, true, "", ""},
           {"no filters", none, ours, nullptr, "did not know the policy classic_bloom:10", without,
            "2 tables of 2 without a filter"},
           {"no filters, before a built-in policy", none, bloom, nullptr, "the policy bloomfilter",
            without},
           {"no filters and no policy", none, none, nullptr,
            "had no filter policy, or did not know", without},
           {"a spent budget", budget, budget, false, "memory or a memory budget ran short", unused},
           {"no bits", With("rocksdb_bloom:0.1"), ours, nullptr, "less than 0.5 bits per key",
            without},
           {"neither keys nor prefixes", no_keys, no_keys, nullptr, "no key goes into a filter",
            without, "without a prefix_extractor"},
           {"no key with a prefix", WithPrefixes(99, false), prefixes, nullptr,
            "none of its keys has a prefix by rocksdb.FixedPrefix.99", without + " prefixes_only"},
           {"a block that lets all pass", OptionsWith(PolicyThatGivesUp(KeyOf(0))), ours, false,
            "memory or a memory budget ran short", unused},
           {"keys, then neither", bloom, no_keys, false, "it holds no prefixes", unused},
           {"no policy", ours, none, false, "no filter policy is set", unused},
           {"ours, read by a built-in policy", ours, bloom, false, "always match", unused,
            "always match"},
           {"our Ribbon, read by a built-in policy", With("exact_ribbon:10"), bloom, false,
            "always match", unused, "always match"},
           {"our Ribbon, read by another one of ours", With("exact_ribbon:10"), ours, true, "", ""},
           {"from C", c_bloom, c_bloom, true, "", ""},
           {"from C, Ribbon", c_ribbon, c_ribbon, true, "", ""},
           {"read from C", bloom, c_bloom, true, "", ""},
           {"read from C, Ribbon", bloom, c_ribbon, true, "", ""},
           {"ours, read from C", ours, c_bloom, false, "always match", unused},
           {"ours, read from C, Ribbon", ours, c_ribbon, false, "always match", unused},
           {"filters for hits", for_hits, for_hits, nullptr, "leaves the deepest level without",
            "optimize_filters_for_hits", "level 2"},
           {"then filters for hits", ours, for_hits, false, "optimize_filters_for_hits",
            "optimize_filters_for_hits"},
           {"keys and prefixes", both, both, true, "", ""},
           {"prefixes", prefixes, prefixes, true, "", "prefixes_only",
            "whole_key_filtering is off"},
           {"prefixes, then keys, too", prefixes, both, true, "", ""},
           {"other prefixes", prefixes, WithPrefixes(5, false), false, "rocksdb.FixedPrefix",
            unused + " prefixes_only"},
           {"no prefixes", prefixes, WithPrefixes(0, true), false, "no prefix extractor", unused},
           {"keys, then prefixes", bloom, prefixes, false, "whole_key_filtering",
            unused + " prefixes_only"},
           {"keys and other prefixes", both, WithPrefixes(5, true), true, "not for prefixes",
            unused, "not for prefixes"},
           {"keys, and prefixes of the program", own_prefixes, own_prefixes, true, "", ""},
           {"an order of the program", own_order, own_order, true, "", "custom_comparator",
            "test.ForeignComparator"},
           {"a foreign policy", foreign, foreign, nullptr, "faulty", ""}}) {
    ExpectUse(expected);
  }
}

// RocksDB does not check the options of a new family.
TEST(FilterUse, OfAPolicyThatFollowsTheTreeNeedsAListener) {
  const TemporaryDirectory directory;
  const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path());
  rocksdb::ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(Following({}), "more", &family).ok());
  PutAndFlush(*db, 500, "value", 0, family);
  const auto warnings = WarningsOf("more", tool::Inspect({directory.path()}, {}));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].name, "tree_listener_missing");
  EXPECT_TRUE(Mentions(warnings[0].seen, "10 bits per key in all tables"));
  EXPECT_TRUE(Mentions(warnings[0].remedy, "or set exact_ribbon:10, which needs none"));
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
}

// The warnings of a database that is not on any disk: its options, and its tables by these numbers.
class Warnings : public ::testing::Test {
 protected:
  tool::FamilyOptions& Family(const std::string& name,
                              const rocksdb::BlockBasedTableOptions& table = {}) {
    tool::FamilyOptions& family = Options().families[name];
    family.options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    family.table = family.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    return family;
  }

  tool::DatabaseOptions& Options() {
    if (!inspection_.options) inspection_.options.emplace();
    return *inspection_.options;
  }

  tool::TableReport& Table(const std::string& family, int level, std::uint64_t bytes = 0) {
    tool::TableReport& table = inspection_.tables.emplace_back();
    table.location.column_family = family;
    table.location.level = level;
    table.filter.bytes = bytes;
    return table;
  }

  // Their names.
  std::string Of(const std::string& family) const {
    std::string names;
    for (const tool::Warning& warning : WarningsOf(family, inspection_, log_)) {
      names += (names.empty() ? "" : " ") + warning.name;
    }
    return names;
  }

  tool::Inspection inspection_;
  tool::InfoLog log_;
};

TEST_F(Warnings, OfACacheCountTheFiltersThatAreInIt) {
  rocksdb::BlockBasedTableOptions cached;
  cached.cache_index_and_filter_blocks = true;
  for (const char* name : {"a", "b", "c"}) Family(name, cached);
  Family("beside");
  Table("a", 0, 100);
  Table("a", 1, 300);
  Table("a", 0, 5000).filter.partitioned = true;
  Table("b", 0, 200);
  Table("c", 0, 1000);
  Table("beside", 0, 7000);
  struct Case {
    std::uint64_t capacity;
    int shard_bits;
    std::string warnings;
  };
  // The filters of a and b take 5600 bytes, the largest in one block 300.
  for (const Case& expected : std::vector<Case>{{0, 0, ""},
                                                {5599, 0, "filters_exceed_cache "},
                                                {5600, 0, ""},
                                                {9599, 5, "filter_exceeds_shard "},
                                                {9600, 5, ""},
                                                {5600, -1, ""},
                                                {100, 0,
                                                 "filters_exceed_cache "
                                                 "filter_exceeds_shard "}}) {
    const tool::BlockCache cache{"0x1", expected.capacity, expected.shard_bits};
    log_.caches = {{"a", cache}, {"b", cache}, {"c", {"0x2", 1 << 20, 0}}, {"beside", cache}};
    EXPECT_EQ(Of("a"), expected.warnings + "level0_not_pinned") << expected.capacity;
    EXPECT_EQ(Of("c"), "level0_not_pinned");
    EXPECT_EQ(Of("beside"), "");
    EXPECT_TRUE(Mentions(WarningsOf("a", inspection_, log_).back().seen, "level 0, 5.0 KiB now"));
  }
}

// By RocksDB's MetadataCacheOptions, of which each pinning tier falls back to the older option.
TEST_F(Warnings, OfFiltersThatAreNotPinnedFollowTheTierOfTheirKind) {
  using rocksdb::PinningTier;
  const PinningTier tiers[] = {PinningTier::kFallback, PinningTier::kNone,
                               PinningTier::kFlushedAndSimilar, PinningTier::kAll};
  for (const PinningTier tier : tiers) {
    for (const PinningTier other : tiers) {
      for (const bool is_partitioned : {false, true}) {
        for (const bool pins_level0 : {false, true}) {
          rocksdb::BlockBasedTableOptions table;
          table.cache_index_and_filter_blocks = true;
          if (is_partitioned) PartitionFilters(4096, &table);
          table.pin_l0_filter_and_index_blocks_in_cache = pins_level0;
          table.metadata_cache_options.partition_pinning = is_partitioned ? tier : other;
          table.metadata_cache_options.unpartitioned_pinning = is_partitioned ? other : tier;
          Family("default", table);
          const bool is_pinned =
              tier == PinningTier::kFallback ? pins_level0 : tier != PinningTier::kNone;
          EXPECT_EQ(Of("default"), is_pinned ? "" : "level0_not_pinned");
        }
      }
    }
  }
}

TEST_F(Warnings, OfFiltersForHitsKnowWhichTablesHaveNone) {
  Family("default").options.optimize_filters_for_hits = true;
  const tool::FilterUseFinding none{tool::FilterUse::kNone, "why", "what to do"};
  const auto seen = [this](std::size_t warning) {
    return WarningsOf("default", inspection_, log_).at(warning).seen;
  };
  Table("default", 0).use = none;
  Table("other", 3);
  EXPECT_EQ(Of("default"), "tables_without_filter optimize_filters_for_hits");
  inspection_.tables.front().bottommost = true;
  EXPECT_EQ(Of("default"), "optimize_filters_for_hits");
  EXPECT_TRUE(Mentions(seen(0), "set: the oldest table of level 0 has no filters, or"));
  Table("default", 2).use = none;
  EXPECT_EQ(Of("default"), "tables_without_filter optimize_filters_for_hits");
  EXPECT_TRUE(Mentions(seen(0), "1 table of 2 without a filter, so that lookups of"));
  EXPECT_TRUE(Mentions(seen(0), ": why"));
  EXPECT_TRUE(Mentions(seen(1), "set: level 2 has no filters, or"));
  EXPECT_EQ(WarningsOf("default", inspection_, log_).front().remedy, "what to do");
  inspection_.tables.front().use.reset();
  EXPECT_EQ(Of("default"), "optimize_filters_for_hits");
}

TEST_F(Warnings, OfFiltersForHitsAreOfTheDeepestLevel) {
  tool::FamilyOptions& family = Family("default");
  family.options.optimize_filters_for_hits = true;
  TableFilter table;
  table.entries = 10;
  table.policy = "classic_bloom:10";
  const std::string reason = "leaves the deepest level without filters";
  EXPECT_TRUE(Mentions(tool::UseOf(table, &family, /*deepest=*/true).reason, reason));
  EXPECT_FALSE(Mentions(tool::UseOf(table, &family, /*deepest=*/false).reason, reason));
  EXPECT_FALSE(Mentions(tool::UseOf(table, nullptr, /*deepest=*/true).reason, reason));
  family.options.optimize_filters_for_hits = false;
  EXPECT_FALSE(Mentions(tool::UseOf(table, &family, /*deepest=*/true).reason, reason));
}

TEST_F(Warnings, OfAnOrderKnowThoseOfRocksDB) {
  const std::string bytewise = rocksdb::BytewiseComparator()->Name();
  const std::string reverse = rocksdb::ReverseBytewiseComparator()->Name();
  tool::FamilyOptions& family = Family("default");
  for (const std::string& known : {std::string(), std::string("nullptr"), bytewise, reverse,
                                   bytewise + ".u64ts", reverse + ".u64ts"}) {
    family.comparator = known;
    EXPECT_EQ(Of("default"), "") << known;
  }
  for (const std::string& other :
       {bytewise + ".u64", bytewise + ".u64ts.u64ts", ".u64ts" + reverse}) {
    family.comparator = other;
    EXPECT_EQ(Of("default"), "custom_comparator") << other;
  }
}

}  // namespace
}  // namespace exactbloom
