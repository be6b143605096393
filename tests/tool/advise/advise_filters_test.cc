// advise: what filters hold, and how their sizes compare.
#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>

#include <cstdint>
#include <string>

#include "../tool_command.h"
#include "exactbloom/filter_policy.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;

class AdviseFilters : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kKeys = 3000;

  std::string path() const { return directory_.path("db"); }

  json Family() const { return AskToolForJson("advise " + path()).at("column_families").at(0); }

  TemporaryDirectory directory_;
};

TEST_F(AdviseFilters, SaysThatNoKeyIsInAnyFilter) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(14.7, -1));
  table_options.whole_key_filtering = false;
  PutAndFlush(*Open(OptionsWith(table_options), path()), kKeys);
  const json family = Family();
  EXPECT_TRUE(Mentions(family.at("refusal"), "no key is in any filter"));
  EXPECT_TRUE(family.at("advice").is_null());
  EXPECT_TRUE(family.at("candidates").empty());
  for (const char* details : {"", "--details "}) {
    const std::string text = AskTool("advise " + (details + path())).out;
    EXPECT_TRUE(Mentions(text, "\nNo advice for default: no key is in any filter, since "));
    EXPECT_TRUE(Mentions(text, "\nTo do: set whole_key_filtering=true, or a prefix_extractor"));
    EXPECT_EQ(text.find("filter_policy="), std::string::npos);
  }
  const std::string page = directory_.path("page.html");
  EXPECT_EQ(AskTool("inspect --html " + page + " " + path()).status, 0);
  const std::string shown = testing::ReadFile(page);
  EXPECT_TRUE(Mentions(shown, "<p>No advice for default: no key is in any filter, since "));
  EXPECT_TRUE(Mentions(shown, ". To do: set whole_key_filtering=true, or a prefix_extractor"));
}

// By this extractor none of the keys has a prefix in the first table, and all have in the second.
TEST_F(AdviseFilters, ExpectsNoFilterOfKeysWithoutPrefix) {
  rocksdb::Options options = OptionsWith(nullptr);
  auto& table_options = *options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  table_options.whole_key_filtering = false;
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(KeyOf(0).size() + 1));
  ASSERT_TRUE(SetFilterPolicy(&options, "exactbloom:10").ok());
  PutAndFlush(*Open(options, path()), kKeys);
  json family = Family();
  EXPECT_TRUE(Mentions(family.at("refusal"), "no key has a prefix by rocksdb.FixedPrefix"));
  EXPECT_FALSE(family.at("compact"));
  const json plan = AskToolForJson("inspect " + path()).at("plans").at(0);
  EXPECT_EQ(plan.at("filter_bytes"), 0);
  EXPECT_EQ(plan.at("tables").at(0).at("filter"), "none");
  EXPECT_TRUE(
      Mentions(AskTool("inspect " + path(), "COLUMNS=120").out, " none: no key has a prefix\n"));

  {
    const Database db = Open(options, path());
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      ASSERT_TRUE(db->Put({}, KeyOf(key) + "more", "value").ok());
    }
    ASSERT_TRUE(db->Flush({}).ok());
  }
  family = Family();
  EXPECT_TRUE(family.at("refusal").is_null());
  EXPECT_FALSE(family.at("compact")) << "it would give the first table no filter";
  EXPECT_GT(family.at("rewritten").at("wasted_reads"), 0.9);
}

// The cache would not hold those of both column families.
TEST_F(AdviseFilters, CountsInACacheTheFiltersThatAreInIt) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table_options.block_cache = rocksdb::NewLRUCache(14'000, /*num_shard_bits=*/0);
  const rocksdb::Options beside_the_cache = OptionsWith(table_options);
  table_options.cache_index_and_filter_blocks = true;
  {
    const Database db = Open(OptionsWith(table_options), path());
    rocksdb::ColumnFamilyHandle* other = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(beside_the_cache, "other", &other).ok());
    PutAndFlush(*db, kKeys);
    PutAndFlush(*db, 4 * kKeys, "value", 0, other);
    EXPECT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
  }
  const std::string warnings = Family().at("warnings").dump();
  EXPECT_TRUE(Mentions(warnings, "level0_not_pinned"));
  EXPECT_EQ(warnings.find("filters_exceed_cache"), std::string::npos) << warnings;
}

}  // namespace
}  // namespace exactbloom
