// detect_filter_construct_corruption: faults that happen while a filter is built are reported, and
// keep the table out of the database.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <memory>
#include <string>

#include "bits_builder_fixture.h"
#include "builder_fault.h"
#include "observed_policy.h"
#include "plugin/bits_builder.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

constexpr std::uint64_t kKeys = 3000;

void ExpectCorruption(const Status& status, const std::string& what) {
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.ToString().find(what), std::string::npos) << status.ToString();
}

void FlipBit(char& byte) { byte = static_cast<char>(byte ^ 4); }

class FaultDetection : public testing::TestWithParam<FilterKind> {
 protected:
  FaultDetection() { table_options_.detect_filter_construct_corruption = true; }

  rocksdb::BlockBasedTableOptions table_options_ = PlannedSizes();
  PolicyPointer policy_ = NewPolicy(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Kinds, FaultDetection,
                         testing::Values(FilterKind::kClassic, FilterKind::kStandard));

TEST_P(FaultDetection, AFlippedBitOfTheBlockIsReported) {
  const auto builder = NewBuilder(*policy_, table_options_);
  for (const std::size_t byte : {0U, 1000U, 3000U, 3750U, 3762U}) {
    AddNumbers(*builder, kKeys);
    std::unique_ptr<const char[]> buffer;
    Status status;
    const Slice contents = builder->Finish(&buffer, &status);
    ASSERT_TRUE(status.ok());
    ASSERT_EQ(contents.size(), 3763U);
    FlipBit(const_cast<char*>(buffer.get())[byte]);
    ExpectCorruption(builder->MaybePostVerify(contents), "filter block changed");
  }
  AddNumbers(*builder, kKeys);
  FinishAndVerify(*builder);
}

TEST_P(FaultDetection, AFlippedBitOfAHashIsReportedByFinish) {
  BloomFilterBuilder::Options options;
  options.layout = GetParam();
  options.detect_faults = true;
  BloomFilterBuilder filter_builder = *BloomFilterBuilder::Create(options);
  filter::HashStore& hashes = filter_builder.state().Hashes();
  MemoryFit memory_fit;
  const auto builder = NewBitsBuilder(std::move(filter_builder),
                                      rocksdb::FilterBuildingContext(table_options_), memory_fit);
  AddNumbers(*builder, kKeys);
  filter::HashIn(hashes, 1234) ^= 1;
  std::unique_ptr<const char[]> buffer;
  Status status;
  const Slice contents = builder->Finish(&buffer, &status);
  ExpectCorruption(status, "key's hash changed");
  // Even if the block is used, it must not lose a key.
  const std::unique_ptr<rocksdb::FilterBitsReader> reader(policy_->GetFilterBitsReader(contents));
  EXPECT_TRUE(reader->MayMatch("any key"));
  // The builder goes on with the next filter.
  AddNumbers(*builder, 10);
  EXPECT_EQ(builder->EstimateEntriesAdded(), 10U);
  FinishAndVerify(*builder);
}

TEST_P(FaultDetection, IsOffByDefault) {
  const auto builder = NewBuilder(*policy_);
  AddNumbers(*builder, kKeys);
  std::unique_ptr<const char[]> buffer;
  Status status;
  const Slice contents = builder->Finish(&buffer, &status);
  FlipBit(const_cast<char*>(buffer.get())[0]);
  EXPECT_TRUE(builder->MaybePostVerify(contents).ok());
}

TEST_P(FaultDetection, AFlushThatMeetsAFaultFails) {
  for (const bool partitioned : {false, true}) {
    table_options_.filter_policy = std::make_shared<ObservedPolicy>(
        policy_, [](char* block, std::size_t size) { FlipBit(block[size / 2]); });
    if (partitioned) PartitionFilters(512, &table_options_);
    const TemporaryDirectory directory;
    const Database db = Open(OptionsWith(table_options_), directory.path("db"));
    for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(db->Put({}, KeyOf(i), "value").ok());
    ExpectCorruption(db->Flush({}), "filter block changed");
  }
}

}  // namespace
}  // namespace exactbloom
