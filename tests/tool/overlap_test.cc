// overlap's estimates of shared keys, compared with the keys that were put into the sorted runs.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/slice_transform.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "sample_database.h"
#include "tool_command.h"
#include "wrong_filters.h"

namespace exactbloom {
namespace {

using nlohmann::json;

constexpr std::uint64_t kKeys = 2000;

json Overlap(const std::string& directory, const std::string& arguments = "", int status = 0) {
  return testing::AskToolForJson("overlap " + directory + " " + arguments, status);
}

double Width(const json& estimate) {
  return estimate.at("high").get<double>() - estimate.at("low").get<double>();
}

void ExpectWithin(const json& estimate, std::uint64_t keys) {
  EXPECT_LE(estimate.at("low"), keys) << estimate;
  EXPECT_GE(estimate.at("high"), keys) << estimate;
}

struct FilterSetting {
  std::string name;
  PolicyPointer policy;
  bool partitioned = false;

  rocksdb::Options Options() const {
    rocksdb::BlockBasedTableOptions tables = PlannedSizes();
    tables.filter_policy = policy;
    if (partitioned) PartitionFilters(512, &tables);
    rocksdb::Options options = OptionsWith(tables);
    options.compression = rocksdb::kNoCompression;
    return options;
  }
};

PolicyPointer PolicyOfText(const std::string& text) {
  rocksdb::Options options;
  EXPECT_TRUE(SetFilterPolicy(&options, text).ok()) << text;
  const auto* tables = options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  return tables->filter_policy;
}

std::vector<FilterSetting> FilterSettings() {
  const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
  const PolicyPointer ribbon(rocksdb::NewRibbonFilterPolicy(10, -1));
  return {{"classic", NewPolicy(BloomKind::kClassic)},
          {"classic of 2 bits per key", NewPolicy(BloomKind::kClassic, 2)},
          {"standard", NewPolicy(BloomKind::kStandard)},
          {"exact_ribbon", PolicyOfText("exact_ribbon:10")},
          {"Bloom", bloom},
          {"Ribbon", ribbon},
          {"classic in partitions", NewPolicy(BloomKind::kClassic), true},
          {"Bloom in partitions", bloom, true},
          {"exact_ribbon in partitions", PolicyOfText("exact_ribbon:10"), true}};
}

// Two tables of level 0 of kKeys keys in the same range, of which they share so many per cent.
void PutTwoTables(rocksdb::DB& db, std::uint64_t percent) {
  PutAndFlush(db, kKeys);
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    const bool is_shared = i % 100 < percent;
    ASSERT_TRUE(db.Put({}, KeyOf(is_shared ? 2 * i : 2 * i + 1), "newer").ok());
  }
  ASSERT_TRUE(db.Flush({}).ok());
}

TEST(Overlap, OfWrittenSharesLiesWithinTheInterval) {
  for (const FilterSetting& setting : FilterSettings()) {
    for (const std::uint64_t percent : {0U, 10U, 50U, 100U}) {
      SCOPED_TRACE(fmt::format("{}, {}%", setting.name, percent));
      const std::uint64_t shared = kKeys * percent / 100;
      const TemporaryDirectory directory;
      PutTwoTables(*Open(setting.Options(), directory.path()), percent);
      const json overlap = Overlap(directory.path());
      ASSERT_EQ(overlap.at("runs").size(), 2U);
      ASSERT_EQ(overlap.at("pairs").size(), 1U);
      const json& run = overlap["runs"][1];
      const json& pair = overlap["pairs"][0];
      EXPECT_EQ(run.at("keys"), kKeys);
      EXPECT_EQ(pair.at("asked"), 1.0);
      ExpectWithin(pair.at("shared"), shared);
      ExpectWithin(run.at("obsolete"), shared);
      const double most = setting.name == "classic of 2 bits per key" ? 0.3 : 0.03;
      EXPECT_LT(Width(run.at("obsolete")), most * kKeys);
      const double index = static_cast<double>(shared) / static_cast<double>(2 * kKeys - shared);
      EXPECT_LE(pair.at("jaccard").at("low"), index);
      EXPECT_GE(pair.at("jaccard").at("high"), index);
      EXPECT_TRUE(overlap.at("not_asked").empty());
      EXPECT_TRUE(overlap.at("not_read").empty());
    }
  }
}

// The bytes of level and database are those of the obsolete keys' share of each run, and a
// compaction frees about as many.
TEST(Overlap, TellsWhatACompactionFrees) {
  const TemporaryDirectory directory;
  const Database db = Open(FilterSettings().front().Options(), directory.path());
  PutAndFlush(*db, kKeys, std::string(100, 'v'));
  PutAndFlush(*db, kKeys, std::string(100, 'v'), kKeys / 2);
  const json before = Overlap(directory.path()).at("column_families").at(0);
  EXPECT_EQ(before.at("column_family"), "default");
  EXPECT_EQ(before.at("keys"), 2 * kKeys);
  EXPECT_EQ(before.at("levels").size(), 1U);
  EXPECT_EQ(before["levels"][0].at("freed_bytes"), before.at("freed_bytes"));
  ASSERT_TRUE(ForceCompaction(*db).ok());
  const json after = Overlap(directory.path()).at("column_families").at(0);
  EXPECT_EQ(after.at("obsolete").at("high"), 0.0);
  ExpectWithin(before.at("obsolete"), 2 * kKeys - after.at("keys").get<std::uint64_t>());
  const double freed = before.at("bytes").get<double>() - after.at("bytes").get<double>();
  EXPECT_NEAR(before.at("freed_bytes").get<double>() / freed, 1.0, 0.05);
}

TEST(Overlap, KeepsColumnFamiliesApart) {
  const TemporaryDirectory directory;
  {
    const rocksdb::Options options = FilterSettings().front().Options();
    const Database db = Open(options, directory.path());
    rocksdb::ColumnFamilyHandle* other = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(options, "other", &other).ok());
    PutAndFlush(*db, kKeys);
    PutAndFlush(*db, kKeys, "value", 0, other);
    PutAndFlush(*db, kKeys, "value", 0, other);
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
  }
  const json overlap = Overlap(directory.path());
  ASSERT_EQ(overlap.at("column_families").size(), 2U);
  EXPECT_EQ(overlap["column_families"][0].at("obsolete").at("high"), 0.0);
  ExpectWithin(overlap["column_families"][1].at("obsolete"), kKeys);
  EXPECT_EQ(overlap.at("pairs").size(), 1U);
  const std::string text = testing::AskTool("overlap --pairs " + directory.path()).out;
  EXPECT_EQ(text.find("A compaction of everything"), 0U);
  EXPECT_EQ(text.rfind("A compaction of everything"), 0U) << "one answer for all";
  EXPECT_NE(text.find("\nother:\n"), std::string::npos) << "its pairs";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  const json other = Overlap(directory.path(), "--column-family other");
  EXPECT_EQ(other.at("column_families").size(), 1U);
  EXPECT_EQ(other["column_families"][0], overlap["column_families"][1]);
  testing::ExpectRefusal(testing::AskTool("overlap --column-family none " + directory.path()),
                         "has no tables of column family none");
}

// The filter of the newer run is none, lets all keys pass, has prefixes only, or is of an older
// format. Half of the older run's keys lie in its range.
TEST(Overlap, LeavesFiltersOutThatTellNothing) {
  rocksdb::BlockBasedTableOptions older;
  older.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  older.format_version = 4;
  rocksdb::BlockBasedTableOptions prefixes;
  prefixes.filter_policy = NewPolicy(BloomKind::kClassic);
  prefixes.whole_key_filtering = false;
  rocksdb::Options with_prefixes = OptionsWith(prefixes);
  with_prefixes.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
  const std::vector<std::pair<rocksdb::Options, std::string>> cases = {
      {OptionsWith(PolicyPointer()), "there is no filter"},
      {OptionsWith(PolicyThatPassesAll()), "the filter lets more than half of all keys pass"},
      {with_prefixes, "the filter has prefixes only"},
      {OptionsWith(older), "the rate of RocksDB's older Bloom filters is not known"}};
  for (const auto& [options, reason] : cases) {
    SCOPED_TRACE(reason);
    const TemporaryDirectory directory;
    PutAndFlush(*Open(FilterSettings().front().Options(), directory.path()), kKeys);
    PutAndFlush(*Open(options, directory.path()), kKeys / 2);
    const json overlap = Overlap(directory.path());
    EXPECT_EQ(overlap.at("not_asked"), json({{reason, 1}}));
    EXPECT_EQ(overlap.at("pairs").at(0).at("asked"), 0.5);
    EXPECT_EQ(overlap.at("runs").at(1).at("obsolete").at("keys"), 0.0);
    ExpectWithin(overlap["runs"][1]["obsolete"], kKeys / 2);
    const testing::Outcome text = testing::AskTool("overlap " + directory.path());
    EXPECT_EQ(text.status, 0);
    EXPECT_NE(text.out.find("1 table: " + reason), std::string::npos) << text.out;
  }
}

TEST(Overlap, NeedsNoFilterWhereRangesAreDisjoint) {
  const ForeignComparator foreign;
  for (const rocksdb::Comparator* order :
       {rocksdb::BytewiseComparator(), rocksdb::ReverseBytewiseComparator(),
        static_cast<const rocksdb::Comparator*>(&foreign)}) {
    SCOPED_TRACE(order->Name());
    const TemporaryDirectory directory;
    {
      rocksdb::Options options = OptionsWith(PolicyPointer());
      options.comparator = order;
      const Database db = Open(options, directory.path());
      PutAndFlush(*db, kKeys);
      PutAndFlush(*db, kKeys, "value", 5 * kKeys);
    }
    const json overlap = Overlap(directory.path());
    const json& older = overlap.at("runs").at(1);
    if (order == &foreign) {  // the keys are in an order that is not known here
      EXPECT_EQ(older.at("obsolete").at("high"), kKeys);
      EXPECT_EQ(overlap.at("not_read").size(), 1U);
      continue;
    }
    EXPECT_EQ(older.at("obsolete").at("high"), 0.0);
    EXPECT_TRUE(overlap.at("not_asked").empty());
  }
}

// Flushes and compactions remove tables while they are read.
TEST(Overlap, WorksBesideAWriter) {
  const TemporaryDirectory directory;
  rocksdb::Options options = FilterSettings().front().Options();
  options.disable_auto_compactions = false;
  options.level0_file_num_compaction_trigger = 2;
  const Database db = Open(options, directory.path());
  PutAndFlush(*db, kKeys);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) {
      PutAndFlush(*db, kKeys);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  for (int i = 0; i < 5; ++i) {
    const json overlap = Overlap(directory.path());
    EXPECT_FALSE(overlap.at("runs").empty());
    EXPECT_TRUE(overlap.at("unreadable").empty());
  }
  stop = true;
  writer.join();
}

TEST(Overlap, TakesNoTableFilesAlone) {
  const TemporaryDirectory directory;
  PutAndFlush(*Open(FilterSettings().front().Options(), directory.path()), kKeys);
  const std::string file = TableFilesIn(directory.path()).front();
  const testing::Outcome outcome = testing::AskTool("overlap " + file);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "exactbloom: overlap takes a database: table files alone have no age\n");
}

}  // namespace
}  // namespace exactbloom
