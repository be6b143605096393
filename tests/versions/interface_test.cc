// ExactBloom's builder and reader with the interface of each version of RocksDB. Compiled for each
// version, given by ROCKSDB_MAJOR and ROCKSDB_MINOR.
#include <gtest/gtest.h>
#include <rocksdb/table.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "exactbloom/filter.h"
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

struct FinishedFilter {
  Buffer buffer;
  Slice contents;
  std::unique_ptr<FilterBitsReader> reader;
};

FinishedFilter Finish(FilterBitsBuilder& builder) {
  FinishedFilter filter;
  Status status = Status::Corruption("not set");
  filter.contents = builder.Finish(&filter.buffer, &status);
  EXPECT_TRUE(status.ok());
  EXPECT_TRUE(builder.MaybePostVerify(filter.contents).ok());
  filter.reader = NewBitsReader({filter.contents.data(), filter.contents.size()});
  return filter;
}

// The parameter is the kind, or nothing where the builder chooses.
class BuilderOfKind : public testing::TestWithParam<std::optional<FilterKind>> {
 protected:
  static FilterBuilder FiltersOf(double false_positive_rate = 0.0) {
    return *FilterBuilder::Create({GetParam(), 10.0, false_positive_rate});
  }

  std::unique_ptr<FilterBitsBuilder> NewBuilder(double false_positive_rate = 0.0) {
    rocksdb::BlockBasedTableOptions table_options;
    table_options.optimize_filters_for_memory = false;  // the default from 9.2 on
    return NewBitsBuilder(FiltersOf(false_positive_rate),
                          rocksdb::FilterBuildingContext(table_options), memory_fit_);
  }

  // If RocksDB's class has the function, the test calls it through that class, as RocksDB does.
  static NewestFilterBitsBuilder& Newest(FilterBitsBuilder& builder) {
    return dynamic_cast<NewestFilterBitsBuilder&>(builder);
  }

  MemoryFit memory_fit_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, BuilderOfKind,
                         testing::Values(FilterKind::kStandardBloom, FilterKind::kClassicBloom,
                                         FilterKind::kRibbon, std::nullopt));

TEST_P(BuilderOfKind, BuildsAFilterThatTheReaderReads) {
  const auto builder = NewBuilder();
  builder->AddKey("a key alone");
  for (int i = 0; i < 1000; ++i) Newest(*builder).AddKeyAndAlt(std::to_string(i), "prefix");
  EXPECT_EQ(builder->EstimateEntriesAdded(), 1002U);
  const FinishedFilter filter = Finish(*builder);
  EXPECT_TRUE(filter.reader->MayMatch("a key alone") && filter.reader->MayMatch("prefix"));
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(filter.reader->MayMatch(std::to_string(i)));
    refused += filter.reader->MayMatch(std::to_string(1000 + i)) ? 0 : 1;
  }
  EXPECT_GT(refused, 950);
  // The next partition of a table begins with the prefix that the one before ended with.
  Newest(*builder).AddKeyAndAlt("1000", "prefix");
  EXPECT_EQ(builder->EstimateEntriesAdded(), 2U);
  const FinishedFilter next = Finish(*builder);
  EXPECT_TRUE(next.reader->MayMatch("prefix") && next.reader->MayMatch("1000"));
  // A Ribbon filter of so few keys lets all pass.
  EXPECT_EQ(next.reader->MayMatch("999"), GetParam() == FilterKind::kRibbon);
}

TEST_P(BuilderOfKind, SpaceAndRateAreThoseOfTheBlock) {
  for (const std::uint64_t keys : {0U, 1U, 77U, 1000U}) {
    const auto builder = NewBuilder();
    for (std::uint64_t i = 0; i < keys; ++i) builder->AddKey(std::to_string(i));
    const std::size_t space = Newest(*builder).CalculateSpace(keys);
    EXPECT_DOUBLE_EQ(Newest(*builder).EstimatedFpRate(keys, space),
                     keys == 0 ? 0.0 : FiltersOf().Plan(keys).FalsePositiveRate())
        << keys;
    EXPECT_EQ(Finish(*builder).contents.size(), space) << keys;
    if (keys >= 77) {
      EXPECT_GE(builder->ApproximateNumEntries(space), keys);
    }
  }
  const auto builder = NewBuilder();
  EXPECT_LT(Newest(*builder).CalculateSpace(std::size_t{1} << 40), kBlockBytesLimit);
  EXPECT_EQ(Newest(*builder).EstimatedFpRate(1000, 0), 1.0);
  EXPECT_EQ(Newest(*builder).EstimatedFpRate(1000, 13), 1.0);  // the trailer alone
}

// RocksDB asks at every data block, so exact answers would cost too much.
TEST_P(BuilderOfKind, CalculateSpaceOfFiltersSizedByRateIsClose) {
  constexpr double kRate = 0.01;
  const FilterBuilder exact = FiltersOf(kRate);
  const auto builder = NewBuilder(kRate);
  EXPECT_EQ(Newest(*builder).CalculateSpace(0), exact.BlockBytes(0));
  for (const std::uint64_t keys : {1U, 2U, 3U, 77U, 1000U, 1024U, 3000U, 10000U, 24U}) {
    const auto space = static_cast<double>(Newest(*builder).CalculateSpace(keys));
    const auto right = static_cast<double>(exact.Plan(keys).BlockBytes());
    // The slots of a Ribbon filter are rounded up.
    EXPECT_NEAR(space, right, 0.01 * right + 8) << keys;
  }
  EXPECT_LT(Newest(*builder).CalculateSpace(~std::size_t{0}), kBlockBytesLimit);
  for (const std::uint64_t keys : {2'147'483'649U, 3'000'000'000U, 4'294'967'295U}) {
    EXPECT_LE(Newest(*NewBuilder(1e-5)).CalculateSpace(keys), kBlockBytesLimit) << keys;
  }
}

}  // namespace
}  // namespace exactbloom
