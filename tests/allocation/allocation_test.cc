// The filter that a table gets, by the contexts that RocksDB makes.
#include "plugin/allocation/allocation.h"

#include <gtest/gtest.h>
#include <rocksdb/table.h>

#include <vector>

#include "exactbloom/levels.h"

namespace exactbloom {
namespace {

using rocksdb::FilterBuildingContext;
using rocksdb::TableFileCreationReason;

constexpr int kLevels = 7;

class AllocationTest : public testing::Test {
 protected:
  FilterBuildingContext Compaction(int level, bool bottommost = false) const {
    return CompactionContext(table_options_, kLevels, level, bottommost);
  }

  FilterBuildingContext Flush(
      TableFileCreationReason reason = TableFileCreationReason::kFlush) const {
    FilterBuildingContext context = Compaction(0);
    context.reason = reason;
    return context;
  }

  double BitsOf(const FilterBuildingContext& context) const {
    return Allocation(options_).FilterOf(context).bits_per_key;
  }

  bool IsRibbon(const FilterBuildingContext& context) const {
    return Allocation(options_).FilterOf(context).ribbon;
  }

  void UseSizeRatio(double ratio) {
    options_ = PolicyKind::kExactBloom;
    options_.ribbon = false;
    options_.size_ratio = ratio;
    for (const LevelFilter& filter :
         GeometricLevelBits(FilterKind::kClassic, ratio, options_.bits_per_key)) {
      bits_.push_back(filter.bits_per_key);
    }
  }

  rocksdb::BlockBasedTableOptions table_options_;
  PolicyOptions options_;
  std::vector<double> bits_;
};

TEST_F(AllocationTest, WithoutLevelOptionsAllGetTheSame) {
  for (int level = 0; level < kLevels; ++level) EXPECT_EQ(BitsOf(Compaction(level)), 10.0);
  EXPECT_EQ(BitsOf(FilterBuildingContext(table_options_)), 10.0);
}

TEST_F(AllocationTest, SizeRatioCountsFromTheBottommostLevel) {
  UseSizeRatio(10);
  // Dynamic level sizes: the last level is the bottommost, upper ones may be empty.
  EXPECT_EQ(BitsOf(Compaction(6, true)), bits_[0]);
  EXPECT_EQ(BitsOf(Compaction(6)), bits_[0]);
  EXPECT_EQ(BitsOf(Compaction(5)), bits_[1]);
  EXPECT_EQ(BitsOf(Compaction(4)), bits_[2]);
  EXPECT_EQ(BitsOf(Compaction(1)), bits_.back());
  // Without them the tree may end above the last level.
  EXPECT_EQ(BitsOf(Compaction(3, true)), bits_[0]);
  EXPECT_EQ(BitsOf(Compaction(2)), bits_.back());
  EXPECT_EQ(BitsOf(Compaction(0, true)), bits_[0]);
  EXPECT_EQ(BitsOf(Flush()), bits_.back());
  EXPECT_EQ(BitsOf(Flush(TableFileCreationReason::kRecovery)), bits_.back());
  EXPECT_GT(bits_.back(), bits_.front() + 7);
  // Unknown levels get the average.
  EXPECT_EQ(BitsOf(FilterBuildingContext(table_options_)), 10.0);  // SstFileWriter
  EXPECT_EQ(BitsOf(Compaction(-1)), 10.0);                         // RepairDB
  FilterBuildingContext misc = Compaction(3);
  misc.reason = TableFileCreationReason::kMisc;
  EXPECT_EQ(BitsOf(misc), 10.0);
  FilterBuildingContext only_level_0 = Flush();
  only_level_0.num_levels = 1;
  EXPECT_EQ(BitsOf(only_level_0), 10.0);
}

TEST_F(AllocationTest, OtherCompactionStylesGetTheAverage) {
  UseSizeRatio(10);
  for (const auto style : {rocksdb::kCompactionStyleUniversal, rocksdb::kCompactionStyleFIFO,
                           rocksdb::kCompactionStyleNone}) {
    for (FilterBuildingContext context : {Flush(), Compaction(3), Compaction(6, true)}) {
      context.compaction_style = style;
      EXPECT_EQ(BitsOf(context), 10.0) << style;
    }
  }
}

TEST_F(AllocationTest, LevelBitsGoByLevelNumber) {
  options_.level_bits = {18, 14, 9};
  EXPECT_EQ(BitsOf(Flush()), 18);
  EXPECT_EQ(BitsOf(Compaction(1)), 14);
  EXPECT_EQ(BitsOf(Compaction(1, true)), 14);
  EXPECT_EQ(BitsOf(Compaction(2)), 9);
  EXPECT_EQ(BitsOf(Compaction(6, true)), 9);
  EXPECT_EQ(BitsOf(FilterBuildingContext(table_options_)), 9);
  FilterBuildingContext universal = Compaction(1);
  universal.compaction_style = rocksdb::kCompactionStyleUniversal;
  EXPECT_EQ(BitsOf(universal), 14);
}

// With a ratio of 10 those are the levels with a hundredth of the keys or more.
TEST_F(AllocationTest, RibbonIsForTablesKnownToBeInTheTwoDeepestLevels) {
  EXPECT_FALSE(IsRibbon(Compaction(6, true)));
  UseSizeRatio(10);
  options_.ribbon = true;
  EXPECT_TRUE(IsRibbon(Compaction(6, true)));
  EXPECT_TRUE(IsRibbon(Compaction(6)));
  EXPECT_TRUE(IsRibbon(Compaction(5)));
  EXPECT_TRUE(IsRibbon(Compaction(3, true)));
  EXPECT_FALSE(IsRibbon(Compaction(4)));
  EXPECT_FALSE(IsRibbon(Flush()));
  EXPECT_FALSE(IsRibbon(FilterBuildingContext(table_options_)));
  FilterBuildingContext universal = Compaction(0, true);
  universal.compaction_style = rocksdb::kCompactionStyleUniversal;
  universal.num_levels = 1;
  EXPECT_TRUE(IsRibbon(universal));
  universal.is_bottommost = false;
  EXPECT_FALSE(IsRibbon(universal));
}

TEST_F(AllocationTest, FprIsForAllTables) {
  options_.fpr = 0.01;
  const Allocation levels(options_);
  for (const FilterBuildingContext& context :
       {Flush(), Compaction(6, true), FilterBuildingContext(table_options_)}) {
    EXPECT_EQ(levels.FilterOf(context).fpr, 0.01);
  }
}

}  // namespace
}  // namespace exactbloom
