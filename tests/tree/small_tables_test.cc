// Trees of small tables, whose filters are mostly trailers and whole cache lines.
#include <gtest/gtest.h>
#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <memory>

#include "bench/peer_filters.h"
#include "exactbloom/filter_policy.h"
#include "exactbloom/tree_listener.h"
#include "followed_database.h"
#include "listed_filters.h"

namespace exactbloom {
namespace {

// The wasted reads of a lookup of an absent key that all tables are asked for.
double WastedReads(rocksdb::DB& db) {
  double rates = 0.0;
  for (const ListedFilter& table : ListTableFilters(db)) {
    const auto blocks = ReadFilterBlocks(db, table.path);
    rates += blocks ? blocks->Rate(table.entries) : 1.0;
  }
  return rates;
}

TEST(SmallTables, WasteNoMoreReadsThanWithRocksDBsBloomFilter) {
  for (const double bits_per_key : {4.0, 10.0, 16.0}) {
    const std::unique_ptr<const rocksdb::FilterPolicy> bloom(
        rocksdb::NewBloomFilterPolicy(bits_per_key));
    for (const std::uint64_t keys : {1U, 17U, 40U, 51U, 52U, 86U, 100U, 130U, 200U, 300U, 600U}) {
      for (const std::uint64_t tables : {1U, 6U}) {
        const TemporaryDirectory directory;
        ExactBloomOptions sizes;
        sizes.bits_per_key = bits_per_key;
        const PolicyPointer policy = NewFilterPolicy(sizes);
        rocksdb::Options options = OptionsWith(policy);
        options.listeners.push_back(NewTreeListener());
        const Database db = Open(options, directory.path());
        for (std::uint64_t i = 0; i < tables; ++i) PutAndFlush(*db, keys, "value", 2 * keys * i);
        const double of_bloom =
            static_cast<double>(tables) * RateOfPeer(BuildPeer(*bloom, keys), keys);
        EXPECT_LE(WastedReads(*db), of_bloom)
            << tables << " tables of " << keys << " keys, bits " << bits_per_key;
      }
    }
  }
}

TEST(SmallTables, HaveTheKindOfTheirKeysAlsoAfterAnOpening) {
  const TemporaryDirectory directory;
  rocksdb::Options options = OptionsWith(NewFilterPolicy("exactbloom:10"));
  options.listeners.push_back(NewTreeListener());
  PutAndFlush(*Open(options, directory.path()), 10);
  const Database db = Open(options, directory.path());
  PutAndFlush(*db, 10, "value", 1'000);
  PutAndFlush(*db, 5'000, "value", 2'000);
  std::uint64_t tables = 0;
  for (const SortedRuns& run : GetSortedRuns(*db)) {
    tables += run.tables;
    EXPECT_EQ(run.ribbon, run.keys > 20) << run.keys;
  }
  EXPECT_EQ(tables, 3U);
}

// The rows of an average that no filter can use are left to the small runs.
TEST(SmallTables, OfALowAverageGetWhatTheDivisionGivesThem) {
  const TemporaryDirectory directory;
  const PolicyPointer policy = NewFilterPolicy("exactbloom:0.4");
  rocksdb::Options options = OptionsWith(policy);
  options.listeners.push_back(NewTreeListener());
  const Database db = Open(options, directory.path());
  PutAndFlush(*db, 200'000);
  PutAndFlush(*db, 20'000, "value", 400'000);
  PutAndFlush(*db, 2'000, "value", 440'000);
  for (const SortedRuns& run : GetSortedRuns(*db)) {
    const double bits = 8.0 * static_cast<double>(run.filter_bytes) / static_cast<double>(run.keys);
    const double expected = run.keys == 2'000 ? 7.1 : run.keys == 20'000 ? 3.96 : 0.0;
    EXPECT_NEAR(bits, expected, 0.2) << run.keys;
  }
  EXPECT_LE(8.0 * static_cast<double>(SumOf(TreesOf(*db)).filter_bytes), 1.06 * 0.4 * 222'000);
}

}  // namespace
}  // namespace exactbloom
