// Estimates of shared keys, compared with the keys that were put into both tables.
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>

#include <string>
#include <utility>

#include "faulty_policy.h"
#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;

constexpr std::uint64_t kKeys = 2000;

// Three tables of equally many keys at level 0, in ranges that meet; the second shares `shared`
// with the first, the third none with either.
json OverlapsOf(const PolicyPointer& policy, std::uint64_t shared) {
  const TemporaryDirectory directory;
  Database db = Open(OptionsWith(policy), directory.path());
  PutAndFlush(*db, kKeys);
  PutAndFlush(*db, kKeys, "value", kKeys - shared);
  for (std::uint64_t i = 0; i < kKeys; ++i) EXPECT_TRUE(db->Put({}, KeyOf(2 * i + 1), "").ok());
  EXPECT_TRUE(db->Flush({}).ok());
  return testing::AskToolForJson("overlap " + directory.path());
}

void ExpectShared(const json& pair, double shared) {
  EXPECT_LE(pair.at("low"), shared) << pair;
  EXPECT_GE(pair.at("high"), shared) << pair;
  EXPECT_LT(pair.at("high").get<double>() - pair.at("low").get<double>(), 0.2 * kKeys) << pair;
}

TEST(Overlap, IsEstimatedForEveryLayoutAndTheBuiltInFilter) {
  const PolicyPointer policies[] = {
      NewPolicy(FilterKind::kClassic), NewPolicy(FilterKind::kStandard),
      NewPolicy({FilterKind::kClassic, 1}), NewPolicy({FilterKind::kClassic, 2}),
      PolicyPointer(rocksdb::NewBloomFilterPolicy(10))};
  for (const PolicyPointer& policy : policies) {
    SCOPED_TRACE(policy->Name());
    const json overlaps = OverlapsOf(policy, kKeys / 4);
    ASSERT_EQ(overlaps.at("pairs").size(), 3U);
    ExpectShared(overlaps["pairs"][0], kKeys / 4.0);
    ExpectShared(overlaps["pairs"][1], 0.0);
    ExpectShared(overlaps["pairs"][2], 0.0);
    const json& levels = overlaps.at("levels");
    ASSERT_EQ(levels.size(), 1U);
    EXPECT_EQ(levels[0].at("levels"), json({0, 0}));
    EXPECT_EQ(levels[0].at("compared"), 3);
    EXPECT_EQ(levels[0].at("disjoint"), 0);
    EXPECT_LE(levels[0].at("low"), kKeys / 4.0);
    EXPECT_GE(levels[0].at("high"), kKeys / 4.0);
    EXPECT_EQ(overlaps.at("not_compared").size(), 0U);
  }
}

TEST(Overlap, SaysWhyPairsCannotBeCompared) {
  const TemporaryDirectory directory;
  const auto put = [&](const PolicyPointer& policy, std::uint64_t keys) {
    PutAndFlush(*Open(OptionsWith(policy), directory.path()), keys);
  };
  put(NewPolicy(FilterKind::kClassic), kKeys);
  put(NewPolicy(FilterKind::kClassic), kKeys + 100);
  put(NewPolicy(FilterKind::kStandard), kKeys);
  put(PolicyPointer(rocksdb::NewRibbonFilterPolicy(10, -1)), kKeys);
  put(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)), kKeys);
  put(nullptr, kKeys);
  const json overlaps = testing::AskToolForJson("overlap " + directory.path());
  EXPECT_EQ(overlaps.at("pairs").size(), 0U);
  EXPECT_EQ(overlaps.at("levels")[0].at("pairs"), 15);
  EXPECT_FALSE(overlaps["levels"][0].contains("shared_keys"));
  const std::map<std::string, int> expected = {{"filters of different sizes (m)", 1},
                                               {"filters of different layouts", 2},
                                               {"filters of different families", 3},
                                               {"Ribbon filters store no bits of a key", 5},
                                               {"there is no filter", 4}};
  EXPECT_EQ(overlaps.at("not_compared").get<decltype(expected)>(), expected);
  const testing::Outcome text = testing::AskTool("overlap --tables " + directory.path());
  EXPECT_EQ(text.status, 0);
  EXPECT_NE(text.out.find("filters of different sizes (m)"), std::string::npos) << text.out;
}

TEST(Overlap, OfFiltersThatStoreOtherBitsIsNotEstimated) {
  rocksdb::BlockBasedTableOptions partitioned;
  partitioned.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  rocksdb::BlockBasedTableOptions older = partitioned;
  PartitionFilters(512, &partitioned);
  older.format_version = 4;
  const std::pair<rocksdb::BlockBasedTableOptions, std::string> cases[] = {
      {partitioned, "partitions have no counterpart in another table"},
      {older, "Bloom filters of RocksDB's older format repeat their bits"}};
  for (const auto& [table_options, reason] : cases) {
    const TemporaryDirectory directory;
    const Database db = Open(OptionsWith(table_options), directory.path());
    for (int table = 0; table < 2; ++table) PutAndFlush(*db, kKeys);
    const json overlaps = testing::AskToolForJson("overlap " + directory.path());
    EXPECT_TRUE(overlaps.at("pairs").empty());
    EXPECT_EQ(overlaps.at("not_compared"), json({{reason, 1}}));
  }
}

TEST(Overlap, LeavesPairsWithDisjointRangesOut) {
  const ForeignComparator foreign;
  for (const rocksdb::Comparator* order :
       {rocksdb::BytewiseComparator(), rocksdb::ReverseBytewiseComparator(),
        static_cast<const rocksdb::Comparator*>(&foreign)}) {
    SCOPED_TRACE(order->Name());
    const bool known = order != &foreign;
    const TemporaryDirectory directory;
    rocksdb::Options options = OptionsWith(NewPolicy(FilterKind::kClassic));
    options.comparator = order;
    const Database db = Open(options, directory.path());
    PutAndFlush(*db, kKeys);
    PutAndFlush(*db, kKeys, "value", kKeys - 1);  // they meet in one key
    PutAndFlush(*db, kKeys, "value", 5 * kKeys);
    const json level = testing::AskToolForJson("overlap " + directory.path()).at("levels")[0];
    EXPECT_EQ(level.at("pairs"), 3);
    EXPECT_EQ(level.at("disjoint"), known ? 2 : 0);
    EXPECT_EQ(level.at("compared"), known ? 1 : 3);
    const std::string text = testing::AskTool("overlap " + directory.path()).out;
    EXPECT_EQ(text.find("disjoint: 2\n") != std::string::npos, known) << text;
  }
}

TEST(Overlap, OfLevelsWithoutMeetingTablesIsZero) {
  const TemporaryDirectory directory;
  const Database db = Open(OptionsWith(NewPolicy(FilterKind::kClassic)), directory.path());
  PutAndFlush(*db, 100);
  PutAndFlush(*db, 200, "value", 100);  // of another size: it could not be compared
  const json overlaps = testing::AskToolForJson("overlap " + directory.path());
  EXPECT_EQ(overlaps.at("levels")[0].at("shared_keys"), 0);
  EXPECT_EQ(overlaps["levels"][0].at("high"), 0);
  EXPECT_EQ(overlaps.at("not_compared").size(), 0U);
}

}  // namespace
}  // namespace exactbloom
