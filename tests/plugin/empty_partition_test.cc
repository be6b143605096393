// Filter partitions without keys: with prefixes alone in the filters, and keys that have none.
#include <gtest/gtest.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exactbloom/filter_policy.h"
#include "plugin/bits_builder.h"
#include "plugin/rocksdb_compat.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr std::size_t kPrefix = 10;

// Those that begin with x are shorter than a prefix. They stand in a row, in many partitions.
std::vector<std::string> Keys(bool has_prefixes) {
  constexpr int kKeys = 2000;
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i) {
    const std::string number = std::to_string(100000 + i);
    const bool has_prefix = has_prefixes && i % 3 == 0;
    keys.push_back(has_prefix ? "a-" + number + "-" + number : "x" + number);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

struct Shape {
  bool whole_keys;
  bool decoupled;  // from 9.8 on
  std::uint64_t partition_bytes;
};

rocksdb::Options OptionsOf(const Shape& shape, const std::string& policy) {
  rocksdb::BlockBasedTableOptions table_options;
  PartitionFilters(shape.partition_bytes, &table_options);
  table_options.whole_key_filtering = shape.whole_keys;
  table_options.block_size = 256;
#if EXACTBLOOM_ROCKSDB_SINCE(9, 8)
  table_options.decouple_partitioned_filters = shape.decoupled;
#endif
  rocksdb::Options options = OptionsWith(table_options);
  options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefix));
  EXPECT_TRUE(SetFilterPolicy(&options, policy).ok()) << policy;
  return options;
}

std::uint64_t MissedByGet(rocksdb::DB& db, const std::vector<std::string>& keys) {
  std::string value;
  return static_cast<std::uint64_t>(
      std::count_if(keys.begin(), keys.end(),
                    [&](const std::string& key) { return !db.Get({}, key, &value).ok(); }));
}

std::uint64_t MissedByMultiGet(rocksdb::DB& db, const std::vector<std::string>& keys) {
  constexpr std::size_t kBatch = 20;
  std::uint64_t missed = 0;
  for (std::size_t begin = 0; begin + kBatch <= keys.size(); begin += kBatch) {
    const auto first = keys.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<rocksdb::Slice> batch(first, first + kBatch);
    std::vector<rocksdb::PinnableSlice> values(kBatch);
    std::vector<rocksdb::Status> statuses(kBatch);
    db.MultiGet({}, db.DefaultColumnFamily(), kBatch, batch.data(), values.data(), statuses.data(),
                /*sorted_input=*/true);
    missed += static_cast<std::uint64_t>(std::count_if(
        statuses.begin(), statuses.end(), [](const rocksdb::Status& s) { return !s.ok(); }));
  }
  return missed;
}

// By a seek to the key itself, for which RocksDB may ask the filter for its prefix.
std::uint64_t MissedBySeek(rocksdb::DB& db, const std::vector<std::string>& keys) {
  rocksdb::ReadOptions with_prefix;
  with_prefix.prefix_same_as_start = true;  // which a key without a prefix must not have
  const std::unique_ptr<rocksdb::Iterator> of_prefix(db.NewIterator(with_prefix));
  const std::unique_ptr<rocksdb::Iterator> of_all(db.NewIterator({}));
  return static_cast<std::uint64_t>(
      std::count_if(keys.begin(), keys.end(), [&](const std::string& key) {
        rocksdb::Iterator& iterator = key.size() < kPrefix ? *of_all : *of_prefix;
        iterator.Seek(key);
        return !iterator.Valid() || iterator.key() != rocksdb::Slice(key);
      }));
}

void ExpectNoneIsMissed(rocksdb::DB& db, const std::vector<std::string>& keys) {
  EXPECT_EQ(MissedByGet(db, keys), 0U);
  EXPECT_EQ(MissedByMultiGet(db, keys), 0U);
  EXPECT_EQ(MissedBySeek(db, keys), 0U);
}

class EmptyPartition : public testing::TestWithParam<std::tuple<const char*, bool>> {};

INSTANTIATE_TEST_SUITE_P(
    Policies, EmptyPartition,
    testing::Combine(testing::Values("exactbloom:10",
                                     "{id=exactbloom;memory_budget=1;budget=spent}",
                                     "{id=standard_bloom;fpr=0.01}",
                                     "{id=exact_ribbon;fpr=0.001;hash_seed=7}", "rocksdb_bloom:10"),
                     testing::Bool()));

TEST_P(EmptyPartition, BreaksNoLookup) {
  const auto [policy, has_prefixes] = GetParam();
  const std::vector<std::string> keys = Keys(has_prefixes);
  for (const Shape& shape :
       {Shape{false, false, 60}, Shape{false, true, 256}, Shape{false, false, 4096},
        Shape{true, false, 60}, Shape{true, true, 256}}) {
    SCOPED_TRACE(std::to_string(shape.partition_bytes) + (shape.whole_keys ? " whole keys" : "") +
                 (shape.decoupled ? " decoupled" : ""));
    const TemporaryDirectory directory;
    const Database db = Open(OptionsOf(shape, policy), directory.path("db"));
    rocksdb::WriteBatch batch;
    for (const std::string& key : keys) ASSERT_TRUE(batch.Put(key, "value").ok());
    ASSERT_TRUE(db->Write({}, &batch).ok());
    ASSERT_TRUE(db->Flush({}).ok());
    ExpectNoneIsMissed(*db, keys);
    ASSERT_TRUE(ForceCompaction(*db).ok());
    ExpectNoneIsMissed(*db, keys);
  }
}

TEST(EmptyBlock, IsTheGoldenBlockWithoutKeys) {
  std::ifstream file(EXACTBLOOM_GOLDEN_BLOCKS "/classic_empty.block", std::ios::binary);
  const std::string golden((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(EmptyBlock().ToString(), golden);
}

}  // namespace
}  // namespace exactbloom
