// Filter partitions of exactbloom: the bits of a family are those that whole filters would have,
// although the bytes of a partition are final before the keys of its table are known.
#include <gtest/gtest.h>
#include <rocksdb/table.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "listed_filters.h"

namespace exactbloom {
namespace {

enum class Flushes { kEqual, kDiffering };

// The keys of each flush. They differ by up to 40 times, without any order.
std::vector<std::uint64_t> KeysOfFlushes(Flushes flushes) {
  if (flushes == Flushes::kEqual) return std::vector<std::uint64_t>(12, 3'000);
  return {4'000, 400, 16'000, 1'000, 8'000, 500, 12'000, 2'000, 700, 10'000, 3'000, 600};
}

// A database whose jobs run one after the other.
class Store {
 public:
  Store(rocksdb::CompactionStyle style, std::uint64_t partition_bytes) {
    rocksdb::BlockBasedTableOptions table = PlannedSizes();
    table.filter_policy = PolicyOf(ExactBloomOptions());
    if (partition_bytes != 0) PartitionFilters(partition_bytes, &table);
    options_ = FollowingOptions(table.filter_policy, NewTreeListener());
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options_.compaction_style = style;
    options_.write_buffer_size = 64 << 20;
    options_.target_file_size_base = 256 << 10;
    options_.max_bytes_for_level_base = 512 << 10;
    options_.max_background_jobs = 1;
    options_.max_subcompactions = 1;
    Reopen();
  }

  void Reopen() {
    db_.reset();
    db_ = Open(options_, directory_.path("db"));
  }

  // Puts keys among those that are there, and flushes them.
  void Write(std::uint64_t flush, std::uint64_t keys) {
    for (std::uint64_t i = 0; i < keys; ++i) {
      const std::uint64_t number = 100 * (i * 20'000 / keys) + flush;
      ASSERT_TRUE(db_->Put({}, KeyOf(2 * number), "value").ok());
    }
    ASSERT_TRUE(db_->Flush({}).ok());
    AwaitQuiet(*db_);
  }

  // Of the table that was written last.
  double BitsPerKeyOfNewest() const {
    ListedFilter newest;
    for (const ListedFilter& table : ListTableFilters(*db_)) {
      if (table.number > newest.number) newest = table;
    }
    return 8.0 * static_cast<double>(newest.bytes) / static_cast<double>(newest.filter_keys);
  }

  double BitsPerKey() const { return SumOf(TreesOf(*db_)).BitsPerKey(); }
  rocksdb::DB& db() { return *db_; }

 private:
  TemporaryDirectory directory_;
  rocksdb::Options options_;
  Database db_;
};

using Shape = std::tuple<std::uint64_t, rocksdb::CompactionStyle, Flushes>;

class Partitions : public testing::TestWithParam<Shape> {};

// Of a partition's bytes, its trailer and its entry in the index of partitions, which the division
// does not count.
double Uncounted(std::uint64_t bytes) { return bytes == 512 ? 0.1 : 0.015; }

std::string NameOfShape(const testing::TestParamInfo<Shape>& test) {
  const auto [bytes, style, flushes] = test.param;
  return "Of" + std::to_string(bytes) +
         (style == rocksdb::kCompactionStyleLevel ? "Leveled" : "Universal") +
         (flushes == Flushes::kEqual ? "Equal" : "Differing");
}

INSTANTIATE_TEST_SUITE_P(Shapes, Partitions,
                         testing::Combine(testing::Values(512, 4096),
                                          testing::Values(rocksdb::kCompactionStyleLevel,
                                                          rocksdb::kCompactionStyleUniversal),
                                          testing::Values(Flushes::kEqual, Flushes::kDiffering)),
                         NameOfShape);

TEST_P(Partitions, TakeTheBitsOfWholeFilters) {
  const auto [bytes, style, flushes] = GetParam();
  Store whole(style, 0);
  Store partitioned(style, bytes);
  double sum = 0.0;
  double sum_of_whole = 0.0;
  const std::vector<std::uint64_t> keys = KeysOfFlushes(flushes);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (Store* store : {&whole, &partitioned}) {
      if (i == keys.size() / 2) store->Reopen();
      store->Write(i, keys[i]);
    }
    sum += partitioned.BitsPerKey();
    sum_of_whole += whole.BitsPerKey();
    EXPECT_GT(partitioned.BitsPerKey(), 0.95 * whole.BitsPerKey()) << i;
    EXPECT_LT(partitioned.BitsPerKey(), (1.05 + Uncounted(bytes)) * whole.BitsPerKey()) << i;
  }
  // The moments of compactions differ between two databases, and between two runs by a percent.
  EXPECT_GT(sum / sum_of_whole, 0.97);
  EXPECT_LT(sum / sum_of_whole, 1.03 + Uncounted(bytes));
}

class PartitionsOfATable : public testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Bytes, PartitionsOfATable, testing::Values(512, 4096));

// Beside a large run. The first partitions of a flush are sized by the keys of recent flushes, the
// next by what the table has so far, and those of a compaction by the keys of its inputs.
TEST_P(PartitionsOfATable, TakeTheBitsOfAWholeFilter) {
  Store whole(rocksdb::kCompactionStyleLevel, 0);
  Store partitioned(rocksdb::kCompactionStyleLevel, GetParam());
  const auto differ = [&] {
    return partitioned.BitsPerKeyOfNewest() / whole.BitsPerKeyOfNewest() - 1.0;
  };
  for (Store* store : {&whole, &partitioned}) {
    ASSERT_TRUE(store->db().SetOptions({{"disable_auto_compactions", "true"}}).ok());
    store->Write(0, 40'000);
    ASSERT_TRUE(ForceCompaction(store->db()).ok());
  }
  const double uncounted = Uncounted(GetParam());
  EXPECT_GE(differ(), -0.015);
  EXPECT_LE(differ(), uncounted);
  // The mean of recent flushes halves at each.
  constexpr std::uint64_t kUntilKnown = 9;
  for (std::uint64_t flush = 1; flush <= kUntilKnown + 3; ++flush) {
    for (Store* store : {&whole, &partitioned}) store->Write(flush, 2'000);
    if (flush < kUntilKnown) continue;
    EXPECT_GE(differ(), -0.06) << flush;
    EXPECT_LE(differ(), 0.06 + uncounted) << flush;
  }
  for (Store* store : {&whole, &partitioned}) store->Write(20, 20'000);
  // The first partitions have the bits of a usual flush, which are more.
  EXPECT_NEAR(differ(), 0.0, 0.08 + uncounted);
  for (Store* store : {&whole, &partitioned}) ASSERT_TRUE(ForceCompaction(store->db()).ok());
  EXPECT_GE(differ(), -0.015);
  EXPECT_LE(differ(), uncounted);
}

}  // namespace
}  // namespace exactbloom
