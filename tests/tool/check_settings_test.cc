// check names each setting that leaves the tables of a database with other filters than it says, or
// with none; and says what a program must do for the names in the file.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/options_util.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;
using testing::AskTool;
using testing::AskToolForJson;

// What the tables of a database get.
struct TableFilters {
  double bits_per_key = 10.0;  // 0: no filter
  bool are_partitioned = false;
  std::uint64_t partition_bytes = 4096;
};

// Lines of an OPTIONS file, what they say, and what check has to say of them.
struct Setting {
  std::string family;  // lines of CFOptions
  std::string tables;  // lines of TableOptions/BlockBasedTable
  TableFilters said;
  const char* words = "";  // in the finding, or in the note if there is none
};

const std::string kBloom = "filter_policy=bloomfilter:10\n";
const std::string kPrefixesAlone = kBloom + "whole_key_filtering=false";
constexpr char kNoKey[] = "without a prefix_extractor filters hold no key, and tables get none";

const Setting kSettings[] = {
    {"", kBloom, {}, ""},
    // Policies.
    {"", "filter_policy=nullptr", {0}, ""},
    {"", "filter_policy=bloomfilter:0", {0}, "tables get no filter"},
    {"", "filter_policy=classic_bloom:0", {0}, "tables get no filter"},
    {"", "filter_policy=bloomfilter:0.2", {0.2}, "takes it for bloomfilter:0:false"},
    {"", "filter_policy=bloomfilter:0.7", {0.7}, "takes it for bloomfilter:1:false"},
    {"", "filter_policy=bloomfilter:20", {20}, ""},
    {"", "filter_policy=bloomfilter:300", {300}, "takes it for bloomfilter:100:false"},
    {"", "filter_policy=ribbonfilter:0.2:-1", {0.2}, "takes it for ribbonfilter:0:-1"},
    {"", "filter_policy=rocksdb.BuiltinBloomFilter", {10}, "but writes none"},
    {"", "filter_policy=rocksdb.internal.FastLocalBloomFilter:10", {}, ""},
    {"", "filter_policy=classic_bloom:20", {20}, ""},
    {"", "filter_policy=rocksdb_bloom:0.2", {0.2}, "with less than 0.5 bits per key"},
    // Settings of tables.
    {"", kBloom + "partition_filters=true", {10, true}, "takes it for false"},
    {"", kBloom + "partition_filters=1\nindex_type=kTwoLevelIndexSearch", {10, true}, ""},
    {"", kBloom + "partition_filters=false\nindex_type=kTwoLevelIndexSearch", {}, ""},
    {"", kBloom + "metadata_block_size=1K", {10, false, 1024}, ""},
    {"", kBloom + "metadata_block_size=1e4", {10, false, 10000}, "takes it for 1"},
    {"", kBloom + "metadata_block_size=4KB", {}, ""},
    // Keys and prefixes.
    {"", kPrefixesAlone, {}, kNoKey},
    {"prefix_extractor=nullptr", kPrefixesAlone, {}, kNoKey},
    {"prefix_extractor=fixed:10", kPrefixesAlone, {}, ""},
    {"prefix_extractor={id=rocksdb.CappedPrefix.10}", kPrefixesAlone, {}, ""},
    {"prefix_extractor=rocksdb.Noop", kPrefixesAlone, {}, ""},
    {"prefix_extractor=fixd:8", kPrefixesAlone, {}, "meant\":\"prefix_extractor=fixed:8\""},
    {"prefix_extractor=fixed", kPrefixesAlone, {}, "does not understand it"},
    {"prefix_extractor=fixed:-1", kPrefixesAlone, {}, "takes it for rocksdb.FixedPrefix.184467"},
    {"prefix_extractor=Mine", kPrefixesAlone, {0}, "without it filters hold no key"},
    {"prefix_extractor=Mine", kBloom, {}, "without it filters hold no prefixes"},
    {"", "whole_key_filtering=false", {0}, ""},
    // Tables in the section of the column family, which the other section replaces.
    {"table_factory=PlainTable", kBloom, {0}, "takes BlockBasedTable, by the section of line "},
    {"block_based_table_factory={filter_policy=bloomfilter:20}", kBloom, {20}, "drops this, since"},
    {"table_factory={id=BlockBasedTable;filter_policy=bloomfilter:20}",
     kBloom,
     {20},
     "drops this, since"},
    {"optimize_filters_for_hits=true", kBloom, {}, ""},
};

class FilterSettings : public ::testing::Test {
 protected:
  FilterSettings() { RegisterFilterPolicies(); }

  void Write(const std::string& text) const { std::ofstream(options_) << text; }

  // Opens a new database with the file, writes a table and looks what it got.
  static TableFilters FiltersWith(const std::string& file) {
    constexpr std::uint64_t kKeys = 2000;
    const TemporaryDirectory directory;
    rocksdb::DBOptions options;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    EXPECT_TRUE(rocksdb::LoadOptionsFromFile({}, file, &options, &families).ok());
    options.create_if_missing = true;
    const Database db = Open({options, families.at(0).options}, directory.path("db"));
    PutAndFlush(*db, kKeys);
    rocksdb::TablePropertiesCollection tables;
    EXPECT_TRUE(db->GetPropertiesOfAllTables(&tables).ok());
    const auto kept = db->GetOptions().table_factory;
    const auto& table_options = *kept->GetOptions<rocksdb::BlockBasedTableOptions>();
    // A filter without whole keys is small, and as it should be.
    const double bytes = static_cast<double>(tables.begin()->second->filter_size);
    const double bits =
        bytes == 0.0 || table_options.whole_key_filtering ? 8.0 * bytes / kKeys : 10.0;
    return {bits, table_options.partition_filters, table_options.metadata_block_size};
  }

  static bool AreAlike(const TableFilters& one, const TableFilters& other) {
    return std::abs(one.bits_per_key - other.bits_per_key) <= 0.1 * one.bits_per_key &&
           one.are_partitioned == other.are_partitioned &&
           one.partition_bytes == other.partition_bytes;
  }

  TemporaryDirectory directory_;
  const std::string options_ = directory_.path("OPTIONS");
};

TEST_F(FilterSettings, AreFindingsIfTablesGetOtherFilters) {
  for (const Setting& setting : kSettings) {
    Write(
        fmt::format("[DBOptions]\n[CFOptions \"default\"]\n{}\n[TableOptions/BlockBasedTable "
                    "\"default\"]\n{}\n",
                    setting.family, setting.tables));
    SCOPED_TRACE(setting.family + "\n" + setting.tables);
    const bool as_said = AreAlike(setting.said, FiltersWith(options_));
    const json report = AskToolForJson("check --registers " + options_, as_said ? 0 : 1);
    EXPECT_EQ(report.at("findings").size(), as_said ? 0 : 1);
    const json& remarks = report.at(as_said ? "notes" : "findings");
    EXPECT_EQ(remarks.empty(), *setting.words == 0) << remarks;
    EXPECT_TRUE(Mentions(remarks.dump(), setting.words));
  }
}

TEST_F(FilterSettings, OfTheMemtableAreAsRocksDbTakesThem) {
  const struct {
    const char* lines;
    double ratio;       // that a database takes
    const char* words;  // of the finding
  } kMemtables[] = {
      {"memtable_prefix_bloom_size_ratio=0.9", 0.25, "takes it for 0.25"},
      {"memtable_prefix_bloom_size_ratio=-1", 0.0, "takes it for 0"},
      {"memtable_prefix_bloom_size_ratio=0.1", 0.1, "the memtable's filter holds no key"},
      {"memtable_prefix_bloom_size_ratio=0.1\nmemtable_whole_key_filtering=true", 0.1, ""},
      {"memtable_prefix_bloom_size_ratio=0.1\nprefix_extractor=fixed:8", 0.1, ""},
      {"memtable_prefix_bloom_size_ratio=0.000000", 0.0, ""},
  };
  for (const auto& memtable : kMemtables) {
    SCOPED_TRACE(memtable.lines);
    Write(fmt::format("[DBOptions]\n[CFOptions \"default\"]\n{}\n", memtable.lines));
    rocksdb::DBOptions options;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    ASSERT_TRUE(rocksdb::LoadOptionsFromFile({}, options_, &options, &families).ok());
    options.create_if_missing = true;
    const TemporaryDirectory directory;
    const Database db = Open({options, families.at(0).options}, directory.path("db"));
    EXPECT_EQ(db->GetOptions().memtable_prefix_bloom_size_ratio, memtable.ratio);
    const bool is_wrong = *memtable.words != 0;
    const json found = AskToolForJson("check " + options_, is_wrong ? 1 : 0).at("findings");
    EXPECT_EQ(found.size(), is_wrong ? 1 : 0);
    EXPECT_TRUE(Mentions(found.dump(), memtable.words));
  }
}

// Without a section for its tables, a column family has those of its own lines.
TEST_F(FilterSettings, MayBeInTheSectionOfTheColumnFamily) {
  for (const char* line : {"block_based_table_factory={", "table_factory={id=BlockBasedTable;"}) {
    Write(
        fmt::format("[DBOptions]\n[CFOptions \"default\"]\n{}filter_policy=classic_bloom:20;"
                    "optimize_filters_for_memory=false}}\n",
                    line));
    EXPECT_TRUE(AreAlike({20}, FiltersWith(options_)));
    const json report = AskToolForJson("check " + options_, 3);
    ASSERT_EQ(report.at("policies").size(), 1U);
    EXPECT_EQ(report.at("policies")[0].at("filter_policy"), "classic_bloom:20");
  }
}

// RocksDB reads lines that end.
TEST_F(FilterSettings, OfALastLineWithoutEndAreDropped) {
  const std::string text =
      "[DBOptions]\n[CFOptions \"default\"]\n[TableOptions/BlockBasedTable \"default\"]\n";
  Write(text + "filter_policy=bloomfilter:10");
  EXPECT_EQ(FiltersWith(options_).bits_per_key, 0.0);
  const json report = AskToolForJson("check " + options_, 1);
  ASSERT_EQ(report.at("findings").size(), 1U);
  EXPECT_EQ(report.at("findings")[0].at("line"), 4);
  EXPECT_TRUE(Mentions(report.at("findings")[0].at("problem"), "it has no line end"));
  EXPECT_EQ(report.at("policies"), json::array());
  Write(text + "# filter_policy=bloomfilter:10");
  EXPECT_EQ(AskToolForJson("check " + options_).at("findings"), json::array());
}

// The status without options, with --registers and with --stock, and what is said then.
struct Names {
  const char* listeners;
  const char* policy;
  int status;
  int with_registers;
  int with_stock;
};

TEST_F(FilterSettings, OfOursNeedAProgramThatRegistersThem) {
  const Names kNames[] = {
      {"exactbloom_tree", "exactbloom:10", 3, 0, 1},
      {"exactbloom_tree", "classic_bloom:10", 3, 0, 1},
      {"{}", "classic_bloom:10", 3, 0, 1},
      {"{}", "exactbloom:10", 1, 1, 1},
      {"exactbloom_tree", "bloomfilter:10", 0, 0, 0},
      {"{}", "bloomfilter:10", 0, 0, 0},
      {"exactbloom_trees", "bloomfilter:10", 1, 1, 1},
      {"{}", "classic_blom:10", 1, 1, 1},
  };
  for (const Names& names : kNames) {
    SCOPED_TRACE(fmt::format("{} {}", names.listeners, names.policy));
    Write(
        fmt::format("[DBOptions]\nlisteners={}\n[CFOptions \"default\"]\n"
                    "[TableOptions/BlockBasedTable \"default\"]\nfilter_policy={}\n",
                    names.listeners, names.policy));
    const json needs = AskToolForJson("check " + options_, names.status).at("needs");
    if (names.status == 3) {
      ASSERT_EQ(needs.size(), 1U);
      EXPECT_EQ(needs[0].at("line"), 5);
      EXPECT_EQ(needs[0].at("text"), fmt::format("filter_policy={}", names.policy));
      EXPECT_TRUE(Mentions(needs[0].at("remark"), "needs a program that registers it"));
    }
    const json with = AskToolForJson("check --registers " + options_, names.with_registers);
    EXPECT_EQ(with.at("needs"), json::array());
    EXPECT_EQ(with.at("notes"), json::array());
    const json without = AskToolForJson("check --stock " + options_, names.with_stock);
    EXPECT_EQ(without.at("needs"), json::array());
    if (names.status != 3) continue;
    EXPECT_TRUE(Mentions(without.at("findings").dump(), "stock RocksDB does not know it"));
  }
}

TEST_F(FilterSettings, SayWhatRegisteringIs) {
  Write(
      "[DBOptions]\n[CFOptions \"default\"]\n[TableOptions/BlockBasedTable \"default\"]\n"
      "filter_policy=classic_bloom:10\n");
  const testing::Outcome asked = AskTool("check " + options_);
  EXPECT_EQ(asked.status, 3);
  EXPECT_TRUE(Mentions(asked.out, "RegisterFilterPolicies(), is preloaded, or has"));
  EXPECT_TRUE(Mentions(asked.err, "right only if the program registers ExactBloom's policies"));
  testing::ExpectRefusal(AskTool("check --stock --registers " + options_), "--stock");
}

// A program may have listeners of its own, which nobody else knows.
TEST_F(FilterSettings, OfListenersOfTheProgramAreNotes) {
  Write("[DBOptions]\nlisteners=Mine:Other\n[CFOptions \"default\"]\n");
  const json notes = AskToolForJson("check " + options_).at("notes");
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[0].at("line"), 2);
  EXPECT_TRUE(Mentions(notes[0].at("remark"), "'Mine'"));
  EXPECT_TRUE(Mentions(AskTool("check " + options_).out, "  note: only a program that registers"));
  const std::string known = "check --known-listener Mine --known-listener Other ";
  EXPECT_EQ(AskToolForJson(known + options_).at("notes"), json::array());
  // Alone it is of no use, and of no harm.
  Write("[DBOptions]\nlisteners=exactbloom_tree\n[CFOptions \"default\"]\n");
  EXPECT_TRUE(Mentions(AskToolForJson("check " + options_).at("notes").dump(), "exactbloom_tree"));
}

// RocksDB 7.8 takes names in braces for one, whoever registers them: db_bench writes such files.
TEST_F(FilterSettings, OfListenersInBracesAreReadAsRocksDbDoes) {
  rocksdb::DBOptions options;
  RegisterFilterPolicies();
  rocksdb::GetDBOptionsFromMap({}, {}, {{"listeners", "{exactbloom_tree:exactbloom_tree}"}},
                               &options)
      .PermitUncheckedError();
  const bool reads_both = options.listeners.size() == 2;
  const auto check = [&](const std::string& listeners, int status) {
    Write("[DBOptions]\nlisteners={" + listeners + "}\n[CFOptions \"default\"]\n");
    return AskToolForJson("check --registers " + options_, status);
  };
  const json others = check("Mine:Other", 0);
  EXPECT_EQ(others.at("findings"), json::array());
  const std::string notes = others.at("notes").dump();
  EXPECT_EQ(notes.find("only the program itself can add them") != std::string::npos, !reads_both);
  EXPECT_EQ(check("exactbloom_tree:Mine", 0).at("findings"), json::array());
  const json found = check("Mine:exactbloom_tree", reads_both ? 0 : 1).at("findings");
  ASSERT_EQ(found.size(), reads_both ? 0 : 1);
  if (reads_both) return;
  EXPECT_EQ(found[0].at("meant"), "listeners=exactbloom_tree:Mine");
}

}  // namespace
}  // namespace exactbloom
