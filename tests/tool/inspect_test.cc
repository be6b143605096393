// The reports of inspect on tables with known filters.
#include <gtest/gtest.h>
#include <rocksdb/convenience.h>

#include <cmath>
#include <memory>
#include <string>

#include "exactbloom/false_positive_rate.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/table_filters.h"
#include "exactbloom/theory/confidence_interval.h"
#include "exactbloom/theory/efficiency.h"
#include "faulty_policy.h"
#include "plugin/filter_bits_interface.h"
#include "sample_database.h"
#include "tool_command.h"

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
};

std::ostream& operator<<(std::ostream& out, const Sample& sample) {
  return out << sample.policy << " partitioned " << sample.partitioned << " format "
             << sample.format_version << " snappy " << sample.snappy;
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
    PutAndFlush(*Open(options, directory_.path()), kKeys, std::string(100, 'v'));
  }

  // The share of absent keys that RocksDB's own reader lets pass.
  static double MeasuredRate(const std::string& path, std::uint64_t asked) {
    const PolicyPointer policy = NewPolicy(FilterKind::kClassic);  // reads every family
    std::uint64_t passed = 0;
    EXPECT_TRUE(VisitFilterBlocks(*rocksdb::FileSystem::Default(), path, [&](rocksdb::Slice block) {
                  const std::unique_ptr<rocksdb::FilterBitsReader> reader(
                      policy->GetFilterBitsReader(block));
                  for (std::uint64_t i = 0; i < asked; ++i) {
                    passed += reader->MayMatch("absent " + std::to_string(i)) ? 1 : 0;
                  }
                  return rocksdb::Status::OK();
                }).ok());
    return static_cast<double>(passed);
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
  EXPECT_EQ(filter.at("wide_gap"), false);
  EXPECT_EQ(filter.at("partitioned"), sample.partitioned);
  EXPECT_EQ(filter.at("blocks").get<int>() > 1, sample.partitioned);
  const double rate = filter.at("rate_given_fill");
  EXPECT_DOUBLE_EQ(report["totals"].at("wasted_reads").at("default"), rate);
  if (filter["family"] != "legacy bloom") {
    EXPECT_NEAR(rate / filter.at("exact_rate").get<double>(), 1.0, 0.3);
  }
  if (!filter.at("estimated_keys").is_null()) {
    EXPECT_NEAR(filter["estimated_keys"], kKeys,
                1.0 + 5.0 * filter.at("estimated_keys_deviation").get<double>());
  }
  // Partitions are asked equally here, while the rate is a mean weighted by their keys: nearly the
  // same.
  constexpr std::uint64_t kAsked = 100'000;
  const auto blocks = filter["blocks"].get<std::uint64_t>();
  const std::uint64_t asked = kAsked / blocks;
  const double passed = MeasuredRate(table.at("path"), asked);
  const double z = 4.5;
  const double tolerance = sample.partitioned ? 0.1 : 0.0;
  const Interval interval = WilsonInterval(static_cast<std::uint64_t>(passed), asked * blocks, z);
  if (filter["family"] != "legacy bloom") {  // of which it is a lower bound
    EXPECT_GT(rate, interval.low * (1.0 - tolerance));
  }
  EXPECT_LT(rate, interval.high * (1.0 + tolerance));
}

INSTANTIATE_TEST_SUITE_P(
    All, InspectFilters,
    ::testing::Values(Sample{"none", "none"}, Sample{"bloomfilter:10", "bloom"},
                      Sample{"bloomfilter:10", "bloom", true, 5, true},
                      Sample{"ribbonfilter:10:-1", "ribbon"},
                      Sample{"ribbonfilter:10:-1", "ribbon", true, 5, true},
                      Sample{"bloomfilter:10", "legacy bloom", false, 4, true},
                      Sample{"bloomfilter:10", "legacy bloom", true, 4},
                      Sample{"classic_bloom:10", "exactbloom"},
                      Sample{"standard_bloom:7.5", "exactbloom", false, 5, true},
                      Sample{"{id=classic_bloom;bits_per_key=10;lines=1}", "exactbloom"},
                      Sample{"{id=standard_bloom;bits_per_key=8;lines=1}", "exactbloom"},
                      Sample{"{id=classic_bloom;bits_per_key=10;lines=2}", "exactbloom"},
                      Sample{"{id=standard_bloom;bits_per_key=12;lines=2}", "exactbloom"},
                      Sample{"classic_bloom:10", "exactbloom", true},
                      Sample{"{id=classic_bloom;bits_per_key=10;lines=2}", "exactbloom", true}));

TEST(Inspect, GivesTheExactNumbersOfOurFilters) {
  const TemporaryDirectory directory;
  PutAndFlush(*Open(OptionsWith(NewPolicy(FilterKind::kClassic, 9.5)), directory.path()), kKeys);
  const json report = testing::AskToolForJson("inspect " + directory.path());
  const json& filter = report.at("files")[0].at("filter");
  const std::uint64_t bits = filter.at("m");
  const int probes = filter.at("k");
  EXPECT_EQ(bits, 28'504U);
  EXPECT_EQ(filter.at("kind"), "classic");
  EXPECT_EQ(filter.at("lines"), 0);
  EXPECT_EQ(filter.at("hash_seed"), 0);
  EXPECT_DOUBLE_EQ(filter.at("exact_rate"),
                   FalsePositiveRate(FilterKind::kClassic, bits, kKeys, probes));
  EXPECT_DOUBLE_EQ(filter.at("efficiency"), Efficiency(FilterKind::kClassic, bits, kKeys, probes));
  const auto ones = static_cast<std::uint64_t>(
      std::llround(filter.at("fill").get<double>() * static_cast<double>(bits)));
  EXPECT_DOUBLE_EQ(filter.at("rate_given_fill"),
                   FalsePositiveRateGivenFill(FilterKind::kClassic, bits, ones, probes));

  const testing::Outcome text = testing::AskTool("inspect " + directory.path());
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_EQ(text.err, "");
  EXPECT_NE(text.out.find("classic"), std::string::npos) << text.out;
  const std::string table = report["files"][0].at("path");
  const json alone = testing::AskToolForJson("inspect " + table);
  EXPECT_EQ(alone.at("files")[0].at("filter").at("m"), bits);
  EXPECT_FALSE(alone["files"][0].contains("level"));
  EXPECT_EQ(alone.at("levels").size(), 0U);
}

TEST(Inspect, FlagsAFilterWhoseBitsDoNotMatchItsKeys) {
  const PolicyPointer built_in(rocksdb::NewBloomFilterPolicy(10));
  const TemporaryDirectory directory;
  PutAndFlush(*Open(OptionsWith(PolicyThatLosesBits(built_in)), directory.path()), kKeys);
  const json report = testing::AskToolForJson("inspect " + directory.path());
  const json& filter = report.at("files")[0].at("filter");
  EXPECT_EQ(filter.at("keys"), kKeys);
  EXPECT_LT(filter.at("estimated_keys"), 0.6 * kKeys);
  EXPECT_EQ(filter.at("wide_gap"), true);
  const testing::Outcome text = testing::AskTool("inspect " + directory.path());
  EXPECT_NE(text.out.find("! the filter's bits do not match"), std::string::npos) << text.out;
}

}  // namespace
}  // namespace exactbloom
