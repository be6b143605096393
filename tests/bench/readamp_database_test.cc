// What readamp takes from a database of the user's: keys, tree, lengths of values, settings.
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/metadata.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "faulty_policy.h"
#include "readamp_fixture.h"

namespace exactbloom::readamp {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ReadFile;

// Name and contents of every file of a directory.
std::map<std::string, std::string> Contents(const fs::path& directory) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.path().filename() == "LOG") continue;  // the open database may still write to it
    contents[entry.path().string()] = entry.is_regular_file() ? ReadFile(entry.path()) : "";
  }
  return contents;
}

std::string KeyOf(int i) { return fmt::format("key {:05}", i); }

std::string ValueOf(const std::string& key) {
  return std::string(std::stoul(key.substr(4)) % 90, 'v');
}

class ReadampDatabase : public testing::ReadampTest {
 protected:
  using Keys = std::vector<std::string>;

  std::string Own() const { return directory_.path("own"); }

  void Put(const Keys& keys) {
    for (const std::string& key : keys) ASSERT_TRUE(db_->Put({}, key, ValueOf(key)).ok());
  }

  // Makes a file of level 0, and compacts it to the level.
  void PutInto(int level, const Keys& keys, std::uint64_t table_bytes = 0) {
    Put(keys);
    ASSERT_TRUE(db_->Flush({}).ok());
    if (level == 0) return;
    rocksdb::ColumnFamilyMetaData tree;
    db_->GetColumnFamilyMetaData(&tree);
    rocksdb::CompactionOptions compaction;
    compaction.compression = rocksdb::kNoCompression;
    compaction.output_file_size_limit = table_bytes;
    ASSERT_TRUE(
        db_->CompactFiles(compaction, {tree.levels.front().files.front().name}, level).ok());
  }

  // 16000 keys in some tables of level 3, 4000 in one of level 1, and two files of level 0: 1000
  // keys of the whole range, and 1000 of its first tenth. Each key is in one of them.
  void MakeTree(rocksdb::Options options) {
    constexpr int kKeys = 21000;
    Keys deepest;
    Keys above;
    Keys wide;
    Keys narrow;
    for (int i = 0; i < kKeys; ++i) {
      const int remainder = i % 21;
      (remainder < 16 ? deepest : remainder < 20 ? above : wide).push_back(KeyOf(i));
      if (narrow.size() < 1000 && i % 2 == 0) narrow.push_back(KeyOf(i) + "b");
    }
    options.compression = rocksdb::kNoCompression;
    db_ = Open(options, Own());
    PutInto(3, deepest, 250'000);
    PutInto(1, above, 1'000'000);
    PutInto(0, wide);
    PutInto(0, narrow);
  }

  exactbloom::Database db_;
};

rocksdb::BlockBasedTableOptions Partitioned() {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.block_size = 8192;
  table_options.filter_policy.reset(rocksdb::NewBloomFilterPolicy(9));
  PartitionFilters(2048, &table_options);
  return table_options;
}

// Whether one of the lines begins so.
bool Has(const json& lines, const std::string& beginning) {
  return std::any_of(lines.begin(), lines.end(), [&](const json& line) {
    return line.get<std::string>().compare(0, beginning.size(), beginning) == 0;
  });
}

TEST_F(ReadampDatabase, ItsKeysAreTakenAndNothingIsWrittenIntoIt) {
  constexpr int kKeys = 5000;
  db_ = Open(OptionsWith(nullptr), Own());
  Keys log;
  Keys flushed;
  for (int i = 0; i < kKeys; ++i) (i < kKeys / 2 ? flushed : log).push_back(KeyOf(i));
  PutInto(0, flushed);
  Put(log);
  const auto before = Contents(Own());  // and it stays open

  const std::string arguments = "--from-db " + Own() + " --stored 0.5 --policies classic_bloom:10";
  const json all = Measure(arguments);
  EXPECT_EQ(all.at("keys"), kKeys);
  EXPECT_EQ(all.at("workload_source"), Own());
  // Keys beyond all tables are only looked up.
  EXPECT_NEAR(all.at("keys_stored").get<double>(), kKeys / 4.0, 150.0);
  EXPECT_EQ(Measure(arguments + " --sample 1000").at("keys"), 1000);
  EXPECT_EQ(Contents(Own()), before);
}

TEST_F(ReadampDatabase, ItsTreeAndSettingsAreTaken) {
  MakeTree(OptionsWith(Partitioned()));
  const json report = Measure("--from-db " + Own() +
                              " --stored 0.5 --lookups 4000 "
                              "--unfiltered-lookups 0 --workloads absent");
  const json& taken = report.at("from_db").at("taken");
  for (const std::string line :
       {"tree: 4 sorted runs, ", "lengths of values: 44 bytes, the mean", "block_size: 8192",
        "partition_filters: metadata_block_size 2048", "filter policy: bloomfilter:9"}) {
    EXPECT_TRUE(Has(taken, line)) << line << " in " << taken;
    EXPECT_TRUE(Mentions(out_, "\n  " + line));
  }
  const json& tree = report.at("settings").at("tree");
  EXPECT_EQ(tree.at("kind"), "database");
  EXPECT_EQ(tree.at("filters"), "partitioned");
  EXPECT_EQ(tree.at("block_bytes"), 8192);

  EXPECT_EQ(report.at("policies").back().at("policy"), "bloomfilter:9");
  // RocksDB 9.6 to 10.5 make every second partition a small one, which is rounded up.
  EXPECT_NEAR(report.at("policies").back().at("bits_per_key"), 9.0, 0.9);
  for (const json& policy : report.at("policies")) {
    SCOPED_TRACE(policy.at("policy"));
    EXPECT_EQ(policy.at("sorted_runs"), 4);
    const json& levels = policy.at("levels");
    ASSERT_EQ(levels.size(), 3U);
    const std::vector<std::pair<int, double>> expected = {{0, 1000}, {1, 2000}, {3, 8000}};
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(levels.at(i).at("level"), expected[i].first);
      EXPECT_NEAR(levels.at(i).at("keys"), expected[i].second, 150.0);
    }
  }
  // Three sorted runs are asked for each key, and the file of a tenth of the range for the keys
  // there, which are denser than elsewhere.
  const json& searches = Result(report, 0, "absent").at("wasted_searches");
  EXPECT_NEAR(searches.get<double>() / 4000.0, 3.136, 0.03);
}

TEST_F(ReadampDatabase, TheCommandLineWins) {
  MakeTree(OptionsWith(Partitioned()));
  const json report = Measure("--from-db " + Own() +
                              " --stored 0.5 --lookups 1000 --sorted-runs 2 "
                              "--value-bytes 20 --filters full "
                              "--policies classic_bloom:10");
  const json& tree = report.at("settings").at("tree");
  EXPECT_EQ(tree.at("kind"), "settled");
  EXPECT_EQ(tree.at("value_bytes"), 20);
  EXPECT_EQ(tree.at("filters"), "full");
  EXPECT_EQ(report.at("policies").size(), 1U);
  EXPECT_EQ(report.at("policies").at(0).at("sorted_runs"), 2);
  for (const std::string line :
       {"tree: --sorted-runs is given", "lengths of values: --value-bytes is given",
        "partition_filters: --filters is given",
        "filter policy bloomfilter:9: --policies is given"}) {
    EXPECT_TRUE(Has(report.at("from_db").at("not_taken"), line)) << line;
    EXPECT_TRUE(Mentions(out_, "\n  " + line));
  }
  EXPECT_TRUE(Has(report.at("from_db").at("taken"), "block_size: 8192"));
}

TEST_F(ReadampDatabase, WhatCannotBeTakenIsNamed) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.whole_key_filtering = false;
  rocksdb::Options options = OptionsWith(table_options);
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(5));
  options.optimize_filters_for_hits = true;
  // RocksDB writes the name of a program's own policy alone.
  table_options.filter_policy = std::make_shared<FaultyPolicy>(
      NewPolicy(BloomKind::kClassic), [](char*, std::size_t, const FaultyPolicy::Keys&) {});
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  MakeTree(options);
  rocksdb::ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily({}, "other", &other).ok());
  ASSERT_TRUE(db_->DestroyColumnFamilyHandle(other).ok());
  const json report = Measure("--from-db " + Own() + " --lookups 1000");
  for (const std::string line :
       {"prefix_extractor rocksdb.FixedPrefix", "whole_key_filtering=false: ",
        "optimize_filters_for_hits: ", "column families besides default: other", "block cache: ",
        "filter policy: its OPTIONS file names none that is known here; its "
        "tables have faulty of "}) {
    EXPECT_TRUE(Has(report.at("from_db").at("not_taken"), line)) << line << out_;
  }
}

TEST_F(ReadampDatabase, LengthsOfValuesAreNotThoseOfReferencesToBlobFiles) {
  rocksdb::Options options = OptionsWith(Partitioned());
  options.enable_blob_files = true;
  options.min_blob_size = 60;
  MakeTree(options);
  const json report = Measure("--from-db " + Own() + " --lookups 1000 --workloads absent");
  const json& from_db = report.at("from_db");
  EXPECT_TRUE(Has(from_db.at("not_taken"), "blob files: ")) << from_db;
  EXPECT_FALSE(Has(from_db.at("taken"), "lengths of values")) << from_db;
  EXPECT_EQ(report.at("settings").at("tree").at("value_bytes"), 100);
}

TEST_F(ReadampDatabase, LengthsOfValuesAreNotTakenWithoutTables) {
  db_ = Open(OptionsWith(Partitioned()), Own());
  Keys log;
  for (int i = 0; i < 1000; ++i) log.push_back(KeyOf(i));
  Put(log);
  const json report = Measure("--from-db " + Own() + " --lookups 1000 --workloads absent");
  const json& not_taken = report.at("from_db").at("not_taken");
  EXPECT_TRUE(Has(not_taken, "lengths of values: no entry is in a table")) << not_taken;
}

}  // namespace
}  // namespace exactbloom::readamp
