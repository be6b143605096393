// advise: the answer in text and JSON, and refusals.
#include "tool/advise/advise.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "../tool_command.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "plugin/c_binding/c_types.h"
#include "plugin/policy_options.h"
#include "sample_database.h"
#include "tool/output.h"

namespace exactbloom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;
using testing::ExpectRefusal;

class AdviseCommand : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kKeys = 3000;

  AdviseCommand() { Make(OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)))); }

  void Make(const rocksdb::Options& options) const {
    const Database db = Open(options, path());
    // Among equal runs RocksDB's ribbonfilter is as good.
    for (const std::uint64_t keys : {2 * kKeys, kKeys / 2, kKeys / 2}) PutAndFlush(*db, keys);
  }

  // Runs of different sizes, each with keys of the whole range.
  void MakeSpread(const std::string& policy) const {
    fs::remove_all(path());
    RegisterFilterPolicies();
    rocksdb::BlockBasedTableOptions table = PlannedSizes();
    ASSERT_TRUE(rocksdb::FilterPolicy::CreateFromString({}, policy, &table.filter_policy).ok());
    rocksdb::Options options = OptionsWith(table);
    if (policy.find("exactbloom") == 0) options.listeners = {NewTreeListener()};
    const Database db = Open(options, path());
    constexpr std::uint64_t kAll = 37'700;
    constexpr std::uint64_t kStep = 7919;  // a prime
    std::uint64_t i = 0;
    for (const std::uint64_t end :
         {std::uint64_t{30'000}, std::uint64_t{36'000}, std::uint64_t{37'000}, kAll}) {
      for (; i < end; ++i) ASSERT_TRUE(db->Put({}, KeyOf(2 * (i * kStep % kAll)), "value").ok());
      ASSERT_TRUE(db->Flush({}).ok());
      if (end == 30'000) MoveDown(*db, 6);
    }
  }

  std::string path() const { return directory_.path("db"); }

  json Family(const std::string& arguments = "") const {
    return AskToolForJson("advise " + path() + " " + arguments).at("column_families").at(0);
  }

  TemporaryDirectory directory_;
};

TEST_F(AdviseCommand, SaysWhatWouldChangeInTheSameMemory) {
  const json family = Family();
  EXPECT_EQ(family.at("column_family"), "default");
  EXPECT_EQ(family.at("keys"), 3 * kKeys);
  EXPECT_EQ(family.at("sorted_runs"), 3);
  EXPECT_TRUE(family.at("warnings").empty()) << family["warnings"];
  const json& now = family.at("now");
  const json inspected = AskToolForJson("inspect " + path());
  EXPECT_EQ(now.at("policy"), "bloomfilter:10:false");
  EXPECT_EQ(now.at("filter_bytes"), inspected.at("totals").at("filter_bytes"));
  EXPECT_DOUBLE_EQ(now.at("wasted_reads"), inspected["totals"].at("wasted_reads").at("default"));
  EXPECT_EQ(now.at("build_bytes"), inspected["totals"].at("build_bytes"));
  EXPECT_EQ(family.at("memory_bytes"), now["filter_bytes"]);
  for (const json& candidate : family.at("candidates")) {
    EXPECT_LE(candidate.at("filter_bytes"), now["filter_bytes"]) << candidate;
  }
  const json& advice = family.at("advice");
  const std::string policy = advice.at("policy");
  EXPECT_LT(advice.at("wasted_reads"), now["wasted_reads"]);
  std::map<std::string, double> sums;
  for (const json& tables : advice.at("tables")) {
    EXPECT_EQ(tables.at("level"), 0);
    for (const char* name : {"tables", "filter_bytes", "filter_bytes_now", "wasted_reads_now"}) {
      sums[name] += tables.at(name).get<double>();
    }
  }
  EXPECT_EQ(sums["tables"], 3.0);
  EXPECT_EQ(sums["filter_bytes"], advice.at("filter_bytes"));
  EXPECT_EQ(sums["filter_bytes_now"], now["filter_bytes"]);
  EXPECT_DOUBLE_EQ(sums["wasted_reads_now"], now["wasted_reads"]);
  const std::string options = fmt::format(
      "[DBOptions]\n  listeners=exactbloom_tree\n"
      "[TableOptions/BlockBasedTable \"default\"]\n  filter_policy={}\n",
      policy);
  EXPECT_EQ(advice.at("options"), options);
  EXPECT_TRUE(Mentions(advice.at("code"), fmt::format("\"{}\"", policy)));
}

TEST_F(AdviseCommand, IsToBeCopied) {
  fs::rename(path(), directory_.path("it's"));
  const std::string text =
      AskTool(fmt::format("advise --details \"{}\"", directory_.path("it's"))).out;
  EXPECT_TRUE(Mentions(text, "Options: '" + directory_.path("it'\\''s") + "/OPTIONS-"));
}

// The words that come before what works only in some programs.
TEST_F(AdviseCommand, BeginsWithTheWaysThatNeedLeastOfAProgram) {
  const std::string text = AskTool("advise --details " + path()).out;
  std::size_t place = 0;
  for (const char* part :
       {"\nIn C++:\n  rocksdb::Status status = exactbloom::SetFilterPolicy(\n      &options, "
        "\"exactbloom:",
        "\nOr by preloading, for all column families of a program that has a shared\n"
        "librocksdb.so:\n  EXACTBLOOM_POLICY=exactbloom:",
        "/exactbloom/libexactbloom_rocksdb.so \\\n  PROGRAM\n",
        "\nOr in the OPTIONS file, only if the program loads this file, and is preloaded\n"
        "with ExactBloom or calls RegisterFilterPolicies(): in any other program new\n"
        "tables get no filter. ",
        "  [DBOptions]\n    listeners=exactbloom_tree\n", "To rewrite all, in the program",
        "db->CompactRange(all, family, nullptr, nullptr);\n"}) {
    const std::size_t found = text.find(part, place);
    ASSERT_NE(found, std::string::npos) << part << " is not behind the part before it in:\n"
                                        << text;
    place = found;
  }
  fs::remove_all(path());
  PutAndFlush(*Open(OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10))), path()), kKeys);
  const std::string built_in = AskTool("advise --details " + path()).out;
  EXPECT_TRUE(Mentions(built_in, "; it is RocksDB's own, and needs no library.\n"));
  EXPECT_TRUE(Mentions(built_in, "\nOr in the OPTIONS file, if the program loads this file. "));
  for (const char* part : {"RegisterFilterPolicies", "LD_PRELOAD", "listeners"}) {
    EXPECT_EQ(built_in.find(part), std::string::npos) << built_in;
  }
}

TEST_F(AdviseCommand, KnowsTheCacheAndTheCountersOfTheLog) {
  rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
  table_options.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table_options.cache_index_and_filter_blocks = true;
  table_options.block_cache = rocksdb::NewLRUCache(8000, /*num_shard_bits=*/2);
  rocksdb::Options options = OptionsWith(table_options);
  class Own : public rocksdb::EventListener {
    const char* Name() const override { return "Own"; }
  };
  options.listeners = {std::make_shared<Own>()};
  std::string dump;
  {
    const Database db = Open(options, path());
    std::string value;
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      EXPECT_TRUE(db->Get({}, KeyOf(2 * i + 1), &value).IsNotFound());
    }
    ASSERT_TRUE(db->GetProperty("rocksdb.dbstats", &dump));
  }
  const std::uint64_t in_vain =
      options.statistics->getTickerCount(rocksdb::BLOOM_FILTER_FULL_POSITIVE);
  dump = std::regex_replace(dump, std::regex(R"(Uptime\(secs\): [0-9.]+)"), "Uptime(secs): 20.0");
  std::ofstream(path() + "/LOG", std::ios::app) << dump << options.statistics->ToString();

  const json report = AskToolForJson("advise " + path());
  const json& family = report.at("column_families").at(0);
  std::map<std::string, std::string> seen;
  for (const json& warning : family.at("warnings")) seen[warning.at("name")] = warning.at("seen");
  const std::uint64_t bytes = family.at("now").at("filter_bytes");
  std::uint64_t largest = 0;
  const json inspected = AskToolForJson("inspect " + path());
  for (const json& table : inspected.at("files")) {
    largest = std::max(largest, table.at("filter").at("bytes").get<std::uint64_t>());
  }
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_TRUE(
      Mentions(seen["filters_exceed_cache"],
               fmt::format("7.8 KiB holds the filters, which take {}", tool::FormatBytes(bytes))));
  EXPECT_TRUE(Mentions(seen["filter_exceeds_shard"],
                       tool::FormatBytes(largest) + ", and a shard of the block cache 2.0 KiB"));
  EXPECT_TRUE(Mentions(seen["level0_not_pinned"], "level 0, " + tool::FormatBytes(bytes) + " now"));

  EXPECT_TRUE(Mentions(family.at("advice").at("options"), "listeners=exactbloom_tree:Own\n"));
  const json& counted = report.at("counted");
  EXPECT_EQ(counted.at("lookups"), kKeys);
  EXPECT_EQ(counted.at("passed_in_vain"), in_vain);
  const double left = family.at("advice").at("wasted_reads").get<double>() /
                      family.at("now").at("wasted_reads").get<double>();
  const double saved = static_cast<double>(in_vain) / 20.0 * (1.0 - left);
  EXPECT_NEAR(counted.at("saved_table_reads_per_second"), saved, 1e-9);
  const auto hits =
      static_cast<double>(options.statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_HIT));
  const auto misses =
      static_cast<double>(options.statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS));
  ASSERT_GT(misses, 0.0);
  const double missed = misses / (hits + misses);
  EXPECT_NEAR(counted.at("data_blocks_missed"), missed, 1e-9);
  std::string text = AskTool("advise --details " + path()).out;
  EXPECT_TRUE(Mentions(text, "3,000 lookups in 20 seconds"));
  std::replace(text.begin(), text.end(), '\n', ' ');  // of lines
  EXPECT_TRUE(Mentions(text, fmt::format("saves about {} reads of files per second",
                                         tool::Rounded(saved * missed))));

  // Without the counters of the block cache.
  const std::regex counters(R"(rocksdb\.block\.cache\.data\.(hit|miss) COUNT : [0-9]+)");
  const std::string log = std::regex_replace(testing::ReadFile(path() + "/LOG"), counters, "");
  std::ofstream(path() + "/LOG") << log;
  text = AskTool("advise --details " + path()).out;
  EXPECT_TRUE(Mentions(text, "reads of tables per second, which the block"));
  EXPECT_EQ(text.find("reads of files"), std::string::npos);
}

TEST_F(AdviseCommand, SavesNothingWhereASettingStays) {
  fs::remove_all(path());
  rocksdb::Options options;
  options.create_if_missing = true;
  ASSERT_TRUE(SetFilterPolicy(&options, "exact_ribbon:10").ok());
  PutAndFlush(*Open(options, path()), kKeys);
  std::ofstream(path() + "/LOG", std::ios::app)
      << "Uptime(secs): 20.0 total, 20.0 interval\nrocksdb.number.keys.read COUNT : 3000\n"
      << "rocksdb.bloom.filter.full.positive COUNT : 40\n"
      << "rocksdb.block.cache.data.hit COUNT : 60\nrocksdb.block.cache.data.miss COUNT : 5\n";
  const std::string text = AskTool("advise --details " + path()).out;
  EXPECT_TRUE(Mentions(text, "Advice: keep"));
  EXPECT_TRUE(Mentions(text, "3,000 lookups in 20 seconds"));
  EXPECT_EQ(text.find("saves"), std::string::npos) << text;
}

TEST_F(AdviseCommand, AddsUpTheFiltersOfColumnFamiliesThatShareACache) {
  rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
  table_options.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table_options.cache_index_and_filter_blocks = true;
  table_options.block_cache = rocksdb::NewLRUCache(14'000, /*num_shard_bits=*/0);
  {
    const Database db = Open(OptionsWith(table_options), path());
    rocksdb::ColumnFamilyHandle* other = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(db->GetOptions(), "other", &other).ok());
    PutAndFlush(*db, kKeys, "value", 0, other);
    EXPECT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
  }
  const json families = AskToolForJson("advise " + path()).at("column_families");
  ASSERT_EQ(families.size(), 2U);
  std::uint64_t bytes = 0;
  for (const json& family : families) {
    const auto own = family.at("now").at("filter_bytes").get<std::uint64_t>();
    EXPECT_LT(own, 14'000U);
    bytes += own;
  }
  for (const json& family : families) {
    EXPECT_TRUE(Mentions(family.at("warnings").dump(),
                         "13.7 KiB holds the filters, which take " + tool::FormatBytes(bytes)));
  }
}

// Then the OPTIONS file has no bits per key, and the tables have.
TEST_F(AdviseCommand, KnowsAPolicyThatTheCInterfaceMade) {
  const json before = Family();
  Open(OptionsWith(PolicyPointer(rocksdb_filterpolicy_create_bloom_full(10))), path());
  const json now = Family().at("now");
  EXPECT_EQ(now.at("policy"), "bloomfilter");
  EXPECT_EQ(now.at("filter_bytes"), before.at("now").at("filter_bytes"));
  EXPECT_EQ(now.at("wasted_reads"), before["now"].at("wasted_reads"));
  const std::string text = AskTool("advise --details " + path()).out;
  EXPECT_TRUE(Mentions(text, "bloomfilter (set through RocksDB's C interface"));
  EXPECT_TRUE(Mentions(text, "Not known is what the present setting gives to rewritten tables"));
  EXPECT_TRUE(Family().at("rewritten").is_null());
}

TEST_F(AdviseCommand, LeavesAGoodSettingAlone) {
  const std::string policy = Family().at("advice").at("policy");
  fs::remove_all(path());
  rocksdb::Options options = OptionsWith(nullptr);
  ASSERT_TRUE(SetFilterPolicy(&options, policy).ok());
  Make(options);
  EXPECT_TRUE(Family().at("advice").is_null()) << Family();
  EXPECT_FALSE(Family().at("compact"));
  EXPECT_TRUE(Mentions(AskTool("advise --details " + path()).out,
                       "Advice: keep exactbloom:10 for column family default; no other"));
  const json more = Family("--memory 14KB").at("advice");
  EXPECT_LE(more.at("filter_bytes"), 14 * 1024);
  EXPECT_GE(more["filter_bytes"], 14 * 1024 * 0.97);
}

// A lookup that finds its key in the only run of a tree asks no other table.
TEST_F(AdviseCommand, KeepsTheSettingWhereNoLookupReadsInVain) {
  fs::remove_all(path());
  {
    const Database db = Open(OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10))), path());
    PutAndFlush(*db, kKeys);
    MoveDown(*db, 2);
  }
  std::ofstream(path() + "/LOG", std::ios::app)
      << "Uptime(secs): 20.0 total, 20.0 interval\nrocksdb.memtable.miss COUNT : 3000\n"
      << "rocksdb.l2andup.hit COUNT : 3000\n";
  for (const std::string& arguments :
       {path(), path() + "/LOG", "--present 1 " + path(), "--details " + path()}) {
    const testing::Outcome outcome = AskTool("advise " + arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(Mentions(outcome.out, "Advice: keep bloomfilter:10")) << arguments;
    EXPECT_EQ(outcome.out.find("No advice"), std::string::npos) << outcome.out;
  }
  const json report = AskToolForJson("advise " + path());
  EXPECT_EQ(report.at("verdict"),
            "Advice: keep bloomfilter:10:false for column family default; no lookup reads a table "
            "in vain.");
  EXPECT_TRUE(report.at("all").at("refusal").is_null());
  EXPECT_TRUE(report.at("all").at("advice").is_null());
  ExpectRefusal(AskTool("advise --memory 100 " + path()),
                "no lookup reads a table of column family default in vain");
}

TEST_F(AdviseCommand, GivesTheSettingAlsoToAColumnFamilyThatReadsNothingInVain) {
  {
    Database db = Open(OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10))), path());
    rocksdb::ColumnFamilyHandle* other = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(db->GetOptions(), "another", &other).ok());
    PutAndFlush(*db, kKeys, "value", 0, other);
    db->DestroyColumnFamilyHandle(other);
  }
  const json report = AskToolForJson("advise --present 1 " + path());
  for (const json& family : report.at("column_families")) {
    EXPECT_TRUE(family.at("refusal").is_null()) << family;
  }
  EXPECT_EQ(report.at("all").at("keys"), 4 * kKeys);
  EXPECT_TRUE(Mentions(report.at("verdict"), "for all 2 column families"));
  ExpectRefusal(AskTool("advise --present 0.99 --memory 20 " + path()), "the memory is too small");
}

// Among candidates of nearly as few reads the simplest, ribbonfilter, saves less than a tenth of
// the memory, and another one more.
TEST_F(AdviseCommand, TakesASettingThatSavesMemoryWhereTheSimplestDoesNot) {
  MakeSpread("bloomfilter:10");
  const json family = Family("--present 0.97");
  const double bytes = family.at("rewritten").at("filter_bytes");
  bool has_simplest = false;
  for (const json& candidate : family.at("candidates")) {
    if (!Mentions(candidate.at("policy"), "ribbonfilter")) continue;
    has_simplest = true;
    EXPECT_GT(tool::kLeastGain * candidate.at("filter_bytes").get<double>(), bytes);
  }
  EXPECT_TRUE(has_simplest);
  ASSERT_FALSE(family.at("advice").is_null()) << family;
  EXPECT_LT(tool::kLeastGain * family["advice"].at("filter_bytes").get<double>(), bytes);
}

TEST_F(AdviseCommand, SaysOfMemoryThatNoOtherSettingSavesIt) {
  MakeSpread("exactbloom:7.6");
  EXPECT_EQ(AskToolForJson("advise --present 0.97 " + path()).at("verdict"),
            "Advice: keep exactbloom:7.6 for column family default; with no other do lookups read "
            "1.1 times fewer tables, or as few with 1.1 times smaller filters.");
}

// The LOG counts the reads of all column families together.
TEST_F(AdviseCommand, SavesTheReadsOfTheAdvisedColumnFamilies) {
  {
    Database db = Open(OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10))), path());
    rocksdb::ColumnFamilyHandle* other = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(4))),
                                       "other", &other)
                    .ok());
    for (const std::uint64_t keys : {2 * kKeys, kKeys / 2}) {
      PutAndFlush(*db, keys, "value", 0, other);
    }
    db->DestroyColumnFamilyHandle(other);
  }
  std::ofstream(path() + "/LOG", std::ios::app)
      << "Uptime(secs): 20.0 total, 20.0 interval\nrocksdb.number.keys.read COUNT : 90000\n"
      << "rocksdb.bloom.filter.full.positive COUNT : 20000\n";
  double all_now = 0.0;
  double all_saved = 0.0;
  const json together = AskToolForJson("advise " + path());
  for (const json& family : together.at("column_families")) {
    all_now += family.at("now").at("wasted_reads").get<double>();
  }
  for (const std::string name : {"default", "other"}) {
    const json report = AskToolForJson("advise --column-family " + name + " " + path());
    const json& all = report.at("all");
    const double saved = all.at("now").at("wasted_reads").get<double>() -
                         all.at("advice").at("wasted_reads").get<double>();
    const double counted = report.at("counted").at("saved_table_reads_per_second");
    EXPECT_NEAR(counted, 1000.0 * saved / all_now, 1e-6) << name;
    all_saved += counted;
  }
  EXPECT_LT(all_saved, 1000.0);
}

TEST_F(AdviseCommand, SharesMemoryAmongColumnFamilies) {
  {
    Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), path());
    rocksdb::ColumnFamilyHandle* other = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(db->GetOptions(), "other", &other).ok());
    PutAndFlush(*db, kKeys, "value", 0, other);
    db->DestroyColumnFamilyHandle(other);
  }
  const json families = AskToolForJson("advise --memory 40000 " + path()).at("column_families");
  ASSERT_EQ(families.size(), 2U);
  EXPECT_EQ(families[0].at("memory_bytes"), 30000);
  EXPECT_EQ(families[1].at("memory_bytes"), 10000);
  EXPECT_EQ(families[1].at("column_family"), "other");

  const std::string text = AskTool("advise --details " + path()).out;
  for (const char* line : {
           "[DBOptions]\n    listeners=exactbloom_tree\n  [TableOptions/BlockBasedTable "
           "\"default\"]",
           "In C++, for each column family:\n  rocksdb::Status status = "
           "exactbloom::SetFilterPolicy(\n      &db_options, &family_options, \"",
           "  [TableOptions/BlockBasedTable \"other\"]",
       }) {
    EXPECT_TRUE(Mentions(text, line));
  }
  EXPECT_TRUE(Mentions(AskTool("advise --column-family other " + path()).out,
                       "RocksDB's own, and needs no library"));
  EXPECT_TRUE(Mentions(AskTool("advise --column-family others " + path()).err,
                       "no keys in tables of column family others"));
}

// The tables were written before the policy was set.
TEST_F(AdviseCommand, AdvisesACompactionWhereThatBringsTheGain) {
  fs::remove_all(path());
  Make(OptionsWith(nullptr));
  rocksdb::Options options = OptionsWith(nullptr);
  ASSERT_TRUE(SetFilterPolicy(&options, "exactbloom:10").ok());
  Open(options, path());
  const json family = Family();
  EXPECT_TRUE(family.at("advice").is_null());
  EXPECT_TRUE(family.at("compact"));
  EXPECT_EQ(family.at("memory_bytes"), family.at("rewritten").at("filter_bytes"));
  EXPECT_GT(family.at("now").at("wasted_reads"),
            100.0 * family["rewritten"].at("wasted_reads").get<double>());
  const std::string text = AskTool("advise --details " + path()).out;
  EXPECT_TRUE(
      Mentions(text, "Advice: keep exactbloom:10 for column family default, and compact, since"));
  EXPECT_TRUE(Mentions(text, "db->CompactRange(all, family, nullptr, nullptr);"));
  EXPECT_EQ(text.find("In C++:"), std::string::npos);
}

// The filter of a small run that was written before the large one is smaller than it would be now.
TEST_F(AdviseCommand, AdvisesNoCompactionOfATreeThatGrewWithTheSetting) {
  fs::remove_all(path());
  rocksdb::Options options = OptionsWith(nullptr);
  ASSERT_TRUE(SetFilterPolicy(&options, "exactbloom:10").ok());
  {
    const Database db = Open(options, path());
    for (const std::uint64_t keys : {kKeys / 10, 10 * kKeys}) PutAndFlush(*db, keys);
  }
  const json family = Family();
  EXPECT_GT(family.at("now").at("wasted_reads"),
            tool::kLeastGain * family.at("rewritten").at("wasted_reads").get<double>());
  EXPECT_TRUE(family.at("advice").is_null());
  EXPECT_FALSE(family.at("compact"));
}

TEST_F(AdviseCommand, AdvisesAGainOfMoreThanATenth) {
  fs::remove_all(path());
  Make(OptionsWith(PolicyPointer(rocksdb::NewRibbonFilterPolicy(15.5, -1))));
  const json family = Family();
  ASSERT_FALSE(family.at("advice").is_null()) << family;
  const double gain = family.at("rewritten").at("wasted_reads").get<double>() /
                      family.at("advice").at("wasted_reads").get<double>();
  EXPECT_GT(gain, 1.1);
  EXPECT_LT(gain, 1.3);
}

// Of runs that differ little the division wastes 1.05 times fewer reads.
TEST_F(AdviseCommand, AdvisesNothingForASmallGain) {
  fs::remove_all(path());
  rocksdb::Options options = OptionsWith(nullptr);
  ASSERT_TRUE(SetFilterPolicy(&options, "exact_ribbon:10").ok());
  {
    const Database db = Open(options, path());
    for (const std::uint64_t keys : {7 * kKeys, 2 * kKeys}) PutAndFlush(*db, keys);
  }
  const json family = Family();
  EXPECT_TRUE(family.at("advice").is_null()) << family;
  EXPECT_FALSE(family.at("compact"));
  const double present = family.at("rewritten").at("wasted_reads");
  EXPECT_GT(present, 1.03 * family.at("candidates").at(0).at("wasted_reads").get<double>());
}

// In the memory that they have together, within a tenth of what a setting for each would waste.
TEST_F(AdviseCommand, GivesOneSettingToAllColumnFamilies) {
  constexpr int kFamilies = 12;
  {
    const rocksdb::Options options = OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10)));
    Database db = Open(options, path());
    for (int i = 0; i < kFamilies; ++i) {
      rocksdb::ColumnFamilyHandle* other = nullptr;
      ASSERT_TRUE(db->CreateColumnFamily(options, fmt::format("other{}", i), &other).ok());
      for (int run = 0; run <= i % 3; ++run) {
        PutAndFlush(*db, kKeys / (i % 5 + 1), "value", 0, other);
      }
      db->DestroyColumnFamilyHandle(other);
    }
  }
  const json report = AskToolForJson("advise " + path());
  const json& families = report.at("column_families");
  ASSERT_EQ(families.size(), kFamilies + 1U);
  std::uint64_t memory = 0;
  double apart = 0.0;
  for (const json& family : families) {
    memory += family.at("memory_bytes").get<std::uint64_t>();
    apart += family.at("advice").at("wasted_reads").get<double>() / (kFamilies + 1);
  }
  const json& all = report.at("all");
  EXPECT_EQ(all.at("memory_bytes"), memory);
  EXPECT_LE(all.at("advice").at("filter_bytes"), memory);
  for (const json& candidate : all.at("candidates")) {
    EXPECT_LE(all["advice"]["wasted_reads"], 1.1 * candidate.at("wasted_reads").get<double>());
  }
  const std::string text = AskTool("advise " + path()).out;
  const std::string verdict = report.at("verdict");
  EXPECT_EQ(text.find(verdict.substr(0, 40)), 0U) << text;
  EXPECT_GT(text.rfind(verdict.substr(0, 40)), text.size() - 2 * verdict.size()) << text;
  EXPECT_TRUE(Mentions(text, "for all 13 column families"));
  EXPECT_TRUE(Mentions(
      text, "A setting for each column family would waste " + tool::WastedPerThousand(apart)));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), tool::kMostLines) << text;
  EXPECT_EQ(AskToolForJson("advise --column-family other1 " + path()).at("column_families").at(0),
            families[2]);
}

TEST_F(AdviseCommand, KeepsTheBudgetOfOneOfSeveralColumnFamilies) {
  const std::string policies[] = {"exactbloom:10", "{id=exactbloom;memory_budget=1000000}"};
  for (const bool is_first : {false, true}) {
    fs::remove_all(path());
    rocksdb::Options first = OptionsWith(nullptr);
    rocksdb::Options second = first;
    ASSERT_TRUE(SetFilterPolicy(&first, policies[is_first ? 1 : 0]).ok());
    ASSERT_TRUE(SetFilterPolicy(&first, &second, policies[is_first ? 0 : 1]).ok());
    {
      const Database db = Open(first, path());
      rocksdb::ColumnFamilyHandle* other = nullptr;
      ASSERT_TRUE(db->CreateColumnFamily(second, "other", &other).ok());
      PutAndFlush(*db, kKeys);
      PutAndFlush(*db, kKeys, "value", 0, other);
      ASSERT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
    }
    const std::string candidates =
        AskToolForJson("advise " + path()).at("all").at("candidates").dump();
    EXPECT_TRUE(Mentions(candidates, "memory_budget=1000000")) << is_first;
  }
}

TEST_F(AdviseCommand, DoesWithoutOptionsAndWithoutOneTable) {
  fs::resize_file(TableFilesIn(path()).back(), 100);
  EXPECT_EQ(AskToolForJson("advise " + path(), 1).at("unreadable_tables"), 1);
  for (const auto& file : fs::directory_iterator(path())) {
    if (file.path().filename().string().rfind("OPTIONS-", 0) == 0) fs::remove(file.path());
  }
  const json report = AskToolForJson("advise " + path(), 1);
  EXPECT_TRUE(report.at("options_file").is_null());
  EXPECT_EQ(report.at("column_families").at(0).at("now").at("policy"), "not known");
  EXPECT_EQ(report["column_families"][0].at("keys"), 5 * kKeys / 2);
  EXPECT_TRUE(Mentions(AskTool("advise --details " + path()).out, "No OPTIONS file"));
}

TEST_F(AdviseCommand, RefusesQuestionsWithoutAnswer) {
  ExpectRefusal(AskTool("advise --memory 10 " + path()),
                "the memory is too small for a filter of the 9,000 keys of column family default, "
                "whose share is 10 B");
  {
    Database db = Open(OptionsWith(PolicyPointer(rocksdb::NewBloomFilterPolicy(10))), path());
    rocksdb::ColumnFamilyHandle* small = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(db->GetOptions(), "small", &small).ok());
    PutAndFlush(*db, 1, "value", 0, small);
    db->DestroyColumnFamilyHandle(small);
  }
  const std::string text = AskTool("advise --details --memory 10000 " + path()).out;
  EXPECT_TRUE(Mentions(text, "none: see below\n"));
  EXPECT_TRUE(Mentions(text, "for 1 of 2 column families"));
  EXPECT_TRUE(
      Mentions(text, "No advice for small: the memory is too small for a filter of the 1 "));
  const std::string table = TableFilesIn(path()).front();
  ExpectRefusal(AskTool("advise " + table), "is neither a database's directory nor an info log");
}

}  // namespace
}  // namespace exactbloom
