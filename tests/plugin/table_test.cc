// Every form of table: full and partitioned filters of whole keys, prefixes or both, in every
// format version; and the iterators that ask their filters.
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

using Shape = std::tuple<bool, Content, std::uint32_t>;  // partitioned, content, format version

// The even numbers of every other hundred are present. A prefix stands for a hundred.
constexpr std::uint64_t kHundreds = 40;
constexpr std::uint64_t kKeysOfHundred = 50;

class TableTest : public testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    const auto [partitioned, content, format_version] = GetParam();
    rocksdb::BlockBasedTableOptions table_options;
    // The kinds take turns.
    table_options.filter_policy =
        NewPolicy(format_version % 2 == 0 ? BloomKind::kClassic : BloomKind::kStandard);
    table_options.format_version = format_version;
    table_options.whole_key_filtering = content != Content::kPrefixes;
    if (partitioned) PartitionFilters(512, &table_options);
    rocksdb::Options options = OptionsWith(table_options);
    if (content != Content::kWholeKeys) {
      options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
    }
    db_ = Open(options, directory_.path("db"));
    for (std::uint64_t number = 0; number < 100 * kHundreds; number += 2) {
      if (!IsPresent(number)) continue;
      ASSERT_TRUE(db_->Put({}, KeyOf(number), "value").ok());
    }
    ASSERT_TRUE(db_->Flush({}).ok());
    TakeCounts(*db_);
  }

  static bool IsPresent(std::uint64_t number) { return number % 2 == 0 && number / 100 % 2 == 0; }

  // Seeks to the first key of every hundred, with the last one as upper bound if `bounded`, and
  // expects the present keys.
  FilterCounts SeekAll(rocksdb::ReadOptions read_options, bool bounded) {
    for (std::uint64_t hundred = 0; hundred + 1 < kHundreds; ++hundred) {
      const std::string bound = KeyOf(100 * hundred + 99);
      const rocksdb::Slice bound_slice(bound);
      if (bounded) read_options.iterate_upper_bound = &bound_slice;
      const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read_options));
      std::uint64_t found = 0;
      for (iterator->Seek(KeyOf(100 * hundred)); iterator->Valid() && found < kKeysOfHundred;
           iterator->Next()) {
        ++found;
      }
      const bool ends = bounded || read_options.prefix_same_as_start;
      EXPECT_EQ(found, hundred % 2 == 0 || !ends ? kKeysOfHundred : 0U) << hundred;
      EXPECT_TRUE(iterator->status().ok());
    }
    return TakeCounts(*db_);
  }

  static void ExpectFilteredSeeks(const FilterCounts& counts) {
    EXPECT_GE(counts.prefix_checked, kHundreds - 1);
    EXPECT_GE(counts.prefix_useful, kHundreds / 2 - 3);
    EXPECT_LE(counts.prefix_useful, kHundreds / 2);
  }

  TemporaryDirectory directory_;
  Database db_;
};

std::string NameOf(const testing::TestParamInfo<Shape>& test) {
  const auto [partitioned, content, format_version] = test.param;
  std::string name = partitioned ? "Partitioned" : "Full";
  name += content == Content::kWholeKeys  ? "WholeKeys"
          : content == Content::kPrefixes ? "Prefixes"
                                          : "Both";
  return name + "Version" + std::to_string(format_version);
}

INSTANTIATE_TEST_SUITE_P(Shapes, TableTest,
                         testing::Combine(testing::Bool(),
                                          testing::Values(Content::kWholeKeys, Content::kPrefixes,
                                                          Content::kBoth),
                                          testing::Values(2, 3, 4, 5)),
                         NameOf);

TEST_P(TableTest, NoKeyIsLostAndGetsAndSeeksAreFiltered) {
  std::uint64_t absent = 0;
  for (const bool present : {true, false}) {
    TakeCounts(*db_);
    for (std::uint64_t number = 0; number < 100 * (kHundreds - 1); ++number) {
      // Odd numbers of a present hundred pass a filter of prefixes.
      if (present ? !IsPresent(number) : number / 100 % 2 == 0) continue;
      std::string value;
      const rocksdb::Status status = db_->Get({}, KeyOf(number), &value);
      ASSERT_TRUE(present ? status.ok() : status.IsNotFound()) << number;
      absent += present ? 0 : 1;
    }
  }
  const FilterCounts counts = TakeCounts(*db_);
  // RocksDB asks a filter that has whole keys for these only, and counts false positives. Some
  // versions count an absent prefix of Get as a key, others as a prefix.
  const std::uint64_t useful = std::max(counts.useful, counts.prefix_useful);
  EXPECT_GT(static_cast<double>(useful), 0.94 * static_cast<double>(absent));
  EXPECT_LE(useful, absent);
  if (std::get<Content>(GetParam()) == Content::kWholeKeys) {
    return ExpectFiltering(counts, absent);
  }
  rocksdb::ReadOptions read_options;
  read_options.prefix_same_as_start = true;
  ExpectFilteredSeeks(SeekAll(read_options, false));
}

class IteratorTest : public TableTest {};

INSTANTIATE_TEST_SUITE_P(Shapes, IteratorTest,
                         testing::Values(Shape{false, Content::kPrefixes, 4},
                                         Shape{false, Content::kBoth, 5}),
                         NameOf);

TEST_P(IteratorTest, FiltersWhereTheBoundHasThePrefix) {
  ExpectFilteredSeeks(SeekAll({}, true));
  rocksdb::ReadOptions read_options;
  read_options.auto_prefix_mode = true;
  ExpectFilteredSeeks(SeekAll(read_options, true));
  // Without a bound the seek continues beyond the prefix, so the filter must not be asked.
  EXPECT_EQ(SeekAll(read_options, false).prefix_checked, 0U);
  rocksdb::ReadOptions total_order;
  total_order.total_order_seek = true;
  EXPECT_EQ(SeekAll(total_order, false).prefix_checked, 0U);
}

TEST_P(IteratorTest, SeekForPrevFindsThePrefix) {
  rocksdb::ReadOptions read_options;
  read_options.prefix_same_as_start = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(read_options));
  for (std::uint64_t hundred = 0; hundred + 1 < kHundreds; ++hundred) {
    iterator->SeekForPrev(KeyOf(100 * hundred + 99));
    ASSERT_EQ(iterator->Valid(), hundred % 2 == 0) << hundred;
    if (iterator->Valid()) {
      ASSERT_EQ(iterator->key().ToString(), KeyOf(100 * hundred + 98));
    }
  }
  ExpectFilteredSeeks(TakeCounts(*db_));
}

}  // namespace
}  // namespace exactbloom
