// Every kind of table: full and partitioned filters, of whole keys, prefixes or both, in every
// format version.
#include <gtest/gtest.h>
#include <rocksdb/slice_transform.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

#include "sample_database.h"

namespace exactbloom {
namespace {

enum class Content { kWholeKeys, kPrefixes, kBoth };

using Shape = std::tuple<FilterKind, bool, Content, std::uint32_t>;

constexpr std::uint64_t kKeys = 2000;

class TableTest : public testing::TestWithParam<Shape> {
 protected:
  static rocksdb::Options TableOptions() {
    const auto [kind, partitioned, content, format_version] = GetParam();
    rocksdb::BlockBasedTableOptions table_options;
    table_options.filter_policy = NewPolicy(kind);
    table_options.format_version = format_version;
    table_options.whole_key_filtering = content != Content::kPrefixes;
    if (partitioned) PartitionFilters(512, &table_options);
    rocksdb::Options options = OptionsWith(table_options);
    if (content != Content::kWholeKeys) {
      options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
    }
    return options;
  }

  // Only every other hundred of numbers is present, so half of all prefixes are absent.
  static std::uint64_t PresentNumber(std::uint64_t i) { return i / 50 * 200 + i % 50 * 2; }

  void Fill() {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(db_->Put({}, KeyOf(PresentNumber(i)), "value").ok());
    }
    ASSERT_TRUE(db_->Flush({}).ok());
    TakeCounts(*db_);
  }

  TemporaryDirectory directory_;
  Database db_ = Open(TableOptions(), directory_.path("db"));
};

std::string NameOf(const testing::TestParamInfo<Shape>& test) {
  const auto [kind, partitioned, content, format_version] = test.param;
  std::string name = kind == FilterKind::kClassic ? "Classic" : "Standard";
  name += partitioned ? "Partitioned" : "Full";
  name += content == Content::kWholeKeys  ? "WholeKeys"
          : content == Content::kPrefixes ? "Prefixes"
                                          : "Both";
  return name + "Version" + std::to_string(format_version);
}

// Seeks ask only filters that hold prefixes.
class PrefixTableTest : public TableTest {};

const auto kKinds = testing::Values(FilterKind::kClassic, FilterKind::kStandard);
const auto kFormatVersions = testing::Values(2, 3, 4, 5);

INSTANTIATE_TEST_SUITE_P(Shapes, TableTest,
                         testing::Combine(kKinds, testing::Bool(),
                                          testing::Values(Content::kWholeKeys, Content::kPrefixes,
                                                          Content::kBoth),
                                          kFormatVersions),
                         NameOf);

INSTANTIATE_TEST_SUITE_P(Shapes, PrefixTableTest,
                         testing::Combine(kKinds, testing::Bool(),
                                          testing::Values(Content::kPrefixes, Content::kBoth),
                                          kFormatVersions),
                         NameOf);

TEST_P(TableTest, NoKeyIsLostAndGetsAreFiltered) {
  Fill();
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    std::string value;
    ASSERT_TRUE(db_->Get({}, KeyOf(PresentNumber(i)), &value).ok());
  }
  TakeCounts(*db_);
  constexpr std::uint64_t kHundreds = kKeys / 50;
  std::uint64_t absent = 0;
  for (std::uint64_t number = 100; number < 2 * 100 * (kHundreds - 1); ++number) {
    if (number / 100 % 2 == 0) continue;
    std::string value;
    ASSERT_TRUE(db_->Get({}, KeyOf(number), &value).IsNotFound());
    ++absent;
  }
  const FilterCounts counts = TakeCounts(*db_);
  // With whole keys in the filter, RocksDB asks for the whole key only; a false positive is then
  // counted. An absent prefix that Get asks for counts as a key in some versions, and as a prefix
  // in others.
  const std::uint64_t useful = std::max(counts.useful, counts.prefix_useful);
  EXPECT_GT(static_cast<double>(useful), 0.94 * static_cast<double>(absent));
  EXPECT_LE(useful, absent);
  if (std::get<Content>(GetParam()) == Content::kWholeKeys) ExpectFiltering(counts, absent);
}

TEST_P(PrefixTableTest, SeeksOfAbsentPrefixesAreFiltered) {
  Fill();
  rocksdb::ReadOptions read_options;
  read_options.prefix_same_as_start = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read_options));
  constexpr std::uint64_t kHundreds = 2 * kKeys / 50;
  for (std::uint64_t hundred = 0; hundred < kHundreds; ++hundred) {
    iterator->Seek(KeyOf(100 * hundred));
    ASSERT_EQ(iterator->Valid(), hundred % 2 == 0) << hundred;
    std::uint64_t found = 0;
    for (; iterator->Valid(); iterator->Next()) ++found;
    ASSERT_EQ(found, hundred % 2 == 0 ? 50U : 0U);
  }
  ASSERT_TRUE(iterator->status().ok());
  const FilterCounts counts = TakeCounts(*db_);
  EXPECT_GE(counts.prefix_checked, kHundreds - 1);
  EXPECT_GT(static_cast<double>(counts.prefix_useful), 0.85 * static_cast<double>(kHundreds / 2));
}

}  // namespace
}  // namespace exactbloom
