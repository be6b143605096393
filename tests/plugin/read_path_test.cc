// The ways in which RocksDB reads tables, and what the filters save in each.
#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/slice_transform.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

using rocksdb::BlockBasedTableOptions;

constexpr std::uint64_t kKeys = 2000;
constexpr std::uint64_t kAbsent = kKeys - 1;

// The number of lines, and whether filters are partitioned.
class ReadPath : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  ReadPath() {
    const auto [lines, partitioned] = GetParam();
    table_options_.filter_policy = NewPolicy({FilterKind::kClassic, lines});
    if (partitioned) PartitionFilters(512, &table_options_);
    // A block cache that holds almost nothing.
    table_options_.block_cache = rocksdb::NewLRUCache(std::size_t{1} << 10, 0);
  }

  rocksdb::Options Options() const { return OptionsWith(table_options_); }

  Database OpenAndFill(const rocksdb::Options& options) const {
    Database db = Open(options, directory_.path("db"));
    PutAndFlush(*db, kKeys);
    return db;
  }

  static std::uint64_t Count(const rocksdb::DB& db, rocksdb::Tickers ticker) {
    return db.GetDBOptions().statistics->getTickerCount(ticker);
  }

  BlockBasedTableOptions table_options_;
  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(All, ReadPath,
                         testing::Combine(testing::Values(0, 1, 2), testing::Bool()));

TEST_P(ReadPath, DirectReads) {
  rocksdb::Options options = Options();
  options.use_direct_reads = true;
  options.use_direct_io_for_flush_and_compaction = true;
  Database db;
  const rocksdb::Status status = rocksdb::DB::Open(options, directory_.path("db"), Receive(&db));
  if (!status.ok())
    GTEST_SKIP() << "the file system of " << directory_.path() << " has no direct IO";
  PutAndFlush(*db, kKeys);
  ExpectPresent(*db, kKeys);
  ExpectFiltering(AskAbsent(*db, kAbsent), kAbsent);
}

// Filters are read where they lie in the file, at any alignment.
TEST_P(ReadPath, MappedFiles) {
  rocksdb::Options options = Options();
  options.allow_mmap_reads = true;
  const Database db = OpenAndFill(options);
  ExpectPresent(*db, kKeys);
  ExpectFiltering(AskAbsent(*db, kAbsent), kAbsent);
}

TEST_P(ReadPath, FiltersInTheBlockCache) {
  table_options_.cache_index_and_filter_blocks = true;
  const Database db = OpenAndFill(Options());
  ExpectPresent(*db, kKeys);
  const std::uint64_t misses = Count(*db, rocksdb::BLOCK_CACHE_FILTER_MISS);
  ExpectFiltering(AskAbsent(*db, kAbsent), kAbsent);
  // Each filter is loaded repeatedly.
  EXPECT_GT(Count(*db, rocksdb::BLOCK_CACHE_FILTER_MISS), misses + 10);
}

// The last level has no filters, and all others keep theirs.
TEST_P(ReadPath, OptimizeFiltersForHits) {
  rocksdb::Options options = Options();
  options.optimize_filters_for_hits = true;
  const Database db = OpenAndFill(options);
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  const FilterCounts none = AskAbsent(*db, kAbsent);
  EXPECT_EQ(none.useful + none.positive, 0U);
  PutAndFlush(*db, kKeys);
  ExpectPresent(*db, kKeys);
  ExpectFiltering(AskAbsent(*db, kAbsent), kAbsent);
}

TEST_P(ReadPath, MultiGetWithEveryOption) {
  const Database db = OpenAndFill(Options());
  for (const bool async : {false, true}) {
    rocksdb::ReadOptions read_options;
    read_options.async_io = async;
    read_options.optimize_multiget_for_io = async;
    ExpectFiltering(MultiGetAll(*db, kKeys, read_options), kKeys - 1);
  }
}

// Iterators. Every other hundred of numbers is present; a prefix is a hundred.

class IteratorPath : public ReadPath {
 protected:
  static constexpr std::uint64_t kHundreds = 40;

  Database FillHundreds() const {
    rocksdb::Options options = Options();
    options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
    Database db = Open(options, directory_.path("db"));
    for (std::uint64_t hundred = 0; hundred < kHundreds; hundred += 2) {
      for (std::uint64_t i = 0; i < 100; i += 2) {
        EXPECT_TRUE(db->Put({}, KeyOf(100 * hundred + i), "value").ok());
      }
    }
    EXPECT_TRUE(db->Flush({}).ok());
    TakeCounts(*db);
    return db;
  }

  // Seeks to every hundred, with the next one as upper bound if `bounded`, and expects the present
  // keys.
  static FilterCounts SeekAll(rocksdb::DB& db, rocksdb::ReadOptions read_options, bool bounded) {
    for (std::uint64_t hundred = 0; hundred + 1 < kHundreds; ++hundred) {
      const std::string bound = KeyOf(100 * hundred + 99);
      const rocksdb::Slice bound_slice(bound);
      if (bounded) read_options.iterate_upper_bound = &bound_slice;
      const std::unique_ptr<rocksdb::Iterator> iterator(db.NewIterator(read_options));
      std::uint64_t found = 0;
      for (iterator->Seek(KeyOf(100 * hundred)); iterator->Valid() && found < 50;
           iterator->Next()) {
        ++found;
      }
      EXPECT_EQ(found, hundred % 2 == 0 || !bounded ? 50U : 0U) << hundred;
      EXPECT_TRUE(iterator->status().ok());
    }
    return TakeCounts(db);
  }

  static void ExpectFilteredSeeks(const FilterCounts& counts) {
    EXPECT_GE(counts.prefix_checked, kHundreds - 1);
    EXPECT_GE(counts.prefix_useful, kHundreds / 2 - 3);
    EXPECT_LE(counts.prefix_useful, kHundreds / 2);
  }
};

INSTANTIATE_TEST_SUITE_P(Full, IteratorPath,
                         testing::Combine(testing::Values(0, 1, 2), testing::Values(false)));

TEST_P(IteratorPath, UpperBound) {
  const Database db = FillHundreds();
  ExpectFilteredSeeks(SeekAll(*db, {}, true));
}

TEST_P(IteratorPath, AutoPrefixModeFiltersWhereTheBoundHasThePrefix) {
  const Database db = FillHundreds();
  rocksdb::ReadOptions read_options;
  read_options.auto_prefix_mode = true;
  ExpectFilteredSeeks(SeekAll(*db, read_options, true));
  // Without a bound the seek continues beyond the prefix, so the filter must not be asked.
  const FilterCounts counts = SeekAll(*db, read_options, false);
  EXPECT_EQ(counts.prefix_checked, 0U);
}

TEST_P(IteratorPath, TotalOrderSeekAsksNoFilter) {
  const Database db = FillHundreds();
  rocksdb::ReadOptions read_options;
  read_options.total_order_seek = true;
  EXPECT_EQ(SeekAll(*db, read_options, false).prefix_checked, 0U);
}

TEST_P(IteratorPath, SeekForPrevFindsThePrefix) {
  const Database db = FillHundreds();
  rocksdb::ReadOptions read_options;
  read_options.prefix_same_as_start = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(read_options));
  for (std::uint64_t hundred = 0; hundred + 1 < kHundreds; ++hundred) {
    iterator->SeekForPrev(KeyOf(100 * hundred + 99));
    ASSERT_EQ(iterator->Valid(), hundred % 2 == 0) << hundred;
    if (iterator->Valid()) {
      ASSERT_EQ(iterator->key().ToString(), KeyOf(100 * hundred + 98));
    }
  }
  ExpectFilteredSeeks(TakeCounts(*db));
}

}  // namespace
}  // namespace exactbloom
