// verify finds exactly the key that a filter denies; inspect_test.cc has the rates that it
// measures.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/file_system.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "exactbloom/filter_policy.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"
#include "sst/table_filter_blocks.h"
#include "tool/verify/table_verification.h"
#include "tool_command.h"
#include "wrong_filters.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using rocksdb::BlockBasedTableOptions;

constexpr std::uint64_t kKeys = 3000;

BlockBasedTableOptions Tables(const PolicyPointer& policy, bool partitioned = false) {
  BlockBasedTableOptions options;
  options.filter_policy = policy;
  if (partitioned) PartitionFilters(512, &options);
  return options;
}

class Verify : public ::testing::Test {
 protected:
  json Ask(int status = 0, const std::string& arguments = "") const {
    return testing::AskToolForJson("verify " + directory_.path() + " " + arguments, status);
  }

  // Expects one key to be missed, by the only table.
  void ExpectMissed(const std::string& key, std::uint64_t keys_checked) const {
    const json report = Ask(1);
    EXPECT_EQ(report.at("keys_checked"), keys_checked);
    EXPECT_EQ(report.at("false_negatives"), 1);
    ASSERT_EQ(report.at("missed").size(), 1U);
    EXPECT_EQ(report["missed"][0].at("key"), key);
    EXPECT_EQ(report["missed"][0].at("level"), 0);
    EXPECT_FALSE(report["missed"][0].at("is_prefix"));
    EXPECT_TRUE(Mentions(report["missed"][0].at("table"), ".sst"));
    const testing::Outcome text = testing::AskTool("verify " + directory_.path());
    EXPECT_EQ(text.err, "exactbloom: 1 false negative in 1 table\n");
    EXPECT_TRUE(Mentions(text.out, "\"" + key + "\"\n(0x6b6579") ||
                Mentions(text.out, "\"" + key + "\" (0x6b6579"));
  }

  TemporaryDirectory directory_;
};

TEST_F(Verify, NamesTheKeyThatAFilterDenies) {
  for (const bool partitioned : {false, true}) {
    for (const std::uint64_t i : {std::uint64_t{1}, kKeys / 3, kKeys - 1}) {
      SCOPED_TRACE(fmt::format("key {}, partitioned: {}", i, partitioned));
      const std::string key = KeyOf(2 * i);
      fs::remove_all(directory_.path());
      PutAndFlush(
          *Open(OptionsWith(Tables(PolicyThatForgets(key), partitioned)), directory_.path()),
          kKeys);
      ExpectMissed(key, kKeys);
    }
  }
}

// Counts of absent keys add up, and so do the variances of independent ones.
TEST(RateTally, AddsUp) {
  tool::RateTally tally;
  tally.Add(100, 3, {0.02, 0.1});
  EXPECT_EQ(tally.asked, 100U);
  EXPECT_EQ(tally.positives, 3U);
  EXPECT_DOUBLE_EQ(tally.expected, 2.0);
  EXPECT_DOUBLE_EQ(tally.variance, 2.0 * 0.98 + 0.2 * 0.2);
  tally.Add(0, 0, {0.5, 0.0}, /*is_exact=*/false);
  EXPECT_TRUE(tally.MeasuredInterval().has_value()) << "no key was asked";
  EXPECT_EQ(tally.WithinInterval(), true);
  tool::RateTally twice = tally;
  twice.Add(tally);
  EXPECT_EQ(twice.asked, 200U);
  EXPECT_EQ(twice.positives, 6U);
  EXPECT_DOUBLE_EQ(twice.expected, 4.0);
  EXPECT_DOUBLE_EQ(twice.variance, 2 * tally.variance);
  EXPECT_TRUE(twice.exact);
  tally.Add(1000, 900, {0.02, 0.0});
  EXPECT_EQ(tally.WithinInterval(), false);
  tally.Add(1, 1, {0.5, 0.0}, /*is_exact=*/false);
  EXPECT_FALSE(tally.MeasuredInterval().has_value());
  EXPECT_FALSE(tally.WithinInterval().has_value());
  twice.Add(tally);
  EXPECT_FALSE(twice.exact);
  EXPECT_FALSE(tool::RateTally().MeasuredInterval().has_value());
}

// The first hundred keys are merged, and some of them put or deleted as well; the second hundred
// are deletions only.
TEST_F(Verify, AsksForMergedAndDeletedKeysToo) {
  for (const std::uint64_t denied : {71U, 170U}) {
    fs::remove_all(directory_.path());
    rocksdb::Options options = OptionsWith(Tables(PolicyThatForgets(KeyOf(2 * denied))));
    ASSERT_TRUE(
        rocksdb::MergeOperator::CreateFromString({}, "stringappend", &options.merge_operator).ok());
    const Database db = Open(options, directory_.path());
    const rocksdb::Snapshot* snapshot = nullptr;
    for (std::uint64_t i = 0; i < 200; ++i) {
      if (i == 50) snapshot = db->GetSnapshot();
      const std::string key = KeyOf(2 * i);
      const bool merged = i < 100;
      ASSERT_TRUE(!merged || i % 3 != 0 || db->Put({}, key, "value").ok());
      ASSERT_TRUE(!merged || db->Merge({}, key, "one").ok());
      ASSERT_TRUE(!merged || db->Merge({}, key, "two").ok());
      ASSERT_TRUE((merged && i % 5 != 0) || db->Delete({}, key).ok());
    }
    ASSERT_TRUE(db->SingleDelete({}, KeyOf(1000)).ok());
    ASSERT_TRUE(db->DeleteRange({}, db->DefaultColumnFamily(), KeyOf(2000), KeyOf(3000)).ok());
    ASSERT_TRUE(db->Flush({}).ok());
    db->ReleaseSnapshot(snapshot);
    ExpectMissed(KeyOf(2 * denied), 201);
  }
}

TEST_F(Verify, AsksForPrefixes) {
  for (const bool whole_keys : {false, true}) {
    for (const bool partitioned : {false, true}) {
      const TemporaryDirectory directory;
      const std::string prefix = KeyOf(1000).substr(0, kPrefixLength);
      BlockBasedTableOptions tables = Tables(PolicyThatForgets(prefix), partitioned);
      tables.whole_key_filtering = whole_keys;
      rocksdb::Options options = OptionsWith(tables);
      options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
      PutAndFlush(*Open(options, directory.path()), kKeys);
      const json report = testing::AskToolForJson("verify " + directory.path(), 1);
      EXPECT_EQ(report.at("keys_checked"), kKeys);
      EXPECT_EQ(report.at("false_negatives"), 50);  // the keys of this prefix
      EXPECT_EQ(report.at("missed").size(), 10U);
      EXPECT_EQ(report["missed"][0].at("key"), prefix);
      EXPECT_TRUE(report["missed"][0].at("is_prefix"));
      EXPECT_GT(report.at("absent_checked"), 3000);
      EXPECT_TRUE(report.at("unchecked").empty());
    }
  }
}

TEST_F(Verify, SaysWhichPrefixesItCannotMake) {
  class Half : public rocksdb::SliceTransform {
   public:
    const char* Name() const override { return "Half"; }
    rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
      return {key.data(), key.size() / 2};
    }
    bool InDomain(const rocksdb::Slice& /*key*/) const override { return true; }
  };
  rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  options.prefix_extractor = std::make_shared<Half>();
  PutAndFlush(*Open(options, directory_.path()), kKeys);
  const json report = Ask(1);
  EXPECT_EQ(report.at("keys_checked"), kKeys);
  EXPECT_EQ(report.at("false_negatives"), 0);
  EXPECT_EQ(report.at("unchecked").at(0).at("reason"), "prefixes by Half, which is not known here");
}

// Keys that choose the flipped slot are denied.
TEST_F(Verify, FindsWhatADamagedRibbonFilterDenies) {
  PutAndFlush(*Open(OptionsWith(PolicyThatDamagesRibbon(false)), directory_.path()), kKeys);
  const json report = Ask(1);
  EXPECT_EQ(report.at("keys_checked"), kKeys);
  EXPECT_GT(report.at("false_negatives"), 5);
  EXPECT_LT(report.at("false_negatives"), 100);
  EXPECT_TRUE(report.at("within_interval"));
}

TEST_F(Verify, NamesADamagedRibbonFilter) {
  PutAndFlush(*Open(OptionsWith(PolicyThatDamagesRibbon(true)), directory_.path()), kKeys);
  const json report = Ask(1);
  EXPECT_EQ(report.at("false_negatives"), 0);
  EXPECT_EQ(report.at("unchecked").at(0).at("reason"), "a damaged ExactBloom block");
  const json inspected = testing::AskToolForJson("inspect " + directory_.path());
  const json& filter = inspected.at("files").at(0).at("filter");
  EXPECT_EQ(filter.at("family"), "unknown");
  EXPECT_EQ(filter.at("unknown_because"), "a damaged ExactBloom block");
}

TEST_F(Verify, AFilterThatPassesAllIsOutsideTheInterval) {
  PutAndFlush(*Open(OptionsWith(PolicyThatPassesAll()), directory_.path()), kKeys);
  const json report = Ask();
  EXPECT_EQ(report.at("false_negatives"), 0);
  EXPECT_EQ(report.at("false_positives"), report.at("absent_checked"));
  EXPECT_FALSE(report.at("within_interval"));
  EXPECT_TRUE(Mentions(testing::AskTool("verify " + directory_.path()).out, "OUTSIDE"));
}

// MultiGet fails at them. RocksDB's own Ribbon filters have them where no key of a partition has a
// prefix.
TEST_F(Verify, NamesEmptyFilterPartitions) {
  const auto write = [&](const PolicyPointer& policy, bool puts) {
    BlockBasedTableOptions tables = Tables(policy, true);
    tables.whole_key_filtering = false;
    tables.block_size = 256;
    rocksdb::Options options = OptionsWith(tables);
    options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(8));
    const Database db = Open(options, directory_.path());
    for (std::uint64_t i = 0; puts && i < kKeys; ++i) {
      ASSERT_TRUE(db->Put({}, fmt::format("{:08}", i), "has a prefix").ok());
      ASSERT_TRUE(db->Put({}, fmt::format("x{:06}", i), "has none").ok());
    }
    ASSERT_TRUE(puts ? db->Flush({}).ok() : ForceCompaction(*db).ok());
  };
  write(PolicyPointer(rocksdb::NewRibbonFilterPolicy(10, -1)), true);
  const testing::Outcome text = testing::AskTool("verify " + directory_.path());
  if (EXACTBLOOM_ROCKSDB_SINCE(9, 8) && text.status == 0) {
    GTEST_SKIP() << "this RocksDB writes no empty partitions";
  }
  const json report = Ask(1);
  EXPECT_EQ(report.at("false_negatives"), 0);
  ASSERT_EQ(report.at("empty_partitions").size(), 1U);
  EXPECT_GT(report["empty_partitions"][0].at("partitions"), 0);
  EXPECT_EQ(text.err, "exactbloom: empty filter partitions in 1 table\n");
  EXPECT_TRUE(Mentions(text.out, report["empty_partitions"][0].at("table")));
  EXPECT_TRUE(Mentions(text.out, "To do: compact the column family"));
  EXPECT_EQ(text.out.find("No key was denied"), std::string::npos);

  const json inspected = testing::AskToolForJson("inspect " + directory_.path(), 1);
  EXPECT_EQ(inspected.at("files").at(0).at("filter").at("empty_partitions"),
            report["empty_partitions"][0]["partitions"]);
  const testing::Outcome seen = testing::AskTool("inspect " + directory_.path());
  EXPECT_TRUE(Mentions(seen.out, "\nempty filter partitions: RocksDB's MultiGet aborts"));
  EXPECT_EQ(seen.err, "exactbloom: 1 of 1 tables have empty filter partitions\n");
  const json advised = testing::AskToolForJson("advise " + directory_.path());
  const json& family = advised.at("column_families").at(0);
  EXPECT_EQ(family.at("warnings").at(0).at("name"), "empty_partitions");

  write(NewFilterPolicy("classic_bloom:10"), false);
  EXPECT_TRUE(Ask().at("empty_partitions").empty());
  testing::AskToolForJson("inspect " + directory_.path());
}

TEST_F(Verify, GivesAMixtureOfFamiliesNoInterval) {
  PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory_.path()), kKeys);
  EXPECT_TRUE(Ask().at("within_interval"));
  const PolicyPointer none;
  PutAndFlush(*Open(OptionsWith(none), directory_.path()), kKeys, "value", kKeys);
  EXPECT_TRUE(Ask().at("within_interval"));  // no filter is no family
  const PolicyPointer built_in(rocksdb::NewBloomFilterPolicy(10));
  PutAndFlush(*Open(OptionsWith(built_in), directory_.path()), kKeys, "value", 2 * kKeys);
  const json report = Ask();
  EXPECT_TRUE(report.at("interval").is_null());
  EXPECT_TRUE(report.at("within_interval").is_null());
  for (const json& level : report.at("levels")) {
    SCOPED_TRACE(level.dump());
    EXPECT_EQ(level.at("interval").is_null(), level.at("filter") != "exact_bloom");
    EXPECT_EQ(level.at("measured_rate").is_null(), level.at("filter") == "none");
    if (level["interval"].is_null()) continue;
    EXPECT_LT(level["interval"].at("low"), level["measured_rate"]);
    EXPECT_GT(level["interval"].at("high"), level["measured_rate"]);
  }
  EXPECT_EQ(report["levels"].size(), 3U);
}

// RocksDB would ask no filter for any key of such a table.
TEST_F(Verify, RefusesAnIndexOfPartitionsWithoutEntries) {
  BlockBasedTableOptions options = Tables(NewPolicy(BloomKind::kClassic), true);
  options.checksum = rocksdb::kNoChecksum;
  for (std::uint64_t size = 1, keys = kKeys; size % 4 != 0; keys += 400) {
    fs::remove_all(directory_.path());
    PutAndFlush(*Open(OptionsWith(options), directory_.path()), keys);
    const fs::path table = TableFilesIn(directory_.path()).front();
    std::unique_ptr<files::TableFile> file;
    ASSERT_TRUE(files::TableFile::Open(*rocksdb::FileSystem::Default(), table, &file).ok());
    const files::BlockHandle index = files::FindFilter(*file).handle;
    size = index.size;
    // The offsets of entries at the end of the block take all of it, if its size is one of them.
    const auto offsets = static_cast<std::uint32_t>(size / 4 - 1);
    const auto end = static_cast<std::streamoff>(index.offset + size - sizeof(offsets));
    std::fstream(table).seekp(end).write(reinterpret_cast<const char*>(&offsets), sizeof(offsets));
  }
  const json report = Ask(1);
  EXPECT_EQ(report.at("keys_checked"), 0);
  ASSERT_EQ(report.at("unreadable").size(), 1U) << report;
  EXPECT_TRUE(Mentions(report["unreadable"][0].at("reason"), "partitions has no entries"));
}

TEST_F(Verify, SaysTheSameWithSeveralThreadsAndForFilesAlone) {
  const Database db = Open(OptionsWith(NewPolicy(BloomKind::kStandard)), directory_.path());
  for (std::uint64_t i = 0; i < 5; ++i) PutAndFlush(*db, 500, "value", 500 * i);
  const json report = Ask();
  EXPECT_EQ(Ask(0, "--threads 4"), report);
  EXPECT_NE(Ask(0, "--seed 1").at("false_positives"), report.at("false_positives"));
  EXPECT_EQ(Ask(0, "--absent 0").at("absent_checked"), 0);
  EXPECT_TRUE(Ask(0, "--absent 0").at("within_interval").is_null());
  EXPECT_EQ(testing::AskToolForJson("verify " + directory_.path("*.sst")).at("keys_checked"), 2500);
}

TEST_F(Verify, DoesNotKnowTheLevelOfFiles) {
  PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory_.path("db")), 500);
  std::ofstream(directory_.path("damaged.sst")) << "no table";
  const json report = testing::AskToolForJson(
      "verify " + directory_.path("damaged.sst") + " " + directory_.path("db/*.sst"), 1);
  ASSERT_EQ(report.at("levels").size(), 2U);
  for (const json& level : report["levels"]) EXPECT_TRUE(level.at("level").is_null()) << level;
  ASSERT_EQ(report.at("unreadable").size(), 1U);
  EXPECT_TRUE(report["unreadable"][0].at("level").is_null());
}

// Nothing may count up to such a number; beyond 2^53 the exact rate is not known.
TEST_F(Verify, TakesNoLongerForBlocksOfAbsurdlyManyKeys) {
  constexpr std::uint64_t kMostExact = std::uint64_t{1} << 53;
  for (const std::uint64_t claimed : {kMostExact, std::uint64_t{1} << 63}) {
    for (const bool partitioned : {false, true}) {
      SCOPED_TRACE(fmt::format("{} keys, partitioned: {}", claimed, partitioned));
      fs::remove_all(directory_.path());
      const BlockBasedTableOptions tables = Tables(PolicyThatClaims(claimed), partitioned);
      PutAndFlush(*Open(OptionsWith(tables), directory_.path()), kKeys);
      for (const char* subcommand : {"inspect ", "verify ", "advise "}) {
        const testing::Outcome outcome =
            testing::AskTool(subcommand + directory_.path(), "timeout 60");
        EXPECT_LE(outcome.status, 2) << subcommand << outcome.err;
        EXPECT_EQ(outcome.out.find("nan "), std::string::npos) << outcome.out;
      }
      const json report = Ask();
      EXPECT_NEAR(report.at("expected_rate"), 1.0, 1e-12);
      EXPECT_EQ(report.at("expected_is_exact"), claimed == kMostExact);
    }
  }
}

// Ten thousand absent keys as long as these would be 20 GB.
TEST_F(Verify, DrawsFewerLongKeys) {
  const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory_.path());
  for (const char name : {'a', 'b'}) {
    ASSERT_TRUE(db->Put({}, std::string(2'000'000, name), "value").ok());
  }
  ASSERT_TRUE(db->Flush({}).ok());
  const json report = Ask();
  EXPECT_EQ(report.at("keys_checked"), 2);
  EXPECT_EQ(report.at("absent_checked"), 128);
}

TEST_F(Verify, StopsWithinATable) {
  PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory_.path()), kKeys);
  const testing::Outcome outcome =
      testing::AskTool("verify --absent 9e15 " + directory_.path(),
                       "timeout --preserve-status --signal=INT --kill-after=10 1");
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST_F(Verify, NamesATableWithoutProperties) {
  BlockBasedTableOptions options = Tables(NewPolicy(BloomKind::kClassic));
  options.checksum = rocksdb::kNoChecksum;
  PutAndFlush(*Open(OptionsWith(options), directory_.path()), kKeys);
  const fs::path table = TableFilesIn(directory_.path()).front();
  std::string bytes = testing::ReadFile(table);
  bytes[bytes.rfind("rocksdb.properties")] = 'R';  // in the metaindex
  std::ofstream(table) << bytes;
  const json report = Ask(1);
  ASSERT_EQ(report.at("unreadable").size(), 1U) << report;
  // Up to RocksDB 10 ours, later RocksDB's.
  const std::string reason = report["unreadable"][0].at("reason");
  EXPECT_TRUE(Mentions(reason, "no properties") || Mentions(reason, "Cannot find Properties"))
      << reason;
}

TEST_F(Verify, EndsWithItsAnswer) {
  PutAndFlush(*Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory_.path()), kKeys);
  const std::string answer = "\nNo key was denied.\n";
  const auto ends_so = [&] {
    const std::string text = testing::AskTool("verify " + directory_.path()).out;
    return text.size() > answer.size() && text.substr(text.size() - answer.size()) == answer;
  };
  EXPECT_TRUE(ends_so());
  fs::resize_file(TableFilesIn(directory_.path()).front(), 100);
  EXPECT_FALSE(ends_so());
}

}  // namespace
}  // namespace exactbloom
