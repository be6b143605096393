// Which functions of a filter's builder newer versions of RocksDB call while they write a table,
// and the role of the builder's memory in the block cache.
#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/slice_transform.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "bits_builder_fixture.h"
#include "exactbloom/table_filters.h"
#include "forwarding_builder.h"
#include "plugin/c_binding/forwarding_policy.h"
#include "rocksdb_version.h"

namespace exactbloom {
namespace {

using rocksdb::BlockBasedTableOptions;
using rocksdb::Slice;

constexpr Version kAddsPairs{9, 6};
constexpr Version kAsksForSpace{10, 9};
constexpr std::uint64_t kKeys = 5000;
constexpr std::size_t kTensPrefix = 11;  // of KeyOf: five keys share it
constexpr std::uint64_t kPrefixes = kKeys / 5;

// What RocksDB asked of all builders of a policy.
struct Requests {
  std::atomic<int> pairs{0};         // AddKeyAndAlt
  std::atomic<int> counts{0};        // EstimateEntriesAdded
  std::atomic<int> wrong_counts{0};  // zero although keys were added, or the reverse
  std::atomic<int> spaces{0};        // CalculateSpace
};

class AskedBuilder : public ForwardingBuilder {
 public:
  AskedBuilder(rocksdb::FilterBitsBuilder* builder, Requests* requests)
      : ForwardingBuilder(builder), requests_(requests) {}

  void AddKey(const Slice& key) override {
    has_keys_ = true;
    ForwardingBuilder::AddKey(key);
  }
  void AddKeyAndAlt(const Slice& key, const Slice& alt) override {
    ++requests_->pairs;
    has_keys_ = true;
    ForwardingBuilder::AddKeyAndAlt(key, alt);
  }
  size_t EstimateEntriesAdded() override {
    const size_t entries = ForwardingBuilder::EstimateEntriesAdded();
    ++requests_->counts;
    if ((entries != 0) != has_keys_) ++requests_->wrong_counts;
    return entries;
  }
  using ForwardingBuilder::Finish;
  Slice Finish(std::unique_ptr<const char[]>* buffer, rocksdb::Status* status) override {
    has_keys_ = false;
    return ForwardingBuilder::Finish(buffer, status);
  }
  size_t CalculateSpace(size_t entries) override {
    ++requests_->spaces;
    return ForwardingBuilder::CalculateSpace(entries);
  }

 private:
  Requests* requests_;
  bool has_keys_ = false;
};

class AskedPolicy : public ForwardingPolicy<rocksdb::FilterPolicy> {
 public:
  explicit AskedPolicy(Requests* requests)
      : ForwardingPolicy(NewPolicy(FilterKind::kClassic)), requests_(requests) {}

  const char* Name() const override { return "AskedPolicy"; }  // without options to write

  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    return new AskedBuilder(ForwardingPolicy::GetBuilderWithContext(context), requests_);
  }

 private:
  Requests* requests_;
};

struct TableForm {
  const char* name;
  bool whole_keys;
  bool prefixes;
  bool partitioned;
};

class FilterRequests : public testing::TestWithParam<TableForm> {};

INSTANTIATE_TEST_SUITE_P(Forms, FilterRequests,
                         testing::Values(TableForm{"Keys", true, false, false},
                                         TableForm{"Prefixes", false, true, false},
                                         TableForm{"Pairs", true, true, false},
                                         TableForm{"KeysInPartitions", true, false, true},
                                         TableForm{"PrefixesInPartitions", false, true, true},
                                         TableForm{"PairsInPartitions", true, true, true}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(FilterRequests, AreAnsweredWhileATableIsWritten) {
  const TableForm& form = GetParam();
  Requests requests;
  BlockBasedTableOptions tables;
  tables.filter_policy = std::make_shared<AskedPolicy>(&requests);
  tables.whole_key_filtering = form.whole_keys;
  if (form.partitioned) PartitionFilters(512, &tables);
  rocksdb::Options options = OptionsWith(tables);
  if (form.prefixes) options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kTensPrefix));
  const TemporaryDirectory directory;
  const Database db = Open(options, directory.path());
  PutAndFlush(*db, kKeys);
  PutAndFlush(*db, kKeys, "newer");
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  ExpectPresent(*db, kKeys, "newer");

  const TableFilter table = ListTableFilters(*db).at(0);
  const std::uint64_t added = (form.whole_keys ? kKeys : 0) + (form.prefixes ? kPrefixes : 0);
  EXPECT_EQ(table.family, FilterFamily::kExactBloom);
  EXPECT_EQ(table.blocks > 1, form.partitioned);
  EXPECT_GE(table.keys, added);
  // A prefix that continues in the next partition belongs to both. RocksDB 7.8 adds an empty entry
  // after the first prefix, and then that prefix again.
  EXPECT_LE(table.keys, added + 2 * table.blocks);
  EXPECT_EQ(table.filter_keys, table.keys);
  EXPECT_GT(requests.counts, 0);
  EXPECT_EQ(requests.wrong_counts, 0);
  const bool pairs = form.whole_keys && form.prefixes && kAddsPairs.IsHere();
  EXPECT_EQ(requests.pairs > 0, pairs);
  // The size of partitions is estimated from those that are finished.
  EXPECT_EQ(requests.spaces > 0, !form.partitioned && kAsksForSpace.IsHere());
}

// Before 8.0, only RocksDB's own entries have roles.
TEST(CacheRole, OfAFilterThatIsBuiltIsFilterConstruction) {
  using Keys = rocksdb::BlockCacheEntryStatsMapKeys;
  BlockBasedTableOptions tables;
  tables.filter_policy = NewPolicy(FilterKind::kClassic);
  tables.block_cache = rocksdb::NewLRUCache(std::size_t{64} << 20);
  tables.cache_usage_options.options_overrides[rocksdb::CacheEntryRole::kFilterConstruction]
      .charged = rocksdb::CacheEntryRoleOptions::Decision::kEnabled;
  const TemporaryDirectory directory;
  const Database db = Open(OptionsWith(tables), directory.path());
  const auto builder = NewBuilder(*tables.filter_policy, tables);
  AddNumbers(*builder, 200000);
  std::map<std::string, std::string> roles;
  ASSERT_TRUE(db->GetMapProperty(rocksdb::DB::Properties::kBlockCacheEntryStats, &roles));
  const rocksdb::CacheEntryRole role = (Version{8, 0}).IsHere()
                                           ? rocksdb::CacheEntryRole::kFilterConstruction
                                           : rocksdb::CacheEntryRole::kMisc;
  EXPECT_GE(std::stoull(roles[Keys::UsedBytes(role)]), 200000 * sizeof(std::uint64_t) / 2);
  EXPECT_GT(std::stoull(roles[Keys::EntryCount(role)]), 0U);
}

}  // namespace
}  // namespace exactbloom
