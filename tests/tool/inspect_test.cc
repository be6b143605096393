// The reports of inspect on tables with known filters, what verify measures of them, and which of
// them a database uses.
#include <gtest/gtest.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>

#include <cmath>
#include <string>
#include <vector>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/theory/confidence_interval.h"
#include "plugin/c_binding/c_types.h"
#include "sample_database.h"
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
    rocksdb::BlockBasedTableOptions table_options;
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
    const Layout layout(
        filter.at("kind") == "classic" ? FilterKind::kClassic : FilterKind::kStandard,
        filter.at("lines").get<int>());
    const std::uint64_t bits = filter.at("m");
    const int probes = filter.at("k");
    EXPECT_DOUBLE_EQ(filter.at("exact_rate"), FalsePositiveRate(layout, bits, kKeys, probes));
    if (layout.InLines()) return;
    const auto ones = static_cast<std::uint64_t>(
        std::llround(filter.at("fill").get<double>() * static_cast<double>(bits)));
    EXPECT_DOUBLE_EQ(filter.at("rate_given_fill"),
                     FalsePositiveRateGivenFill(layout.kind, bits, ones, probes));
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
  const double rate = filter.at("rate_given_fill");
  EXPECT_DOUBLE_EQ(report["totals"].at("wasted_reads").at("default"), rate);
  if (filter["family"] != "legacy bloom") {
    EXPECT_NEAR(rate / filter.at("exact_rate").get<double>(), 1.0, 0.3);
  }
  const bool is_ours = filter["family"] == "exactbloom";
  if (is_ours && !sample.partitioned) ExpectExactNumbers(filter);
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
  EXPECT_NEAR(expected / filter.at(is_ours ? "exact_rate" : "rate_given_fill").get<double>(), 1.0,
              is_ours ? 0.02 : 0.05);
  EXPECT_EQ(verified.at("within_interval"), is_ours ? json(true) : json()) << verified;
  constexpr double kDeviations = 4.5;
  const Interval measured = WilsonInterval(verified.at("false_positives"), asked, kDeviations);
  if (filter["family"] != "legacy bloom") {  // of which it is a lower bound
    EXPECT_GT(rate, measured.low);
  }
  EXPECT_LT(rate, measured.high);
}

INSTANTIATE_TEST_SUITE_P(
    All, InspectFilters,
    ::testing::Values(Sample{"none", "none"}, Sample{"bloomfilter:10", "bloom"},
                      Sample{"bloomfilter:10", "bloom", true, 5, true},
                      Sample{"ribbonfilter:10:-1", "ribbon"},
                      Sample{"ribbonfilter:10:-1", "ribbon", true, 5, true},
                      Sample{"bloomfilter:10", "legacy bloom", false, 4, true},
                      Sample{"bloomfilter:10", "legacy bloom", true, 4},
                      Sample{"bloomfilter:10", "legacy bloom", false, 2},
                      Sample{"bloomfilter:10", "bloom", true, 5, false, true},
                      Sample{"ribbonfilter:10:-1", "ribbon", true, 5, false, true},
                      Sample{"classic_bloom:10", "exactbloom", true, 5, false, true},
                      Sample{"classic_bloom:10", "exactbloom"},
                      Sample{"standard_bloom:7.5", "exactbloom", false, 5, true},
                      Sample{"{id=classic_bloom;bits_per_key=10;lines=1}", "exactbloom"},
                      Sample{"{id=standard_bloom;bits_per_key=8;lines=1}", "exactbloom"},
                      Sample{"classic_bloom:10", "exactbloom", true},
                      Sample{"{id=classic_bloom;bits_per_key=10;lines=1}", "exactbloom", true}));

// Which filters a database uses after its options have changed.

// Writes a table, moves it to level 1 and opens the database once more with other options.
// Returns inspect's report on the filter.
json FilterAfter(const rocksdb::Options& before, const rocksdb::Options& after) {
  const TemporaryDirectory directory;
  {
    Database db = Open(before, directory.path());
    PutAndFlush(*db, 500);
    MoveDown(*db, 1);
  }
  Open(after, directory.path());
  const json report = testing::AskToolForJson("inspect " + directory.path());
  EXPECT_GE(report.at("files")[0].at("level"), 1);
  const json filter = report["files"][0].at("filter");
  const bool used = filter.at("used").is_boolean() && filter["used"].get<bool>();
  const double reads = report.at("totals").at("wasted_reads").at("default");
  EXPECT_EQ(reads < 0.05, used || filter["used"].is_null()) << reads;
  return filter;
}

rocksdb::Options WithPrefixes(std::size_t length, bool whole_keys) {
  rocksdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table_options.whole_key_filtering = whole_keys;
  rocksdb::Options options = OptionsWith(table_options);
  if (length != 0) options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(length));
  return options;
}

struct UseCase {
  const char* cause;
  rocksdb::Options before;
  rocksdb::Options after;
  json used;         // null: not known
  const char* note;  // a part of it; empty: there is none
};

TEST(InspectUse, FollowsTheOptions) {
  const auto made = [](const rocksdb::FilterPolicy* policy) {
    return OptionsWith(PolicyPointer(policy));
  };
  const rocksdb::Options ours = OptionsWith(NewPolicy(FilterKind::kClassic));
  const rocksdb::Options standard = OptionsWith(NewPolicy(FilterKind::kStandard));
  const rocksdb::Options none = OptionsWith(nullptr);
  const rocksdb::Options bloom = made(rocksdb::NewBloomFilterPolicy(10));
  const rocksdb::Options ribbon = made(rocksdb::NewRibbonFilterPolicy(10));
  // The OPTIONS file has these without their number.
  const rocksdb::Options c_bloom = made(rocksdb_filterpolicy_create_bloom_full(10));
  const rocksdb::Options c_ribbon = made(rocksdb_filterpolicy_create_ribbon(10));
  const rocksdb::Options foreign = OptionsWith(PolicyThatForgets("no key"));
  const rocksdb::Options both = WithPrefixes(4, true);
  const rocksdb::Options prefixes = WithPrefixes(4, false);
  rocksdb::Options for_hits = ours;
  for_hits.optimize_filters_for_hits = true;
  for (const UseCase& expected : std::vector<UseCase>{
           {"built in, read by ours", bloom, ours, true, ""},
           {"built in, read by another one", ribbon, bloom, true, ""},
           {"of another kind of ours", ours, standard, true, ""},
           {"no policy", ours, none, false, "no filter policy is set"},
           {"ours, read by a built-in policy", ours, bloom, false, "always match"},
           {"from C", c_bloom, c_bloom, true, ""},
           {"from C, Ribbon", c_ribbon, c_ribbon, true, ""},
           {"read from C", bloom, c_bloom, true, ""},
           {"read from C, Ribbon", bloom, c_ribbon, true, ""},
           {"ours, read from C", ours, c_bloom, false, "always match"},
           {"ours, read from C, Ribbon", ours, c_ribbon, false, "always match"},
           {"filters for hits", ours, for_hits, false, "optimize_filters_for_hits"},
           {"keys and prefixes", both, both, true, ""},
           {"prefixes", prefixes, prefixes, true, ""},
           {"prefixes, then keys, too", prefixes, both, true, ""},
           {"other prefixes", prefixes, WithPrefixes(5, false), false, "rocksdb.FixedPrefix"},
           {"no prefixes", prefixes, WithPrefixes(0, true), false, "no prefix extractor"},
           {"keys, then prefixes", bloom, prefixes, false, "whole_key_filtering"},
           {"keys and other prefixes", both, WithPrefixes(5, true), true, "not for prefixes"},
           {"a foreign policy", foreign, foreign, nullptr, "faulty"}}) {
    SCOPED_TRACE(expected.cause);
    const json filter = FilterAfter(expected.before, expected.after);
    EXPECT_EQ(filter.at("used"), expected.used) << filter;
    EXPECT_EQ(filter.contains("use_note"), *expected.note != 0) << filter;
    EXPECT_TRUE(Mentions(filter.value("use_note", ""), expected.note));
  }
}

}  // namespace
}  // namespace exactbloom
