// Filters in tables that newer versions of RocksDB write: lookups lose no key and use the filter,
// and the tool reads the table.
#include <gtest/gtest.h>
#include <rocksdb/cache.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/slice_transform.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bits_builder_fixture.h"
#include "listed_filters.h"
#include "newer_versions.h"
#include "sample_database.h"
#include "tool/verify/table_verification.h"
#if __has_include(<rocksdb/advanced_compression.h>)
#include <rocksdb/advanced_compression.h>
#endif

namespace exactbloom {
namespace {

using rocksdb::BlockBasedTableOptions;

constexpr std::uint64_t kKeys = 1500;
constexpr std::uint64_t kPrefixes = kKeys / 50;  // kPrefixLength
constexpr std::uint64_t kMetadataBlockSize = 512;

// As option strings.
struct Feature {
  const char* name;
  Version since;
  std::string of_tables;
  std::string of_family;
  bool may_be_partitioned = true;
};

std::vector<Feature> Features() {
  return {
      {"FormatVersion5", {7, 8}, "format_version=5", ""},
      {"FormatVersion6", {8, 6}, "format_version=6", ""},
      {"FormatVersion7", {10, 4}, "format_version=7", ""},
      {"CompressionManager", {10, 6}, "format_version=7", "compression_manager=BuiltinV2"},
      {"ParallelCompression", {7, 8}, "", "compression_opts={parallel_threads=4}"},
      {"BlockAlignment", {7, 8}, "block_align=true", "compression=kNoCompression"},
      {"SuperBlockAlignment",
       {10, 8},
       "super_block_alignment_size=4096;super_block_alignment_space_overhead_ratio=4",
       ""},
      {"KeysApartFromValues", {11, 0}, "separate_key_value_in_data_block=true", ""},
      {"InterpolationSearch", {11, 0}, "index_block_search_type=kInterpolation", ""},
      {"UniformIndexBlocks", {11, 1}, "index_block_search_type=kAuto;uniform_cv_threshold=1", ""},
      {"UserDefinedIndex", {11, 8}, "user_defined_index_factory=trie_index", ""},
      {"UserDefinedIndexAlone",
       {11, 8},
       "user_defined_index_factory=trie_index;use_udi_as_primary_index=true",
       "",
       /*may_be_partitioned=*/false},
      {"PartitionsOfTheirOwn", {9, 6}, "decouple_partitioned_filters=true", ""},
      {"PartitionsOfTheIndex", {9, 6}, "decouple_partitioned_filters=false", ""},
  };
}

struct Case {
  Feature feature;
  bool partitioned;  // and with prefixes beside the keys
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Feature& feature : Features()) {
    cases.push_back({feature, false});
    if (feature.may_be_partitioned) cases.push_back({feature, true});
  }
  return cases;
}

class TableFeature : public testing::TestWithParam<Case> {
 protected:
  rocksdb::Options Options() const {
    const Feature& feature = GetParam().feature;
    BlockBasedTableOptions tables;
    tables.filter_policy = NewPolicy(BloomKind::kClassic);
    tables.block_size = 1024;
    tables.detect_filter_construct_corruption = true;
    tables.optimize_filters_for_memory = false;
    if (GetParam().partitioned) PartitionFilters(kMetadataBlockSize, &tables);
    rocksdb::Status status = rocksdb::GetBlockBasedTableOptionsFromString(
        rocksdb::ConfigOptions(), tables, feature.of_tables, &tables);
    EXPECT_TRUE(status.ok()) << status.ToString();
    rocksdb::Options options = OptionsWith(tables);
    if (GetParam().partitioned) {
      options.prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(kPrefixLength));
    }
    status = rocksdb::GetColumnFamilyOptionsFromString(rocksdb::ConfigOptions(), options,
                                                       feature.of_family, &options);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return options;
  }

  TemporaryDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(Features, TableFeature, testing::ValuesIn(Cases()), [](const auto& test) {
  return std::string(test.param.feature.name) + (test.param.partitioned ? "Partitioned" : "");
});

// As a reader of files, not of the database.
tool::TableVerification Verify(const ListedFilter& table) {
  return tool::VerifyTable({{}, table.path, "", ""}, {kKeys, 1});
}

// Expects one table with a filter of all keys, in which a reader of files finds every key.
void ExpectReadable(rocksdb::DB& db, std::uint64_t filter_keys, bool partitioned) {
  const std::vector<ListedFilter> tables = ListTableFilters(db);
  ASSERT_EQ(tables.size(), 1U);
  const ListedFilter& table = tables[0];
  EXPECT_TRUE(table.status.ok()) << table.status.ToString();
  EXPECT_EQ(table.family, FilterFamily::kExactBloom) << table.reason;
  EXPECT_EQ(table.partitioned, partitioned);
  EXPECT_EQ(table.blocks > 1, partitioned);
  EXPECT_EQ(table.policy, "classic_bloom");
  EXPECT_EQ(table.keys, table.filter_keys);
  if (!partitioned) {
    EXPECT_EQ(table.keys, filter_keys);
  } else {
    EXPECT_GE(table.keys, filter_keys);  // a prefix at a border is in both partitions
    EXPECT_LE(table.keys, filter_keys + 2 * table.blocks);
  }
  const tool::TableVerification verified = Verify(table);
  EXPECT_TRUE(verified.status.ok()) << verified.status.ToString();
  EXPECT_EQ(verified.unchecked, "");
  EXPECT_EQ(verified.keys_checked, kKeys);
  EXPECT_EQ(verified.false_negatives, 0U);
  EXPECT_GT(verified.absent.asked, kKeys / 4);
  EXPECT_LT(verified.absent.positives, verified.absent.asked / 20);
}

TEST_P(TableFeature, FiltersHoldAndTheToolReadsTheTable) {
  EXACTBLOOM_SKIP_BEFORE(GetParam().feature.since, GetParam().feature.name);
  const bool partitioned = GetParam().partitioned;
  const std::string path = directory_.path("db");
  PutAndFlush(*Open(Options(), path), kKeys, "older");
  const Database db = Open(Options(), path);
  for (const bool compacted : {false, true}) {
    SCOPED_TRACE(compacted ? "compacted" : "flushed");
    if (compacted) {
      PutAndFlush(*db, kKeys, "newer");
      ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
    }
    ExpectPresent(*db, kKeys, compacted ? "newer" : "older");
    ExpectFiltering(AskAbsent(*db, kKeys - 1), kKeys - 1);
    ExpectFiltering(MultiGetAll(*db, kKeys), kKeys - 1);
    ExpectReadable(*db, partitioned ? kKeys + kPrefixes : kKeys, partitioned);
  }
}

// The filter of each is read; the keys are read, too, or the version that can read them is named.
TEST(GoldenTables, AreReadOrTheNeededVersionIsNamed) {
  for (const NewerTable& table : NewerTables()) {
    SCOPED_TRACE(table.file);
    const std::string path = std::string(EXACTBLOOM_NEWER_TABLES) + "/" + table.file;
    const tool::TableVerification verified =
        tool::VerifyTable({{}, path, "", ""}, {kNewerTableKeys, 1});
    EXPECT_TRUE(verified.status.ok()) << verified.status.ToString();
    EXPECT_EQ(verified.filter.family, FilterFamily::kExactBloom) << verified.filter.reason;
    EXPECT_EQ(verified.filter.keys, kNewerTableKeys);
    EXPECT_EQ(verified.false_negatives, 0U);
    EXPECT_EQ(verified.keys_checked, table.since.IsHere() ? kNewerTableKeys : 0);
    const std::string needed = "use a build with RocksDB " + table.since.Text() + " or later";
    EXPECT_EQ(verified.unchecked.find(needed) != std::string::npos, !table.since.IsHere())
        << verified.unchecked;
  }
}

// User-defined timestamps of eight bytes: the latest version of a key comes first, and filters hold
// no timestamps.
class Timestamps : public testing::TestWithParam<std::tuple<bool, bool>> {};

INSTANTIATE_TEST_SUITE_P(Tables, Timestamps, testing::Combine(testing::Bool(), testing::Bool()));

// Asks at a time that values tell.
void ExpectAtTime(rocksdb::DB& db, const std::string& time) {
  const rocksdb::Slice slice = time;
  rocksdb::ReadOptions at;
  at.timestamp = &slice;
  TakeCounts(db);
  for (std::uint64_t i = 0; i + 1 < kKeys; ++i) {
    std::string value;
    ASSERT_TRUE(db.Get(at, KeyOf(2 * i), &value).ok());
    ASSERT_EQ(value, time);
    ASSERT_TRUE(db.Get(at, KeyOf(2 * i + 1), &value).IsNotFound());
  }
  const FilterCounts counts = TakeCounts(db);
  EXPECT_EQ(counts.true_positive, kKeys - 1);
  ExpectFiltering(counts, kKeys - 1);
}

TEST_P(Timestamps, EachKeyIsInTheFilterOnceAndFoundAtEachTime) {
  const auto [kept, partitioned] = GetParam();
  if (!kept) EXACTBLOOM_SKIP_BEFORE((Version{8, 4}), "persist_user_defined_timestamps=false");
  BlockBasedTableOptions tables;
  tables.filter_policy = NewPolicy(BloomKind::kClassic);
  if (partitioned) PartitionFilters(kMetadataBlockSize, &tables);
  rocksdb::Options options = OptionsWith(tables);
  const std::string order = "leveldb.BytewiseComparator.u64ts";
  ASSERT_TRUE(rocksdb::Comparator::CreateFromString({}, order, &options.comparator).ok());
  if (!kept) {
    options.allow_concurrent_memtable_write = false;  // RocksDB's condition
    ASSERT_TRUE(rocksdb::GetColumnFamilyOptionsFromString(rocksdb::ConfigOptions(), options,
                                                          "persist_user_defined_timestamps=false",
                                                          &options)
                    .ok());
  }
  const TemporaryDirectory directory;
  const Database db = Open(options, directory.path());
  const std::vector<std::string> times = {std::string(8, '\1'), std::string(8, '\2'),
                                          std::string(8, '\3')};
  for (const std::string& time : times) {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(db->Put({}, KeyOf(2 * i), time, time).ok());
    }
  }
  ASSERT_TRUE(db->Flush({}).ok());
  for (const std::string& time : times) {
    if (kept) ExpectAtTime(*db, time);
  }
  if (kept || (Version{9, 0}).IsHere()) return ExpectReadable(*db, kKeys, partitioned);
  const ListedFilter table = ListTableFilters(*db).at(0);
  EXPECT_EQ(table.keys, table.filter_keys);
  const tool::TableVerification verified = Verify(table);
  EXPECT_EQ(verified.false_negatives, 0U);
  EXPECT_NE(verified.unchecked.find("use a build with RocksDB 9.0 or later"), std::string::npos)
      << verified.unchecked << verified.status.ToString();
}

// Before 8.0, only RocksDB's own entries have roles.
TEST(CacheRole, OfAFilterThatIsBuiltIsFilterConstruction) {
  using Keys = rocksdb::BlockCacheEntryStatsMapKeys;
  BlockBasedTableOptions tables;
  tables.filter_policy = NewPolicy(BloomKind::kClassic);
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

#if __has_include(<rocksdb/advanced_compression.h>)

class OwnCompression : public rocksdb::CompressionManagerWrapper {
 public:
  using CompressionManagerWrapper::CompressionManagerWrapper;
  const char* Name() const override { return "OwnCompression"; }
  const char* CompatibilityName() const override { return "exactbloom.OwnCompression"; }
  std::shared_ptr<CompressionManager> FindCompatibleCompressionManager(
      rocksdb::Slice name) override {
    return name == CompatibilityName()
               ? shared_from_this()
               : CompressionManagerWrapper::FindCompatibleCompressionManager(name);
  }
};

// Filters are not compressed, so they can be read without that manager; keys cannot.
TEST(CustomCompressionManager, FiltersHoldAndTheToolSaysWhatItLacks) {
  BlockBasedTableOptions tables;
  tables.filter_policy = NewPolicy(BloomKind::kClassic);
  tables.format_version = 7;
  rocksdb::Options options = OptionsWith(tables);
  options.compression_manager =
      std::make_shared<OwnCompression>(rocksdb::GetBuiltinV2CompressionManager());
  const TemporaryDirectory directory;
  const Database db = Open(options, directory.path());
  PutAndFlush(*db, kKeys);
  ExpectPresent(*db, kKeys);
  ExpectFiltering(AskAbsent(*db, kKeys - 1), kKeys - 1);
  const ListedFilter table = ListTableFilters(*db).at(0);
  EXPECT_EQ(table.family, FilterFamily::kExactBloom) << table.status.ToString();
  EXPECT_EQ(table.keys, kKeys);
  const tool::TableVerification verified = Verify(table);
  EXPECT_EQ(verified.false_negatives, 0U);
  EXPECT_NE(verified.unchecked.find("exactbloom.OwnCompression"), std::string::npos)
      << verified.unchecked << verified.status.ToString();
}

#endif

}  // namespace
}  // namespace exactbloom
