// Estimates of the keys that sorted runs share, compared with the keys that were put into them.
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "faulty_policy.h"
#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;

constexpr std::uint64_t kKeys = 2000;

json Overlap(const std::string& directory, const std::string& arguments = "") {
  return testing::AskToolForJson("overlap " + directory + " " + arguments);
}

void ExpectWithin(const json& estimate, double keys) {
  EXPECT_LE(estimate.at("low"), keys) << estimate;
  EXPECT_GE(estimate.at("high"), keys) << estimate;
}

void ExpectClose(const json& estimate, double keys) {
  ExpectWithin(estimate, keys);
  EXPECT_LT(estimate.at("high").get<double>() - estimate.at("low").get<double>(), 0.2 * kKeys)
      << estimate;
}

rocksdb::BlockBasedTableOptions With(const PolicyPointer& policy) {
  rocksdb::BlockBasedTableOptions options;
  options.filter_policy = policy;
  return options;
}

// Three tables of level 0 of other sizes, in ranges that meet; the second shares `shared` keys with
// the first, the third none with either.
void PutThreeTables(rocksdb::DB& db, std::uint64_t shared) {
  PutAndFlush(db, kKeys);
  PutAndFlush(db, kKeys + 100, "value", kKeys - shared);
  for (std::uint64_t i = 0; i < kKeys; ++i) EXPECT_TRUE(db.Put({}, KeyOf(2 * i + 1), "").ok());
  EXPECT_TRUE(db.Flush({}).ok());
}

TEST(Overlap, IsEstimatedForEveryFilter) {
  const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
  std::vector<rocksdb::BlockBasedTableOptions> filters = {
      With(NewPolicy(FilterKind::kClassic)), With(NewPolicy({FilterKind::kStandard, 2})),
      With(bloom), With(PolicyPointer(rocksdb::NewRibbonFilterPolicy(10, -1))), With(bloom)};
  PartitionFilters(512, &filters.back());
  for (const rocksdb::BlockBasedTableOptions& filter : filters) {
    SCOPED_TRACE(&filter - filters.data());
    const TemporaryDirectory directory;
    PutThreeTables(*Open(OptionsWith(filter), directory.path()), kKeys / 4);
    const json overlap = Overlap(directory.path());
    ASSERT_EQ(overlap.at("runs").size(), 3U);
    ASSERT_EQ(overlap.at("pairs").size(), 3U);
    const auto shared_by = [&](std::uint64_t newer, std::uint64_t older) {
      for (const json& pair : overlap["pairs"]) {
        if (pair.at("newer") != newer || pair.at("older") != older) continue;
        EXPECT_EQ(pair.at("asked"), 1.0);
        return pair.at("shared");
      }
      ADD_FAILURE() << newer << " and " << older;
      return json();
    };
    ExpectClose(shared_by(0, 1), 0.0);
    ExpectClose(shared_by(0, 2), 0.0);
    ExpectClose(shared_by(1, 2), kKeys / 4.0);
    ExpectClose(overlap["runs"][1].at("obsolete"), 0.0);
    ExpectClose(overlap["runs"][2].at("obsolete"), kKeys / 4.0);
    EXPECT_EQ(overlap["runs"][0].at("obsolete").at("high"), 0.0);
    EXPECT_EQ(overlap.at("not_asked").size(), 0U);
  }
}

// At 2 bits per key four keys of ten pass by chance.
TEST(Overlap, IsCorrectedForTheRatesOfTheFilters) {
  for (const std::uint64_t shared : {0U, 100U, 500U, 1000U, 1999U, 2000U}) {
    SCOPED_TRACE(shared);
    const TemporaryDirectory directory;
    {
      const Database db = Open(OptionsWith(NewPolicy(FilterKind::kClassic, 2)), directory.path());
      PutAndFlush(*db, kKeys);
      PutAndFlush(*db, kKeys, "value", kKeys - shared);
    }
    const json run = Overlap(directory.path()).at("runs").at(1);
    ExpectWithin(run.at("obsolete"), static_cast<double>(shared));
    EXPECT_NEAR(run.at("obsolete").at("keys"), static_cast<double>(shared), 150.0);
    EXPECT_NEAR(run.at("obsolete_bytes").get<double>() / run.at("bytes").get<double>(),
                run.at("obsolete").at("keys").get<double>() / kKeys, 1e-9);
  }
}

// A level of many tables, and newer versions of every `step`th of its first `count` keys.
class OverlapOfALevel : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kAll = 20'000;

  void Fill(std::uint64_t count, std::uint64_t step) {
    rocksdb::Options options = OptionsWith(NewPolicy(FilterKind::kClassic));
    options.target_file_size_base = 16 << 10;
    options.compression = rocksdb::kNoCompression;
    const Database db = Open(options, directory_.path());
    PutAndFlush(*db, kAll, std::string(20, 'v'));
    rocksdb::CompactRangeOptions rewrite;  // versions differ in when they only move a table
    rewrite.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db->CompactRange(rewrite, nullptr, nullptr).ok());
    for (std::uint64_t i = 0; i < count; i += step) {
      ASSERT_TRUE(db->Put({}, KeyOf(2 * i), "newer").ok());
    }
    ASSERT_TRUE(db->Flush({}).ok());
  }

  // The level, by so many of its tables.
  json Sampled(std::uint64_t tables) const {
    return Overlap(directory_.path(), "--sample " + std::to_string(tables)).at("runs").at(1);
  }

  static double Width(const json& estimate) {
    return estimate.at("high").get<double>() - estimate.at("low").get<double>();
  }

  TemporaryDirectory directory_;
};

TEST_F(OverlapOfALevel, IsEstimatedFromSomeOfItsTables) {
  Fill(kAll, 10);
  const json all = Sampled(1000);
  ASSERT_GT(all.at("tables"), 20);
  EXPECT_EQ(all.at("sampled"), kAll);
  ExpectClose(all.at("obsolete"), kAll / 10.0);
  const json some = Sampled(8);
  EXPECT_LT(some.at("sampled"), kAll / 2);
  ExpectWithin(some.at("obsolete"), kAll / 10.0);
  EXPECT_GT(Width(some.at("obsolete")), Width(all.at("obsolete")));
  EXPECT_EQ(Sampled(1).at("obsolete").at("high"), kAll) << "one table tells nothing of the others";
}

// Half of the tables have no key with a newer version, so a few of them tell little.
TEST_F(OverlapOfALevel, IsUncertainWhereTablesDiffer) {
  Fill(kAll / 2, 1);
  const json some = Sampled(8);
  ExpectWithin(some.at("obsolete"), kAll / 2.0);
  EXPECT_GT(Width(some.at("obsolete")), kAll / 4.0);
  ExpectClose(Sampled(1000).at("obsolete"), kAll / 2.0);
}

TEST(Overlap, LeavesFiltersOfUnknownRateOut) {
  rocksdb::BlockBasedTableOptions older = With(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)));
  older.format_version = 4;
  const TemporaryDirectory directory;
  PutThreeTables(*Open(OptionsWith(older), directory.path()), kKeys / 4);
  const json overlap = Overlap(directory.path());
  EXPECT_LT(overlap.at("pairs").at(0).at("asked"), 1.0);
  EXPECT_EQ(overlap.at("not_asked").size(), 1U);
}

TEST(Overlap, SaysWhichFiltersCannotBeAsked) {
  const TemporaryDirectory directory;
  {
    const Database db = Open(OptionsWith(NewPolicy(FilterKind::kClassic)), directory.path());
    PutAndFlush(*db, kKeys);
  }
  {
    const Database db = Open(OptionsWith(nullptr), directory.path());
    PutAndFlush(*db, kKeys / 2);
  }
  const json overlap = Overlap(directory.path());
  EXPECT_EQ(overlap.at("pairs").at(0).at("asked"), 0.5);  // those that lie within its range
  EXPECT_EQ(overlap.at("not_asked"), json({{"there is no filter", 1}}));
  const testing::Outcome text = testing::AskTool("overlap --pairs " + directory.path());
  EXPECT_EQ(text.status, 0);
  EXPECT_NE(text.out.find("There may be more"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("1 table: there is no filter"), std::string::npos) << text.out;
}

TEST(Overlap, NeedsNoFilterWhereRangesAreDisjoint) {
  const ForeignComparator foreign;
  for (const rocksdb::Comparator* order :
       {rocksdb::BytewiseComparator(), rocksdb::ReverseBytewiseComparator(),
        static_cast<const rocksdb::Comparator*>(&foreign)}) {
    SCOPED_TRACE(order->Name());
    const TemporaryDirectory directory;
    {
      rocksdb::Options options = OptionsWith(NewPolicy(FilterKind::kClassic));
      options.comparator = order;
      const Database db = Open(options, directory.path());
      PutAndFlush(*db, kKeys);
      PutAndFlush(*db, kKeys, "value", kKeys - 1);  // they meet in one key
      PutAndFlush(*db, kKeys, "value", 5 * kKeys);
    }
    const json runs = Overlap(directory.path()).at("runs");
    if (order == &foreign) {  // the keys are in an order that is not known here
      EXPECT_EQ(runs.at(2).at("sampled"), 0);
      EXPECT_EQ(runs.at(2).at("obsolete").at("high"), kKeys);
      continue;
    }
    EXPECT_EQ(runs.at(1).at("obsolete").at("high"), 0.0);
    ExpectClose(runs.at(2).at("obsolete"), 1.0);
  }
}

// Whatever their level was; the first is the newest.
TEST(Overlap, OfFilesAlone) {
  const TemporaryDirectory directory;
  {
    const Database db = Open(OptionsWith(NewPolicy(FilterKind::kClassic)), directory.path());
    PutAndFlush(*db, kKeys);
    PutAndFlush(*db, kKeys, "value", kKeys / 2);
  }
  std::string files;
  for (const auto& file : TableFilesIn(directory.path())) files += file.string() + " ";
  const json overlap = Overlap(files);
  ASSERT_EQ(overlap.at("runs").size(), 2U);
  EXPECT_EQ(overlap["runs"][0].at("level"), -1);
  ExpectClose(overlap["runs"][1].at("obsolete"), kKeys / 2.0);
}

}  // namespace
}  // namespace exactbloom
