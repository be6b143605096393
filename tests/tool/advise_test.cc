// What advise says in text and JSON, its constraints, its counters and its errors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "plugin/c_binding/c_types.h"
#include "sample_database.h"
#include "tool/advise/diagnostics.h"
#include "tool_command.h"

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

  AdviseCommand() {
    const PolicyPointer bloom(rocksdb::NewBloomFilterPolicy(10));
    const Database db = Open(OptionsWith(bloom), path());
    for (int run = 0; run < 3; ++run) PutAndFlush(*db, kKeys);
  }

  std::string path() const { return directory_.path("db"); }

  json Family(const std::string& arguments = "") const {
    return AskToolForJson("advise --check-costs fixed " + path() + " " + arguments)
        .at("column_families")
        .at(0);
  }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.path(name)) << text;
    return directory_.path(name);
  }

  TemporaryDirectory directory_;
};

TEST_F(AdviseCommand, ReadsTheTree) {
  const json family = Family();
  EXPECT_EQ(family.at("column_family"), "default");
  EXPECT_EQ(family.at("keys"), 3 * kKeys);
  EXPECT_EQ(family.at("sorted_runs"), 3);
  const json& level = family.at("levels").at(0);
  EXPECT_EQ(level.at("level"), 0);
  EXPECT_EQ(level.at("tables"), 3);
  EXPECT_EQ(level.at("filters"), json({{"bloom", 1.0}}));
  const json inspected = AskToolForJson("inspect " + path());
  EXPECT_EQ(family.at("now").at("filter_bytes"), inspected.at("totals").at("filter_bytes"));
  EXPECT_DOUBLE_EQ(family["now"].at("wasted_reads"),
                   inspected["totals"].at("wasted_reads").at("default"));
  EXPECT_EQ(family["now"].at("policy"), "bloomfilter:10:false");
}

TEST_F(AdviseCommand, KeepsToTheMemoryOfNow) {
  const json family = Family();
  EXPECT_EQ(family.at("constraint").at("goal"), "memory");
  EXPECT_EQ(family["constraint"].at("value"), family.at("now").at("filter_bytes"));
  for (const json& candidate : family.at("candidates")) {
    EXPECT_LE(candidate.at("filter_bytes"), family["now"]["filter_bytes"]) << candidate;
  }
  const json& advice = family.at("advice");
  EXPECT_LT(advice.at("wasted_reads"), family["now"].at("wasted_reads"));
  EXPECT_EQ(advice.at("options"), fmt::format("[TableOptions/BlockBasedTable \"default\"]\n"
                                              "  filter_policy={}\n",
                                              advice.at("policy").get<std::string>()));
  EXPECT_NE(advice.at("code").get<std::string>().find(
                fmt::format("\"{}\"", advice["policy"].get<std::string>())),
            std::string::npos);
  EXPECT_EQ(advice.at("rebuild"), fmt::format("exactbloom rebuild --policy '{}' {}",
                                              advice["policy"].get<std::string>(), path()));
  EXPECT_EQ(advice.at("tables_left_by_rebuild"), 0);
}

TEST_F(AdviseCommand, MeetsWhatIsWanted) {
  const json memory = Family("--memory 20KB");
  EXPECT_LE(memory.at("advice").at("filter_bytes"), 20 * 1024);
  EXPECT_GE(memory["advice"]["filter_bytes"], 20 * 1024 * 0.99);
  const json rate = Family("--fpr 0.001");
  EXPECT_LE(rate.at("advice").at("worst_rate"), 0.001);
  EXPECT_GE(rate["advice"]["worst_rate"], 0.00095);
  EXPECT_EQ(rate["advice"].at("policy"), "{id=classic_bloom;fpr=0.001}");
  const json reads = Family("--wasted-reads 0.006");
  EXPECT_LE(reads.at("advice").at("wasted_reads"), 0.006);
  EXPECT_GE(reads["advice"]["wasted_reads"], 0.00594);
}

TEST_F(AdviseCommand, TakesTheLatencyOfAReadInUnits) {
  for (const char* latency : {"2ms", "2000us", "2000000ns"}) {
    const json report = AskToolForJson(
        fmt::format("advise --check-costs fixed --read-latency {} {}", latency, path()));
    EXPECT_EQ(report.at("cost_model").at("read_nanoseconds"), 2e6);
    const json& now = report.at("column_families").at(0).at("now");
    EXPECT_DOUBLE_EQ(now.at("lookup_nanoseconds"), now.at("wasted_reads").get<double>() * 2e6 +
                                                       now.at("check_nanoseconds").get<double>());
  }
}

TEST_F(AdviseCommand, SaysWhatChecksCostAndWhetherThatWasMeasured) {
  const auto costs = [this](const std::string& arguments) {
    return AskToolForJson("advise " + path() + arguments).at("cost_model");
  };
  EXPECT_EQ(costs(" --check-costs measured").at("check_costs"), "measured");
  const json measured = costs("");
  EXPECT_EQ(measured.at("check_costs"), "measured");
  ASSERT_EQ(measured.at("check_nanoseconds").size(), 5U);
  for (const auto& [filter, cost] : measured.at("check_nanoseconds").items()) {
    EXPECT_GT(cost.at("in_cache"), 0.0) << filter;
    EXPECT_GT(cost.at("in_memory"), 0.0) << filter;
  }
  const json fixed = costs(" --check-costs fixed");
  EXPECT_EQ(fixed.at("check_costs"), "fixed");
  EXPECT_EQ(fixed.at("check_nanoseconds").at("bloom"), json({{"in_cache", 39}, {"in_memory", 83}}));
  EXPECT_NE(AskTool("advise " + path()).out.find("measured now"), std::string::npos);
}

TEST_F(AdviseCommand, SaysTheSameInText) {
  const json advice = Family().at("advice");
  const testing::Outcome text = AskTool("advise --check-costs fixed " + path());
  EXPECT_EQ(text.status, 0) << text.err;
  for (const std::string& words :
       {"filter_policy=" + advice.at("policy").get<std::string>(),
        advice.at("rebuild").get<std::string>(), std::string("Diagnostics: none."),
        fmt::format("-> {}", advice.at("filter_bytes").get<std::uint64_t>())}) {
    EXPECT_NE(text.out.find(words), std::string::npos) << words << "\n" << text.out;
  }
}

// Then the OPTIONS file has no bits per key, and the tables have.
TEST_F(AdviseCommand, KnowsAPolicyThatTheCInterfaceMade) {
  const json before = Family();
  Open(OptionsWith(PolicyPointer(rocksdb_filterpolicy_create_bloom_full(10))), path());
  const json family = Family();
  EXPECT_EQ(family.at("now").at("policy"), "bloomfilter");
  EXPECT_EQ(family["now"].at("filter_bytes"), before.at("now").at("filter_bytes"));
  EXPECT_EQ(family["now"].at("wasted_reads"), before["now"].at("wasted_reads"));
  const testing::Outcome text = AskTool("advise --check-costs fixed " + path());
  EXPECT_NE(text.out.find("now bloomfilter, made by RocksDB's C interface"), std::string::npos)
      << text.out;
}

TEST_F(AdviseCommand, LeavesAGoodSettingAlone) {
  const std::string policy = Family().at("advice").at("policy");
  AskToolForJson("rebuild --policy '" + policy + "' " + path());
  EXPECT_TRUE(Family().at("advice").is_null()) << Family();
  EXPECT_NE(AskTool("advise --check-costs fixed " + path()).out.find("Keep the present setting"),
            std::string::npos);
  // More memory: the filters are of that kind already, so rebuild would leave them.
  EXPECT_EQ(Family("--memory 14KB").at("advice").at("tables_left_by_rebuild"), 3);
}

TEST_F(AdviseCommand, SharesMemoryAmongColumnFamilies) {
  {
    Database db = Open(OptionsWith(NewPolicy(FilterKind::kClassic)), path());
    rocksdb::ColumnFamilyHandle* other = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(db->GetOptions(), "other", &other).ok());
    PutAndFlush(*db, kKeys, "value", 0, other);
    db->DestroyColumnFamilyHandle(other);
  }
  const json report = AskToolForJson("advise --check-costs fixed --memory 40000b " + path());
  const json& families = report.at("column_families");
  ASSERT_EQ(families.size(), 2U);
  EXPECT_EQ(families[0].at("constraint").at("value"), 30000);
  EXPECT_EQ(families[1].at("constraint").at("value"), 10000);
  EXPECT_EQ(families[1].at("column_family"), "other");
  EXPECT_EQ(families[0].at("advice").at("rebuild"), "exactbloom rebuild " + path());
}

TEST_F(AdviseCommand, AssumesDefaultsWithoutOptions) {
  for (const auto& file : fs::directory_iterator(path())) {
    if (file.path().filename().string().rfind("OPTIONS-", 0) == 0) fs::remove(file.path());
  }
  const json report = AskToolForJson("advise " + path());
  EXPECT_TRUE(report.at("options_file").is_null());
  EXPECT_EQ(report.at("column_families").at(0).at("now").at("policy"), "not known");
  EXPECT_NE(AskTool("advise " + path()).out.find("No OPTIONS file"), std::string::npos);
}

TEST_F(AdviseCommand, CountsReadableTablesWhereOneIsNot) {
  fs::resize_file(TableFilesIn(path()).back(), 100);
  const json report = AskToolForJson("advise " + path(), 1);
  EXPECT_EQ(report.at("unreadable_tables"), 1);
  EXPECT_EQ(report.at("column_families").at(0).at("keys"), 2 * kKeys);
}

TEST_F(AdviseCommand, RefusesQuestionsWithoutAnswer) {
  const auto ask = [this](const std::string& arguments) {
    return AskTool("advise " + path() + " " + arguments);
  };
  ExpectRefusal(ask("--memory 10b"),
                "--memory: 10 bytes are too few for a filter of the 9000 keys");
  ExpectRefusal(ask("--fpr 0.7"), "--fpr 0.7 is outside the range");
  ExpectRefusal(ask("--wasted-reads 0"), "--wasted-reads 0 must be above zero");
  ExpectRefusal(ask("--wasted-reads 3"), "needs no filter");
  ExpectRefusal(ask("--memory 1M --fpr 0.01"),
                "only one of --memory, --fpr, --wasted-reads can be given");
  ExpectRefusal(ask("--read-latency 5"), "--read-latency");
  ExpectRefusal(ask("--read-latency 5min"), "--read-latency");
  ExpectRefusal(ask("--check-costs guessed"), "--check-costs");
  ExpectRefusal(ask("--read-latency -5ms"), "--read-latency: '-5ms' is not a time");
  ExpectRefusal(ask("--statistics " + directory_.path("none")), "cannot be read");
  ExpectRefusal(ask("--statistics " + Write("empty", "nothing\n")), "has no counters");
  ExpectRefusal(AskTool("advise " + directory_.path("none")), "No such file");
  ExpectRefusal(AskTool("advise " + directory_.path()), "no file CURRENT");
  ExpectRefusal(AskTool("advise " + Write("file.sst", "")), "advise takes a database");
}

// Counters.

constexpr const char* kCounters =
    "rocksdb.block.cache.filter.miss COUNT : 3\n"
    "rocksdb.block.cache.filter.hit COUNT : 1000\n"
    "rocksdb.bloom.filter.useful COUNT : 990\n"
    "rocksdb.bloom.filter.full.positive COUNT : 510\n"
    "rocksdb.bloom.filter.full.true.positive COUNT : 500\n"
    "rocksdb.number.keys.read COUNT : 1200\n"
    "rocksdb.db.get.micros P50 : 1.0 P95 : 2.0 P99 : 3.0 P100 : 4.0 COUNT : 7 SUM : 9\n";

TEST_F(AdviseCommand, TakesCountersFromAFile) {
  const json report =
      AskToolForJson("advise --statistics " + Write("statistics", kCounters) + " " + path());
  EXPECT_EQ(report.at("counters"), json({{"lookups", 1200},
                                         {"absent_checks", 1000},
                                         {"false_positives", 10},
                                         {"cache_hits", 1000},
                                         {"cache_misses", 3}}));
  EXPECT_TRUE(AskToolForJson("advise " + path()).at("counters").is_null());
}

TEST(Statistics, HaveTheLastNumberOfEachCounter) {
  std::istringstream text(
      "2026/11/21-12:35:49.0 1 STATISTICS:\n rocksdb.block.cache.miss COUNT : 1\n"
      "rocksdb.bloom.filter.useful COUNT : 5\nrocksdb.bloom.filter.useful COUNT : 8\n"
      "rocksdb.bloom.filter.useful.ness COUNT : 9\nrocksdb.number.keys.read COUNT : many\n");
  const auto counters = tool::ReadStatistics(text);
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->useful, 8U);
  EXPECT_EQ(counters->lookups, 0U);
  std::istringstream other("nothing\n");
  EXPECT_FALSE(tool::ReadStatistics(other));
}

}  // namespace
}  // namespace exactbloom
