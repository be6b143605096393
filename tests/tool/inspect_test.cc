// The reports of inspect on tables with known filters, and what verify measures of them.
#include "tool/inspect/inspect.h"

#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>
#include <string>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/theory/confidence_interval.h"
#include "exactbloom/tree_listener.h"
#include "sample_database.h"
#include "tool/database/database_options.h"
#include "tool/database/filter_fill.h"
#include "tool_command.h"
#include "wrong_filters.h"

namespace exactbloom {
namespace {

using nlohmann::json;

constexpr std::uint64_t kKeys = 3000;

struct Sample {
  const char* policy;  // as in an option string
  const char* family;
  bool partitioned = false;
  int format_version = 5;
  bool snappy = false;
  bool reversed = false;  // the order of the keys
};

std::ostream& operator<<(std::ostream& out, const Sample& sample) {
  return out << sample.policy << " partitioned " << sample.partitioned << " format "
             << sample.format_version << " snappy " << sample.snappy << " reversed "
             << sample.reversed;
}

class InspectFilters : public ::testing::TestWithParam<Sample> {
 protected:
  void Build(const Sample& sample) {
    // Else the allocator decides how many bits a filter has.
    rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
    RegisterFilterPolicies();
    if (std::string(sample.policy) != "none") {
      ASSERT_TRUE(
          rocksdb::FilterPolicy::CreateFromString({}, sample.policy, &table_options.filter_policy)
              .ok());
    }
    table_options.format_version = static_cast<std::uint32_t>(sample.format_version);
    if (sample.partitioned) PartitionFilters(512, &table_options);
    rocksdb::Options options = OptionsWith(table_options);
    options.compression = sample.snappy ? rocksdb::kSnappyCompression : rocksdb::kNoCompression;
    if (sample.reversed) options.comparator = rocksdb::ReverseBytewiseComparator();
    PutAndFlush(*Open(options, directory_.path()), kKeys, std::string(100, 'v'));
  }

  static void ExpectExactNumbers(const json& filter) {
    const BloomKind kind =
        filter.at("kind") == "classic" ? BloomKind::kClassic : BloomKind::kStandard;
    const std::uint64_t bits = filter.at("m");
    const int probes = filter.at("k");
    EXPECT_DOUBLE_EQ(filter.at("rate"), FalsePositiveRate(kind, bits, kKeys, probes));
    const auto ones = static_cast<std::uint64_t>(
        std::llround(filter.at("fill").get<double>() * static_cast<double>(bits)));
    EXPECT_DOUBLE_EQ(filter.at("rate_given_fill"),
                     FalsePositiveRateGivenFill(kind, bits, ones, probes));
  }

  TemporaryDirectory directory_;
};

TEST_P(InspectFilters, TellsWhatTheyAreAndLetThrough) {
  const Sample sample = GetParam();
  Build(sample);
  const json report = testing::AskToolForJson("inspect " + directory_.path());
  ASSERT_EQ(report.at("files").size(), 1U);
  const json& table = report["files"][0];
  const json& filter = table.at("filter");
  EXPECT_EQ(table.at("level"), 0);
  EXPECT_EQ(table.at("entries"), kKeys);
  ASSERT_EQ(filter.at("family"), sample.family);
  EXPECT_EQ(report["levels"][0].at("filters").at(sample.family), 1);
  EXPECT_EQ(report["totals"].at("bytes"), table.at("bytes"));
  if (filter["family"] == "none") {
    EXPECT_EQ(report["totals"].at("wasted_reads").at("default"), 1.0);
    return;
  }
  EXPECT_EQ(filter.at("keys"), kKeys);
  EXPECT_EQ(filter.at("used"), true);
  EXPECT_EQ(filter.at("partitioned"), sample.partitioned);
  EXPECT_EQ(filter.at("blocks").get<int>() > 1, sample.partitioned);
  const bool is_ribbon = filter["family"] == "ribbon";
  const bool is_exact_ribbon = filter["family"] == "exact_ribbon";
  double built = 8.0 * kKeys + (is_ribbon ? 20.0 * filter.at("slots").get<double>() : 0.0);
  built /= filter["blocks"].get<double>();
  if (is_exact_ribbon) {
    const auto of_block = static_cast<std::uint64_t>(kKeys / filter["blocks"].get<double>());
    const FilterBuilder builder = *FilterBuilder::Create({FilterKind::kRibbon});
    built += static_cast<double>(builder.FinishBytes(builder.Plan(of_block)));
  }
  if (!is_ribbon || sample.partitioned) built += filter.at("bytes").get<double>();
  // Slots are rounded up, by much in small partitions.
  EXPECT_NEAR(report["totals"].at("build_bytes"), built, (sample.partitioned ? 0.2 : 0.03) * built);
  const double rate = filter.at("rate_given_fill");
  EXPECT_DOUBLE_EQ(report["totals"].at("wasted_reads").at("default"), rate);
  const bool is_ours = filter["family"] == "exact_bloom" || is_exact_ribbon;
  EXPECT_EQ(filter.at("rate_kind"), is_ours ? "exact" : "model");
  const bool is_known = filter["family"] != "legacy_bloom";
  EXPECT_EQ(filter.at("rate").is_null(), !is_known);
  if (is_known) {
    EXPECT_NEAR(rate / filter["rate"].get<double>(), 1.0, sample.partitioned ? 0.3 : 0.15);
  }
  if (!filter["fill"].is_null()) {
    // Small partitions have bits to spare, and more in legacy filters: up to two cache lines, which
    // RocksDB takes to have 128 bytes on 64-bit ARM.
    EXPECT_NEAR(filter["fill"], 0.5, is_known ? 0.2 : 0.3);
  }
  if (is_exact_ribbon) {
    EXPECT_TRUE(filter["fill"].is_null());
    EXPECT_FALSE(filter.contains("kind"));
    EXPECT_NEAR(filter.at("bits_per_key"), 10.0, sample.partitioned ? 0.3 : 0.02);
    EXPECT_EQ(filter["hash_seed"], Mentions(sample.policy, "hash_seed") ? "7" : "0");
  } else if (is_ours && !sample.partitioned) {
    ExpectExactNumbers(filter);
  }
  const json alone = testing::AskToolForJson("inspect " + table.at("path").get<std::string>());
  EXPECT_EQ(alone.at("files")[0].at("filter").at("m"), filter.at("m"));
  EXPECT_FALSE(alone["files"][0].contains("level"));
  EXPECT_EQ(alone.at("levels").size(), 0U);

  const json verified = testing::AskToolForJson("verify --absent 1e5 " + directory_.path());
  EXPECT_EQ(verified.at("keys_checked"), kKeys);
  const std::uint64_t asked = verified.at("absent_checked");
  EXPECT_GT(asked, 95'000U);  // some were present, or drawn twice
  const double expected = verified.at("expected_rate");
  // inspect estimates how many keys each partition of a built-in filter has.
  EXPECT_NEAR(expected / filter.at(is_ours ? "rate" : "rate_given_fill").get<double>(), 1.0,
              is_ours ? 0.02 : 0.05);
  EXPECT_EQ(verified.at("within_interval"), is_ours ? json(true) : json()) << verified;
  constexpr double kDeviations = 4.5;
  const Interval measured = *WilsonInterval(verified.at("false_positives"), asked, kDeviations);
  if (filter["family"] != "legacy_bloom") {  // of which it is a lower bound
    EXPECT_GT(rate, measured.low);
  }
  EXPECT_LT(rate, measured.high);
}

INSTANTIATE_TEST_SUITE_P(
    All, InspectFilters,
    ::testing::Values(Sample{"none", "none"}, Sample{"bloomfilter:10", "bloom"},
                      Sample{"bloomfilter:10", "bloom", true, 5, true},
                      Sample{"ribbonfilter:10:-1", "ribbon"},
                      Sample{"ribbonfilter:2.5:-1", "ribbon"},
                      Sample{"ribbonfilter:12.5:-1", "ribbon"},
                      Sample{"ribbonfilter:7.3:-1", "ribbon", false, 4},
                      Sample{"ribbonfilter:10:-1", "ribbon", true, 5, true},
                      Sample{"bloomfilter:10", "legacy_bloom", false, 4, true},
                      Sample{"bloomfilter:10", "legacy_bloom", true, 4},
                      Sample{"bloomfilter:10", "legacy_bloom", false, 2},
                      Sample{"bloomfilter:10", "bloom", true, 5, false, true},
                      Sample{"ribbonfilter:10:-1", "ribbon", true, 5, false, true},
                      Sample{"classic_bloom:10", "exact_bloom", true, 5, false, true},
                      Sample{"classic_bloom:10", "exact_bloom"},
                      Sample{"standard_bloom:10", "exact_bloom", true, 2, true},
                      Sample{"standard_bloom:7.5", "exact_bloom", false, 5, true},
                      Sample{"classic_bloom:10", "exact_bloom", true},
                      Sample{"exact_ribbon:10", "exact_ribbon", false, 4},
                      Sample{"exact_ribbon:10", "exact_ribbon", false, 5, true, true},
                      Sample{"{id=exact_ribbon;hash_seed=7}", "exact_ribbon", true}));

// What the plan says is what tables get that are written into this tree.
TEST(InspectPlan, IsWhatTablesGet) {
  constexpr std::uint64_t kLarge = 60'000;
  constexpr std::uint64_t kSmall = 300;
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(NewFilterPolicy("exactbloom:10"));
  options.listeners = {NewTreeListener()};
  {
    const Database db = Open(options, directory.path());
    // Flushes of the same size, by which the next one is judged.
    for (std::uint64_t key = 0; key < kLarge; key += kSmall) PutAndFlush(*db, kSmall, "value", key);
    ASSERT_TRUE(ForceCompaction(*db).ok());
    PutAndFlush(*db, kSmall);
  }
  const json report = testing::AskToolForJson("inspect " + directory.path());
  const json& plan = report.at("plans").at(0);
  EXPECT_EQ(plan.at("policy"), "exactbloom:10");
  EXPECT_EQ(plan.at("column_family"), "default");
  ASSERT_EQ(plan.at("tables").size(), 2U);
  const double build_bytes = report.at("totals").at("build_bytes");
  EXPECT_NEAR(plan.at("build_bytes"), build_bytes, 0.001 * build_bytes);
  const double wasted = report.at("totals").at("wasted_reads").at("default");
  EXPECT_NEAR(plan.at("wasted_reads"), wasted, 0.2 * wasted);  // alone, the large run got more
  for (std::size_t i = 0; i < 2; ++i) {
    const json& planned = plan["tables"][i];
    const json& made = report.at("levels").at(i);
    EXPECT_EQ(planned.at("level"), made.at("level"));
    const double bits_per_key = made.at("bits_per_key");
    EXPECT_NEAR(planned.at("bits_per_key"), bits_per_key, 0.03 * bits_per_key);
    EXPECT_EQ(planned.at("filter"), made.at("filters").begin().key());
  }
}

TEST(InspectText, BeginsWithTheAnswer) {
  const TemporaryDirectory directory;
  {
    const PolicyPointer policy(rocksdb::NewBloomFilterPolicy(10));
    PutAndFlush(*Open(OptionsWith(policy), directory.path()), 1);
    Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path());
  }
  const std::string text = testing::AskTool("inspect " + directory.path()).out;
  EXPECT_EQ(
      text.find("Practically no wasted reads per 1,000 lookups; the only table has a working\n"),
      0U)
      << text;
  EXPECT_TRUE(Mentions(text, "    512.00"));
  EXPECT_TRUE(Mentions(text, "\nBuilding the largest filter takes up to 77 B of memory.\n"));
  EXPECT_TRUE(Mentions(text, "1 table with few keys"));
  EXPECT_EQ(text.find(".sst"), std::string::npos);
  EXPECT_TRUE(Mentions(testing::AskTool("inspect --tables " + directory.path()).out, ".sst"));
}

TEST(InspectText, SaysWhetherAFilterOfOursIsLeft) {
  for (const char* policy : {"exact_ribbon:10", "classic_bloom:10"}) {
    SCOPED_TRACE(policy);
    const TemporaryDirectory directory;
    const auto options_of = [](const char* text) {
      rocksdb::Options options = OptionsWith(nullptr);
      EXPECT_TRUE(SetFilterPolicy(&options, text).ok());
      return options;
    };
    PutAndFlush(*Open(options_of(policy), directory.path()), kKeys);
    const Database db = Open(options_of("rocksdb_bloom:10"), directory.path());
    const auto is_left = [&] {
      const std::string text = testing::AskTool("inspect " + directory.path()).out;
      EXPECT_NE(Mentions(text, tool::kHowToRemove), Mentions(text, tool::kCanRemove));
      return bool{Mentions(text, tool::kHowToRemove)};
    };
    EXPECT_TRUE(is_left());
    ASSERT_TRUE(ForceCompaction(*db).ok());
    EXPECT_FALSE(is_left());
  }
}

// Each order differs from every other one; the last table has no keys.
TEST(InspectText, SortsTablesByEachNumber) {
  struct Sizes {
    double wasted;
    std::uint64_t keys, bits, bytes;
  };
  tool::Inspection inspection;
  for (const Sizes& sizes :
       {Sizes{0.1, 100, 500, 900}, {0.3, 300, 900, 100}, {0.2, 50, 1000, 300}, {0.0, 0, 0, 0}}) {
    tool::TableReport& table = inspection.tables.emplace_back();
    table.location.path =
        std::string("/db/") + static_cast<char>('a' + inspection.tables.size() - 1);
    table.filter.family = FilterFamily::kBloom;
    table.fill_rate = sizes.wasted;
    table.filter.entries = table.keys = sizes.keys;
    table.bits = sizes.bits;
    table.filter.bytes = sizes.bytes;
  }
  const auto order_by = [&](tool::SortKey key, std::optional<std::uint64_t> top) {
    tool::InspectArguments arguments;
    arguments.sort = key;
    arguments.top = top;
    std::istringstream lines(FormatInspection(inspection, arguments));
    std::string names;
    for (std::string line; std::getline(lines, line);) {
      if (line.size() > 1 && line[1] == ' ') names += line.front();
      if (Mentions(line, " more)")) names += line;
    }
    return names;
  };
  EXPECT_EQ(order_by(tool::SortKey::kName, std::nullopt), "abcd");
  EXPECT_EQ(order_by(tool::SortKey::kWasted, std::nullopt), "bcad");
  EXPECT_EQ(order_by(tool::SortKey::kKeys, std::nullopt), "bacd");
  EXPECT_EQ(order_by(tool::SortKey::kBits, std::nullopt), "cabd");
  EXPECT_EQ(order_by(tool::SortKey::kSize, std::nullopt), "acbd");
  EXPECT_EQ(order_by(tool::SortKey::kSize, 4), "acbd");
  EXPECT_EQ(order_by(tool::SortKey::kSize, 5), "acbd");
  EXPECT_EQ(order_by(tool::SortKey::kSize, 3), "acb(1 more)");
  EXPECT_EQ(order_by(tool::SortKey::kSize, 0), "(4 more)");
}

TEST(InspectText, PutsColumnFamiliesThatAreAlikeIntoOneLine) {
  tool::FilterSummary same;
  same.tables = same.filtering = 2;
  same.families = {{"bloom", 2}};
  same.keys = 100;
  same.bits = 1000;
  same.wasted_reads = 0.5;
  const auto groups_with = [&](void (*change)(tool::FilterSummary&)) {
    tool::Inspection inspection;
    inspection.families = {{"a", same}, {"b", same}};
    change(inspection.families["b"]);
    return GroupsOf(inspection).size();
  };
  using Sums = tool::FilterSummary;
  EXPECT_EQ(groups_with([](Sums&) {}), 1U);
  EXPECT_EQ(groups_with([](Sums& sums) { sums.bits = 1025; }), 1U);
  EXPECT_EQ(groups_with([](Sums& sums) { sums.bits = 1026; }), 2U);
  EXPECT_EQ(groups_with([](Sums& sums) { sums.filtering = 1; }), 2U);
  EXPECT_EQ(groups_with([](Sums& sums) { sums.unreadable = 1; }), 2U);
  EXPECT_EQ(groups_with([](Sums& sums) { sums.families = {{"ribbon", 2}}; }), 2U);
  EXPECT_EQ(groups_with([](Sums& sums) { sums.families = {{"bloom", 1}}; }), 1U);
  EXPECT_EQ(groups_with([](Sums& sums) { sums.wasted_reads = 0.9; }), 2U);
}

TEST(InspectText, TellsWhatATablesFilterIs) {
  struct Case {
    TableFilter filter;
    const char* name;
    const char* probes;
  };
  const auto made = [](FilterFamily family, std::uint64_t partitions, int least, int most,
                       bool has_prefixes = false, bool has_keys = true) {
    TableFilter filter;
    filter.family = family;
    filter.partitioned = partitions != 0;
    filter.blocks = partitions;
    filter.min_probes = least;
    filter.max_probes = most;
    filter.prefix_filtering = has_prefixes;
    filter.whole_key_filtering = has_keys;
    return filter;
  };
  for (const Case& expected : std::vector<Case>{
           {made(FilterFamily::kNone, 0, 0, 0), "none", "-"},
           {made(FilterFamily::kBloom, 0, 6, 6), "bloom", "6"},
           {made(FilterFamily::kRibbon, 1, 0, 5), "ribbon, 1 partition", "5"},
           {made(FilterFamily::kExactBloom, 3, 4, 7), "classic, 3 partitions", "4-7"},
           {made(FilterFamily::kBloom, 0, 6, 6, true), "bloom, keys and prefixes", "6"},
           {made(FilterFamily::kBloom, 2, 6, 6, true, false), "bloom, 2 partitions, prefixes",
            "6"}}) {
    tool::Inspection inspection;
    inspection.tables.emplace_back().filter = expected.filter;
    inspection.tables.front().location.path = "/db/t";
    setenv("COLUMNS", "300", 1);
    const std::string text = FormatInspection(inspection, {});
    unsetenv("COLUMNS");
    const std::string line = text.substr(text.find("\nt ") + 1);
    const std::string cells = line.substr(0, line.find('\n'));
    EXPECT_TRUE(std::regex_search(
        cells, std::regex(fmt::format(" {}  +(0|-)  +-  +{}  +", expected.name, expected.probes))))
        << cells;
  }
}

// Two range deletions make a table that spans all keys.
TEST(InspectRangeDeletions, WasteNothing) {
  const TemporaryDirectory directory;
  const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path());
  PutAndFlush(*db, kKeys);
  for (int table = 0; table < 4; ++table) {
    for (const std::uint64_t key : {std::uint64_t{0}, 2 * kKeys}) {
      ASSERT_TRUE(
          db->DeleteRange({}, db->DefaultColumnFamily(), KeyOf(key), KeyOf(key) + "!").ok());
    }
    ASSERT_TRUE(db->Flush({}).ok());
  }
  const FilterCounts counts = AskAbsent(*db, kKeys);
  EXPECT_EQ(counts.data_blocks, counts.FalsePositives());
  const json report = testing::AskToolForJson("inspect " + directory.path());
  const json& totals = report.at("totals");
  EXPECT_EQ(totals.at("without_keys"), 4);
  EXPECT_DOUBLE_EQ(totals.at("wasted_reads").at("default"), totals.at("rate_given_fill"));
  const std::string text = testing::AskTool("inspect " + directory.path()).out;
  EXPECT_TRUE(
      Mentions(text, "the only table with keys has a working\nfilter; 4 without keys need none."));
  EXPECT_TRUE(Mentions(text, "no filter needed: range deletions only"));
  const json advised =
      testing::AskToolForJson("advise " + directory.path()).at("column_families").at(0);
  EXPECT_EQ(advised.at("sorted_runs"), 1);
  EXPECT_TRUE(advised.at("warnings").empty()) << advised["warnings"];
}

// With filters for hits RocksDB asks none of the last table of level 0 where that is the deepest.
TEST(InspectFiltersForHits, OfLevel0AloneLeaveOutItsLastTable) {
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  options.optimize_filters_for_hits = true;
  const Database db = Open(options, directory.path());
  for (int table = 0; table < 5; ++table) PutAndFlush(*db, kKeys);
  const auto blocks = static_cast<double>(AskAbsent(*db, kKeys).data_blocks);
  const json totals = testing::AskToolForJson("inspect " + directory.path()).at("totals");
  EXPECT_GT(blocks, 1.0 * kKeys);
  EXPECT_NEAR(totals.at("wasted_reads").at("default"), blocks / kKeys, 0.02);
  EXPECT_EQ(totals.at("filtering"), 4);
  const json advised =
      testing::AskToolForJson("advise " + directory.path()).at("column_families").at(0);
  EXPECT_EQ(advised.at("warnings").at(0).at("name"), "optimize_filters_for_hits");
}

TEST(InspectText, SaysWhyTablesHaveNoFilterAndWhatToDo) {
  const TemporaryDirectory directory;
  PutAndFlush(*Open(OptionsWith(nullptr), directory.path()), 10);
  Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path());
  const std::string text = testing::AskTool("inspect " + directory.path()).out;
  EXPECT_TRUE(
      Mentions(text,
               "\nno filter: the program that wrote it did not have or did not know the policy\n"
               "classic_bloom:10: 1 table\n"
               "  000009.sst\n"
               "  To do: let every program that writes the database load ExactBloom and call\n"
               "  RegisterFilterPolicies(), or preload it, and compact the column family.\n"));
  const std::string alone = testing::AskTool("inspect " + directory.path("*.sst")).out;
  EXPECT_TRUE(Mentions(alone, "no filter: the program that wrote it had no filter policy"));
}

// Some partitions of a table were written while memory or a budget was short.
TEST(InspectPartitions, SomeOfWhichLetAllKeysPass) {
  for (const std::uint64_t key : {std::uint64_t{0}, 2 * (kKeys - 1)}) {
    const TemporaryDirectory directory;
    rocksdb::BlockBasedTableOptions table_options;
    table_options.filter_policy = PolicyThatGivesUp(KeyOf(key));
    PartitionFilters(512, &table_options);
    PutAndFlush(*Open(OptionsWith(table_options), directory.path()), kKeys);
    Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path());
    const json report = testing::AskToolForJson("inspect " + directory.path());
    const json& filter = report.at("files").at(0).at("filter");
    EXPECT_GT(filter.at("blocks"), 1);
    EXPECT_TRUE(Mentions(filter.at("use_note"), "a block that lets all keys pass: memory or a"));
  }
}

TEST(BuiltInRate, OfAFilterWithAbsurdlyManyKeysIsOne) {
  tool::BlockFill block;
  block.filter.family = FilterFamily::kBloom;
  block.filter.probes = 6;
  block.bits = 512;
  EXPECT_EQ(tool::BuiltInRate(block, 50), FalsePositiveRate(BloomKind::kStandard, 512, 50, 6));
  EXPECT_NEAR(tool::BuiltInRate(block, 5000), 1.0, 1e-9);
  EXPECT_EQ(tool::BuiltInRate(block, std::ldexp(1.0, 63)), 1.0);
}

TEST(Inspect, SaysAtLeastWhereATableCannotBeRead) {
  const TemporaryDirectory directory;
  {
    const Database db = Open(OptionsWith(NewPolicy(BloomKind::kClassic)), directory.path());
    PutAndFlush(*db, kKeys);
    PutAndFlush(*db, kKeys);
  }
  const testing::Outcome whole =
      testing::AskTool("inspect --fail-on unfiltered " + directory.path());
  EXPECT_EQ(whole.status, 0);
  EXPECT_EQ(whole.out.find("least"), std::string::npos);
  std::filesystem::resize_file(TableFilesIn(directory.path()).back(), 100);
  const testing::Outcome outcome = testing::AskTool("inspect " + directory.path());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out.find("At least, since 1 table cannot be read: "), 0U) << outcome.out;
  EXPECT_TRUE(Mentions(outcome.out, "\nall, at least "));
  EXPECT_TRUE(Mentions(testing::AskTool("inspect --prometheus " + directory.path()).out,
                       "# 1 table cannot be read: keys, bytes and wasted reads are at least"));
  EXPECT_TRUE(Mentions(testing::AskTool("advise " + directory.path()).out,
                       "All sums are at least these: 1 table cannot be read."));
}

TEST(Inspect, SaysAtLeastOfTheFamilyWhoseTableCannotBeRead) {
  const TemporaryDirectory directory;
  const rocksdb::Options options = OptionsWith(NewPolicy(BloomKind::kClassic));
  {
    const Database db = Open(options, directory.path());
    rocksdb::ColumnFamilyHandle* other = nullptr;
    ASSERT_TRUE(db->CreateColumnFamily(options, "other", &other).ok());
    for (int i = 0; i < 2; ++i) {
      PutAndFlush(*db, kKeys);
      PutAndFlush(*db, kKeys, "value", 0, other);
    }
    ASSERT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
  }
  std::filesystem::resize_file(TableFilesIn(directory.path()).back(), 100);
  const testing::Outcome outcome = testing::AskTool("inspect " + directory.path());
  EXPECT_TRUE(Mentions(outcome.out, "\nother, at least ")) << outcome.out;
  EXPECT_FALSE(Mentions(outcome.out, "\ndefault, at least ")) << outcome.out;
}

TEST(Inspect, ShowsEntriesWithoutFiltersAndIndexes) {
  const TemporaryDirectory directory;
  PutAndFlush(*Open(OptionsWith(nullptr), directory.path()), kKeys);
  EXPECT_TRUE(Mentions(testing::AskTool("inspect " + directory.path()).out, " 3,000         -"));
  const json report = testing::AskToolForJson("inspect " + directory.path());
  const std::uint64_t bytes = report.at("totals").at("index_bytes");
  EXPECT_GT(bytes, 100U);
  EXPECT_EQ(report.at("files").at(0).at("index_bytes"), bytes);
  EXPECT_TRUE(
      Mentions(testing::AskTool("inspect " + directory.path(), "COLUMNS=150").out, "index size"));
}

}  // namespace
}  // namespace exactbloom
