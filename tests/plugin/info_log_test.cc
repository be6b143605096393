// What the info log says of the tables' filters.
#include <gtest/gtest.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "exactbloom/filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "plugin/bloom_filter_policy.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

std::vector<std::string> LinesOfTheLog(const std::string& database) {
  std::ifstream log(database + "/LOG");
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);) {
    const std::size_t ours = line.find("exactbloom: ");
    if (ours != std::string::npos) lines.push_back(line.substr(ours));
  }
  return lines;
}

constexpr char kAdvice[] =
    "before ExactBloom is removed, set rocksdb_bloom and replace the filters "
    "(docs/operations.md, Switching off)";

// But for the divisions of a tree.
std::vector<std::string> Announced(const PolicyOptions& options,
                                   rocksdb::BlockBasedTableOptions table_options = {}) {
  const TemporaryDirectory directory;
  table_options.filter_policy = std::make_shared<BloomFilterPolicy>(options);
  rocksdb::Options with = OptionsWith(table_options);
  AddTreeListener(options, &with);
  const Database db = Open(with, directory.path("db"));
  rocksdb::ColumnFamilyHandle* other = nullptr;
  EXPECT_TRUE(db->CreateColumnFamily(with, "other", &other).ok());
  for (int flush = 0; flush < 3; ++flush) {
    PutAndFlush(*db, 100);
    PutAndFlush(*db, 100, "value", 0, other);
  }
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
  std::vector<std::string> lines = LinesOfTheLog(directory.path("db"));
  const auto is_division = [](const std::string& line) {
    return line.find("; plan: ") != std::string::npos;
  };
  lines.erase(std::remove_if(lines.begin(), lines.end(), is_division), lines.end());
  return lines;
}

TEST(InfoLog, SaysOnceForEachColumnFamilyWhatItsTablesGet) {
  const auto lines = [](const std::string& policy, const std::string& building) {
    const std::string line = policy + ", kernel " + std::string(KernelName()) +
                             "; building a filter takes up to " + building + "; " + kAdvice;
    return std::vector<std::string>{"exactbloom: column family [default]: " + line,
                                    "exactbloom: column family [other]: " + line};
  };
  const std::string bloom =
      "12 bytes per key of a table besides the filter, not charged to the block cache";
  EXPECT_EQ(Announced({}), lines("classic_bloom:10", bloom));
  EXPECT_EQ(
      Announced(PolicyKind::kRocksDBBloom).at(0),
      "exactbloom: column family [default]: rocksdb_bloom:10, RocksDB's own Bloom filters; once "
      "'exactbloom inspect' lists no filter of ExactBloom, set bloomfilter, and ExactBloom can "
      "be removed (docs/operations.md, Switching off)");
  PolicyOptions options;
  options.fpr = 0.01;
  options.hash_seed = 1;
  EXPECT_EQ(Announced(options), lines("{id=classic_bloom;fpr=0.01;hash_seed=1}", bloom));

  rocksdb::BlockBasedTableOptions table_options;
  PartitionFilters(4096, &table_options);
  table_options.cache_usage_options.options_overrides[rocksdb::CacheEntryRole::kFilterConstruction]
      .charged = rocksdb::CacheEntryRoleOptions::Decision::kEnabled;
  EXPECT_EQ(
      Announced(PolicyKind::kExactBloom, table_options),
      lines("exactbloom:10",
            "12 bytes per key of a partition besides the filter, charged to the block cache"));
}

TEST(InfoLog, SaysWhatEachSortedRunWouldGet) {
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(NewFilterPolicy("exactbloom:10"));
  options.listeners = {NewTreeListener()};
  const Database db = Open(options, directory.path("db"));
  PutAndFlush(*db, 20'000);
  for (int run = 0; run < 2; ++run) PutAndFlush(*db, 1000);
  std::string plans;
  for (const std::string& line : LinesOfTheLog(directory.path("db"))) plans += line + "\n";
  EXPECT_TRUE(std::regex_search(
      plans, std::regex(R"(\[default\]: level 0 gets 1\d(\.\d)? bits per key; plan: )"
                        R"(1 run of 20000 keys: \d+(\.\d+)? bits, Ribbon; )"
                        R"(1 run of 1000 keys: 1\d(\.\d)? bits, Ribbon\n)")))
      << plans;
}

TEST(InfoLog, NamesTheWayBackWhenADatabaseIsFollowed) {
  const TemporaryDirectory directory;
  for (const bool is_ours : {false, true}) {
    rocksdb::Options options =
        OptionsWith(is_ours ? NewFilterPolicy("exactbloom:10") : PolicyPointer());
    options.listeners = {NewTreeListener()};
    const Database db = Open(options, directory.path("db"));
    ASSERT_TRUE(FollowDatabase(db.get()).ok());
  }
  EXPECT_EQ(
      LinesOfTheLog(directory.path("db")),
      std::vector<std::string>{std::string("exactbloom: the database is followed; ") + kAdvice});
}

// As OptimizeForPointLookup replaces the policy, and a family is opened without one.
TEST(InfoLog, WarnsOnceOfAFamilyWhoseTablesComeFromAnotherPolicy) {
  const TemporaryDirectory directory;
  const auto warning = [](const std::string& family, const std::string& policy) {
    return "exactbloom: column family [" + family + "]: its tables have " + policy +
           ", and none of ExactBloom; was it opened without one, or its table factory replaced "
           "after SetFilterPolicy, as OptimizeForPointLookup does?";
  };
  rocksdb::Options ours = OptionsWith(NewFilterPolicy("exactbloom:10"));
  ours.listeners = {NewTreeListener()};
  rocksdb::Options lost = ours;
  lost.OptimizeForPointLookup(8);
  rocksdb::Options without = ours;
  without.table_factory.reset(rocksdb::NewBlockBasedTableFactory());
  rocksdb::Options plain = ours;
  plain.table_factory.reset(rocksdb::NewPlainTableFactory());
  plain.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
  lost.allow_mmap_reads = true;  // which PlainTable needs
  rocksdb::Options no_last_level = ours;
  no_last_level.optimize_filters_for_hits = true;
  const Database db = Open(lost, directory.path("db"));
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  for (const auto& [name, options] :
       {std::pair("ours", ours), std::pair("without", without), std::pair("plain", plain),
        std::pair("no last level", no_last_level)}) {
    ASSERT_TRUE(db->CreateColumnFamily(options, name, &families.emplace_back()).ok());
  }
  for (int flush = 0; flush < 3; ++flush) {
    PutAndFlush(*db, 1000);
    for (auto* family : families) PutAndFlush(*db, 1000, "value", 0, family);
  }
  for (auto* family : families) {
    EXPECT_TRUE(ForceCompaction(*db, family).ok());
    EXPECT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
  }
  std::vector<std::string> warnings = LinesOfTheLog(directory.path("db"));
  warnings.erase(std::remove_if(warnings.begin(), warnings.end(),
                                [](const std::string& line) {
                                  return line.find("its tables have") == std::string::npos;
                                }),
                 warnings.end());
  EXPECT_EQ(warnings, (std::vector<std::string>{warning("default", "filter policy bloomfilter"),
                                                warning("without", "no filter policy")}));
}

// SstFileWriter does not ask whether the options are valid.
TEST(InfoLog, SaysWhyTablesGetOtherFilters) {
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(NewFilterPolicy(ClassicBloomOptions{-1.0}));
  ASSERT_TRUE(
      rocksdb::CreateLoggerFromOptions(directory.path(""), options, &options.info_log).ok());
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  ASSERT_TRUE(writer.Open(directory.path("table.sst")).ok());
  ASSERT_TRUE(writer.Put("key", "value").ok());
  ASSERT_TRUE(writer.Finish().ok());
  const std::vector<std::string> lines = LinesOfTheLog(directory.path(""));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("filters of classic_bloom:10, because of"), std::string::npos)
      << lines[0];
  EXPECT_NE(lines[0].find("bits_per_key is '-1'"), std::string::npos) << lines[0];
}

}  // namespace
}  // namespace exactbloom
