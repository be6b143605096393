// inspect, verify and overlap on databases that RocksDB's own db_bench wrote, with every built-in
// filter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <tuple>

#include "exactbloom/theory/confidence_interval.h"
#include "sample_database.h"
#include "tool_command.h"

namespace exactbloom {
namespace {

using nlohmann::json;

constexpr std::uint64_t kKeys = 20'000;
constexpr double kBloomBitsPerKey = 10;

// What Ribbon takes for the rate of a Bloom filter of kBloomBitsPerKey.
constexpr double kRibbonBitsPerKey = 7;

struct Written {
  const char* name;
  const char* flags;           // db_bench's
  const char* policy;          // unless empty, in an options file instead of the flags
  const char* flushed_family;  // of the table in level 0
  const char* compacted_family;
};

constexpr Written kWritten[] = {
    {"None", "--bloom_bits=0", "", "none", "none"},
    {"LegacyBloomVersion2", "--bloom_bits=10 --format_version=2", "", "legacy bloom",
     "legacy bloom"},
    {"LegacyBloomVersion4", "--bloom_bits=10 --format_version=4", "", "legacy bloom",
     "legacy bloom"},
    {"Bloom", "--bloom_bits=10 --format_version=5", "", "bloom", "bloom"},
    {"RibbonBelowFlushes", "--bloom_bits=10 --use_ribbon_filter=1", "", "bloom", "ribbon"},
    {"RibbonBelowLevel0", "", "ribbonfilter:10:1", "bloom", "ribbon"},
    {"RibbonEverywhere", "", "ribbonfilter:10:-1", "ribbon", "ribbon"}};

using Case = std::tuple<Written, bool, bool>;

class DbBench : public ::testing::TestWithParam<Case> {
 protected:
  static const Written& Filter() { return std::get<0>(GetParam()); }
  static bool IsPartitioned() { return std::get<1>(GetParam()); }

  // A table of all keys in level 1, and one of their deletions in level 0.
  void SetUp() override {
    const std::string command = fmt::format(
        "{} --db={} --num={} --benchmarks=fillseq,flush,compact,deleteseq,flush {}", DB_BENCH,
        directory_.path("db"), kKeys, *Filter().policy != '\0' ? OptionsFile() : Flags());
    const testing::Outcome outcome = testing::RunCommand(command, directory_.path());
    ASSERT_EQ(outcome.status, 0) << command << '\n' << outcome.err;
  }

  void ExpectInspected() const;
  void ExpectVerified() const;
  void ExpectOverlap() const;

 private:
  json Ask(const std::string& subcommand) const {
    return testing::AskToolForJson(subcommand + " " + directory_.path("db"));
  }

  static const char* Compression() { return std::get<2>(GetParam()) ? "snappy" : "none"; }

  static std::string Flags() {
    return fmt::format(
        "--disable_auto_compactions=1 --disable_wal=1 --compression_type={} "
        "--partition_index_and_filters={} {}",
        Compression(), IsPartitioned(), Filter().flags);
  }

  std::string OptionsFile() const {
    std::ofstream(directory_.path("options")) << fmt::format(
        "[Version]\n rocksdb_version=7.8.3\n options_file_version=1.1\n"
        "[DBOptions]\n create_if_missing=true\n"
        "[CFOptions \"default\"]\n disable_auto_compactions=true\n compression={}\n"
        "[TableOptions/BlockBasedTable \"default\"]\n filter_policy={}\n{}",
        std::get<2>(GetParam()) ? "kSnappyCompression" : "kNoCompression", Filter().policy,
        IsPartitioned() ? " partition_filters=true\n index_type=kTwoLevelIndexSearch\n" : "");
    return "--options_file=" + directory_.path("options");
  }

  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Written, DbBench,
                         ::testing::Combine(::testing::ValuesIn(kWritten), ::testing::Bool(),
                                            ::testing::Bool()),
                         [](const auto& test) {
                           return fmt::format("{}{}{}", std::get<0>(test.param).name,
                                              std::get<1>(test.param) ? "Partitioned" : "Full",
                                              std::get<2>(test.param) ? "Snappy" : "Plain");
                         });

void ExpectFilter(const json& filter, const std::string& family, bool partitioned) {
  ASSERT_EQ(filter.at("family"), family);
  if (family == "none") return;
  EXPECT_EQ(filter.at("keys"), kKeys);
  EXPECT_EQ(filter.at("partitioned"), partitioned);
  EXPECT_EQ(filter.at("blocks").get<int>() > 1, partitioned);
  EXPECT_EQ(filter.at("used"), true);
  EXPECT_EQ(filter.at("wide_gap"), false);
  // Partitions are cut for their number of keys to fit into pages, and each is rounded up.
  const double bits = family == "ribbon" ? kRibbonBitsPerKey : kBloomBitsPerKey;
  EXPECT_NEAR(filter.at("bits_per_key"), bits, partitioned ? 0.3 : 0.02);
  EXPECT_NEAR(filter.at("rate_given_fill"), 0.0095, 0.0008);
  if (family == "bloom") {
    const double deviation = filter.at("estimated_keys_deviation");
    EXPECT_NEAR(filter.at("estimated_keys"), kKeys, kZ999 * deviation);
  }
}

void DbBench::ExpectInspected() const {
  const json report = Ask("inspect");
  const json& files = report.at("files");
  ASSERT_EQ(files.size(), 2U);
  const char* const families[] = {Filter().flushed_family, Filter().compacted_family};
  std::map<std::string, int> counts;
  for (int level = 0; level < 2; ++level) {
    SCOPED_TRACE(level);
    ASSERT_EQ(files[static_cast<std::size_t>(level)].at("level"), level);
    EXPECT_EQ(files[static_cast<std::size_t>(level)].at("entries"), kKeys);
    ExpectFilter(files[static_cast<std::size_t>(level)].at("filter"), families[level],
                 IsPartitioned());
    ++counts[families[level]];
  }
  EXPECT_EQ(report.at("totals").at("filters").get<decltype(counts)>(), counts);
}

void DbBench::ExpectVerified() const {
  const json report = Ask("verify");
  EXPECT_EQ(report.at("tables"), 2);
  EXPECT_EQ(report.at("false_negatives"), 0);
  EXPECT_TRUE(report.at("unchecked").empty());
  EXPECT_TRUE(report.at("unreadable").empty());
  // The tool gives an interval around exact rates only, and these are RocksDB's filters.
  EXPECT_TRUE(report.at("within_interval").is_null());
  for (const json& level : report.at("levels")) {
    SCOPED_TRACE(level.dump());
    if (level.at("filter") == "none") {
      EXPECT_EQ(level.at("keys_checked"), 0);
      EXPECT_EQ(level.at("absent_checked"), 0);
      continue;
    }
    EXPECT_EQ(level.at("keys_checked"), kKeys);
    const std::uint64_t asked = level.at("absent_checked");
    EXPECT_GT(asked, 9'000U);
    const double expected = level.at("expected").get<double>() / static_cast<double>(asked);
    const Interval measured = WilsonInterval(level.at("false_positives"), asked, kZ999);
    EXPECT_LE(expected, measured.high);
    // The older format repeats its bits, so that its rate is above the one of its fill.
    const double repetition = level["filter"] == "legacy bloom" ? 1.2 : 1.0;
    EXPECT_GE(expected * repetition, measured.low);
  }
}

void DbBench::ExpectOverlap() const {
  const json overlaps = Ask("overlap");
  const std::string newer = Filter().flushed_family;
  const std::string older = Filter().compacted_family;
  if (newer == "bloom" && older == "bloom" && !IsPartitioned()) {
    ASSERT_EQ(overlaps.at("pairs").size(), 1U);
    for (const json& shared : {overlaps["pairs"][0], overlaps.at("levels").at(0)}) {
      EXPECT_LE(shared.at("low"), kKeys);
      EXPECT_GE(shared.at("high"), kKeys);
      EXPECT_NEAR(shared.at("shared_keys"), kKeys, 0.01 * kKeys);
    }
    EXPECT_TRUE(overlaps.at("not_compared").empty());
    return;
  }
  EXPECT_TRUE(overlaps.at("pairs").empty());
  const std::string reason =
      newer == "none"           ? "there is no filter"
      : newer == "legacy bloom" ? "Bloom filters of RocksDB's older format repeat their bits"
      : newer == "bloom" && IsPartitioned() ? "partitions have no counterpart in another table"
                                            : "Ribbon filters store no bits of a key";
  EXPECT_EQ(overlaps.at("not_compared"), json({{reason, 1}}));
}

TEST_P(DbBench, IsUnderstood) {
  ExpectInspected();
  ExpectVerified();
  ExpectOverlap();
}

}  // namespace
}  // namespace exactbloom
