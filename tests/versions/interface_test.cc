// ExactBloom's builder and reader do what each version of RocksDB asks of them. Compiled once for
// each version, which ROCKSDB_MAJOR and ROCKSDB_MINOR name.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "allocation_failure.h"
#include "exactbloom/bloom_filter.h"
#include "exactbloom/false_positive_rate.h"
#include "exactbloom/sizing.h"
#include "plugin/bits_builder.h"
#include "plugin/bits_reader.h"
#include "plugin/filter_bits_interface.h"

namespace exactbloom {
namespace {

using rocksdb::FilterBitsBuilder;
using rocksdb::FilterBitsReader;
using rocksdb::Slice;
using rocksdb::Status;
using Buffer = std::unique_ptr<const char[]>;

class BuilderOfLayout : public testing::TestWithParam<int> {
 protected:
  std::unique_ptr<FilterBitsBuilder> NewBuilder() {
    rocksdb::BlockBasedTableOptions table_options;
    table_options.optimize_filters_for_memory = false;  // the default from 9.2 on
    return NewBitsBuilder(*BloomFilterBuilder::Create({layout_, 10.0, 0}),
                          rocksdb::FilterBuildingContext(table_options), memory_fit_);
  }

  // RocksDB calls through its own class, and so does the test if that class has the function.
  static NewestFilterBitsBuilder& Newest(FilterBitsBuilder& builder) {
    return dynamic_cast<NewestFilterBitsBuilder&>(builder);
  }

  const Layout layout_{FilterKind::kClassic, GetParam()};
  MemoryFit memory_fit_;
};

INSTANTIATE_TEST_SUITE_P(Lines, BuilderOfLayout, testing::Range(0, kMaxLines + 1),
                         testing::PrintToStringParamName());

TEST_P(BuilderOfLayout, BuildsAFilterThatTheReaderReads) {
  const auto builder = NewBuilder();
  for (int i = 0; i < 1000; ++i) builder->AddKey(std::to_string(i));
  EXPECT_EQ(builder->EstimateEntriesAdded(), 1000U);
  Buffer buffer;
  Status status;
  const Slice contents = builder->Finish(&buffer, &status);
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(builder->MaybePostVerify(contents).ok());
  const auto reader = NewBitsReader(BloomFilterView({contents.data(), contents.size()}));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(reader->MayMatch(std::to_string(i)));
  int refused = 0;
  for (int i = 0; i < 1000; ++i) refused += reader->MayMatch(std::to_string(1000 + i)) ? 0 : 1;
  EXPECT_GT(refused, 950);
}

TEST_P(BuilderOfLayout, AddKeyAndAltCountsEachEntryOnce) {
  const auto builder = NewBuilder();
  builder->AddKey("aa");
  for (const auto& [key, alt] : {std::pair("ab", "a"),
                                 {"ab", "a"},
                                 {"ac", "a"},
                                 {"b", "b"},
                                 {"ba", "b"},
                                 {"c", "ba"},
                                 {"ba", "c"},
                                 {"c", "c"},
                                 {"", ""}}) {
    Newest(*builder).AddKeyAndAlt(key, alt);
  }
  EXPECT_EQ(builder->EstimateEntriesAdded(), 8U);  // aa, a, ab, ac, b, ba, c and the empty key
  Buffer buffer;
  const Slice contents = builder->Finish(&buffer);
  const auto reader = NewBitsReader(BloomFilterView({contents.data(), contents.size()}));
  for (const char* entry : {"aa", "a", "ab", "ac", "b", "ba", "c", ""}) {
    EXPECT_TRUE(reader->MayMatch(entry)) << entry;
  }
}

// From 9.6 on, RocksDB omits the last partition if no entry was added, and all of its keys would be
// absent.
TEST_P(BuilderOfLayout, EntriesAreNotZeroWhenMemoryWasShort) {
  const auto builder = NewBuilder();
  faults::Starve([&] { builder->AddKey("key"); });
  EXPECT_GT(builder->EstimateEntriesAdded(), 0U);
  Buffer buffer;
  const Slice contents = builder->Finish(&buffer);
  const std::unique_ptr<FilterBitsReader> stock(
      std::unique_ptr<const rocksdb::FilterPolicy>(rocksdb::NewBloomFilterPolicy(10))
          ->GetFilterBitsReader(contents));
  EXPECT_TRUE(stock->MayMatch("key"));
  EXPECT_TRUE(NewBitsReader(BloomFilterView({contents.data(), contents.size()}))->MayMatch("key"));
  EXPECT_EQ(builder->EstimateEntriesAdded(), 0U);
}

// The next partition of a table begins with the prefix that the one before ended with.
TEST_P(BuilderOfLayout, AddKeyAndAltForgetsAtFinish) {
  const auto builder = NewBuilder();
  Newest(*builder).AddKeyAndAlt("ab", "a");
  Buffer buffer;
  builder->Finish(&buffer);
  Newest(*builder).AddKeyAndAlt("ac", "a");
  EXPECT_EQ(builder->EstimateEntriesAdded(), 2U);
  const Slice contents = builder->Finish(&buffer);
  const auto reader = NewBitsReader(BloomFilterView({contents.data(), contents.size()}));
  EXPECT_TRUE(reader->MayMatch("a"));
  EXPECT_TRUE(reader->MayMatch("ac"));
  EXPECT_FALSE(reader->MayMatch("ab"));
}

TEST_P(BuilderOfLayout, CalculateSpaceIsTheSizeOfTheBlock) {
  for (const std::uint64_t keys : {0U, 1U, 77U, 1000U}) {
    const auto builder = NewBuilder();
    for (std::uint64_t i = 0; i < keys; ++i) builder->AddKey(std::to_string(i));
    const std::size_t space = Newest(*builder).CalculateSpace(keys);
    Buffer buffer;
    EXPECT_EQ(builder->Finish(&buffer).size(), space) << keys;
    if (keys >= 77) {
      EXPECT_GE(builder->ApproximateNumEntries(space), keys);
    }
  }
  EXPECT_LT(Newest(*NewBuilder()).CalculateSpace(std::size_t{1} << 40), kBlockBytesLimit);
}

// It is asked at every data block, so not every answer can take an exact size.
TEST_P(BuilderOfLayout, CalculateSpaceOfFiltersSizedByRateIsClose) {
  BloomFilterBuilder::Options options;
  options.layout = layout_;
  options.false_positive_rate = 0.01;
  const BloomFilterBuilder exact = *BloomFilterBuilder::Create(options);
  const rocksdb::BlockBasedTableOptions table_options;
  const auto builder = NewBitsBuilder(*BloomFilterBuilder::Create(options),
                                      rocksdb::FilterBuildingContext(table_options), memory_fit_);
  EXPECT_EQ(Newest(*builder).CalculateSpace(0), 0U);
  for (const std::uint64_t keys : {1U, 2U, 3U, 77U, 1000U, 1024U, 3000U, 10000U, 24U}) {
    const auto space = static_cast<double>(Newest(*builder).CalculateSpace(keys));
    const auto right = static_cast<double>(exact.Plan(keys).BlockBytes());
    EXPECT_NEAR(space, right, 0.01 * right + kLineBits / 8) << keys;
  }
  EXPECT_LT(Newest(*builder).CalculateSpace(~std::size_t{0}), kBlockBytesLimit);
}

TEST_P(BuilderOfLayout, EstimatedFpRateIsExact) {
  const auto builder = NewBuilder();
  for (const std::uint64_t keys : {0U, 1U, 77U, 1000U}) {
    const std::size_t space = Newest(*builder).CalculateSpace(keys);
    EXPECT_DOUBLE_EQ(Newest(*builder).EstimatedFpRate(keys, space),
                     SizeAtBitsPerKey(layout_, keys, 10.0).false_positive_rate)
        << keys;
  }
  EXPECT_EQ(Newest(*builder).EstimatedFpRate(1000, 0), 1.0);
  EXPECT_EQ(Newest(*builder).EstimatedFpRate(1000, 13), 1.0);  // the trailer alone
}

}  // namespace
}  // namespace exactbloom
