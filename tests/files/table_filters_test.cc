// The filters of tables that RocksDB wrote.
#include "exactbloom/table_filters.h"

#include <gtest/gtest.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/env_encryption.h>
#include <rocksdb/sst_file_writer.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exactbloom/bloom_filter.h"
#include "exactbloom/filter_policy.h"
#include "sample_database.h"

namespace exactbloom {
namespace {

constexpr std::uint64_t kKeys = 1500;

// A database in memory.
class TableFilters : public testing::Test {
 protected:
  rocksdb::Options OptionsOf(const rocksdb::BlockBasedTableOptions& table_options) {
    rocksdb::Options options = OptionsWith(table_options);
    options.env = env_.get();
    return options;
  }

  // The filter of the only table of a new database.
  TableFilter FilterOf(const rocksdb::BlockBasedTableOptions& table_options,
                       std::uint64_t keys = kKeys) {
    const Database db = Open(OptionsOf(table_options), "/db" + std::to_string(databases_++));
    PutAndFlush(*db, keys);
    const std::vector<TableFilter> filters = ListTableFilters(*db);
    EXPECT_EQ(filters.size(), 1U);
    EXPECT_TRUE(filters.at(0).status.ok()) << filters.at(0).status.ToString();
    return filters.at(0);
  }

  std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  int databases_ = 0;
};

TEST_F(TableFilters, OfEveryFamilyAndFormat) {
  struct Writer {
    PolicyPointer policy;
    FilterFamily family;
    FilterFamily family_before_version_5;
  };
  const std::vector<Writer> writers = {
      {NewPolicy(FilterKind::kClassic), FilterFamily::kExactBloom, FilterFamily::kExactBloom},
      {NewPolicy(FilterKind::kStandard), FilterFamily::kExactBloom, FilterFamily::kExactBloom},
      {PolicyPointer(rocksdb::NewBloomFilterPolicy(10)), FilterFamily::kBloom,
       FilterFamily::kLegacyBloom},
      {PolicyPointer(rocksdb::NewRibbonFilterPolicy(10, -1)), FilterFamily::kRibbon,
       FilterFamily::kRibbon},
      {nullptr, FilterFamily::kNone, FilterFamily::kNone}};
  for (const Writer& writer : writers) {
    for (const std::uint32_t version : {2U, 4U, 5U}) {
      for (const bool partitioned : {false, true}) {
        rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
        table_options.filter_policy = writer.policy;
        table_options.format_version = version;
        if (partitioned) PartitionFilters(512, &table_options);
        const TableFilter filter = FilterOf(table_options);
        SCOPED_TRACE(filter.policy + ", format version " + std::to_string(version));
        EXPECT_STREQ(NameOf(filter.family),
                     NameOf(version < 5 ? writer.family_before_version_5 : writer.family));
        EXPECT_EQ(filter.entries, kKeys);
        EXPECT_EQ(filter.level, 0);
        EXPECT_EQ(filter.column_family, "default");
        if (writer.policy == nullptr) continue;
        EXPECT_EQ(filter.policy, writer.policy->Name());
        EXPECT_EQ(filter.filter_keys, kKeys);
        EXPECT_EQ(filter.partitioned, partitioned);
        EXPECT_EQ(filter.blocks > 1, partitioned);
        if (partitioned || version < 5) continue;
        if (filter.family == FilterFamily::kBloom) {
          EXPECT_EQ(filter.min_probes, 6);  // of RocksDB's Bloom filter at 10 bits per key
          EXPECT_EQ(filter.max_probes, 6);
        }
        EXPECT_EQ(filter.ribbon_slots > kKeys, filter.family == FilterFamily::kRibbon);
        EXPECT_LT(filter.ribbon_slots, kKeys + kKeys / 5);
      }
    }
  }
}

TEST_F(TableFilters, OfEveryChecksumAndRestartInterval) {
  for (const auto checksum : {rocksdb::kNoChecksum, rocksdb::kCRC32c, rocksdb::kxxHash,
                              rocksdb::kxxHash64, rocksdb::kXXH3}) {
    for (const std::uint32_t version : {3U, 5U}) {  // without and with delta-encoded handles
      for (const int interval : {1, 100}) {
        rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
        table_options.filter_policy = NewPolicy(FilterKind::kClassic);
        table_options.checksum = checksum;
        table_options.format_version = version;
        table_options.index_block_restart_interval = interval;
        PartitionFilters(512, &table_options);
        const TableFilter filter = FilterOf(table_options);
        EXPECT_EQ(filter.family, FilterFamily::kExactBloom);
        EXPECT_EQ(filter.keys, kKeys) << "checksum " << int{checksum} << ", interval " << interval;
      }
    }
  }
}

// RocksDB makes Bloom filters of partitions with few keys, such as the last one of some tables.
TEST_F(TableFilters, OfRibbonPartitionsWithASmallOne) {
  rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
  table_options.filter_policy.reset(rocksdb::NewRibbonFilterPolicy(10, -1));
  int mixed = 0;
  for (std::uint64_t bytes = 512; bytes < 4096 && mixed == 0; bytes += 16) {
    PartitionFilters(bytes, &table_options);
    const TableFilter filter = FilterOf(table_options, 3000);
    if (filter.ribbon_slots == 0 || filter.max_probes == 0) continue;
    ++mixed;
    EXPECT_EQ(filter.family, FilterFamily::kRibbon) << bytes;
  }
  EXPECT_GT(mixed, 0);
}

// Ingestion gives the file a sequence number, by writing into it.
TEST_F(TableFilters, OfAnIngestedFile) {
  rocksdb::BlockBasedTableOptions table_options = PlannedSizes();
  table_options.filter_policy = NewPolicy(FilterKind::kClassic);
  const std::string path = "/alone.sst";
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), OptionsOf(table_options));
  ASSERT_TRUE(writer.Open(path).ok());
  for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(writer.Put(KeyOf(2 * i), "value").ok());
  ASSERT_TRUE(writer.Finish().ok());
  const Database db = Open(OptionsOf(table_options), "/ingesting");
  PutAndFlush(*db, 10);
  rocksdb::IngestExternalFileOptions ingestion;
  ingestion.move_files = true;
  ingestion.write_global_seqno = true;
  ASSERT_TRUE(db->IngestExternalFile({path}, ingestion).ok());
  for (const TableFilter& table : ListTableFilters(*db)) {
    EXPECT_TRUE(table.status.ok()) << table.status.ToString();
    EXPECT_EQ(table.family, FilterFamily::kExactBloom);
  }
}

TEST_F(TableFilters, OfAnEncryptedDatabase) {
  std::shared_ptr<rocksdb::EncryptionProvider> provider;
  ASSERT_TRUE(rocksdb::EncryptionProvider::CreateFromString(
                  rocksdb::ConfigOptions(), "{id=CTR;cipher={id=ROT13;block_size=32}}", &provider)
                  .ok());
  const std::unique_ptr<rocksdb::Env> encrypted(rocksdb::NewEncryptedEnv(env_.get(), provider));
  rocksdb::Options options = OptionsWith(NewPolicy(FilterKind::kClassic));
  options.env = encrypted.get();
  const Database db = Open(options, "/encrypted");
  PutAndFlush(*db, kKeys);
  const std::vector<TableFilter> filters = ListTableFilters(*db);
  ASSERT_EQ(filters.size(), 1U);
  EXPECT_EQ(filters[0].keys, kKeys) << filters[0].status.ToString();
  TableFilter unreadable;
  EXPECT_FALSE(ReadTableFilter(*env_->GetFileSystem(), filters[0].path, &unreadable).ok());
}

}  // namespace
}  // namespace exactbloom
