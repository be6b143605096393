// Which tables count as lacking the filter of the current policy.
#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/slice_transform.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "exactbloom/filter_policy.h"
#include "exactbloom/rebuild_filters.h"
#include "exactbloom/table_filters.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 2000;

// A database in memory, with a table of kKeys in level 0.
class WantedFilterTest : public testing::Test {
 protected:
  Database OpenWith(PolicyPointer policy) {
    table_options_.filter_policy = std::move(policy);
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options_));
    return Open(options_, "/db");
  }

  // The number of tables that lack the policy's filter. After a rebuild none does.
  std::uint64_t Lacking(PolicyPointer policy) {
    const Database db = OpenWith(std::move(policy));
    const RebuildResult first = Rebuild(*db);
    const RebuildResult second = Rebuild(*db);
    EXPECT_EQ(first.rewritten_tables, first.lacking_tables);
    EXPECT_EQ(first.still_lacking_tables, 0U);
    EXPECT_EQ(second.lacking_tables, 0U);
    return first.lacking_tables;
  }

  std::uint64_t OtherSize(PolicyPointer policy) {
    RebuildOptions options;
    options.scope = RebuildScope::kOtherSize;
    options.dry_run = true;
    return Rebuild(*OpenWith(std::move(policy)), options).lacking_tables;
  }

  std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  rocksdb::BlockBasedTableOptions table_options_;
  rocksdb::Options options_ = [this] {
    rocksdb::Options options = OptionsWith(nullptr);
    options.env = env_.get();
    return options;
  }();
};

TEST_F(WantedFilterTest, KindAndLinesCountButNotSizeOrPartitions) {
  PutAndFlush(*OpenWith(NewPolicy({FilterKind::kClassic, 0}, 10)), kKeys);
  EXPECT_EQ(Lacking(NewPolicy({FilterKind::kClassic, 0}, 15)), 0U);
  EXPECT_EQ(Lacking(NewPolicy({FilterKind::kClassic, 1}, 15)), 1U);
  EXPECT_EQ(Lacking(NewPolicy({FilterKind::kStandard, 1}, 15)), 1U);
  PartitionFilters(4096, &table_options_);
  EXPECT_EQ(Lacking(NewPolicy({FilterKind::kStandard, 1}, 15)), 0U);
}

// What was built is what is wanted; a tenth more bits are another size.
TEST_F(WantedFilterTest, SizeCountsWhereAskedFor) {
  const auto bloom = [](double bits) { return PolicyPointer(rocksdb::NewBloomFilterPolicy(bits)); };
  const auto ribbon = [](double bits) {
    return PolicyPointer(rocksdb::NewRibbonFilterPolicy(bits, -1));
  };
  const auto classic = [](double bits) { return NewPolicy(FilterKind::kClassic, bits); };
  const auto lines = [](double bits) { return NewPolicy({FilterKind::kStandard, 1}, bits); };
  const std::function<PolicyPointer(double)> families[] = {bloom, ribbon, classic, lines};
  for (const std::uint64_t partitions : {0U, 512U, 4096U}) {
    if (partitions != 0) PartitionFilters(partitions, &table_options_);
    for (const bool fits_memory : {false, true}) {
      table_options_.optimize_filters_for_memory = fits_memory;
      for (const auto& family : families) {
        SCOPED_TRACE(&family - families);
        SCOPED_TRACE(testing::Message() << partitions << (fits_memory ? ", fits memory" : ""));
        env_.reset(rocksdb::NewMemEnv(rocksdb::Env::Default()));
        options_.env = env_.get();
        PutAndFlush(*OpenWith(family(10)), 10 * kKeys);
        EXPECT_EQ(OtherSize(family(10)), 0U);
        EXPECT_EQ(OtherSize(family(fits_memory ? 20 : 11)), 1U);
      }
    }
  }
}

TEST_F(WantedFilterTest, BuiltInFamilies) {
  PutAndFlush(*OpenWith(nullptr), kKeys);
  EXPECT_EQ(Lacking(PolicyPointer(rocksdb::NewBloomFilterPolicy(10))), 1U);
  EXPECT_EQ(Lacking(PolicyPointer(rocksdb::NewBloomFilterPolicy(20))), 0U);
  EXPECT_EQ(Lacking(PolicyPointer(rocksdb::NewRibbonFilterPolicy(10, 0))), 1U);
  EXPECT_EQ(Lacking(PolicyPointer(rocksdb::NewRibbonFilterPolicy(10, 1))), 1U);  // Bloom at 0
  table_options_.format_version = 4;
  EXPECT_EQ(Lacking(PolicyPointer(rocksdb::NewBloomFilterPolicy(10))), 1U);
}

TEST_F(WantedFilterTest, ForFewKeysRibbonBuildsBloom) {
  PutAndFlush(*OpenWith(PolicyPointer(rocksdb::NewRibbonFilterPolicy(10, -1))), 5);
  EXPECT_EQ(Lacking(PolicyPointer(rocksdb::NewRibbonFilterPolicy(10, -1))), 0U);
}

TEST_F(WantedFilterTest, NoFilterIsNeverLacked) {
  PutAndFlush(*OpenWith(NewPolicy(FilterKind::kClassic)), kKeys);
  EXPECT_EQ(Lacking(nullptr), 0U);
  EXPECT_EQ(Lacking(NewPolicy(FilterKind::kStandard, 0.1)), 0U);
  options_.optimize_filters_for_hits = true;  // the table is bottommost
  EXPECT_EQ(Lacking(NewPolicy(FilterKind::kStandard)), 0U);
  PutAndFlush(*OpenWith(nullptr), kKeys);  // above it
  EXPECT_EQ(Lacking(NewPolicy(FilterKind::kStandard)), 1U);
}

TEST_F(WantedFilterTest, TablesWithoutKeysForAFilterLackNothing) {
  {
    const Database db = OpenWith(NewPolicy(FilterKind::kClassic));
    PutAndFlush(*db, kKeys);
    ASSERT_TRUE(db->DeleteRange({}, db->DefaultColumnFamily(), KeyOf(0), KeyOf(10)).ok());
    ASSERT_TRUE(db->Flush({}).ok());
    EXPECT_EQ(ListTableFilters(*db).size(), 2U);
  }
  EXPECT_EQ(Lacking(NewPolicy(FilterKind::kClassic)), 0U);

  table_options_.whole_key_filtering = false;
  options_.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(1000));  // of longer keys only
  PutAndFlush(*OpenWith(NewPolicy(FilterKind::kClassic)), kKeys);
  EXPECT_EQ(Lacking(NewPolicy(FilterKind::kClassic)), 0U);
}

TEST_F(WantedFilterTest, OtherTableFormatsAreRefused) {
  options_.table_factory.reset(rocksdb::NewPlainTableFactory());
  options_.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(1));
  options_.allow_mmap_reads = true;
  options_.env = rocksdb::Env::Default();
  const TemporaryDirectory directory;
  const Database db = Open(options_, directory.path("plain"));
  RebuildResult result;
  EXPECT_TRUE(RebuildFilters(*db, {}, &result).IsNotSupported());
}

}  // namespace
}  // namespace exactbloom
